//! `Event`: a baton, where a notify wakes one; a gate and a meeting, where it wakes all.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use waitword::Event;

use super::parties::Meetings;
use super::player::{Limit, Player, got};
use super::{Counted, Lock};

/// A wait by a borrowed or an owned future. Whether it was woken.
macro_rules! woken {
    ($player:ident, $event:expr) => {{
        let woken = if $player.one_in(2) {
            got!($player: $event, wait, wait_for, wait_until;
                wait_owned_async)
        } else {
            got!($player: $event, wait, wait_for, wait_until; wait_async)
        };
        woken.is_some()
    }};
}

/// The woken waiter has the baton, and no other; it is passed only when a waiter has had it. So each wakeup arrives
/// once, before the next.
#[derive(Default)]
pub(crate) struct Baton {
    event: Arc<Event>,
    passed: AtomicBool,
    waiting: AtomicUsize,
}

impl Baton {
    /// To the head waiter, or the last.
    fn pass(&self, player: &mut Player) {
        let last = player.one_in(2);
        self.pass_to(if last { Event::notify_last } else { Event::notify_one });
    }

    fn pass_to(&self, notify: fn(&Event) -> bool) {
        if !self.passed.swap(true, Ordering::SeqCst) {
            notify(&self.event);
        }
    }

    fn received(&self, woken: bool) {
        assert!(
            !woken || self.passed.swap(false, Ordering::SeqCst),
            "woken by no notify, or together with another"
        );
    }
}

impl Lock for Baton {
    fn new(_players: usize, _draw: &mut Player) -> Self {
        Self::default()
    }

    async fn step(&self, player: &mut Player) {
        /// Queued before it waits, whether it then does or not.
        macro_rules! enabled {
            ($wait:expr, $($end:tt)*) => {{
                let mut wait = pin!($wait);
                let woken = wait.as_mut().enable();
                self.pass(player);
                if woken || player.one_in(2) {
                    let _waiting = Counted::one_more(&self.waiting);
                    wait$($end)*;
                    self.received(true);
                }
            }};
        }
        match player.below(8) {
            0..3 => self.pass(player),
            3 => self.received(self.event.try_wait()),
            4 if player.is_thread() => enabled!(self.event.listen(), .wait()),
            4 => enabled!(self.event.wait_async(), .await),
            _ => {
                let _waiting = Counted::one_more(&self.waiting);
                self.received(woken!(player, self.event));
            }
        }
    }

    fn help(&self, _player: &mut Player) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            self.pass_to(Event::notify_one);
        }
    }

    fn check(&self) {
        let passed = self.passed.load(Ordering::SeqCst);
        assert_eq!(self.event.try_wait(), passed, "the baton is lost, or there are two");
    }

    fn queued(&self) -> usize {
        self.event.waiters()
    }
}

/// The waiters of the moment when it opens go through, and no others.
#[derive(Default)]
pub(crate) struct Gate {
    event: Arc<Event>,
    /// One opens it at a time, so that the two numbers are of the same openings.
    opening: AtomicBool,
    begun: AtomicU64,
    done: AtomicU64,
}

impl Gate {
    fn open(&self) {
        if !self.opening.swap(true, Ordering::SeqCst) {
            let number = self.begun.fetch_add(1, Ordering::SeqCst);
            self.event.notify_all();
            self.done.store(number + 1, Ordering::SeqCst);
            self.opening.store(false, Ordering::SeqCst);
        }
    }
}

impl Lock for Gate {
    fn new(_players: usize, _draw: &mut Player) -> Self {
        Self::default()
    }

    async fn step(&self, player: &mut Player) {
        match player.below(8) {
            0 => self.open(),
            1 => self.check(),
            2 | 3 if !player.is_thread() => {
                let mut wait = pin!(self.event.wait_async());
                // Openings from this number on have begun after the future was made.
                let before = self.begun.load(Ordering::SeqCst);
                player.linger().await;
                let enabled = player.one_in(2) && wait.as_mut().enable();
                player.linger().await;
                let must = enabled || self.done.load(Ordering::SeqCst) > before;
                let ready = smol::future::poll_once(wait.as_mut()).await.is_some();
                assert!(ready || !must, "it did not go through");
                if !ready && player.one_in(2) {
                    wait.await;
                }
            }
            _ => {
                let before = self.done.load(Ordering::SeqCst);
                let woken = woken!(player, self.event);
                assert!(!woken || self.begun.load(Ordering::SeqCst) > before, "woken by no notify");
            }
        }
    }

    fn help(&self, _player: &mut Player) {
        if self.event.waiters() > 0 {
            self.open();
        }
    }

    fn check(&self) {
        assert!(!self.event.try_wait(), "nothing is stored");
    }

    fn queued(&self) -> usize {
        self.event.waiters()
    }
}

/// [`Meetings`] without a lock.
pub(crate) struct Meeting {
    event: Event,
    meetings: Meetings,
}

impl Meeting {
    fn notify_all(&self) {
        self.event.notify_all();
    }
}

impl Lock for Meeting {
    fn new(players: usize, draw: &mut Player) -> Self {
        Self { event: Event::new(), meetings: Meetings::new(players, draw) }
    }

    async fn step(&self, player: &mut Player) {
        let meeting = self.meetings.come(|| self.notify_all());
        while !self.meetings.has_met(meeting) {
            // It listens before it checks; the last may come behind that.
            let notified = if player.is_thread() {
                let listener = pin!(self.event.listen());
                if self.meetings.has_met(meeting) {
                    return;
                }
                player.linger().await;
                match player.limit() {
                    Limit::Never => Some(listener.wait()),
                    Limit::In(timeout, _) => listener.wait_for(timeout).ok(),
                    Limit::At(deadline) => listener.wait_until(deadline).ok(),
                }
            } else {
                let wait = self.event.wait_async();
                if self.meetings.has_met(meeting) {
                    return;
                }
                player.linger().await;
                player.fate().of(wait).await
            };
            if notified.is_none() {
                return self.meetings.give_up(meeting);
            }
        }
    }

    fn help(&self, _player: &mut Player) {
        self.meetings.complete(|| self.notify_all());
    }

    fn check(&self) {
        assert!(!self.event.try_wait(), "nothing is stored");
    }

    fn queued(&self) -> usize {
        self.event.waiters()
    }
}
