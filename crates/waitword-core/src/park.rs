//! Parking a thread.
//!
//! A blocked thread is a task whose waker unparks it, so that the queue knows one kind of waiter less. The standard
//! library's parking is the platform here: a futex, a keyed event or a condition variable, whatever the system has
//! best. Its token may be left over from somebody else's wake, so every caller looks again after it.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Instant;

use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::thread::{self, Thread};

/// The current thread as something that waits and can be woken.
///
/// A thread has one token for all who wake it, so parkers of one thread may be nested: one that has parked may have used
/// up a wake that was meant for another further up the stack, and ends that one's next park when it is dropped.
///
/// What drives a future by hand, or anything else that is polled, on a thread of its own:
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
    waker: Waker,
    parked: Cell<bool>,
    _this_thread: PhantomData<*const ()>,
}

impl Parker {
    /// The parker of the calling thread.
    pub fn current() -> Self {
        Self { waker: thread_waker(), parked: Cell::new(false), _this_thread: PhantomData }
    }

    /// Ends a [`park`](Self::park) of this thread, now or, if it is not parked, the next one.
    pub fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Parks until woken. May return for no reason: look again after it.
    pub fn park(&self) {
        self.parked.set(true);
        thread::park();
    }

    /// Parks until woken, and until `deadline` at the latest. May return for no reason, also before the deadline.
    pub fn park_until(&self, deadline: Instant) {
        self.parked.set(true);
        thread::park_until(deadline);
    }
}

impl Drop for Parker {
    fn drop(&mut self) {
        if self.parked.get() {
            self.waker.wake_by_ref();
        }
    }
}

/// Ends a blocking wait of the thread that made it, from any thread, and tells others whether there is one.
///
/// See [`wait_interruptible`](crate::wait_interruptible). Once raised it stays so: every later wait with it ends at
/// once.
#[derive(Debug)]
pub struct Interrupt {
    shared: Arc<Interruptible>,
    waker: Waker,
}

#[derive(Debug)]
struct Interruptible {
    raised: AtomicBool,
    queued: Mutex<bool>,
    thread: Thread,
}

impl Interrupt {
    /// An interrupt for waits of the calling thread.
    pub fn for_current_thread() -> Self {
        let (raised, queued) = (AtomicBool::new(false), Mutex::new(false));
        let shared = Arc::new(Interruptible { raised, queued, thread: thread::current() });
        Self { waker: Waker::from(Arc::clone(&shared)), shared }
    }

    /// Interrupts the wait that the thread is in, or will be in next.
    pub fn raise(&self) {
        // The waiter looks at the flag before each park, and the token of `unpark` outlives the race between the two.
        self.shared.raised.store(true, Ordering::SeqCst);
        self.shared.thread.unpark();
    }

    /// Whether it was raised.
    pub fn is_raised(&self) -> bool {
        self.shared.raised.load(Ordering::SeqCst)
    }

    /// Whether the thread stands in a queue, in a wait with this interrupt.
    ///
    /// `false` on the way into the queue, and again before the notify returns that counted the wait: when all who
    /// could notify are known to be idle, `true` means that nobody will.
    pub fn is_queued(&self) -> bool {
        *self.shared.queued.lock()
    }

    /// What wakes the thread; `None` on any other thread than that.
    pub(crate) fn waker(&self) -> Option<&Waker> {
        (self.shared.thread.id() == thread::current().id()).then_some(&self.waker)
    }

    /// Looks whether the wait is queued, and says so. A notify settles the wait first and calls the waker next, and
    /// the waker takes the same lock: the last word is always the truth, or the notifier is about to correct it.
    pub(crate) fn note(&self, is_queued: impl FnOnce() -> bool) -> bool {
        let mut queued = self.shared.queued.lock();
        *queued = is_queued();
        *queued
    }
}

impl Wake for Interruptible {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        *self.queued.lock() = false;
        self.thread.unpark();
    }
}

/// Unparks a thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// The waker of the calling thread, made once per thread.
#[cfg(not(any(loom, shuttle)))]
fn thread_waker() -> Waker {
    thread_local! {
        static WAKER: Waker = Waker::from(Arc::new(Unpark(thread::current())));
    }
    // A destructor of another thread-local may wait after ours is gone.
    WAKER.try_with(Waker::clone).unwrap_or_else(|_| Waker::from(Arc::new(Unpark(thread::current()))))
}

/// The threads of a model live for one execution of it, and so must their wakers.
#[cfg(any(loom, shuttle))]
fn thread_waker() -> Waker {
    Waker::from(Arc::new(Unpark(thread::current())))
}
