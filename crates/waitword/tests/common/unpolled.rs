//! Futures that are never polled (Oxide RFD 609): signalled, they do not respond, and the waiters behind them get the lock
//! all the same.
//!
//! None of these tests measures time. Each would hang if an unpolled future could keep the lock from the others.

use std::fmt::Debug;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use futures_util::stream::{self, FuturesUnordered, StreamExt};
use waitword::STALL_TIMEOUT;

use super::exclusive::{self, Exclusive, Held, Waiting};
use super::{Task, block_on, until};

/// A lock, and futures that wait for it in its queue: they are its acquirers, or wait for a condition first.
pub(crate) trait Queue: Send + Sync + 'static {
    type Lock: Exclusive;
    type Way: Copy + Debug + Send + Sync + 'static;
    const WAYS: &'static [Self::Way];

    fn free() -> Arc<Self>;

    fn the_lock(self: &Arc<Self>) -> &Arc<Self::Lock>;

    /// Whatever has futures wait that are polled next.
    fn hold(&self) -> Option<Held<'_>>;

    /// What they wait for when that is no more: each ends then, one after the other.
    fn notify(&self);

    fn wait(self: &Arc<Self>, way: Self::Way) -> Waiting<'_>;

    /// Waits for the lock as any other task does.
    fn other(self: &Arc<Self>) -> Waiting<'_> {
        Exclusive::wait(self.the_lock(), exclusive::Way::Borrowed)
    }

    /// Waits as a thread.
    fn block(&self);

    /// How many are queued for what they wait for first.
    fn waiters(&self) -> usize;

    /// A wait that was polled once.
    fn polled(self: &Arc<Self>, way: Self::Way) -> Task<'_, Held<'_>> {
        Task::queued(self.wait(way))
    }
}

impl<L: Exclusive> Queue for L {
    type Lock = L;
    type Way = exclusive::Way;
    const WAYS: &'static [Self::Way] = &exclusive::WAYS;

    fn free() -> Arc<Self> {
        <L as Exclusive>::free()
    }

    fn the_lock(self: &Arc<Self>) -> &Arc<L> {
        self
    }

    fn hold(&self) -> Option<Held<'_>> {
        Some(Exclusive::lock(self))
    }

    fn notify(&self) {}

    fn wait(self: &Arc<Self>, way: Self::Way) -> Waiting<'_> {
        Exclusive::wait(self, way)
    }

    fn block(&self) {
        drop(Exclusive::lock(self));
    }

    fn waiters(&self) -> usize {
        Exclusive::waiters(self)
    }
}

/// All of them, for one lock; or those of waiters; of a signalled waiter's position; of attempts.
macro_rules! unpolled_futures_keep_no_other_from_the_lock {
    ($Lock:ty) => {
        $crate::common::unpolled::unpolled_futures_keep_no_other_from_the_lock!(waiters $Lock);
        $crate::common::unpolled::unpolled_futures_keep_no_other_from_the_lock!(position $Lock);
        $crate::common::unpolled::unpolled_futures_keep_no_other_from_the_lock!(attempts $Lock);
    };
    (waiters $Lock:ty) => {
        $crate::common::unpolled::unpolled_futures_keep_no_other_from_the_lock! { $Lock:
            select_whose_handler_wants_what_an_unpolled_branch_was_signalled_for,
            a_task_waits_behind_its_own_unpolled_future,
            a_set_of_futures_that_is_not_polled_meanwhile,
            a_stream_that_buffers_locks_while_its_body_wants_one,
            a_stream_that_buffers_locks_in_any_order,
            threads_behind_unpolled_futures,
            tasks_behind_unpolled_futures,
            a_leaked_future_keeps_no_other_from_the_lock,
        }
    };
    (position $Lock:ty) => {
        $crate::common::unpolled::unpolled_futures_keep_no_other_from_the_lock! { $Lock:
            a_future_stored_and_polled_later_keeps_its_position,
        }
    };
    (attempts $Lock:ty) => {
        $crate::common::unpolled::unpolled_futures_keep_no_other_from_the_lock! { $Lock:
            an_attempt_gets_past_an_unpolled_future,
            an_attempt_without_time_gets_past_an_unpolled_future,
        }
    };
    ($Lock:ty: $($test:ident,)+) => {$(
        #[test]
        fn $test() {
            $crate::common::unpolled::$test::<$Lock>();
        }
    )+};
}
pub(crate) use unpolled_futures_keep_no_other_from_the_lock;

/// The shape of the report: one branch of a `select!` waits for the lock, another wins and, in its handler, wants the
/// same lock, while the first is alive and not polled.
pub(crate) fn select_whose_handler_wants_what_an_unpolled_branch_was_signalled_for<Q: Queue>() {
    async fn body<Q: Queue>(queue: Arc<Q>, way: Q::Way) {
        let lock = queue.the_lock();
        let held = queue.hold();
        let mut first = pin!(queue.wait(way));
        tokio::select! {
            biased;
            _ = &mut first => unreachable!("it has to wait"),
            () = tokio::task::yield_now() => {
                drop(held);
                queue.notify();
                // `first` is signalled, and this waits behind it.
                let barged_in = lock.try_lock().expect("a signal is no handoff");
                let mut second = pin!(queue.other());
                assert!(poll_once(second.as_mut()).await.is_pending());
                drop(barged_in);
                drop(second.await);
                drop(queue.other().await);
            }
        }
        drop(first.await);
        assert_left(&queue);
    }
    for &way in Q::WAYS {
        let current = tokio::runtime::Builder::new_current_thread().build().unwrap();
        current.block_on(body(Q::free(), way));
        let multi = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        multi.block_on(async { tokio::spawn(body(Q::free(), way)).await.unwrap() });
        smol::future::block_on(body(Q::free(), way));
    }
}

pub(crate) fn a_task_waits_behind_its_own_unpolled_future<Q: Queue>() {
    for &way in Q::WAYS {
        let queue = Q::free();
        block_on(async {
            let held = queue.hold();
            let [mut first, mut second] = [queue.wait(way), queue.wait(way)];
            assert!(poll_once(first.as_mut()).await.is_pending());
            assert!(poll_once(second.as_mut()).await.is_pending());
            drop(held);
            queue.notify();
            drop(second.await);
            // And a barging acquirer behind it.
            drop(queue.other().await);
            drop(first.await);
        });
        assert_left(&queue);
    }
}

pub(crate) fn a_set_of_futures_that_is_not_polled_meanwhile<Q: Queue>() {
    let queue = Q::free();
    block_on(async {
        let held = queue.hold();
        let mut set: FuturesUnordered<_> = Q::WAYS.iter().map(|&way| queue.wait(way)).collect();
        assert!(poll_once(pin!(set.next())).await.is_pending());
        assert_eq!(queue.waiters(), Q::WAYS.len());
        drop(held);
        queue.notify();
        for _ in 0..3 {
            // The set is not polled while this waits.
            drop(queue.other().await);
        }
        let mut had = 0;
        while let Some(held) = set.next().await {
            drop(held);
            // Some of the set have been signalled, and are not polled here.
            drop(queue.other().await);
            had += 1;
        }
        assert_eq!(had, Q::WAYS.len());
    });
    assert_left(&queue);
}

pub(crate) fn a_stream_that_buffers_locks_while_its_body_wants_one<Q: Queue>() {
    let queue = Q::free();
    block_on(async {
        let held = queue.hold();
        let work = stream::iter(0..12).map(async |turn| {
            drop(queue.wait(Q::WAYS[turn % Q::WAYS.len()]).await);
            turn
        });
        let mut work = pin!(work.buffered(4));
        assert!(poll_once(pin!(work.next())).await.is_pending());
        assert_eq!(queue.waiters(), 4);
        drop(held);
        queue.notify();
        let mut turns = Vec::new();
        while let Some(turn) = work.next().await {
            turns.push(turn);
            // The buffered ones are queued or signalled, and wait until this is over.
            drop(queue.other().await);
            queue.notify();
        }
        assert_eq!(turns, (0..12).collect::<Vec<_>>());
    });
    assert_left(&queue);
}

pub(crate) fn a_stream_that_buffers_locks_in_any_order<Q: Queue>() {
    let queue = Q::free();
    block_on(async {
        let held = queue.hold();
        let work = stream::iter(0..12).map(|turn| queue.wait(Q::WAYS[turn % Q::WAYS.len()]));
        let mut work = pin!(work.buffer_unordered(4));
        assert!(poll_once(pin!(work.next())).await.is_pending());
        drop(held);
        queue.notify();
        let mut had = 0;
        while let Some(held) = work.next().await {
            drop(held);
            drop(Exclusive::wait(queue.the_lock(), exclusive::Way::Owned).await);
            queue.notify();
            had += 1;
        }
        assert_eq!(had, 12);
    });
    assert_left(&queue);
}

pub(crate) fn a_future_stored_and_polled_later_keeps_its_position<Q: Queue>() {
    for &way in Q::WAYS {
        let queue = Q::free();
        let lock = queue.the_lock();
        let held = queue.hold();
        let mut stored = queue.polled(way);
        drop(held);
        queue.notify();
        // Others come, wait and go. The stored future has been signalled.
        for _ in 0..2 {
            drop(block_on(queue.other()));
            drop(lock.lock());
        }
        let held = lock.lock();
        assert!(stored.poll().is_pending());
        let behind = Task::queued(queue.other());
        let released = Instant::now();
        drop(held);
        let behind_is_woken = behind.is_woken();
        // On a slow machine the watchdog may have signalled the other, too.
        if released.elapsed() < STALL_TIMEOUT {
            assert!(stored.is_woken() && !behind_is_woken, "the position was lost");
        }
        drop(stored.finish());
        drop(behind.finish());
        assert_left(&queue);
    }
}

pub(crate) fn threads_behind_unpolled_futures<Q: Queue>() {
    for unpolled in 1..4 {
        let queue = Q::free();
        let held = queue.hold();
        let futures: Vec<_> = Q::WAYS.iter().take(unpolled).map(|&way| queue.polled(way)).collect();
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    queue.block();
                    drop(queue.the_lock().lock_for(Duration::MAX).unwrap());
                });
            }
            until(|| queue.waiters() == unpolled + 3);
            drop(held);
            queue.notify();
        });
        // Their pending signals do no harm when they go.
        drop(futures);
        assert_left(&queue);
    }
}

pub(crate) fn tasks_behind_unpolled_futures<Q: Queue>() {
    for &way in Q::WAYS {
        let queue = Q::free();
        let held = queue.hold();
        let unpolled = queue.polled(way);
        let behind: Vec<_> = Q::WAYS.iter().map(|&way| queue.polled(way)).collect();
        drop(held);
        queue.notify();
        assert!(unpolled.is_woken());
        for task in behind {
            // Each is signalled without `unpolled` being polled.
            drop(task.finish());
        }
        drop(unpolled.finish());
        assert_left(&queue);
    }
}

/// A future that is leaked while it is queued is never polled again, and never leaves.
pub(crate) fn a_leaked_future_keeps_no_other_from_the_lock<Q: Queue>() {
    let queue: &'static Arc<Q> = Box::leak(Box::new(Q::free()));
    let held = queue.hold();
    let mut leaked = queue.wait(Q::WAYS[0]);
    assert!(block_on(poll_once(leaked.as_mut())).is_pending());
    std::mem::forget(leaked);
    let thread = thread::spawn(|| {
        queue.block();
        drop(block_on(Exclusive::wait(queue.the_lock(), exclusive::Way::Timed)));
    });
    until(|| queue.waiters() == 2);
    drop(held);
    queue.notify();
    thread.join().unwrap();
    drop(queue.the_lock().lock());
}

/// Others barged past the signalled future until the lock was reserved for it, and no waiter is queued behind it that the
/// watchdog could signal in its place.
pub(crate) fn an_attempt_gets_past_an_unpolled_future<Q: Queue>() {
    past_an_unpolled_future::<Q>(|lock| lock.is_free());
}

pub(crate) fn an_attempt_without_time_gets_past_an_unpolled_future<Q: Queue>() {
    past_an_unpolled_future::<Q>(|lock| lock.lock_for(Duration::ZERO).is_some());
}

fn past_an_unpolled_future<Q: Queue>(takes_at_once: impl Fn(&Q::Lock) -> bool) {
    for &way in Q::WAYS {
        until(|| {
            let queue = Q::free();
            let held = queue.hold();
            let unpolled = queue.polled(way);
            drop(held);
            queue.notify();
            let signalled = Instant::now();
            let mut is_reserved = false;
            while !is_reserved && signalled.elapsed() < STALL_TIMEOUT {
                is_reserved = !takes_at_once(queue.the_lock());
            }
            until(|| takes_at_once(queue.the_lock()));
            drop(unpolled.finish());
            assert_left(&queue);
            // Once more if not: the watchdog may have skipped it, on a slow machine.
            is_reserved
        });
    }
}

#[track_caller]
fn assert_left<Q: Queue>(queue: &Arc<Q>) {
    assert!(queue.the_lock().is_free());
    assert_eq!((queue.waiters(), Exclusive::waiters(&**queue.the_lock())), (0, 0));
}

pub(crate) async fn poll_once<F: Future + ?Sized>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}
