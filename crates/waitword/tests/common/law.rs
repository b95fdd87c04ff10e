//! What a row of the table of locks (`rows.rs`) says: all methods that wait for one thing, how to have them wait, and what ends that.
//!
//! Each law (`tests/laws`) is a function over a row, and goes through its methods: attempts, threads and tasks; without a deadline and with
//! one; borrowed, and with a share in the lock. So a failure names the law, the row and the method.

use std::cell::Cell;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use waitword::{AcquireError, Closed, LockError, NotUpgraded, TryAcquireError, may_block};
use waitword_core::observe::WaitsFor;

use super::{Task, block_on, far, poll, waiters};

/// Whatever a lock gives to its holder. Dropping it releases the lock.
pub(crate) trait Guard {}

impl<T: ?Sized> Guard for T {}

pub(crate) type Held<'a> = Box<dyn Guard + Send + 'a>;

/// What a wait has got, for as long as it has it; or why not.
pub(crate) type Ended<'a> = Result<Held<'a>, LockError>;

pub(crate) type Wait<'a> = Pin<Box<dyn Future<Output = Ended<'a>> + Send + 'a>>;

/// One that has no deadline that is reached.
pub(crate) type Waiting<'a> = Pin<Box<dyn Future<Output = Held<'a>> + Send + 'a>>;

thread_local! {
    static BOXES: Cell<usize> = const { Cell::new(0) };
}

/// How often this thread has allocated for a [`Held`].
pub(crate) fn boxes() -> usize {
    BOXES.get()
}

pub(crate) fn held<'a, G: Send + 'a>(got: G) -> Held<'a> {
    BOXES.set(BOXES.get() + usize::from(size_of::<G>() > 0));
    Box::new(got)
}

/// What a method of `L` returns.
pub(crate) trait Got<'a, L> {
    /// Checks that it has what it should.
    fn ended(self, lock: &'a Arc<L>) -> Ended<'a>;
}

impl<'a, L, G: Got<'a, L>, E: Into<Refusal>> Got<'a, L> for Result<G, E> {
    fn ended(self, lock: &'a Arc<L>) -> Ended<'a> {
        self.map_err(|error| error.into().0)?.ended(lock)
    }
}

impl<'a, L, G: Got<'a, L>> Got<'a, L> for Option<G> {
    fn ended(self, lock: &'a Arc<L>) -> Ended<'a> {
        self.ok_or(LockError::TimedOut)?.ended(lock)
    }
}

impl<'a, L> Got<'a, L> for bool
where
    (): Got<'a, L>,
{
    fn ended(self, lock: &'a Arc<L>) -> Ended<'a> {
        self.then_some(()).ended(lock)
    }
}

/// What the methods of a lock return when they have got it, and what holds then.
macro_rules! got {
    ($Lock:ty: $($Got:ty),+ => |$lock:ident, $got:ident| $holds:expr) => {$(
        impl<'a> Got<'a, $Lock> for $Got {
            fn ended(self, $lock: &'a Arc<$Lock>) -> Ended<'a> {
                let $got = self;
                assert!($holds);
                Ok(held($got))
            }
        }
    )+};
}
pub(crate) use got;

pub(crate) struct Refusal(LockError);

/// How the errors of all methods count here.
macro_rules! refusals {
    ($($Error:ty: $($error:pat => $refusal:expr),*;)+) => {$(
        impl From<$Error> for Refusal {
            fn from(error: $Error) -> Self {
                match error {
                    $($error => $refusal,)*
                }
            }
        }
    )+};
}

refusals! {
    LockError: error => Self(error);
    AcquireError:
        AcquireError::TimedOut => Self(LockError::TimedOut),
        AcquireError::BlockingForbidden => Self(LockError::BlockingForbidden),
        AcquireError::Closed => panic!("it is closed");
    TryAcquireError:
        TryAcquireError::NoPermits => Self(LockError::TimedOut),
        TryAcquireError::Closed => panic!("it is closed");
    Closed: Closed => panic!("it is closed");
    Infallible: ;
}

impl<G> From<NotUpgraded<G>> for Refusal {
    fn from(not: NotUpgraded<G>) -> Self {
        Self(not.error)
    }
}

/// A method of a lock.
pub(crate) struct Way<L> {
    pub(crate) name: &'static str,
    pub(crate) call: Call<L>,
    /// Where the calls of its row begin.
    pub(crate) site: (&'static str, u32),
}

/// How a method waits, for so long if it has a deadline.
pub(crate) enum Call<L> {
    /// Not at all.
    Attempt(for<'a> fn(&'a Arc<L>, Duration) -> Ended<'a>),
    /// As a thread; with the name of the method to use in place of it, where blocking is forbidden, or with a deadline.
    Thread(for<'a> fn(&'a Arc<L>, Duration) -> Ended<'a>, Option<&'static str>),
    Task(for<'a> fn(&'a Arc<L>, Duration) -> Wait<'a>, Limit),
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Limit {
    Never,
    Timeout,
    Deadline,
}

impl<L> Way<L> {
    pub(crate) fn run<'a>(&self, lock: &'a Arc<L>, timeout: Duration) -> Ended<'a> {
        match self.call {
            Call::Attempt(call) | Call::Thread(call, _) => call(lock, timeout),
            Call::Task(call, _) if may_block() => block_on(call(lock, timeout)),
            Call::Task(call, _) => match poll(call(lock, timeout).as_mut()) {
                Poll::Ready(ended) => ended,
                Poll::Pending => panic!("{}: it has to wait", self.name),
            },
        }
    }

    pub(crate) fn is_timed(&self) -> bool {
        match self.call {
            Call::Attempt(_) => false,
            Call::Thread(_, instead) => instead.is_none(),
            Call::Task(_, limit) => limit != Limit::Never,
        }
    }

    /// A call that the macro makes is where the row begins.
    pub(crate) fn is_called_at(&self, file: &str, line: u32) -> bool {
        file == self.site.0 && (self.site.1..self.site.1 + 30).contains(&line)
    }

    pub(crate) fn waits(&self) -> bool {
        !matches!(self.call, Call::Attempt(_))
    }

    pub(crate) fn is_task(&self) -> bool {
        matches!(self.call, Call::Task(..))
    }

    /// Waits as a task, as long as need be.
    pub(crate) fn wait<'a>(&self, lock: &'a Arc<L>) -> Waiting<'a> {
        let Call::Task(call, _) = self.call else { panic!("{} is no task", self.name) };
        let wait = call(lock, Duration::MAX);
        Box::pin(async { wait.await.unwrap() })
    }

    /// Polled once, and waits.
    #[track_caller]
    pub(crate) fn queued<'a>(&self, lock: &'a Arc<L>) -> Task<'a, Held<'a>> {
        Task::queued(self.wait(lock))
    }
}

/// The deadline that comes after `time`.
pub(crate) fn at(time: Duration) -> Instant {
    Instant::now().checked_add(time).unwrap_or_else(far)
}

/// The methods of `$at`, which belongs to `$lock`: attempts and methods that block or are futures, by their names, and with their arguments
/// in parentheses. `awaits` are three each: without a deadline, with a timeout, with a deadline. `awaiting` is any expression that makes
/// such a future, `by` any call, and `lazily` one of a condition variable, which is evaluated at the first poll.
macro_rules! ways {
    ($lock:ident: $Lock:ty => $at:expr; $($kind:ident $names:tt $arguments:tt;)+) => {{
        let mut ways: Vec<Way<$Lock>> = Vec::new();
        $(family!(ways, $lock, $at, $kind $names $arguments);)+
        ways
    }};
}
pub(crate) use ways;

macro_rules! family {
    ($ways:ident, $lock:ident, $at:expr, attempts [$($try:ident),+] $arguments:tt) => {$(
        $ways.push(way!($try, Attempt(|$lock, _| $at.$try $arguments.ended($lock))));
    )+};
    ($ways:ident, $lock:ident, $at:expr, blocks [$plain:ident, $for:ident, $until:ident => $instead:ident] ()) => {
        family!($ways, $lock, $at, blocks [$plain => $instead] ());
        $ways.push(way!($for, Thread(|$lock, time| $at.$for(time).ended($lock), None)));
        $ways.push(way!($until, Thread(|$lock, time| $at.$until(at(time)).ended($lock), None)));
    };
    ($ways:ident, $lock:ident, $at:expr, blocks [$plain:ident => $instead:ident] $arguments:tt) => {
        $ways.push(way!(
            $plain, Thread(|$lock, _| $at.$plain $arguments.ended($lock), Some(concat!("`", stringify!($instead), "`")))
        ));
    };
    ($ways:ident, $lock:ident, $at:expr, awaits_untimed [$($plain:ident),+] $arguments:tt) => {$(
        $ways.push(way!($plain, Task(|$lock, _| {
            must_be_awaited!($at.$plain $arguments);
            let wait = $at.$plain $arguments;
            Box::pin(async move { wait.await.ended($lock) })
        }, Limit::Never)));
    )+};
    ($ways:ident, $lock:ident, $at:expr, awaits [$($plain:ident),+] $arguments:tt) => {$(
        family!($ways, $lock, $at, awaiting [$plain] ($at.$plain $arguments));
    )+};
    ($ways:ident, $lock:ident, $at:expr, awaiting [$name:ident] ($wait:expr)) => {
        $ways.push(way!($name, Task(|$lock, _| {
            must_be_awaited!($wait);
            let wait = $wait;
            Box::pin(async move { wait.await.ended($lock) })
        }, Limit::Never)));
        $ways.push(way!($name, Task(|$lock, time| {
            must_be_awaited!($wait.timeout(time));
            let wait = $wait.timeout(time);
            Box::pin(async move { wait.await.ended($lock) })
        }, Limit::Timeout)));
        $ways.push(way!($name, Task(|$lock, time| {
            let wait = $wait.deadline(at(time));
            Box::pin(async move { wait.await.ended($lock) })
        }, Limit::Deadline)));
    };
    ($ways:ident, $lock:ident, $at:expr, by [$name:ident] ($($call:tt)+)) => {
        $ways.push(way!($name, $($call)+));
    };
    ($ways:ident, $lock:ident, $at:expr, lazily [$name:ident] ($wait:expr)) => {
        $ways.push(way!($name, Task(|$lock, _| {
            Box::pin(async move { ($wait.await, Ok(())).ended($lock) })
        }, Limit::Never)));
        $ways.push(way!($name, Task(
            |$lock, time| Box::pin(async move { $wait.timeout(time).await.ended($lock) }), Limit::Timeout
        )));
        $ways.push(way!($name, Task(|$lock, time| {
            let deadline = at(time);
            Box::pin(async move { $wait.deadline(deadline).await.ended($lock) })
        }, Limit::Deadline)));
    };
}
pub(crate) use family;

/// The compiler warns of a future that nobody awaits: an expectation that is not met is an error.
macro_rules! must_be_awaited {
    ($($future:tt)+) => {
        if false {
            #[expect(unused_must_use, reason = "that is what is tested")]
            $($future)+;
        }
    };
}
pub(crate) use must_be_awaited;

macro_rules! way {
    ($name:ident, $kind:ident($($call:tt)+)) => {
        Way { name: stringify!($name), call: Call::$kind($($call)+), site: (file!(), line!()) }
    };
}
pub(crate) use way;

/// A lock, and what its waits wait for.
pub(crate) struct Row<L> {
    pub(crate) ways: Vec<Way<L>>,
    /// What holders and barging acquirers use, where a wait is for something else first.
    pub(crate) others: Vec<Way<L>>,
    /// What waits behind, where that is neither.
    pub(crate) beside: Vec<Way<L>>,
    /// One for which no wait has to wait.
    pub(crate) open: fn() -> Arc<L>,
    /// Whether an attempt gets it, too, after one that has ended.
    pub(crate) stays_open: fn(&L) -> bool,
    /// One which [`close`](Self::close) closes.
    pub(crate) closed: fn() -> Arc<L>,
    /// Has waits wait, until what it returns is called.
    pub(crate) close: for<'a> fn(&'a Arc<L>) -> Opener<'a>,
    /// Once more what the opener does, where a wait that begins afterwards waits for that.
    pub(crate) again: fn(&Arc<L>),
    pub(crate) waiters: fn(&L) -> usize,
    /// What else must hold once all waits are over.
    pub(crate) is_as_before: fn(&L) -> bool,
    pub(crate) waits_for: WaitsFor,
    /// The address of its words.
    pub(crate) words: fn(&L) -> std::ops::Range<usize>,
}

pub(crate) type Opener<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Opens a lock by dropping its guard.
pub(crate) fn opener<'a, G: Send + 'a>(guard: G) -> Opener<'a> {
    Box::new(move || drop(guard))
}

impl<L> Row<L> {
    /// Of a lock that is open without a holder, and stays so.
    pub(crate) fn new(
        waits_for: WaitsFor,
        ways: Vec<Way<L>>,
        open: fn() -> Arc<L>,
        close: for<'a> fn(&'a Arc<L>) -> Opener<'a>,
    ) -> Self {
        Self {
            ways,
            others: Vec::new(),
            beside: Vec::new(),
            open,
            stays_open: |_| true,
            closed: open,
            close,
            again: |_| (),
            waiters: waiters::<L>,
            is_as_before: |_| true,
            waits_for,
            words: addresses::<L>,
        }
    }
}

pub(crate) fn addresses<T>(of: &T) -> std::ops::Range<usize> {
    let begin = std::ptr::from_ref(of).addr();
    begin..begin + size_of::<T>()
}

impl<L> Row<L> {
    /// Its futures without a deadline, and with one.
    pub(crate) fn tasks(&self) -> Vec<&Way<L>> {
        let is_task = |way: &&Way<L>| matches!(way.call, Call::Task(_, Limit::Never | Limit::Deadline));
        self.ways.iter().filter(is_task).collect()
    }

    fn others(&self) -> &[Way<L>] {
        if self.others.is_empty() { &self.ways } else { &self.others }
    }

    fn beside(&self) -> &[Way<L>] {
        if self.beside.is_empty() { self.others() } else { &self.beside }
    }

    pub(crate) fn attempt<'a>(&self, lock: &'a Arc<L>) -> Ended<'a> {
        self.others().iter().find(|way| !way.waits()).expect("it has one").run(lock, Duration::ZERO)
    }

    pub(crate) fn is_free(&self, lock: &Arc<L>) -> bool {
        self.attempt(lock).is_ok()
    }

    /// As a thread.
    pub(crate) fn lock<'a>(&self, lock: &'a Arc<L>) -> Held<'a> {
        self.thread().run(lock, Duration::MAX).unwrap()
    }

    /// As a thread with a deadline.
    pub(crate) fn lock_for<'a>(&self, lock: &'a Arc<L>, timeout: Duration) -> Ended<'a> {
        let timed = self.others().iter().find(|way| !way.is_task() && way.is_timed());
        timed.expect("it has one").run(lock, timeout)
    }

    /// A method of threads without a deadline.
    pub(crate) fn thread(&self) -> &Way<L> {
        let is = |way: &&Way<L>| way.waits() && !way.is_task() && !way.is_timed();
        self.others().iter().find(is).expect("it has one")
    }

    /// A future without a deadline.
    pub(crate) fn task(&self) -> &Way<L> {
        self.others().iter().find(|way| way.is_task()).expect("it has one")
    }

    /// Waits behind, as a task.
    pub(crate) fn other<'a>(&self, lock: &'a Arc<L>) -> Waiting<'a> {
        self.beside().iter().find(|way| way.is_task()).expect("it has one").wait(lock)
    }

    /// Waits as a thread.
    pub(crate) fn block(&self, lock: &Arc<L>) {
        let is = |way: &&Way<L>| way.waits() && !way.is_task() && !way.is_timed();
        drop(
            self.ways
                .iter()
                .chain(self.beside())
                .find(is)
                .expect("it has one")
                .run(lock, Duration::MAX)
                .unwrap(),
        );
    }

    /// The lock is free, and nothing is left of a wait.
    #[track_caller]
    pub(crate) fn assert_free(&self, lock: &Arc<L>) {
        assert!(self.is_free(lock));
        assert_eq!((self.waiters)(lock), 0);
        assert!((self.is_as_before)(lock));
    }

    /// Nothing is left of a wait.
    #[track_caller]
    pub(crate) fn assert_left(&self, lock: &Arc<L>, way: &Way<L>) {
        assert_eq!(((self.waiters)(lock), Arc::strong_count(lock)), (0, 1), "{}", way.name);
    }
}

/// A test of each law, for each row: `LAW::ROW`.
macro_rules! laws {
    ($($rows:tt: $($law:ident),+;)+) => {$($(
        law!($law $rows);
    )+)+};
}
pub(crate) use laws;

macro_rules! law {
    ($law:ident [$($row:ident)+]) => {
        mod $law {
            $(#[test]
            fn $row() {
                super::$law(Box::leak(Box::new(crate::rows::$row())));
            })+
        }
    };
}
pub(crate) use law;
