//! Parking a thread.
//!
//! A blocked thread is a task whose waker unparks it, so that the queue knows one kind of waiter less. The standard
//! library's parking is the platform here: a futex, a keyed event or a condition variable, whatever the system has
//! best. A token may be left over from another wake, so every caller rechecks after it.
//!
//! Invariant P1: the data of a waker with our [`VTABLE`] is a share (one reference) of a [`Sleeper`], made by `Arc::into_raw`.

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

/// The current thread as something that waits and can be woken.
///
/// A thread has one token for all its wakers. One that has parked may have used up a wake meant for something further up the stack, another
/// parker or an executor of another crate; so dropping it ends the next park of the thread. Recheck by a load, and park again.
///
/// To drive a future by hand, or anything else that is polled:
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
    /// The parker of the calling thread.
    pub fn current() -> Self {
        Self { thread: this_thread(), parked: Cell::new(false) }
    }

    /// Ends a [`park`](Self::park) of this thread, now or, if it is not parked, the next one.
    pub fn waker(&self) -> &Waker {
        &self.thread.waker
    }

    /// Spins until `ended`, for as long as that has paid on this thread, and until `deadline` at the latest: for a waiter that is queued
    /// already and about to park, in case the wake comes soon.
    ///
    /// A thread whose waits never end soon spins for 80 µs in its life. `ended` reads what the notifier writes; it neither notifies nor
    /// waits.
    pub fn spin(&self, deadline: Option<Instant>, ended: impl Fn() -> bool) {
        spin::until(&self.thread.sleeper.cost, deadline, ended);
    }

    /// Whether `waker` wakes a thread that parks, in this or any other `Parker`; if not, it wakes a task. For building locks that
    /// treat the two differently: a task must not spin for long, because a worker serves many.
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

    /// Parks until woken. May return spuriously: recheck after it.
    pub fn park(&self) {
        self.sleep(thread::park);
    }

    /// Parks until woken, and until `deadline` at the latest. May return spuriously, also before the deadline.
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

/// Ends a blocking wait of the thread that made it, from any thread; and tells others whether there is one.
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
    /// An interrupt for waits of the calling thread.
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

    /// Whether it was raised.
    pub fn is_raised(&self) -> bool {
        self.shared.raised.load(Ordering::SeqCst)
    }

    /// Whether the thread is queued, in a wait with this interrupt.
    ///
    /// `false` until the wait is queued, and again before the notify that counted it returns: when all possible notifiers are known to be
    /// idle, `true` means that nobody will notify.
    pub fn is_queued(&self) -> bool {
        *self.shared.queued.lock()
    }

    /// What wakes the thread of `parker`, if that is the one that made this interrupt.
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
    /// It sleeps, or is about to, or has just woken up.
    is_asleep: AtomicBool,
    /// Of its sleeps, measured by its notifiers.
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

    /// Ends the next park of the calling thread, whose sleeper this is: it runs, so there is nobody to wake.
    pub(crate) fn leave_token(&self) {
        mutant!("leave-token" => return);
        self.thread.unpark();
    }

    /// Wakes it, from another thread. A system call if it sleeps.
    pub(crate) fn unpark(&self) {
        spin::wake(&self.cost, self.is_asleep.load(Ordering::Relaxed), || self.thread.unpark());
    }

    pub(crate) fn into_waker(self: Arc<Self>) -> Waker {
        // SAFETY: the functions of the vtable keep the contract of a waker: each handles one share (P1).
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
    // SAFETY: the waker's share stays, and another is made (P1).
    raw(unsafe { Arc::clone(&ManuallyDrop::new(Arc::from_raw(data.cast::<Sleeper>()))) })
}

unsafe fn wake(data: *const ()) {
    // SAFETY: the share of a waker that is used up (P1).
    unsafe { Arc::from_raw(data.cast::<Sleeper>()) }.unpark();
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the waker's share outlives this call (P1).
    unsafe { &*data.cast::<Sleeper>() }.unpark();
}

unsafe fn drop_share(data: *const ()) {
    // SAFETY: the share of a waker that is dropped (P1).
    drop(unsafe { Arc::from_raw(data.cast::<Sleeper>()) });
}

/// What the parkers of a thread share. Counted without atomics: a wait has enough of them.
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

/// The threads that have waited, by the identity of what wakes them: so that a snapshot tells threads from tasks, and names them.
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

    /// The waker is about to go.
    pub(super) fn leave(waker: &Waker) {
        KNOWN.lock().remove(waker.data().addr());
    }
}

#[cfg(all(unix, not(waitword_loom)))]
pub(crate) use fork::register_threads;

/// What a fork does to the threads that have waited: the child has the forking one alone.
#[cfg(all(unix, not(waitword_loom)))]
mod fork {
    use std::sync::MutexGuard;
    use std::sync::atomic::AtomicBool;
    use std::thread::{LocalKey, Thread};

    use super::known;
    use crate::sync::by_address::ByAddress;
    use crate::sync::fork::{AtFork, Slot, at_fork};

    /// Has forks know the threads that have waited.
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
