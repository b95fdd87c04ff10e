//! Of two events one only wakes one at a time, the other all.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::Poll;

use waitword::{Event, EventNotified};

use crate::player::{Player, blocking, polling};

/// The woken waiter has the baton, and no other; it is passed only when a waiter has had it. So each wakeup arrives
/// once, before the next.
#[derive(Default)]
pub(crate) struct Baton {
    event: Arc<Event>,
    passed: AtomicBool,
    waiting: AtomicUsize,
}

impl Baton {
    pub(crate) fn step(&self, player: &mut Player) {
        match player.below(8) {
            0..3 => self.pass(player),
            3 => self.received(self.event.try_wait()),
            _ => {
                let _waiting = Counted::one_more(&self.waiting);
                let woken = blocking! { player:
                    Ok(self.event.wait()),
                    timeout => self.event.wait_for(timeout),
                    deadline => self.event.wait_until(deadline)
                };
                self.received(woken.is_ok());
            }
        }
    }

    pub(crate) async fn step_async(&self, player: &mut Player) {
        match player.below(8) {
            0..3 => self.pass(player),
            3 => {
                // Queued before it is polled, whether it is then or not.
                let mut wait = pin!(self.event.wait_async());
                let woken = wait.as_mut().enable();
                self.pass(player);
                if woken || player.one_in(2) {
                    let _waiting = Counted::one_more(&self.waiting);
                    wait.await;
                    self.received(true);
                }
            }
            4..6 => {
                let _waiting = Counted::one_more(&self.waiting);
                let woken = polling! { player:
                    Ok(self.event.wait_owned_async().await),
                    timeout => self.event.wait_owned_async_for(timeout),
                    deadline => self.event.wait_owned_async_until(deadline)
                };
                self.received(matches!(woken, Some(Ok(()))));
            }
            _ => {
                let _waiting = Counted::one_more(&self.waiting);
                let woken = polling! { player:
                    Ok(self.event.wait_async().await),
                    timeout => self.event.wait_async_for(timeout),
                    deadline => self.event.wait_async_until(deadline)
                };
                self.received(matches!(woken, Some(Ok(()))));
            }
        }
    }

    /// To the head waiter, or the last.
    fn pass(&self, player: &mut Player) {
        let last = player.one_in(2);
        self.pass_to(if last { Event::notify_last } else { Event::notify_one });
    }

    fn pass_to(&self, notify: fn(&Event) -> EventNotified) {
        if !self.passed.swap(true, Ordering::SeqCst) {
            let notified = notify(&self.event);
            assert_ne!(notified, EventNotified::AlreadyStored, "there was another");
        }
    }

    fn received(&self, woken: bool) {
        assert!(
            !woken || self.passed.swap(false, Ordering::SeqCst),
            "woken by no notify, or together with another"
        );
    }

    pub(crate) fn help(&self) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            self.pass_to(Event::notify_one);
        }
    }

    pub(crate) fn check(&self) {
        assert_eq!(
            self.event.try_wait(),
            self.passed.load(Ordering::SeqCst),
            "the baton is lost, or there are two"
        );
    }

    pub(crate) fn queued(&self) -> usize {
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
    pub(crate) fn step(&self, player: &mut Player) {
        match player.below(8) {
            0 => self.open(),
            1 => assert!(!self.event.try_wait(), "nothing is stored"),
            _ => {
                let before = self.done.load(Ordering::SeqCst);
                let woken = blocking! { player:
                    Ok(self.event.wait()),
                    timeout => self.event.wait_for(timeout),
                    deadline => self.event.wait_until(deadline)
                };
                self.went_through(woken.is_ok(), before);
            }
        }
    }

    pub(crate) async fn step_async(&self, player: &mut Player) {
        match player.below(8) {
            0 => self.open(),
            1..4 => {
                let mut wait = pin!(self.event.wait_async());
                // Openings from this number on have begun after the future was made.
                let before = self.begun.load(Ordering::SeqCst);
                player.linger_async().await;
                let enabled = player.one_in(2) && wait.as_mut().enable();
                player.linger_async().await;
                let must = enabled || self.done.load(Ordering::SeqCst) > before;
                let ready = poll_fn(|cx| Poll::Ready(wait.as_mut().poll(cx).is_ready())).await;
                assert!(ready || !must, "it did not go through");
                if !ready && player.one_in(2) {
                    wait.await;
                }
            }
            4..6 => {
                let before = self.done.load(Ordering::SeqCst);
                let woken = polling! { player:
                    Ok(self.event.wait_owned_async().await),
                    timeout => self.event.wait_owned_async_for(timeout),
                    deadline => self.event.wait_owned_async_until(deadline)
                };
                self.went_through(matches!(woken, Some(Ok(()))), before);
            }
            _ => {
                let before = self.done.load(Ordering::SeqCst);
                let woken = polling! { player:
                    Ok(self.event.wait_async().await),
                    timeout => self.event.wait_async_for(timeout),
                    deadline => self.event.wait_async_until(deadline)
                };
                self.went_through(matches!(woken, Some(Ok(()))), before);
            }
        }
    }

    fn open(&self) {
        if !self.opening.swap(true, Ordering::SeqCst) {
            let number = self.begun.fetch_add(1, Ordering::SeqCst);
            self.event.notify_all();
            self.done.store(number + 1, Ordering::SeqCst);
            self.opening.store(false, Ordering::SeqCst);
        }
    }

    /// With the number of openings that were over before it waited.
    fn went_through(&self, woken: bool, before: u64) {
        assert!(!woken || self.begun.load(Ordering::SeqCst) > before, "woken by no notify");
    }

    pub(crate) fn help(&self) {
        if self.event.waiters() > 0 {
            self.open();
        }
    }

    pub(crate) fn check(&self) {
        assert!(!self.event.try_wait(), "nothing is stored");
    }

    pub(crate) fn queued(&self) -> usize {
        self.event.waiters()
    }
}

/// Counted for as long as it is there.
pub(crate) struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    pub(crate) fn one_more(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
