//! Requeue (wait morphing): moves waiters from one queue to another without waking them; and wakes a few of them ahead of their signals.
//!
//! A waiter on a condition variable needs the mutex before it goes on. To wake a hundred of them for one mutex is a thundering
//! herd: ninety-nine find it taken. So a notify moves them to the tail of the mutex's queue, asleep as they are, and the
//! mutex's releases signal them one by one.
//!
//! ```text
//!   waiter                                notifier                            holder of the mutex
//!   ──────────────────────────────        ──────────────────────────────      ────────────────────────
//!   queued on `from`, asleep
//!                                         lock both shards
//!                                         move it: queued on `to`, asleep
//!                                         signal the head of `to`
//!                                         unlock; wake
//!                                                                             release: signal the head
//!   signalled: takes the mutex
//! ```
//! # Which lock guards the node
//! From the move on, the lock of another shard guards the node. An owner that leaves or changes its waker locks the shard of the address in
//! the node and reads the address again ([`Table::lock_of`]); the notifier that moves the node holds both locks. Between two batches of a
//! long move the waiters that are still to be moved are detached and counted, like those that a notify has dequeued and not completed: an
//! owner that leaves finds that it was notified.
//!
//! # Why the head is signalled even if the mutex is held
//! The notifier has no reference to the mutex, only its address: a future that was leaked stays queued for ever, and the mutex that it
//! borrowed may be gone. So only a waiter can find out whether the mutex is held. The signalled waiter finds it held and marks it, and the
//! release signals the next.
//!
//! # Waking ahead
//! Threads that were moved to a mutex's queue together (a crowd) are signalled one by one: each has to wake up, some 10 µs, before the next
//! is signalled. If each holds the mutex only for a moment, the CPUs are idle nearly all of the time. So the notifier wakes a few at once,
//! and a thread that was woken this way and finds the mutex free wakes two more before it takes it:
//!
//! ```text
//!   notifier                thread 2                 thread 3                 thread 4
//!   ────────────────        ──────────────────       ──────────────────       ─────────────────────
//!   moves 1 to 64
//!   signals 1
//!   wakes 2 and 3
//!                           free: wakes 4 and 5
//!                           takes it; leaves         held: sleeps again
//!                                                                             free: wakes 6 and 7 ...
//!   ...                                              signalled, when it is the head
//! ```
//! So the number of woken threads grows as long as they find the mutex free. When they find it held, the waste is the wake-ups of the last
//! two or four, whose threads sleep again at their positions in the queue. No thread is woken ahead twice.
//!
//! Waking ahead is no signal: the waiter's state is unchanged, and the next signal goes where it would have gone. A thread that takes the
//! mutex after it barges, as any running thread may, and leaves the queue; if it was signalled meanwhile, it forwards the signal. Tasks are
//! not woken ahead: a worker would poll them in vain.

use std::pin::pin;

use crate::observe::Waking;
use crate::shard::Locked;
use crate::shard::hash::Key;
use crate::sync::mutant;
use crate::table::enqueue::{FollowUp, release, unlock};
use crate::table::{Location, Table, address};
use crate::waiter::list::List;
use crate::waiter::wake::Wake;
use crate::word::{Word, bits};

/// Moves the `count` waiters that have waited longest on the word, or all if there are fewer, to the tail of the queue of the word at the
/// address `to`, in order, if the word holds `expected`. They are not woken. But if it moved any, the first waiter there that is not
/// signalled yet is signalled, as by [`signal_one`](crate::signal_one); and if it moved several, two threads of them are woken as by
/// `wake_ahead`. Returns how many it moved.
///
/// From then on they are signalled and notified there, and no notify here reaches them. `to` is in the same table; its memory is never
/// accessed. The waits of agents must not be moved.
///
/// Costs a fence and two loads without waiters on the word. Otherwise O(number moved) under the locks of both shards, in short critical
/// sections.
///
/// # Errors
/// What the word held instead of `expected`; nothing has changed then.
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
    expected: <L::Word as Word>::Value,
    to: usize,
    count: usize,
) -> Result<usize, <L::Word as Word>::Value> {
    let (table, word) = (from.table(), from.word());
    let key = table.key_of(address(&from));
    if count == 0 || table.shard(key).is_idle(key.hash) {
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
    let detached = pin!(List::new());
    let detached = detached.as_ref();
    detached.init();
    let mut both = Two::lock(table, from, to);
    condition()?;
    let moved = both.first.detach(from, count, detached);
    // SAFETY: filled under the first of these locks. The loop ends only when the list is empty, so no waiter is left linked to
    // this stack frame.
    while unsafe { both.second().append(to, detached, moved > 1) } {
        // Nothing unwinds while the list is not empty.
        drop(both.unlock());
        both = Two::lock(table, from, to);
    }
    let waking = Waking::now();
    let signalled = signal_behind(both.second(), to, moved);
    let ahead = if moved > 1 { both.second().ahead(to) } else { Default::default() };
    let (first, second) = both.unlock();
    let woken = signalled.iter().map(|(wake, _)| wake).chain(ahead.iter().flatten());
    waking.signalled(to.address, woken.map(Wake::identity));
    signalled.into_iter().for_each(|(wake, _)| Wake::wake(wake));
    ahead.into_iter().flatten().for_each(Wake::wake);
    mutant!("watch-requeue" => {
        std::mem::forget((first, second));
        return Ok(moved);
    });
    drop((first, second));
    Ok(moved)
}

/// The shards of two words, locked together.
struct Two<'a> {
    first: Locked<'a>,
    second: Option<Locked<'a>>,
}

impl<'a> Two<'a> {
    /// Locks the shards of two words, in the order of their addresses so that two threads cannot deadlock; a common shard once.
    fn lock(table: &'a Table, first: Key, second: Key) -> Self {
        let order = std::ptr::from_ref(table.shard(first)).cmp(&std::ptr::from_ref(table.shard(second)));
        match order {
            std::cmp::Ordering::Equal => Self { first: table.lock(first), second: None },
            std::cmp::Ordering::Less => {
                let first = table.lock(first);
                Self { first, second: Some(table.lock(second)) }
            }
            std::cmp::Ordering::Greater => {
                let second = Some(table.lock(second));
                Self { first: table.lock(first), second }
            }
        }
    }

    fn second(&mut self) -> &mut Locked<'a> {
        self.second.as_mut().unwrap_or(&mut self.first)
    }

    /// Unlocks both.
    fn unlock(self) -> (FollowUp<'a>, Option<FollowUp<'a>>) {
        (unlock(self.first), self.second.map(unlock))
    }
}

/// Signals the first waiter of `to` that is not signalled yet, if any were moved there.
fn signal_behind(locked: &mut Locked<'_>, to: Key, moved: usize) -> Option<(Wake, usize)> {
    mutant!("requeue-signal" => return None);
    if moved == 0 { None } else { locked.signal_first(to) }
}

/// For building locks: of the threads that were moved here in a crowd (`requeue_while_equal`), wakes up to two of the first that are
/// neither signalled nor were woken ahead before. Returns how many.
///
/// They stay queued: to the core this is a spurious wakeup, which lets them barge. To be called by a thread that was woken ahead and finds
/// the lock free, before it takes the lock.
///
/// Costs a fence and two loads without waiters on the word; otherwise takes the shard's lock, visits at most 32 waiters, and makes a system
/// call for each thread that sleeps. Runs no foreign code, and does not panic.
///
/// ```
/// let word = std::sync::atomic::AtomicU32::new(0);
/// assert_eq!(waitword_core::wake_ahead(&word), 0, "nobody waits");
/// ```
pub fn wake_ahead<L: Location>(at: L) -> usize {
    let table = at.table();
    let key = table.key_of(address(&at));
    if table.shard(key).is_idle(key.hash) {
        return 0;
    }
    let mut locked = table.lock(key);
    let waking = Waking::now();
    let ahead = locked.ahead(key);
    release(locked);
    waking.signalled(key.address, ahead.iter().flatten().map(Wake::identity));
    ahead.into_iter().flatten().map(Wake::wake).count()
}
