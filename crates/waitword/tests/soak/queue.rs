//! A bounded queue out of a mutex and two condition variables: each item comes out once.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use waitword::{Condvar, CondvarGuard, Mutex, OwnedMutexGuard};

use crate::event::Counted;
use crate::player::{Player, blocking, polling};
use crate::world::waiters;

const ROOM: usize = 4;

type Items = VecDeque<u64>;

#[derive(Default)]
pub(crate) struct Queue {
    items: Arc<Mutex<Items>>,
    not_empty: Arc<Condvar>,
    not_full: Arc<Condvar>,
    /// All that wait, or may be about to.
    putting: AtomicUsize,
    taking: AtomicUsize,
    next: AtomicU64,
    put: Tally,
    taken: Tally,
}

impl Queue {
    pub(crate) fn step(&self, player: &mut Player) {
        let put = player.one_in(2);
        let _counted = Counted::one_more(if put { &self.putting } else { &self.taking });
        match player.below(3) {
            0 => self.put_or_take(player, put, self.items.lock()),
            1 => self.put_or_take(player, put, self.items.lock_owned()),
            // Without any wait.
            _ => self.act(player, put, self.items.try_lock().filter(|items| !must_wait(put, items))),
        }
    }

    pub(crate) async fn step_async(&self, player: &mut Player) {
        let put = player.one_in(2);
        let _counted = Counted::one_more(if put { &self.putting } else { &self.taking });
        match player.below(3) {
            0 => self.put_or_take_async(player, put, self.items.lock_async().await).await,
            1 => self.put_or_take_async(player, put, self.items.lock_owned_async().await).await,
            _ => self.put_or_take_owned(player, put, self.items.lock_owned_async().await).await,
        }
    }

    fn put_or_take<G: CondvarGuard<Target = Items>>(&self, player: &mut Player, put: bool, mut items: G) {
        let (condvar, wait) = (self.condvar(put), |items: &mut Items| must_wait(put, items));
        let in_time = blocking! { player:
            Ok(condvar.wait_while(&mut items, wait)),
            timeout => condvar.wait_while_for(&mut items, timeout, wait),
            deadline => condvar.wait_while_until(&mut items, deadline, wait)
        };
        self.act(player, put, in_time.ok().map(|()| items));
    }

    async fn put_or_take_async<G: CondvarGuard<Target = Items>>(
        &self,
        player: &mut Player,
        put: bool,
        items: G,
    ) {
        let (condvar, wait) = (self.condvar(put), move |items: &mut Items| must_wait(put, items));
        let ended = polling! { player:
            Ok(condvar.wait_while_async(items, wait).await),
            timeout => async { with_guard(condvar.wait_while_async_for(items, timeout, wait).await) },
            deadline => async { with_guard(condvar.wait_while_async_until(items, deadline, wait).await) }
        };
        self.act(player, put, ended.and_then(Result::ok));
    }

    /// With a wait that borrows neither of the two.
    async fn put_or_take_owned(&self, player: &mut Player, put: bool, items: OwnedMutexGuard<Items>) {
        let (condvar, wait) = (self.condvar(put), move |items: &mut Items| must_wait(put, items));
        let ended = polling! { player:
            Ok(condvar.wait_while_owned_async(items, wait).await),
            timeout => condvar.wait_while_owned_async_for(items, timeout, wait).map(with_guard),
            deadline => condvar.wait_while_owned_async_until(items, deadline, wait).map(with_guard)
        };
        self.act(player, put, ended.and_then(Result::ok));
    }

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
            other.notify_one()
        };
        drop(held);
    }

    fn put_or_take_one(&self, put: bool, items: &mut Items) {
        if put {
            assert!(items.len() < ROOM);
            let item = self.next.fetch_add(1, Ordering::Relaxed);
            self.put.count(item);
            items.push_back(item);
        } else {
            self.taken.count(items.pop_front().expect("there was one"));
        }
    }

    /// An item for the consumers where there is none, and room for the producers where there is none. What lies
    /// between must find its way without help.
    pub(crate) fn help(&self) {
        let Ok(mut items) = self.items.lock_for(Duration::from_millis(20)) else { return };
        let put = match items.len() {
            0 if self.taking.load(Ordering::SeqCst) > 0 => true,
            ROOM if self.putting.load(Ordering::SeqCst) > 0 => false,
            _ => return,
        };
        self.put_or_take_one(put, &mut items);
        drop(items);
        self.condvar(!put).notify_one();
    }

    pub(crate) fn check(&self) {
        let items = self.items.try_lock().expect("it is free");
        items.iter().for_each(|&item| self.taken.count(item));
        assert_eq!(self.taken.sums(), self.put.sums(), "items are lost, or came twice");
    }

    pub(crate) fn queued(&self) -> usize {
        waiters(&*self.items) + waiters(&*self.not_empty) + waiters(&*self.not_full)
    }
}

fn must_wait(put: bool, items: &Items) -> bool {
    if put { items.len() == ROOM } else { items.is_empty() }
}

/// The guard comes back in any case; only in time it is of use.
fn with_guard<G, E>((guard, result): (G, Result<(), E>)) -> Result<G, E> {
    result.map(|()| guard)
}

/// Of different items no two lots have the same sums, but by a rare chance.
#[derive(Default)]
struct Tally {
    count: AtomicU64,
    sum: AtomicU64,
    squares: AtomicU64,
}

impl Tally {
    fn count(&self, item: u64) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(item, Ordering::Relaxed);
        self.squares.fetch_add(item * item, Ordering::Relaxed);
    }

    fn sums(&self) -> [u64; 3] {
        [&self.count, &self.sum, &self.squares].map(|sum| sum.load(Ordering::Relaxed))
    }
}
