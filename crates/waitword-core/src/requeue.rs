//! Requeue (wait morphing): moves tasks from one queue to another without waking them, and wakes the threads among them.
//!
//! A waiter on a condition variable needs the mutex before it continues. Waking a hundred tasks for one mutex would be a thundering herd:
//! ninety-nine of them are polled only to find it held. So a notify moves them to the tail of the mutex's queue, and the releases of the
//! mutex signal them one by one.
//!
//! ```text
//!   waiter                                notifier                            holder of the mutex
//!   ──────────────────────────────        ──────────────────────────────      ────────────────────────
//!   queued on `from`
//!                                         lock both shards
//!                                         move it: queued on `to`
//!                                         signal the head of `to`
//!                                         unlock; wake
//!                                                                             release: signal the head
//!   signalled: takes the mutex
//! ```
//! # Which lock guards the node
//! From the move on, the lock of another shard guards the node. An owner that leaves or changes its waker locks the shard of the key in
//! the node and reads the key again ([`Table::section_of`]); the notifier that moves the node holds both locks. Between two batches of a
//! long move the waiters that are still to be moved are detached and counted, like those that a notify has dequeued and not completed: an
//! owner that leaves finds that it was notified.
//!
//! # Why the head is signalled even if the mutex is held
//! The notifier has no reference to the mutex, only its address: a future that was leaked stays queued for ever, and the mutex that it
//! borrowed may be gone. So only a waiter can find out whether the mutex is held. The signalled waiter finds it held and marks it, and the
//! release signals the next.
//!
//! # Why threads are woken
//! A thread takes some 10 µs to wake up. If each thread were woken only by the release of the one before, and each holds the mutex only for
//! a moment, the CPUs would be idle nearly all of the time: 64 threads would take twice as long (`docs/costs.md`).

use std::pin::pin;

use crate::list::Detached;
use crate::location::{Location, Value, address};
use crate::observe::Woke;
use crate::queue::key::Key;
use crate::queue::section::{Left, Section};
use crate::queue::table::Table;
use crate::sync::mutant;
use crate::wake::{Wake, WakeBatch};
use crate::word::{Word, bits};

/// Notifies the `count` waiters that have waited longest on the word, or all if there are fewer, if the word holds `expected`: wakes
/// threads, and moves tasks to the queue of the word at the address `to`. Returns the number of threads and tasks that it notified.
///
/// Threads are woken as by [`notify_many`](crate::notify_many). Tasks are moved to the tail of the other queue, in order, without being
/// woken. If there are any, the first waiter there that is not signalled yet is signalled, as by [`signal_one`](crate::signal_one).
///
/// From then on the tasks are signalled and notified on the word at `to`; notifies of this word no longer reach them. `to` is in the same
/// table, and its memory is never accessed. Agents must not wait on the word. Threads that wait with an [`Interrupt`](crate::Interrupt),
/// and those that are signalled, are moved like tasks.
///
/// Costs a fence and two loads if the word has no waiters. Otherwise O(number notified) under the locks of both shards, in short critical
/// sections.
///
/// # Errors
/// The word's value, if that was not `expected`. Nothing has changed then.
///
/// ```
/// use std::future::Future;
/// use std::pin::pin;
/// use std::sync::atomic::AtomicU64;
/// use std::task::{Context, Waker};
/// use waitword_core::{notify_one, requeue_while_equal, wait_async};
///
/// let (here, there) = (AtomicU64::new(0), AtomicU64::new(0));
/// let mut waiting = pin!(wait_async(&here, 0));
/// let mut cx = Context::from_waker(Waker::noop());
/// assert!(waiting.as_mut().poll(&mut cx).is_pending());
/// let to = std::ptr::from_ref(&there).addr();
/// assert_eq!(requeue_while_equal(&here, 0, to, usize::MAX), Ok(1));
/// assert!(waiting.is_requeued());
/// assert_eq!((notify_one(&here), notify_one(&there)), (0, 1));
/// assert!(waiting.as_mut().poll(&mut cx).is_ready());
/// ```
pub fn requeue_while_equal<L: Location>(
    from: L,
    expected: Value<L>,
    to: usize,
    count: usize,
) -> Result<usize, Value<L>> {
    let (table, word) = (from.table(), from.word());
    let key = table.key_of(address(&from));
    if count == 0 || table.is_idle(key) {
        let value = word.load();
        return if value == expected { Ok(0) } else { Err(value) };
    }
    let expects = || {
        let value = word.load();
        if bits::<L::Word>(value) == bits::<L::Word>(expected) { Ok(()) } else { Err(value) }
    };
    requeue_if(table, key, table.key_of(to), count, expects)
}

fn requeue_if<E>(
    table: &Table,
    from: Key,
    to: Key,
    count: usize,
    condition: impl FnOnce() -> Result<(), E>,
) -> Result<usize, E> {
    let detached = pin!(Detached::new());
    let detached = detached.as_ref();
    detached.init();
    let (mut here, mut there) = table.sections(from, to);
    condition()?;
    let notified = here.detach(count, detached);
    let (mut threads, mut moved) = (WakeBatch::new(), 0);
    loop {
        let (notifies, signals) = (Woke::notified(), Woke::signalled());
        let target = match &mut there {
            Some(there) => there,
            None => {
                here.key = to;
                &mut here
            }
        };
        // SAFETY: filled under the first of these locks. The loop ends only when the list is empty, so no waiter is left linked to
        // this stack frame.
        let (tasks, more) = unsafe { target.move_tasks(detached, &mut threads) };
        moved += tasks;
        // Once all have been moved, signals the first waiter there that is not signalled yet.
        let signalled = if more || moved == 0 { None } else { signal_head(target) };
        if !more {
            here.worked_off(detached);
        }
        let left = [Some(here.unlock()), there.map(Section::unlock)];
        notifies.tell(|| from.address(), threads.identities());
        signals.tell(|| to.address(), signalled.iter().map(|(wake, _)| wake.identity()));
        threads.wake_all();
        signalled.into_iter().for_each(|(wake, _)| wake.wake());
        mutant!("watch-requeue" => return Ok(notified));
        left.into_iter().flatten().for_each(Left::follow_up);
        if !more {
            return Ok(notified);
        }
        (here, there) = table.sections(from, to);
    }
}

fn signal_head(section: &mut Section<'_>) -> Option<(Wake, usize)> {
    let signalled = section.signal(false);
    mutant!("requeue-signal" => return None);
    signalled
}
