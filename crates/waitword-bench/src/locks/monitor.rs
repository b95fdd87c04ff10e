//! Monitors: a mutex and its two condition variables.

use std::collections::VecDeque;
use std::future::Future;
use std::ops::DerefMut;
use std::pin::pin;

use event_listener::{Event, IntoNotification as _, Listener as _};

use super::peers::unpoisoned;
use crate::executor::block_on;
use crate::workload::OURS;

/// The data that the mutex protects: a queue, and a generation.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) items: VecDeque<u64>,
    /// The number of items that were taken from the queue.
    pub(crate) taken: u64,
    pub(crate) closed: bool,
    pub(crate) generation: u32,
}

/// The conditions to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// There is an item, or a new generation.
    Something,
    /// There is capacity.
    Room,
}

/// A monitor for threads and tasks. By default, a task blocks its worker.
pub(crate) trait Monitor: Default + Send + Sync + 'static {
    /// The name in the tables.
    const NAME: &'static str;

    /// Unlocks when dropped.
    type Guard<'a>: DerefMut<Target = State>;

    fn lock(&self) -> Self::Guard<'_>;

    fn lock_async(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        async { self.lock() }
    }

    /// Releases the mutex, waits for a notify (or a spurious wakeup), and acquires the mutex again.
    fn wait<'a>(&'a self, condition: Condition, guard: Self::Guard<'a>) -> Self::Guard<'a>;

    fn wait_async<'a>(
        &'a self,
        condition: Condition,
        guard: Self::Guard<'a>,
    ) -> impl Future<Output = Self::Guard<'a>> + Send
    where
        Self::Guard<'a>: Send,
    {
        async move { self.wait(condition, guard) }
    }

    fn notify_one(&self, condition: Condition);
    fn notify_all(&self, condition: Condition);
}

/// One row per monitor: its name here and in the tables, its mutex, guard and condition variable, and their operations.
macro_rules! monitors {
    ($($Name:ident, $name:expr, $mutex:ty, $guard:ty, $condition:ty {
        lock |$l:ident| $lock:expr;
        wait |$wm:ident, $wc:ident, $wg:ident| $wait:expr;
        notify |$n:ident| $one:expr, $all:expr;
        $(lock_async |$la:ident| $lock_async:expr;
        wait_async |$am:ident, $ac:ident, $ag:ident| $wait_async:expr;)?
    })+) => {$(
        #[derive(Default)]
        pub(crate) struct $Name {
            mutex: $mutex,
            conditions: [$condition; 2],
        }

        impl Monitor for $Name {
            const NAME: &'static str = $name;

            type Guard<'a> = $guard;

            #[inline]
            fn lock(&self) -> Self::Guard<'_> {
                let $l = &self.mutex;
                $lock
            }

            fn wait<'a>(&'a self, condition: Condition, $wg: Self::Guard<'a>) -> Self::Guard<'a> {
                let ($wm, $wc) = (&self.mutex, &self.conditions[condition as usize]);
                // Some condition variables relock the mutex that the guard refers to.
                let _ = $wm;
                $wait
            }

            fn notify_one(&self, condition: Condition) {
                let $n = &self.conditions[condition as usize];
                $one;
            }

            fn notify_all(&self, condition: Condition) {
                let $n = &self.conditions[condition as usize];
                $all;
            }

            $(#[inline]
            fn lock_async(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
                let $la = &self.mutex;
                $lock_async
            }

            fn wait_async<'a>(
                &'a self,
                condition: Condition,
                $ag: Self::Guard<'a>,
            ) -> impl Future<Output = Self::Guard<'a>> + Send
            where
                Self::Guard<'a>: Send,
            {
                let ($am, $ac) = (&self.mutex, &self.conditions[condition as usize]);
                let _ = $am;
                $wait_async
            })?
        }
    )+};
}

monitors! {
    WaitwordMonitor, OURS, waitword::Mutex<State>, waitword::MutexGuard<'a, State>, waitword::Condvar {
        lock |mutex| mutex.lock();
        wait |_mutex, condition, guard| relocked(guard, |guard| condition.wait(guard));
        notify |condition| condition.notify_one(), condition.notify_all();
        lock_async |mutex| mutex.lock_async();
        wait_async |_mutex, condition, guard| condition.wait_async(guard);
    }

    StdMonitor, "std", std::sync::Mutex<State>, std::sync::MutexGuard<'a, State>, std::sync::Condvar {
        lock |mutex| unpoisoned(mutex.lock());
        wait |_mutex, condition, guard| unpoisoned(condition.wait(guard));
        notify |condition| condition.notify_one(), condition.notify_all();
    }

    ParkingLotMonitor, "parking_lot", parking_lot::Mutex<State>, parking_lot::MutexGuard<'a, State>, parking_lot::Condvar {
        lock |mutex| mutex.lock();
        wait |_mutex, condition, guard| relocked(guard, |guard| condition.wait(guard));
        notify |condition| condition.notify_one(), condition.notify_all();
    }

    UsyncMonitor, "usync", usync::Mutex<State>, usync::MutexGuard<'a, State>, usync::Condvar {
        lock |mutex| mutex.lock();
        wait |_mutex, condition, guard| relocked(guard, |guard| condition.wait(guard));
        notify |condition| condition.notify_one(), condition.notify_all();
    }

    // async-lock has no condition variable, but event-listener, on which it is built, can be used as one. Its plain `notify(1)` does
    // nothing while an earlier notified waiter has not been polled.
    AsyncLockMonitor, "async-lock and event-listener", async_lock::Mutex<State>, async_lock::MutexGuard<'a, State>, Event {
        lock |mutex| mutex.lock_blocking();
        wait |mutex, event, guard| {
            let listener = event.listen();
            drop(guard);
            listener.wait();
            mutex.lock_blocking()
        };
        notify |event| event.notify(1.additional()), event.notify(usize::MAX);
        lock_async |mutex| mutex.lock();
        wait_async |mutex, event, guard| async {
            let listener = event.listen();
            drop(guard);
            listener.await;
            mutex.lock().await
        };
    }

    // tokio has no condition variable. Its users use `Notify`.
    TokioMonitor, "tokio Mutex and Notify", tokio::sync::Mutex<State>, tokio::sync::MutexGuard<'a, State>, tokio::sync::Notify {
        lock |mutex| mutex.blocking_lock();
        wait |mutex, notify, guard| block_on(notified(mutex, notify, guard));
        notify |notify| notify.notify_one(), notify.notify_waiters();
        lock_async |mutex| mutex.lock();
        wait_async |mutex, notify, guard| notified(mutex, notify, guard);
    }
}

/// Waits by a function that relocks the guard.
fn relocked<G>(mut guard: G, wait: impl FnOnce(&mut G)) -> G {
    wait(&mut guard);
    guard
}

async fn notified<'a>(
    mutex: &'a tokio::sync::Mutex<State>,
    notify: &'a tokio::sync::Notify,
    guard: tokio::sync::MutexGuard<'a, State>,
) -> tokio::sync::MutexGuard<'a, State> {
    let mut notified = pin!(notify.notified());
    // Enqueue before the mutex is released: a notify between the two would be lost.
    notified.as_mut().enable();
    drop(guard);
    notified.await;
    mutex.lock().await
}
