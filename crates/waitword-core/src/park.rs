//! Parking a thread.
//!
//! A blocked thread is a task whose waker unparks it, so that the queue knows one kind of waiter less. The standard library parks the
//! thread: with a futex, a keyed event or a condition variable, depending on the system. A token may be left over from another wake, so
//! every caller rechecks after a park.
//!
//! Invariant P1: the data of a waker with our [`VTABLE`] is one reference to a [`Sleeper`], made by `Arc::into_raw`.

use crate::time::Instant;
use std::cell::{Cell, OnceCell};
use std::mem::ManuallyDrop;
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{RawWaker, RawWakerVTable, Wake, Waker};

use crate::spin::{self, SleepCost};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::thread::{self, Thread};
use crate::sync::{Mutex, mutant};

/// A handle that parks the current thread. Its waker unparks the thread.
///
/// A thread has one token for all its wakers. A parker that has parked may have consumed a wake that was meant for a caller further up the
/// stack: another parker, or an executor of another crate. So dropping such a parker leaves a wake for that caller: the thread's next park
/// returns at once. Code that parks has to recheck its condition, with a load, and park again.
///
/// It can drive a future, or anything else that is polled:
///
/// ```
/// use std::future::Future;
/// use std::pin::pin;
/// use std::task::{Context, Poll};
/// use waitword_core::Parker;
///
/// fn block_on<F: Future>(future: F) -> F::Output {
///     let mut future = pin!(future);
///     let parker = Parker::current();
///     loop {
///         match future.as_mut().poll(&mut Context::from_waker(parker.waker())) {
///             Poll::Ready(value) => return value,
///             Poll::Pending => parker.park(),
///         }
///     }
/// }
/// assert_eq!(block_on(async { 7 }), 7);
/// ```
#[derive(Debug)]
pub struct Parker {
    thread: Rc<ThisThread>,
    parked: Cell<bool>,
}

impl Parker {
    /// Creates a parker for the calling thread.
    pub fn current() -> Self {
        Self { thread: this_thread(), parked: Cell::new(false) }
    }

    /// Returns the waker of this thread. It ends the current [`park`](Self::park) or, if the thread is not parked, the next one.
    pub fn waker(&self) -> &Waker {
        &self.thread.waker
    }

    /// Spins until `ended` returns true, for no longer than has paid on this thread, and until `deadline` at the latest.
    ///
    /// For a waiter that is already queued and about to park, in case the wake comes soon.
    ///
    /// A thread whose waits never end soon spins for 80 µs in its life. `ended` reads what the notifier writes. It must not notify or wait.
    pub fn spin(&self, deadline: Option<Instant>, ended: impl Fn() -> bool) {
        spin::until(&self.thread.sleeper.cost, deadline, ended);
    }

    /// Returns whether `waker` wakes a thread, by this or any other `Parker`; otherwise it wakes a task.
    ///
    /// For building locks that treat the two differently: a task must not spin for long, because a worker serves many.
    ///
    /// ```
    /// use std::task::Waker;
    /// use waitword_core::Parker;
    ///
    /// assert!(Parker::is_woken_by(Parker::current().waker()));
    /// assert!(!Parker::is_woken_by(Waker::noop()));
    /// ```
    #[inline]
    pub fn is_woken_by(waker: &Waker) -> bool {
        is_of_thread(waker)
    }

    /// Blocks the thread until its waker is woken. May return spuriously, so recheck afterwards.
    pub fn park(&self) {
        self.sleep(thread::park);
    }

    /// Blocks the thread until its waker is woken, and until `deadline` at the latest. May return spuriously, also before the deadline.
    pub fn park_until(&self, deadline: Instant) {
        self.sleep(|| thread::park_until(deadline));
    }

    fn sleep(&self, park: impl FnOnce()) {
        self.parked.set(true);
        self.thread.sleeper.while_asleep(park);
    }
}

impl Drop for Parker {
    fn drop(&mut self) {
        if self.parked.get() {
            self.thread.sleeper.leave_token();
        }
    }
}

/// Ends a blocking wait of the thread that created it, from any thread, and tells other threads whether there is such a wait.
///
/// See [`wait_interruptible`](crate::wait_interruptible). Once raised, it stays raised: every later wait with it ends at once.
#[derive(Debug)]
pub struct Interrupt {
    shared: Arc<Interruptible>,
    waker: Waker,
}

#[derive(Debug)]
struct Interruptible {
    raised: AtomicBool,
    queued: Mutex<bool>,
    sleeper: Arc<Sleeper>,
}

impl Interrupt {
    /// Creates an interrupt for waits of the calling thread.
    pub fn for_current_thread() -> Self {
        let (raised, queued) = (AtomicBool::new(false), Mutex::new(false));
        let shared = Arc::new(Interruptible { raised, queued, sleeper: Arc::clone(&this_thread().sleeper) });
        let waker = Waker::from(Arc::clone(&shared));
        known::enter(&waker, &shared.sleeper.thread);
        Self { waker, shared }
    }

    /// Interrupts the wait that the thread is in, or will be in next.
    pub fn raise(&self) {
        // The waiter reads the flag before each park, and the token of `unpark` outlives the race between the two.
        self.shared.raised.store(true, Ordering::SeqCst);
        self.shared.sleeper.unpark();
    }

    /// Returns whether the interrupt was raised.
    pub fn is_raised(&self) -> bool {
        self.shared.raised.load(Ordering::SeqCst)
    }

    /// Returns whether the thread is queued in a wait with this interrupt.
    ///
    /// `false` until the wait is queued, and again when the notify that counted it has returned. So while all possible notifiers are known
    /// to be idle, `true` means that nobody will end the wait.
    pub fn is_queued(&self) -> bool {
        *self.shared.queued.lock()
    }

    /// The waker for the thread of `parker`, if that thread created this interrupt.
    pub(crate) fn waker(&self, parker: &Parker) -> Option<&Waker> {
        let is_same = self.shared.sleeper.thread.id() == parker.thread.sleeper.thread.id();
        is_same.then_some(&self.waker)
    }

    /// Records whether the wait is queued, and returns that. A notify stores the outcome first and calls the waker next, and
    /// the waker takes the same lock: the last record is the truth, or the notifier is about to correct it.
    pub(crate) fn note(&self, is_queued: impl FnOnce() -> bool) -> bool {
        let mut queued = self.shared.queued.lock();
        *queued = is_queued();
        *queued
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        known::leave(&self.waker);
    }
}

impl Wake for Interruptible {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        *self.queued.lock() = false;
        self.sleeper.unpark();
    }
}

/// A thread, as its notifiers see it.
#[derive(Debug)]
pub(crate) struct Sleeper {
    pub(crate) thread: Thread,
    /// The thread sleeps, is about to sleep, or has just woken up.
    is_asleep: AtomicBool,
    /// The cost of its sleeps, measured by its notifiers.
    pub(crate) cost: SleepCost,
}

impl Sleeper {
    pub(crate) fn current() -> Self {
        Self { thread: thread::current(), is_asleep: AtomicBool::new(false), cost: SleepCost::unknown() }
    }

    /// Parks the calling thread, whose sleeper this is.
    pub(crate) fn while_asleep(&self, park: impl FnOnce()) {
        self.is_asleep.store(true, Ordering::Relaxed);
        park();
        self.is_asleep.store(false, Ordering::Relaxed);
    }

    /// Ends the next park of the calling thread, whose sleeper this is. The thread runs, so there is nobody to wake.
    pub(crate) fn leave_token(&self) {
        mutant!("leave-token" => return);
        self.thread.unpark();
    }

    /// Wakes it, from another thread. A system call if it sleeps.
    pub(crate) fn unpark(&self) {
        spin::wake(&self.cost, self.is_asleep.load(Ordering::Relaxed), || self.thread.unpark());
    }

    pub(crate) fn into_waker(self: Arc<Self>) -> Waker {
        // SAFETY: the functions of the vtable keep the contract of a waker: each handles one reference (P1).
        unsafe { Waker::from_raw(raw(self)) }
    }
}

/// Whether `waker` wakes a thread, in its [`Parker`](crate::Parker).
#[inline]
pub(crate) fn is_of_thread(waker: &Waker) -> bool {
    ptr::eq(waker.vtable(), &raw const VTABLE)
}

/// A static: its address tells our wakers from others.
static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_share);

fn raw(sleeper: Arc<Sleeper>) -> RawWaker {
    RawWaker::new(Arc::into_raw(sleeper).cast(), &VTABLE)
}

unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: the waker's reference stays, and another is made (P1).
    raw(unsafe { Arc::clone(&ManuallyDrop::new(Arc::from_raw(data.cast::<Sleeper>()))) })
}

unsafe fn wake(data: *const ()) {
    // SAFETY: the reference of a waker that is consumed (P1).
    unsafe { Arc::from_raw(data.cast::<Sleeper>()) }.unpark();
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the waker's reference outlives this call (P1).
    unsafe { &*data.cast::<Sleeper>() }.unpark();
}

unsafe fn drop_share(data: *const ()) {
    // SAFETY: the reference of a waker that is dropped (P1).
    drop(unsafe { Arc::from_raw(data.cast::<Sleeper>()) });
}

/// Shared by the parkers of a thread. Counted without atomics, because a wait executes enough of them.
#[derive(Debug)]
struct ThisThread {
    sleeper: Arc<Sleeper>,
    waker: Waker,
}

impl ThisThread {
    fn new() -> Rc<Self> {
        let sleeper = Arc::new(Sleeper::current());
        let waker = Arc::clone(&sleeper).into_waker();
        #[cfg(all(unix, not(waitword_loom)))]
        fork::register_threads();
        known::enter(&waker, &sleeper.thread);
        Rc::new(Self { waker, sleeper })
    }
}

impl Drop for ThisThread {
    fn drop(&mut self) {
        known::leave(&self.waker);
    }
}

#[cfg(not(waitword_loom))]
thread_local! {
    /// Made once per thread.
    static THIS: OnceCell<Rc<ThisThread>> = const { OnceCell::new() };
}

#[cfg(waitword_loom)]
crate::sync::thread_local! {
    /// Made once per thread of a model, which lives for one execution of it.
    static THIS: OnceCell<Rc<ThisThread>> = OnceCell::new();
}

fn this_thread() -> Rc<ThisThread> {
    // A destructor of another thread-local may wait after ours is gone.
    THIS.try_with(|this| Rc::clone(this.get_or_init(ThisThread::new))).unwrap_or_else(|_| ThisThread::new())
}

/// The threads that have waited, by the identities of their wakers, so that a snapshot can tell threads from tasks, and name them.
#[cfg(not(waitword_loom))]
pub(crate) mod known {
    use std::task::Waker;
    use std::thread::Thread;

    use crate::sync::Mutex;
    use crate::sync::by_address::ByAddress;

    pub(super) static KNOWN: Mutex<ByAddress<Thread>> = Mutex::new(ByAddress::new());

    /// Calls `look` with all of them, by the data pointers of their wakers, under the lock that guards them.
    pub(crate) fn with_known_threads<R>(look: impl FnOnce(&ByAddress<Thread>) -> R) -> R {
        look(&KNOWN.lock())
    }

    /// From now on, `waker` is known to wake `thread`. Called once for each waker that is made, not for each wait.
    pub(super) fn enter(waker: &Waker, thread: &Thread) {
        KNOWN.lock().insert(waker.data().addr(), thread.clone());
    }

    /// The waker is about to be dropped.
    pub(super) fn leave(waker: &Waker) {
        KNOWN.lock().remove(waker.data().addr());
    }
}

#[cfg(all(unix, not(waitword_loom)))]
pub(crate) use fork::register_threads;

/// Forks, for the threads that have waited: the child has only the forking thread.
#[cfg(all(unix, not(waitword_loom)))]
mod fork {
    use std::sync::MutexGuard;
    use std::sync::atomic::AtomicBool;
    use std::thread::{LocalKey, Thread};

    use super::known;
    use crate::sync::by_address::ByAddress;
    use crate::sync::fork::{AtFork, Slot, at_fork};

    /// Registers the threads that have waited with the fork handlers.
    pub(crate) fn register_threads() {
        static IS_REGISTERED: AtomicBool = AtomicBool::new(false);
        at_fork::<Held>(&IS_REGISTERED);
    }

    struct Held {
        _known: MutexGuard<'static, ByAddress<Thread>>,
    }

    thread_local!(static HELD: Slot<Held> = const { Slot::new(None) });

    impl AtFork for Held {
        fn hold() -> Self {
            Self { _known: known::KNOWN.lock() }
        }

        fn in_child(&mut self) {}

        fn slot() -> &'static LocalKey<Slot<Self>> {
            &HELD
        }
    }
}

/// The threads of a model have no names.
#[cfg(waitword_loom)]
pub(crate) mod known {
    use std::task::Waker;

    use crate::sync::thread::Thread;

    pub(crate) fn with_known_threads<R>(
        look: impl FnOnce(&crate::sync::by_address::ByAddress<std::thread::Thread>) -> R,
    ) -> R {
        look(&crate::sync::by_address::ByAddress::new())
    }

    pub(super) fn enter(_: &Waker, _: &Thread) {}

    pub(super) fn leave(_: &Waker) {}
}

#[cfg(all(test, not(waitword_loom)))]
mod tests {
    use super::*;
    use crate::spin::is_spin_due;
    use crate::time::Duration;

    /// The wake that ended the inner park may have been meant for the outer parker.
    #[test]
    fn a_parker_that_has_parked_leaves_a_token_whether_the_park_was_timed_or_not() {
        let far = Instant::now() + Duration::from_secs(3600);
        for park in [Parker::park as fn(&Parker), |parker| {
            parker.park_until(Instant::now() + Duration::from_secs(3600))
        }] {
            let outer = Parker::current();
            outer.waker().wake_by_ref();
            let inner = Parker::current();
            park(&inner);
            drop(inner);
            outer.park_until(far);
            assert!(Instant::now() < far);
        }
    }

    /// Only a thread that was awake may answer at once.
    #[test]
    fn a_notifier_learns_whether_the_thread_that_it_wakes_was_asleep() {
        for is_asleep in [true, false] {
            let learns = move || {
                let sleeper = Sleeper::current();
                sleeper.is_asleep.store(is_asleep, Ordering::Relaxed);
                sleeper.unpark();
                assert_eq!(is_spin_due(), !is_asleep);
            };
            std::thread::spawn(learns).join().unwrap();
        }
    }
}
