//! Requeue (wait morphing): moves waiters from one queue to another without waking them, but for two threads (`ahead.rs`).
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
//! A node that moves is guarded by the lock of another shard from then on. The owner, who wants to leave or to change its
//! waker, locks the shard of the address in the node and reads the address again ([`Table::lock_of`]); the notifier that moves the
//! node holds both locks. Between two batches of a long move the waiters that are still to be moved are detached, as are those that a
//! notify has dequeued and not completed: they are counted, so an owner that leaves finds that it was notified.
//!
//! # Why the head is signalled even if the mutex is held
//! The notifier has no reference to the mutex, only its address: a future that was leaked stays queued for ever, and the
//! mutex that it borrowed may be gone. So it cannot find out whether the mutex is held, and some waiter of the queue has to.
//! The one that is signalled finds it held and marks it, and the release signals the next.

use std::pin::pin;

use crate::observe::Waking;
use crate::shard::{Key, Locked};
use crate::sync::mutant;
use crate::table::{FollowUp, Location, Table, address, unlock};
use crate::waiter::list::List;
use crate::waiter::wake::Wake;
use crate::word::{Word, bits};

/// Moves the `count` waiters that have waited longest on the word, or all if there are fewer, to the tail of the queue of the
/// word at the address `to`, in order, if the word holds `expected`. They are not woken; but the first waiter there that is
/// not signalled yet is signalled, as by [`signal_one`](crate::signal_one), and if it moved several, two threads of them are woken as by
/// `wake_ahead`. Returns how many it moved.
///
/// From then on they are signalled and notified there, and no notify here reaches them. `to` is in the same table; nothing
/// is ever read or written at it. The waits of agents must not be moved.
///
/// Costs a fence and two loads without waiters on the word. Otherwise O(number moved) under the locks of both shards, in
/// short stays.
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
    /// Locks the shards of two words; one shard once. Always in the same order, so that no two threads wait for each other.
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
