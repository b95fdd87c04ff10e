//! Who made others wait: delays by the site where the lock was acquired.
//!
//! When a lock with waiters is released, its holder is charged with the time that they have waited since this lock's last charge
//! (`delays.rs`). So all charges add up to all waits, to the nanosecond. Delays that no holder caused have rows of their own ([`Blamed`]).
//! The rows are in `table.rs`.

pub(crate) mod delays;
mod slow;
mod table;

use std::cmp::Reverse;

use waitword_core::observe::{Contended, End, Ended, nanos, nanos_at};

use crate::record::{Release, site_of};
pub use slow::{Slow, set_slow_threshold, take_slow};
pub use table::{Blame, Blamed, Bucket};
use table::{Charge, Charged};

/// Returns who made others wait since [`enable`](crate::enable) was called first: the sites where locks were acquired, the longest delay
/// first, then the delays that no site caused.
///
/// When a lock with waiters is released, its holder is charged with the time that they have waited, not counting what was charged at earlier
/// releases. So the rows add up to all queued waits for locks since then: nothing is sampled or estimated. Waits for a notify
/// (condition variables, events) are charged to nobody.
///
/// ```
/// use waitword::Mutex;
///
/// waitword_observe::enable();
/// let mutex = Mutex::new(0);
/// let guard = mutex.lock();
/// std::thread::scope(|scope| {
///     scope.spawn(|| *mutex.lock() += 1);
///     while waitword_observe::snapshot().waiters() == 0 {
///         std::thread::yield_now();
///     }
///     drop(guard);
/// });
/// let blame = waitword_observe::blame();
/// assert!(blame.iter().any(|row| row.waiters == 1));
/// ```
pub fn blame() -> Vec<Blame> {
    let mut rows = table::rows();
    rows.sort_by_key(|row| (!matches!(row.blamed, Blamed::Site { .. }), Reverse(row.delay)));
    rows
}

/// A lock was released for which others wait.
pub(crate) fn charge_release(contended: &Contended<'_>, release: &Release) {
    let Contended { word, front, .. } = *contended;
    let Some(head) = front(&mut []) else { return };
    let Some(delay) = delays::charge(word, head.since) else { return };
    let held = release.since.map(|since| nanos().saturating_sub(nanos_at(since)));
    let charge = Charge { delay, word, waits_for: head.waits_for, head_at: head.site, held };
    table::charge(Charged::Holder(release.site), &charge);
    slow::keep(front, charge, release);
}

/// A wait has ended. If the waiter acquired the lock, the lock was free before, and nobody is charged with the time that the queue has waited
/// since the last charge. If the waiter gave up and was the last, no release will be charged with its wait, so the holder is charged now.
pub(crate) fn ended(ended: &Ended) {
    let Some((waits_for, Some(since))) = ended.left else { return };
    let acquired = ended.end == End::Acquired;
    let Some(delay) = delays::left(ended.word, waits_for, since, acquired) else { return };
    if !acquired && !waits_for.is_for_holder() {
        return;
    }
    let charged = if acquired { Charged::NotYetRun } else { Charged::Holder(site_of(ended.word, waits_for)) };
    let charge = Charge { delay, word: ended.word, waits_for, head_at: ended.site, held: None };
    table::charge(charged, &charge);
}
