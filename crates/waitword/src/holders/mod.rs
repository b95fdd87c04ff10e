//! The interface of the locks to an observer of holders: every acquisition and every release that is reported passes here.
//!
//! A guard stores the observer's name for its hold, a [`HoldId`], and returns it at the release. A guard that cannot store one
//! (`lock_api`'s) passes [`not_kept`], and the observer looks for one of the lock's holds. While nothing is asked for
//! ([`ask`](waitword_core::observe::ask)), each function costs one load, or a test of what the guard stores.
//!
//! An observer runs in the middle of the acquisition that is reported to it. It must not panic, and must not wait for that lock.

mod held_by;
// A guard keeps a pointer of the observer's.
#[allow(unsafe_code)]
mod hold;

#[cfg(feature = "observe")]
use std::ptr::NonNull;
use std::task::Waker;
use std::thread::Thread;

use waitword_core::observe::{AWAITED, Caller, HOLDERS, RELEASES, Site, WaitsFor, asks};
use waitword_core::{OnceLock, Parker};

pub use self::held_by::HeldBy;
pub(crate) use self::held_by::last as last_held_by;
pub use self::hold::{AcquiredByTask, Change, Hold, HoldId, LockType};

/// The functions of an observer of holders. Each is called only while its flag is set.
#[derive(Debug)]
pub struct Observer {
    /// [`HOLDERS`]: this thread has acquired a lock. The arguments are the address of its word, how it is held, the number of permits (1 for
    /// other locks than a semaphore), the call site, and whether the call has a deadline or is an attempt without waiting. Returns what the
    /// guard has to store. The arguments are passed in registers.
    pub acquired: fn(usize, Hold, usize, &'static Site, bool) -> HoldId,
    /// [`HOLDERS`]: a task has acquired a lock. Returns what the guard has to store.
    pub acquired_by_task: fn(&AcquiredByTask<'_>) -> HoldId,
    /// A hold changes and continues. Returns what its guard has to store.
    pub changed: fn(usize, Hold, HoldId, Change) -> HoldId,
    /// A lock is about to be released.
    pub released: fn(usize, Hold, HoldId),
    /// [`HOLDERS`]: returns whether the guard is an owned one, which can be sent elsewhere.
    pub is_sent: fn(usize, Hold, HoldId) -> bool,
    /// [`RELEASES`]: this number of permits was added to a semaphore, without a guard. They replace as many forgotten ones.
    pub permits_added: fn(usize, usize),
    /// [`RELEASES`]: the lock, condition variable or event with this word is dropped. If it is held, its guards were leaked.
    pub dropped: fn(usize, bool),
    /// [`HOLDERS`]: returns the holder of this lock, for an acquirer that has timed out.
    pub held_by: fn(usize, WaitsFor) -> HeldBy,
    /// Returns the thread with this number, which a [`HeldBy`] stores.
    pub thread: fn(u32) -> Option<Thread>,
    /// [`HOLDERS`]: a notify at this call site has woken this number of waiters of a condition variable or an event.
    pub notified: fn(usize, usize, &'static Site),
    /// [`HOLDERS`]: an acquirer is about to wait for a lock of this type.
    pub typed: fn(usize, &'static LockType),
    /// [`AWAITED`]: a thread, or the task with this waker, waits without a deadline for something other than a lock: for the value
    /// of a cell whose initialiser runs, or for the readers to release before an upgrade.
    pub awaited: fn(usize, WaitsFor, &'static Site, Option<&Waker>),
}

static OBSERVER: OnceLock<&'static Observer> = OnceLock::new();

/// Sets the observer of the process, unless one is set. Returns `true` if the observer is this one.
pub fn set_observer(observer: &'static Observer) -> bool {
    held_by::set_threads(observer.thread);
    std::ptr::eq(*OBSERVER.get_or_init(|| observer), observer)
}

/// The observer, if one was set.
#[inline]
fn observer() -> Option<&'static Observer> {
    OBSERVER.get().copied()
}

/// Out of line, because most calls have nothing to report.
#[cold]
#[inline(never)]
fn tell(what: impl FnOnce(&'static Observer)) {
    if let Some(observer) = observer() {
        what(observer);
    }
}

/// For a guard that cannot store a [`HoldId`]: makes the observer look for the hold, if there may be any. Costs one load.
#[inline(always)]
pub(crate) fn not_kept() -> HoldId {
    #[cfg(feature = "observe")]
    if asks(RELEASES) {
        return HoldId::new(NonNull::dangling());
    }
    HoldId::NONE
}

/// A thread has acquired the lock with this word, or `permits` of a semaphore; `gives_up`: it would not have waited for ever. Returns what
/// the guard has to keep.
#[inline(always)]
pub(crate) fn acquired(word: usize, hold: Hold, permits: usize, caller: Caller, gives_up: bool) -> HoldId {
    if asks(HOLDERS) { tell_acquired(word, hold, permits, caller, gives_up) } else { HoldId::NONE }
}

#[cold]
#[inline(never)]
fn tell_acquired(word: usize, hold: Hold, permits: usize, caller: Caller, gives_up: bool) -> HoldId {
    acquired_now(word, hold, permits, caller, gives_up)
}

/// As [`acquired`], when [`HOLDERS`] has just been found to be asked for. Calls only the observer.
#[inline(always)]
pub(crate) fn acquired_now(
    word: usize,
    hold: Hold,
    permits: usize,
    caller: Caller,
    gives_up: bool,
) -> HoldId {
    match observer() {
        Some(observer) if permits > 0 => (observer.acquired)(word, hold, permits, caller.site(), gives_up),
        _ => HoldId::NONE,
    }
}

/// As [`acquired`], by a task that is polled with this waker. `is_alone` says whether only this thread can poll it.
#[inline(always)]
pub(crate) fn acquired_by_task(
    word: usize,
    hold: Hold,
    permits: usize,
    caller: Caller,
    task: &Waker,
    is_alone: impl FnOnce() -> bool,
    gives_up: bool,
) -> HoldId {
    if !asks(HOLDERS) {
        return HoldId::NONE;
    }
    let Some(task) = task_of(task) else { return tell_acquired(word, hold, permits, caller, gives_up) };
    let (site, is_alone) = (caller.site(), is_alone());
    tell_acquired_by_task(&AcquiredByTask { word, hold, permits, site, task, is_alone, gives_up })
}

#[cold]
#[inline(never)]
fn tell_acquired_by_task(acquired: &AcquiredByTask<'_>) -> HoldId {
    match observer() {
        Some(observer) if acquired.permits > 0 => (observer.acquired_by_task)(acquired),
        _ => HoldId::NONE,
    }
}

/// The waker, unless it is that of a thread that drives a future by parking, or of no task, as [`Waker::noop`].
fn task_of(waker: &Waker) -> Option<&Waker> {
    (!Parker::is_woken_by(waker) && !waker.data().is_null()).then_some(waker)
}

/// The holder is about to release the lock. Calls nothing if the acquisition was not reported to the observer.
#[inline(always)]
pub(crate) fn released(word: usize, hold: Hold, id: HoldId) {
    if id.is_some() {
        tell_released(word, hold, id);
    }
}

#[cold]
#[inline(never)]
fn tell_released(word: usize, hold: Hold, id: HoldId) {
    released_now(word, hold, id);
}

/// As [`released`], when the observer has to be told ([`HoldId::is_some`]). Calls only the observer.
#[inline(always)]
pub(crate) fn released_now(word: usize, hold: Hold, id: HoldId) {
    if let Some(observer) = observer() {
        (observer.released)(word, hold, id);
    }
}

/// A hold changes and continues: it is upgraded or downgraded, its guard is sent elsewhere or is gone, or its number of permits changes.
/// Returns what the guard has to keep; for permits that were [split off](Change::Split), what their guard has to keep.
#[inline(always)]
pub(crate) fn changed(word: usize, hold: Hold, id: HoldId, change: Change) -> HoldId {
    if id.is_some() { tell_change(word, hold, id, change) } else { HoldId::NONE }
}

#[cold]
#[inline(never)]
fn tell_change(word: usize, hold: Hold, id: HoldId, change: Change) -> HoldId {
    observer().map_or(HoldId::NONE, |observer| (observer.changed)(word, hold, id, change))
}

/// Two guards have become one, with `permits` permits. Returns what it has to keep.
#[inline(always)]
pub(crate) fn merged(word: usize, id: HoldId, other: HoldId, permits: usize) -> HoldId {
    let (kept, gone) = if id.is_some() { (id, other) } else { (other, id) };
    changed(word, Hold::Permits, kept, Change::Permits(permits));
    released(word, Hold::Permits, gone);
    kept
}

/// Whether the guard was made to be sent elsewhere: its holder is about to release the lock, and to acquire it again for the same guard.
#[inline(always)]
pub(crate) fn was_made_to_be_sent(word: usize, hold: Hold, id: HoldId) -> bool {
    id.is_some() && asks(HOLDERS) && observer().is_some_and(|observer| (observer.is_sent)(word, hold, id))
}

/// See [`Observer::permits_added`].
#[inline(always)]
pub(crate) fn permits_added(word: usize, permits: usize) {
    if asks(RELEASES) {
        tell(|observer| (observer.permits_added)(word, permits));
    }
}

/// See [`Observer::dropped`]: another lock may be made in its place.
#[cfg(feature = "observe")]
#[inline(always)]
pub(crate) fn dropped(word: usize, may_hold: bool) {
    if asks(RELEASES) {
        tell(|observer| (observer.dropped)(word, may_hold));
    }
}

/// Remembers on this thread who holds the lock of a wait that has timed out ([`Observer::held_by`]). `None`: nothing that has a holder.
#[cold]
pub(crate) fn note_timed_out(waited_for: Option<(usize, WaitsFor)>) {
    held_by::note(|| match (waited_for, observer()) {
        (Some((word, waits_for)), Some(observer)) if asks(HOLDERS) => (observer.held_by)(word, waits_for),
        _ => HeldBy::NONE,
    });
}

/// See [`Observer::awaited`].
#[inline(always)]
pub(crate) fn awaited(word: usize, waits_for: WaitsFor, caller: Caller, task: Option<&Waker>) {
    if asks(AWAITED) {
        let task = task.and_then(task_of);
        tell(|observer| (observer.awaited)(word, waits_for, caller.site(), task));
    }
}

/// Notifies, and reports the place and how many were `woken`: see [`Observer::notified`].
#[inline(always)]
#[track_caller]
pub(crate) fn noted<U>(word: usize, notify: impl FnOnce() -> U, woken: impl FnOnce(&U) -> usize) -> U {
    if asks(HOLDERS) { notify_and_tell(word, notify, woken) } else { notify() }
}

#[cold]
#[inline(never)]
#[track_caller]
fn notify_and_tell<U>(word: usize, notify: impl FnOnce() -> U, woken: impl FnOnce(&U) -> usize) -> U {
    let (notified, caller) = (notify(), Caller::here());
    tell(|observer| (observer.notified)(word, woken(&notified), caller.site()));
    notified
}

/// See [`Observer::typed`].
#[cold]
pub(crate) fn note_lock_type(word: usize, lock_type: &'static LockType) {
    if asks(HOLDERS) {
        tell(|observer| (observer.typed)(word, lock_type));
    }
}

/// Reports to the observer when a `$Lock` is dropped, because a leaked guard has left a record, and another lock may be created at the same
/// address.
macro_rules! tells_its_drop {
    ($Lock:ty: $this:ident => $word:expr, $may_be_held:expr) => {
        #[cfg(feature = "observe")]
        impl Drop for $Lock {
            fn drop(&mut self) {
                let $this = &*self;
                $crate::holders::dropped($word, $may_be_held);
            }
        }
    };
}
pub(crate) use tells_its_drop;

/// A field at the address of the word of a lock that can have no destructor. Its drop reports that the lock is gone.
///
/// Another lock may be created at the same address, and must not inherit what was recorded of the first. A destructor of the lock itself
/// would forbid what `OnceLock<&T>` and `AsyncLock<&AtomicI32>` allow: to be dropped after what they borrow. `Gone` has no type parameters,
/// so the compiler knows that its destructor reads nothing of the lock.
pub(crate) struct Gone;

#[cfg(feature = "observe")]
impl Drop for Gone {
    fn drop(&mut self) {
        dropped(std::ptr::from_ref(self).addr(), true);
    }
}
