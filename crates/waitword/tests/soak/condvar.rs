//! `Condvar`: a bounded queue, where each item is worth one notify; and a meeting, where the last to come notifies all.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use waitword::{Condvar, CondvarGuard, Mutex, MutexGuard, OwnedMutexGuard};

use super::parties::Meetings;
use super::player::{Player, got};
use super::{Counted, Lock, waiters};

/// Each item comes out once, in order.
#[derive(Default)]
pub(crate) struct Queue {
    items: Arc<Mutex<Items>>,
    room: usize,
    not_empty: Arc<Condvar>,
    not_full: Arc<Condvar>,
    /// All that wait, or may be about to.
    putting: AtomicUsize,
    taking: AtomicUsize,
}

#[derive(Default)]
struct Items {
    queue: VecDeque<u64>,
    put: u64,
    taken: u64,
}

impl Queue {
    /// What a producer or a consumer waits for.
    fn condvar(&self, put: bool) -> &Arc<Condvar> {
        if put { &self.not_full } else { &self.not_empty }
    }

    fn act<G: CondvarGuard<Target = Items>>(&self, player: &mut Player, put: bool, items: Option<G>) {
        let Some(mut items) = items else { return };
        self.put_or_take_one(put, &mut items);
        // With the mutex held or without, one or all: a waiter that cannot go on waits again.
        let held = player.one_in(2).then_some(items);
        let other = self.condvar(!put);
        if player.one_in(8) {
            other.notify_all()
        } else {
            usize::from(other.notify_one())
        };
        drop(held);
    }

    fn put_or_take_one(&self, put: bool, items: &mut Items) {
        if put {
            assert!(items.queue.len() < self.room);
            items.queue.push_back(items.put);
            items.put += 1;
        } else {
            assert_eq!(items.queue.pop_front(), Some(items.taken), "items are lost, or came twice");
            items.taken += 1;
        }
    }
}

impl Lock for Queue {
    fn new(_players: usize, draw: &mut Player) -> Self {
        Self { room: 1 + draw.below(4), ..Self::default() }
    }

    async fn step(&self, player: &mut Player) {
        let (put, room) = (player.one_in(2), self.room);
        let _counted = Counted::one_more(if put { &self.putting } else { &self.taking });
        let must_wait = move |items: &mut Items| items.queue.len() == if put { room } else { 0 };
        let condvar = self.condvar(put);
        macro_rules! waited {
            ($items:expr; $future:ident) => {{
                let mut items = $items;
                let items = got! { player:
                    { condvar.wait_while(&mut items, must_wait); Ok(items) },
                    Ok(condvar.$future(items, must_wait).await);
                    time => condvar.wait_while_for(&mut items, time, must_wait).map(|()| items),
                    async { with_guard(condvar.$future(items, must_wait).timeout(time).await) };
                    time => condvar.wait_while_until(&mut items, time, must_wait).map(|()| items),
                    async { with_guard(condvar.$future(items, must_wait).deadline(time).await) }
                };
                self.act(player, put, items);
            }};
        }
        match player.below(3) {
            0 => waited!(lock(player, &self.items).await;
                wait_while_async),
            1 => waited!(lock_owned(player, &self.items).await;
                wait_while_async),
            // Without any wait.
            _ if player.is_thread() => {
                let items =
                    self.items.try_lock().filter(|items| items.queue.len() != if put { room } else { 0 });
                self.act(player, put, items);
            }
            // With a wait that borrows neither of the two.
            _ => waited!(lock_owned(player, &self.items).await;
                wait_while_owned_async),
        }
    }

    /// An item for the consumers where there is none, and room for the producers where there is none. What lies
    /// between must find its way without help.
    fn help(&self, _player: &mut Player) {
        let Ok(mut items) = self.items.lock_for(Duration::from_millis(20)) else { return };
        let put = match items.queue.len() {
            0 if self.taking.load(Ordering::SeqCst) > 0 => true,
            full if full == self.room && self.putting.load(Ordering::SeqCst) > 0 => false,
            _ => return,
        };
        self.put_or_take_one(put, &mut items);
        drop(items);
        self.condvar(!put).notify_one();
    }

    fn check(&self) {
        let items = self.items.try_lock().expect("it is free");
        assert!(items.queue.iter().copied().eq(items.taken..items.put), "items are lost, or came twice");
    }

    fn queued(&self) -> usize {
        waiters(&*self.items) + waiters(&*self.not_empty) + waiters(&*self.not_full)
    }
}

async fn lock<'a, T>(player: &Player, mutex: &'a Mutex<T>) -> MutexGuard<'a, T> {
    if player.is_thread() { mutex.lock() } else { mutex.lock_async().await }
}

async fn lock_owned<T>(player: &Player, mutex: &Arc<Mutex<T>>) -> OwnedMutexGuard<T> {
    if player.is_thread() { mutex.lock_owned() } else { mutex.lock_owned_async().await }
}

/// The guard comes back in any case; only in time it is of use.
fn with_guard<G, E>((guard, result): (G, Result<(), E>)) -> Result<G, E> {
    result.map(|()| guard)
}

/// [`Meetings`] whose state the mutex guards.
pub(crate) struct Meeting {
    meetings: Mutex<Meetings>,
    all_are_here: Condvar,
}

impl Lock for Meeting {
    fn new(players: usize, draw: &mut Player) -> Self {
        Self { meetings: Mutex::new(Meetings::new(players, draw)), all_are_here: Condvar::new() }
    }

    async fn step(&self, player: &mut Player) {
        let (mut meetings, all) = (lock(player, &self.meetings).await, &self.all_are_here);
        let meeting = meetings.come(|| _ = all.notify_all());
        while !meetings.has_met(meeting) {
            let notified = got! { player:
                { all.wait(&mut meetings); Ok(meetings) }, Ok(all.wait_async(meetings).await);
                time => all.wait_for(&mut meetings, time).map(|()| meetings),
                async { with_guard(all.wait_async(meetings).timeout(time).await) };
                time => all.wait_until(&mut meetings, time).map(|()| meetings),
                async { with_guard(all.wait_async(meetings).deadline(time).await) }
            };
            meetings = match notified {
                Some(meetings) => meetings,
                None => return lock(player, &self.meetings).await.give_up(meeting),
            };
        }
    }

    fn help(&self, _player: &mut Player) {
        if let Ok(meetings) = self.meetings.lock_for(Duration::from_millis(20)) {
            meetings.complete(|| _ = self.all_are_here.notify_all());
        }
    }

    fn check(&self) {
        assert!(!self.meetings.is_locked());
    }

    fn queued(&self) -> usize {
        waiters(&self.meetings) + waiters(&self.all_are_here)
    }
}
