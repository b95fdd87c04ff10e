//! What several tests need.
#![allow(dead_code, unused_imports, unused_macros, reason = "each test file uses another part")]

pub(crate) mod law;
pub(crate) mod schedules;

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Once};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};
use std::time::{Duration, Instant, SystemTime};

use waitword::word::{Parker, Table};

/// Waits for another thread, or the timer, to have got somewhere. Fails loudly instead of hanging.
#[track_caller]
pub(crate) fn until(mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited for a minute");
        std::thread::yield_now();
    }
}

/// A whole number that the environment gives.
pub(crate) fn from_environment(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} has to be a whole number, and is {value:?}")))
}

/// What the choices of a test follow from: `cargo xtask repeat` gives another in each round.
pub(crate) fn given_seed() -> Option<u64> {
    from_environment("WAITWORD_SOAK_SEED")
}

/// What the choices of a soak follow from where no seed is given.
pub(crate) fn some_seed() -> u64 {
    given_seed().unwrap_or_else(|| {
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        time.map_or(0, |time| time.as_nanos() as u64)
    })
}

/// How many are queued at one of the words of a lock, wherever in it they are.
pub(crate) fn waiters<L>(lock: &L) -> usize {
    let word = std::ptr::from_ref(lock).cast::<AtomicU32>();
    let words = size_of::<L>() / size_of::<AtomicU32>();
    // SAFETY: inside of the lock, which is made of words that are at least so large. They are not even read: only their
    // addresses are.
    (0..words).map(|index| Table::global().waiters(unsafe { &*word.add(index) })).sum()
}

/// A deadline that no test reaches.
pub(crate) fn far() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}

/// An executor of one future.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let parker = Parker::current();
    loop {
        match future.as_mut().poll(&mut Context::from_waker(parker.waker())) {
            Poll::Ready(value) => return value,
            Poll::Pending => parker.park(),
        }
    }
}

/// Polls once, with a waker that does nothing.
pub(crate) fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// A boxed future that is polled by hand, and knows whether it has been woken since.
pub(crate) struct Task<'a, T> {
    future: Pin<Box<dyn Future<Output = T> + 'a>>,
    woken: Arc<Woken>,
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl<'a, T> Task<'a, T> {
    pub(crate) fn new(future: impl Future<Output = T> + 'a) -> Self {
        // Woken to begin with: any executor polls a new task once.
        Self { future: Box::pin(future), woken: Arc::new(Woken(AtomicBool::new(true))) }
    }

    /// Polled once, and waits.
    #[track_caller]
    pub(crate) fn queued(future: impl Future<Output = T> + 'a) -> Self {
        let mut task = Self::new(future);
        assert!(task.poll().is_pending(), "it does not wait");
        task
    }

    /// The same with a deadline, which is returned: `after` so long, or longer on a machine so slow that it had passed.
    pub(crate) fn queued_until<F>(mut after: Duration, future: impl Fn(Instant) -> F) -> (Self, Instant)
    where
        F: Future<Output = T> + 'a,
    {
        loop {
            let deadline = Instant::now() + after;
            let mut task = Self::new(future(deadline));
            if task.poll().is_pending() {
                return (task, deadline);
            }
            after *= 2;
        }
    }

    pub(crate) fn is_woken(&self) -> bool {
        self.woken.0.load(Ordering::SeqCst)
    }

    /// Polls, whether it was woken or not.
    pub(crate) fn poll(&mut self) -> Poll<T> {
        self.woken.0.store(false, Ordering::SeqCst);
        let waker = Waker::from(Arc::clone(&self.woken));
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }

    /// Polls each time that it is woken until it is ready.
    #[track_caller]
    pub(crate) fn finish(mut self) -> T {
        loop {
            until(|| self.is_woken());
            if let Poll::Ready(value) = self.poll() {
                return value;
            }
        }
    }
}

/// Polls once, in the task that awaits this.
pub(crate) async fn poll_once<F: Future + ?Sized>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}

/// A waker that panics when it is woken.
pub(crate) struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("the waker");
    }
}

impl Panics {
    pub(crate) fn waker() -> Waker {
        Waker::from(Arc::new(Self))
    }
}

/// A waker every clone of which panics at its end, while [`panics`] runs something.
pub(crate) fn panics_at_its_end() -> Waker {
    fn clone(_: *const ()) -> RawWaker {
        RawWaker::new(std::ptr::null(), &VTABLE)
    }
    fn nothing(_: *const ()) {}
    fn end(_: *const ()) {
        if ENDS_PANIC.get() && !std::thread::panicking() {
            panic!("meant: a waker's destructor");
        }
    }
    static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, nothing, nothing, end);
    // SAFETY: there is no data that anything could be done wrong with.
    unsafe { Waker::from_raw(clone(std::ptr::null())) }
}

thread_local! {
    static ENDS_PANIC: Cell<bool> = const { Cell::new(false) };
}

/// Whether it unwinds.
pub(crate) fn panics<R>(run: impl FnOnce() -> R) -> bool {
    ENDS_PANIC.set(true);
    let result = catch_unwind(AssertUnwindSafe(run));
    ENDS_PANIC.set(false);
    result.is_err()
}

/// An increment that loses counts if two are in it at once, as a plain load and store would.
#[derive(Default)]
pub(crate) struct PlainCounter(AtomicU64);

impl PlainCounter {
    pub(crate) fn increment(&self) {
        let seen = self.get();
        for _ in 0..50 {
            std::hint::spin_loop();
        }
        self.0.store(seen + 1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs `run` on a thread, and waits until `is_queued` says that it waits.
#[track_caller]
pub(crate) fn waits<'scope, T: Send + 'scope>(
    scope: &'scope std::thread::Scope<'scope, '_>,
    is_queued: impl Fn() -> bool,
    run: impl FnOnce() -> T + Send + 'scope,
) -> std::thread::ScopedJoinHandle<'scope, T> {
    let thread = scope.spawn(run);
    until(|| is_queued() || thread.is_finished());
    assert!(!thread.is_finished(), "it did not wait");
    thread
}

/// The text of the panic of a blocking call where that is forbidden, and where it says that it is.
pub(crate) fn forbidden<T>(call: impl FnOnce() -> T) -> (String, (String, u32)) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let default = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PLACE.set(panic.location().map(|place| (place.file().to_owned(), place.line())));
            default(panic);
        }));
    });
    let _must_not = waitword::forbid_blocking();
    let panic = catch_unwind(AssertUnwindSafe(call)).err().expect("it did not panic");
    let text = panic.downcast_ref::<String>().expect("a formatted text").clone();
    (text, PLACE.take().expect("the hook has set it"))
}

thread_local! {
    static PLACE: Cell<Option<(String, u32)>> = const { Cell::new(None) };
}
