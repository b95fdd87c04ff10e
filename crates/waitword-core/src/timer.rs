//! Deadlines of async waits: one thread for the process, started with the first of them.
//!
//! The timer knows nothing of the queue. It wakes a future, and the future, polled, finds its deadline passed and asks
//! to leave (`wait/leave.rs`). So a deadline that ties with a notify is decided where all such ties are.
//!
//! A deadline is a node of the pinned [`Alarm`]; the timer's lock owns its links while it is in the wheel (`wheel.rs`),
//! and its waker while the alarm is set. The thread looks at the wheel when it says, takes a batch of those due out
//! under the lock, and calls them without it.

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::Waker;
use std::thread::Thread;
use std::time::{Duration, Instant};

use crate::sync::{Mutex, OnceLock};
use crate::waiter::wake::{BATCH, Wake, WakeBatch, discard_panic_of};
use crate::wheel::{Node, Wheel};

/// The deadlines of the process.
static DEADLINES: Mutex<Deadlines> = Mutex::new(Deadlines { wheel: Wheel::new(), looks_at: None });

/// The thread that keeps them.
static TIMER: OnceLock<Timer> = OnceLock::new();

/// Wakes a task at a given time: what a future with a deadline carries with it.
///
/// It holds one deadline at a time, allocates nothing, and forgets its deadline when it is dropped. All alarms of the
/// process are served by one thread, which calls the wakers: one that blocks holds up all deadlines after it.
///
/// ```
/// use std::future::poll_fn;
/// use std::pin::pin;
/// use std::task::Poll;
/// use std::time::{Duration, Instant};
/// use waitword_core::Alarm;
///
/// # smol::block_on(async {
/// let deadline = Instant::now() + Duration::from_millis(5);
/// let mut alarm = pin!(Alarm::new());
/// poll_fn(|cx| {
///     if Instant::now() >= deadline {
///         return Poll::Ready(());
///     }
///     alarm.as_mut().set(deadline, cx.waker());
///     Poll::Pending
/// })
/// .await;
/// # });
/// ```
pub struct Alarm {
    /// Whether the timer may have a pointer to the node: it was set, and not cleared since.
    set: bool,
    node: UnsafeCell<Node>,
    _pinned: PhantomPinned,
}

// SAFETY: while the node is in the wheel it is reached only under the timer's lock; otherwise by the owner, through
// `Pin<&mut Self>`. A `Waker` is `Send`.
unsafe impl Send for Alarm {}
// SAFETY: `&Alarm` gives access to nothing but `set`, which only `Pin<&mut Self>` writes.
unsafe impl Sync for Alarm {}

impl Alarm {
    /// An alarm that is not set.
    pub const fn new() -> Self {
        Self { set: false, node: UnsafeCell::new(Node::new()), _pinned: PhantomPinned }
    }

    /// Has `waker` woken at `deadline` or soon after, instead of what was set before.
    ///
    /// # Panics
    /// If it is the first alarm of the process and the system cannot start a thread.
    pub fn set(self: Pin<&mut Self>, deadline: Instant, waker: &Waker) {
        let mut waker = Some(waker.clone());
        let timer = Timer::started();
        let deadline = timer.clock.nanos(deadline);
        let (set, node) = self.project();
        *set = true;
        // SAFETY: pinned, and `clear` takes it out before its memory goes.
        let too_late = unsafe { DEADLINES.lock().insert(node, deadline, &mut waker) };
        // First of all: others may count on the thread to look as early as this.
        if too_late {
            timer.thread.unpark();
        }
        // The one before; foreign code, so after the lock.
        drop(waker);
    }

    /// Forgets what was set.
    pub fn clear(self: Pin<&mut Self>) {
        let (set, node) = self.project();
        if std::mem::take(set) {
            // SAFETY: it was set, so it is pinned and alive.
            let waker = unsafe { DEADLINES.lock().remove(node) };
            drop(waker);
        }
    }

    fn project(self: Pin<&mut Self>) -> (&mut bool, NonNull<Node>) {
        // SAFETY: nothing is moved; the node is only handed on as a pointer.
        let this = unsafe { self.get_unchecked_mut() };
        // A cell's pointer is never null.
        (&mut this.set, NonNull::new(this.node.get()).expect("the address of a field"))
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        // SAFETY: if it was set it was pinned, and it is not moved from here on.
        let alarm = unsafe { Pin::new_unchecked(self) };
        if std::thread::panicking() {
            // Perhaps over this very waker: the wait beside it has another clone. Two panics at once end the process.
            discard_panic_of(|| alarm.clear());
        } else {
            alarm.clear();
        }
    }
}

impl Default for Alarm {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alarm").field("set", &self.set).finish_non_exhaustive()
    }
}

struct Deadlines {
    wheel: Wheel,
    /// When the thread looks for itself, or is being unparked to; `None` if it does not.
    ///
    /// Not later than the earliest deadline. It may be earlier, when that one has been cleared: most are, and a look in
    /// vain now and then costs less than an unpark for each.
    looks_at: Option<u64>,
}

impl Deadlines {
    /// Moves `node` to `deadline` and exchanges its waker. Returns whether the thread looks too late for it, and so has
    /// to be unparked.
    ///
    /// # Safety
    /// The node stays alive and where it is until [`remove`](Self::remove)d.
    unsafe fn insert(&mut self, mut node: NonNull<Node>, deadline: u64, waker: &mut Option<Waker>) -> bool {
        // SAFETY: alive, says the caller, and the lock is held.
        unsafe {
            std::mem::swap(&mut node.as_mut().waker, waker);
            if node.as_ref().is_linked() && node.as_ref().deadline == deadline {
                return false;
            }
            self.wheel.remove(node);
            node.as_mut().deadline = deadline;
            self.wheel.insert(node);
        }
        let too_late = self.looks_at.is_none_or(|looks_at| deadline < looks_at);
        if too_late {
            self.looks_at = Some(deadline);
        }
        too_late
    }

    /// Takes `node` out if it is in. Returns its waker, to be dropped without the lock.
    ///
    /// # Safety
    /// The node is alive.
    unsafe fn remove(&mut self, mut node: NonNull<Node>) -> Option<Waker> {
        // SAFETY: alive, says the caller, and the lock is held.
        unsafe {
            self.wheel.remove(node);
            node.as_mut().waker.take()
        }
    }

    /// Takes up to a batch of those due out. Returns when the thread looks again.
    fn take_due(&mut self, now: u64, batch: &mut WakeBatch) -> Option<u64> {
        // SAFETY: the lock is held; an alarm takes its node out under it before it goes.
        self.looks_at = unsafe {
            self.wheel.turn(now, BATCH, |mut node| {
                node.as_mut().waker.take().into_iter().for_each(|waker| batch.push(Wake::Task(waker)));
            })
        };
        self.looks_at
    }
}

#[derive(Debug)]
struct Timer {
    clock: Clock,
    thread: Thread,
}

impl Timer {
    /// The timer, started now if it was not.
    fn started() -> &'static Self {
        TIMER.get_or_init(|| {
            let clock = Clock { epoch: Instant::now() };
            let builder = std::thread::Builder::new().name("waitword-timer".into());
            let spawned = builder.spawn(move || run(clock));
            let handle = spawned.expect("deadlines of async waits need a thread, and the system gave none");
            Self { clock, thread: handle.thread().clone() }
        })
    }
}

/// The thread: wakes who is due, batch by batch, and sleeps until the next.
fn run(clock: Clock) {
    loop {
        let now = clock.nanos(Instant::now());
        let mut batch = WakeBatch::new();
        let next = DEADLINES.lock().take_due(now, &mut batch);
        if !batch.is_empty() || next == Some(now) {
            batch.wake_all();
            // There is no caller to tell; the panic hook has.
            batch.discard_panic();
            continue;
        }
        // An earlier deadline unparks us; its token survives if we are not parked yet.
        match next.and_then(|next| clock.instant(next)) {
            Some(next) => crate::sync::thread::park_until(next),
            None => crate::sync::thread::park(),
        }
    }
}

/// Instants as numbers.
#[derive(Clone, Copy, Debug)]
struct Clock {
    epoch: Instant,
}

impl Clock {
    /// Nanoseconds since the epoch: exact, as instants are. What is before it is 0. What lies more than 584 years after
    /// it is the last number, which neither program nor machine will live to see.
    fn nanos(self, at: Instant) -> u64 {
        let since = at.saturating_duration_since(self.epoch);
        let seconds = since.as_secs().saturating_mul(Duration::from_secs(1).as_nanos() as u64);
        seconds.saturating_add(u64::from(since.subsec_nanos()))
    }

    /// `None` beyond what an [`Instant`] can hold.
    fn instant(self, nanos: u64) -> Option<Instant> {
        self.epoch.checked_add(Duration::from_nanos(nanos))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_and_those_beyond_the_last_do_not_begin_again() {
        let clock = Clock { epoch: Instant::now() };
        for nanos in [0, 1, 999_999_999, 1_000_000_000, 1 << 62, u64::MAX - 1, u64::MAX] {
            let Some(at) = clock.instant(nanos) else { continue };
            assert_eq!(clock.nanos(at), nanos);
            let before = at.checked_sub(Duration::from_nanos(1));
            assert!(before.is_none_or(|before| clock.nanos(before) == nanos.saturating_sub(1)));
        }
        let last = Duration::from_nanos(u64::MAX);
        for beyond in [Duration::from_nanos(1), Duration::from_secs(1), last, 1000 * last] {
            let Some(at) = clock.epoch.checked_add(last).and_then(|at| at.checked_add(beyond)) else {
                continue;
            };
            assert_eq!(clock.nanos(at), u64::MAX);
        }
        let hour_ago = clock.epoch.checked_sub(Duration::from_secs(3600));
        assert!(hour_ago.is_none_or(|at| clock.nanos(at) == 0));
    }
}
