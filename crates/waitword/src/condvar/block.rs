//! The waits of threads.

use std::mem;
use std::pin::pin;
use waitword_core::time::Instant;

use waitword_core::observe::Caller;
use waitword_core::observe::holders::{HoldId, not_kept};
use waitword_core::{Parker, Table, may_block};

use crate::acquire::{Handle, WasSent, held_by_thread};
use crate::condition::Waited;
use crate::condvar::guard::CondvarGuard;
use crate::condvar::raw::{RawCondvar, Waiting};
use crate::drive::drive;
use crate::error::LockError;
use crate::sync::MODEL;
use crate::unlocked::AcquireAgain;

/// Waits until notified, until `deadline` at the latest. Fails if this thread must not block.
#[track_caller]
pub(super) fn wait_until<G: CondvarGuard>(
    raw: &RawCondvar,
    guard: &mut G,
    deadline: Option<Instant>,
) -> Result<(), LockError> {
    if !may_block() {
        return Err(LockError::BlockingForbidden);
    }
    block(raw, guard, deadline)
}

/// As [`wait_until`], while the condition holds.
#[track_caller]
pub(super) fn wait_while_until<G: CondvarGuard>(
    raw: &RawCondvar,
    guard: &mut G,
    deadline: Option<Instant>,
    mut condition: impl FnMut(&mut G::Target) -> bool,
) -> Result<(), LockError> {
    while condition(guard) {
        match wait_until(raw, guard, deadline) {
            Ok(()) => {}
            // Other holders may have changed the value before this thread acquired the mutex.
            Err(LockError::TimedOut(_)) if !condition(guard) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The wait of a thread that may block.
#[track_caller]
pub(super) fn block<G: CondvarGuard>(
    raw: &RawCondvar,
    guard: &mut G,
    deadline: Option<Instant>,
) -> Result<(), LockError> {
    let parker = Parker::current();
    let handle = guard.handle();
    let mutex = handle.raw();
    let mut waiting = pin!(Waiting::new(raw.at(), mutex));
    waiting.as_mut().enqueue(parker.waker(), deadline.is_some());
    // The guard must not be dropped before the mutex is locked again.
    let (caller, held) = (Caller::here(), guard.keep(not_kept()));
    let sent = WasSent::look(mutex, (), held);
    let unwinding = AcquireAgain { raw: mutex, ask: (), hold: &mut { HoldId::NONE }, sent, caller };
    mutex.release(held);
    // Before the first sleep: a notified waiter is signalled as soon as the mutex is free. With others in front, a spin would
    // only keep a CPU from them.
    if !MODEL && Table::global().waiters(raw.at()) <= 1 {
        parker.spin(deadline, || waiting.is_signalled());
    }
    let (_, result) = drive(&parker, waiting, deadline);
    let hold = held_by_thread(mutex, (), caller, false);
    unwinding.sent.say(mutex, (), hold);
    mem::forget(unwinding);
    guard.keep(hold);
    result
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::{Arc, mpsc};
    use std::task::{Context, Wake, Waker};
    use std::thread;

    use waitword_core::forbid_blocking;

    use super::*;
    use crate::acquire::{Acquire, HasRaw};
    use crate::mutex::{Mutex, OwnedMutexGuard};

    /// Has another thread hold the mutex, forbids its own to block, and panics.
    struct Forbids {
        mutex: Arc<Mutex<()>>,
        holder: mpsc::SyncSender<OwnedMutexGuard<()>>,
    }

    impl Wake for Forbids {
        fn wake(self: Arc<Self>) {
            self.holder.send(self.mutex.try_lock_owned().expect("released just now")).expect("it waits");
            mem::forget(forbid_blocking());
            panic!("the waker");
        }
    }

    #[test]
    fn a_wait_that_unwinds_locks_the_mutex_also_where_blocking_is_forbidden_by_then() {
        let (mutex, condvar) = (Arc::new(Mutex::new(())), RawCondvar::new());
        let (to_holder, held) = mpsc::sync_channel(1);
        let mut guard = mutex.lock();
        let mut next = Box::pin(Arc::clone(&mutex).lock_owned_async());
        let waker = Waker::from(Arc::new(Forbids { mutex: Arc::clone(&mutex), holder: to_holder }));
        assert!(next.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        drop(waker);
        let raw = HasRaw::raw(&*mutex);
        thread::scope(|scope| {
            scope.spawn(move || {
                let guard = held.recv().expect("the waker sends it");
                // The task, and the thread that unwinds: it blocks.
                while Table::global().waiters(raw.at(())) < 2 {
                    thread::yield_now();
                }
                drop(next);
                drop(guard);
            });
            assert!(catch_unwind(AssertUnwindSafe(|| block(&condvar, &mut guard, None))).is_err());
            assert!(mutex.is_locked(), "there is a guard");
            drop(guard);
        });
        assert!(!mutex.is_locked());
    }
}
