//! The whole grid of the names of a lock: attempts, threads and tasks; without a deadline and with one; borrowed, and with a share
//! in the lock. Each row is one method, and says so when it fails.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use waitword::{AcquireError, Closed, LockError, STALL_TIMEOUT, TryAcquireError, forbid_blocking, may_block};

use super::exclusive::Held;
use super::{Task, block_on, far, forbidden, poll, until};

/// What a wait has got, for as long as it has it; or why not.
pub(crate) type Ended<'a> = Result<Held<'a>, LockError>;

pub(crate) type Wait<'a> = Pin<Box<dyn Future<Output = Ended<'a>> + 'a>>;

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
        impl<'a> $crate::common::grid::Got<'a, $Lock> for $Got {
            fn ended(self, $lock: &'a Arc<$Lock>) -> $crate::common::grid::Ended<'a> {
                let $got = self;
                assert!($holds);
                Ok(Box::new($got))
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

/// A method of a lock.
pub(crate) struct Way<L> {
    pub(crate) name: &'static str,
    pub(crate) is_timed: bool,
    pub(crate) call: Call<L>,
}

/// How a method waits, for so long if it has a deadline.
pub(crate) enum Call<L> {
    /// Not at all.
    Attempt(for<'a> fn(&'a Arc<L>, Duration) -> Ended<'a>),
    /// As a thread; with the name of the method to use in place of it, where blocking is forbidden.
    Thread(for<'a> fn(&'a Arc<L>, Duration) -> Ended<'a>, &'static str),
    Task(for<'a> fn(&'a Arc<L>, Duration) -> Wait<'a>),
}

impl<L> Way<L> {
    pub(crate) fn run<'a>(&self, lock: &'a Arc<L>, timeout: Duration) -> Ended<'a> {
        match self.call {
            Call::Attempt(call) | Call::Thread(call, _) => call(lock, timeout),
            Call::Task(call) if may_block() => block_on(call(lock, timeout)),
            Call::Task(call) => match poll(call(lock, timeout).as_mut()) {
                Poll::Ready(ended) => ended,
                Poll::Pending => panic!("{}: it has to wait", self.name),
            },
        }
    }
}

/// The methods of a lock: attempts by their names, and families of those without a deadline, with a timeout, and with a deadline. In
/// parentheses are arguments before the time; and after it.
macro_rules! ways {
    ($Lock:ty: $($kind:ident $names:tt $(($($before:expr),*; $($after:expr)?))?;)+) => {{
        let families: Vec<Vec<$crate::common::grid::Way<$Lock>>> =
            vec![$($crate::common::grid::family!($Lock: $kind $names ($($($before),*)?; $($($after)?)?))),+];
        families.into_iter().flatten().collect()
    }};
}
pub(crate) use ways;

macro_rules! family {
    ($Lock:ty: attempts [$($try:ident),+] $arguments:tt) => {
        vec![$($crate::common::grid::family!($Lock: attempt $try $arguments)),+]
    };
    ($Lock:ty: attempt $try:ident ($($before:expr)?;)) => {
        $crate::common::grid::way!($Lock: $try, false, Attempt(|lock, _| lock.$try($($before)?).ended(lock)))
    };
    ($Lock:ty: blocks [$plain:ident, $for:ident, $until:ident => $instead:ident] ($($before:expr),*; $($after:expr)?)) => {
        vec![
            $crate::common::grid::way!(
                $Lock: $plain, false, Thread(|lock, _| lock.$plain($($before,)* $($after)?).ended(lock), stringify!($instead))
            ),
            $crate::common::grid::way!(
                $Lock: $for, true, Thread(|lock, time| lock.$for($($before,)* time, $($after)?).ended(lock), "")
            ),
            $crate::common::grid::way!($Lock: $until, true, Thread(
                |lock, time| lock.$until($($before,)* $crate::common::grid::at(time), $($after)?).ended(lock), ""
            )),
        ]
    };
    ($Lock:ty: blocks [$plain:ident => $instead:ident] ($($before:expr),*; $($after:expr)?)) => {
        vec![$crate::common::grid::way!(
            $Lock: $plain, false, Thread(|lock, _| lock.$plain($($before,)* $($after)?).ended(lock), stringify!($instead))
        )]
    };
    ($Lock:ty: awaits_untimed [$plain:ident] ($($before:expr),*; $($after:expr)?)) => {
        vec![$crate::common::grid::way!($Lock: $plain, false, Task(|lock, _| {
            let wait = lock.$plain($($before,)* $($after)?);
            Box::pin(async move { wait.await.ended(lock) })
        }))]
    };
    ($Lock:ty: awaits [$plain:ident] ($($before:expr),*; $($after:expr)?)) => {{
        let mut ways = $crate::common::grid::family!($Lock: awaits_untimed [$plain] ($($before),*; $($after)?));
        ways.push($crate::common::grid::way!($Lock: $plain, true, Task(|lock, time| {
            let wait = lock.$plain($($before,)* $($after)?).timeout(time);
            Box::pin(async move { wait.await.ended(lock) })
        })));
        ways.push($crate::common::grid::way!($Lock: $plain, true, Task(|lock, time| {
            let wait = lock.$plain($($before,)* $($after)?).deadline($crate::common::grid::at(time));
            Box::pin(async move { wait.await.ended(lock) })
        })));
        ways
    }};
}
pub(crate) use family;

macro_rules! way {
    ($Lock:ty: $name:ident, $is_timed:literal, $kind:ident($($call:tt)+)) => {
        $crate::common::grid::Way::<$Lock> {
            name: stringify!($name),
            is_timed: $is_timed,
            call: $crate::common::grid::Call::<$Lock>::$kind($($call)+),
        }
    };
}
pub(crate) use way;

/// The deadline that comes after `time`.
pub(crate) fn at(time: Duration) -> Instant {
    Instant::now().checked_add(time).unwrap_or_else(far)
}

/// A lock, and what its waits wait for.
pub(crate) struct Grid<L> {
    pub(crate) ways: Vec<Way<L>>,
    /// One for which no wait has to wait.
    pub(crate) open: fn() -> Arc<L>,
    /// Whether an attempt gets it, too, after one that has ended.
    pub(crate) stays_open: fn(&L) -> bool,
    /// One which [`close`](Self::close) closes.
    pub(crate) closed: fn() -> Arc<L>,
    /// Has waits wait, until what it returns is called.
    pub(crate) close: for<'a> fn(&'a Arc<L>) -> Opener<'a>,
    pub(crate) waiters: fn(&L) -> usize,
}

pub(crate) type Opener<'a> = Box<dyn FnOnce() + 'a>;

/// Opens a lock by dropping its guard.
pub(crate) fn opener<'a, G: 'a>(guard: G) -> Opener<'a> {
    Box::new(move || drop(guard))
}

impl<L> Grid<L> {
    /// What an attempt comes to.
    fn attempt(&self, lock: &Arc<L>) -> Result<(), LockError> {
        let attempt = self.ways.iter().find(|way| matches!(way.call, Call::Attempt(_))).expect("it has one");
        attempt.run(lock, Duration::ZERO).map(drop)
    }

    /// A method without a deadline.
    fn plain(&self, is_task: bool) -> &Way<L> {
        let is = |way: &&Way<L>| match way.call {
            Call::Attempt(_) => false,
            Call::Thread(..) => !is_task && !way.is_timed,
            Call::Task(_) => is_task && !way.is_timed,
        };
        self.ways.iter().find(is).expect("it has one")
    }

    /// Nothing is left of a wait.
    #[track_caller]
    fn assert_left(&self, lock: &Arc<L>, way: &Way<L>) {
        assert_eq!(((self.waiters)(lock), Arc::strong_count(lock)), (0, 1), "{}", way.name);
    }

    /// Runs `test` with a queued task of each timed method, the time at which it is too late, and what opens the lock.
    fn soon_too_late(&self, test: impl Fn(&Way<L>, &Arc<L>, Task<'_, Ended<'_>>, Instant, Opener<'_>)) {
        for way in self.ways.iter().filter(|way| way.is_timed) {
            let Call::Task(call) = way.call else { continue };
            let mut timeout = Duration::from_millis(1);
            loop {
                let lock = (self.closed)();
                let open = (self.close)(&lock);
                let mut task = Task::new(call(&lock, timeout));
                let late = Instant::now() + timeout;
                if task.poll().is_pending() {
                    test(way, &lock, task, late, open);
                    break;
                }
                // A slow machine.
                timeout *= 2;
            }
        }
    }
}

/// Tests of the methods of one lock, all of them or those named; and of one that one at a time can hold, whose release signals a waiter.
macro_rules! the_whole_grid {
    ($grid:ident) => {
        $crate::common::grid::the_whole_grid! { $grid:
            every_way_to_wait_gets_at_once_what_is_there,
            every_way_to_wait_waits_until_it_is_there,
            timed_forms_give_up_and_never_too_early,
            what_timed_forms_leave_behind_keeps_no_other_out,
            what_comes_before_the_poll_is_had_though_the_time_is_up,
            a_waiter_that_has_given_up_is_not_queued,
            a_timeout_is_counted_from_the_call,
            forbidden_to_block,
        }
    };
    (exclusive $grid:ident) => {
        $crate::common::grid::the_whole_grid! { $grid:
            threads_and_tasks_share_one_queue,
            others_barge_past_a_signalled_waiter_until_its_window_closes,
            a_signalled_waiter_that_gives_up_forwards_the_signal,
        }
    };
    ($grid:ident: $($test:ident,)+) => {$(
        #[test]
        fn $test() {
            $crate::common::grid::$test(&super::$grid());
        }
    )+};
}
pub(crate) use the_whole_grid;

/// Also those whose time is up before, and on threads that must not block. A task is polled once.
pub(crate) fn every_way_to_wait_gets_at_once_what_is_there<L>(grid: &Grid<L>) {
    let _nobody_may_wait = forbid_blocking();
    for way in &grid.ways {
        for timeout in [Duration::MAX, Duration::ZERO] {
            let lock = (grid.open)();
            assert_eq!(way.run(&lock, timeout).map(drop), Ok(()), "{} {timeout:?}", way.name);
            assert_eq!(grid.attempt(&lock).is_ok(), (grid.stays_open)(&lock), "{} {timeout:?}", way.name);
            grid.assert_left(&lock, way);
        }
    }
}

pub(crate) fn every_way_to_wait_waits_until_it_is_there<L: Send + Sync>(grid: &Grid<L>) {
    for way in grid.ways.iter().filter(|way| !matches!(way.call, Call::Attempt(_))) {
        let lock = (grid.closed)();
        let open = (grid.close)(&lock);
        thread::scope(|scope| {
            let waiter = scope.spawn(|| way.run(&lock, Duration::MAX).map(drop));
            until(|| (grid.waiters)(&lock) == 1 || waiter.is_finished());
            assert!(!waiter.is_finished(), "{}: it did not wait", way.name);
            open();
            assert_eq!(waiter.join().unwrap(), Ok(()), "{}", way.name);
        });
        assert_eq!(grid.attempt(&lock).is_ok(), (grid.stays_open)(&lock), "{}", way.name);
        grid.assert_left(&lock, way);
    }
}

pub(crate) fn timed_forms_give_up_and_never_too_early<L>(grid: &Grid<L>) {
    let lock = (grid.closed)();
    let _open = (grid.close)(&lock);
    for way in &grid.ways {
        let timeouts: &[u64] = match way.call {
            Call::Attempt(_) => &[0],
            _ if way.is_timed => &[0, 1, 3, 15],
            _ => &[],
        };
        for timeout in timeouts.iter().copied().map(Duration::from_millis) {
            let start = Instant::now();
            let ended = way.run(&lock, timeout).map(drop);
            assert_eq!(ended, Err(LockError::TimedOut), "{} {timeout:?}", way.name);
            assert!(start.elapsed() >= timeout, "{} {timeout:?}", way.name);
            grid.assert_left(&lock, way);
        }
    }
}

pub(crate) fn what_timed_forms_leave_behind_keeps_no_other_out<L>(grid: &Grid<L>) {
    let lock = (grid.closed)();
    let open = (grid.close)(&lock);
    for way in grid.ways.iter().filter(|way| way.is_timed) {
        assert!(way.run(&lock, Duration::from_millis(1)).is_err(), "{}", way.name);
    }
    open();
    assert_eq!(grid.attempt(&lock), Ok(()));
}

pub(crate) fn what_comes_before_the_poll_is_had_though_the_time_is_up<L>(grid: &Grid<L>) {
    grid.soon_too_late(|way, _, mut task, late, open| {
        open();
        until(|| Instant::now() > late);
        assert!(matches!(task.poll(), Poll::Ready(Ok(_))), "{}", way.name);
    });
}

/// Though the future is still there.
pub(crate) fn a_waiter_that_has_given_up_is_not_queued<L>(grid: &Grid<L>) {
    grid.soon_too_late(|way, lock, mut task, late, _open| {
        until(|| task.is_woken() && Instant::now() >= late);
        assert_eq!(task.poll().map_ok(drop), Poll::Ready(Err(LockError::TimedOut)), "{}", way.name);
        assert_eq!((grid.waiters)(lock), 0, "{}", way.name);
    });
}

pub(crate) fn a_timeout_is_counted_from_the_call<L>(grid: &Grid<L>) {
    let lock = (grid.closed)();
    let _open = (grid.close)(&lock);
    for way in grid.ways.iter().filter(|way| way.is_timed) {
        if let Call::Task(call) = way.call {
            let mut late = Task::new(call(&lock, Duration::from_millis(1)));
            let start = Instant::now();
            until(|| start.elapsed() > Duration::from_millis(1));
            let ended = late.poll().map_ok(drop);
            assert_eq!(ended, Poll::Ready(Err(LockError::TimedOut)), "{}", way.name);
        }
    }
}

/// Threads that may not wait do not, and are told what to use; tasks wait there.
pub(crate) fn forbidden_to_block<L>(grid: &Grid<L>) {
    for way in &grid.ways {
        let lock = (grid.closed)();
        let open = (grid.close)(&lock);
        let with = |timeout| {
            let _must_not = forbid_blocking();
            way.run(&lock, timeout).map(drop)
        };
        match way.call {
            Call::Attempt(_) => assert_eq!(with(Duration::MAX), Err(LockError::TimedOut), "{}", way.name),
            Call::Thread(..) if way.is_timed => {
                for timeout in [Duration::MAX, Duration::from_secs(3600)] {
                    assert_eq!(with(timeout), Err(LockError::BlockingForbidden), "{}", way.name);
                }
                // That would not have waited.
                assert_eq!(with(Duration::ZERO), Err(LockError::TimedOut), "{}", way.name);
            }
            Call::Thread(call, instead) => {
                let message = forbidden(|| call(&lock, Duration::MAX).map(drop));
                assert!(message.contains(&format!("`{instead}`")), "{}: {message}", way.name);
            }
            Call::Task(call) => {
                let _must_not = forbid_blocking();
                let mut task = Task::new(call(&lock, Duration::MAX));
                assert!(task.poll().is_pending(), "{}", way.name);
                open();
                assert!(matches!(task.poll(), Poll::Ready(Ok(_))), "{}", way.name);
            }
        }
        grid.assert_left(&lock, way);
    }
}

/// However many they are. Once more if the watchdog has skipped the waiter, on a slow machine: then nothing is reserved for it.
pub(crate) fn others_barge_past_a_signalled_waiter_until_its_window_closes<L>(grid: &Grid<L>) {
    let plain = grid.plain(true);
    let Call::Task(wait) = plain.call else { unreachable!("it is a task") };
    until(|| {
        let lock = (grid.closed)();
        let open = (grid.close)(&lock);
        let mut first = Task::queued(wait(&lock, Duration::MAX));
        let signalled = Instant::now();
        open();
        assert_eq!(grid.attempt(&lock), Ok(()));
        while grid.attempt(&lock).is_ok() {
            if signalled.elapsed() > STALL_TIMEOUT {
                return false;
            }
        }
        // It is free, and reserved.
        assert!(first.poll().is_ready());
        assert_eq!(grid.attempt(&lock), Ok(()));
        true
    });
}

pub(crate) fn a_signalled_waiter_that_gives_up_forwards_the_signal<L>(grid: &Grid<L>) {
    let plain = grid.plain(true);
    grid.soon_too_late(|way, lock, mut late, deadline, open| {
        let Call::Task(wait) = plain.call else { unreachable!("it is a task") };
        let mut next = Task::queued(wait(lock, Duration::MAX));
        open();
        let barged_in = grid.ways[0].run(lock, Duration::ZERO).expect("a signal is no handoff");
        until(|| Instant::now() > deadline);
        assert_eq!(late.poll().map_ok(drop), Poll::Ready(Err(LockError::TimedOut)), "{}", way.name);
        // Though the future is still there.
        assert_eq!((grid.waiters)(lock), 1, "{}", way.name);
        drop(barged_in);
        assert!(next.is_woken() && next.poll().is_ready(), "{}", way.name);
    });
}

/// On a slow machine the watchdog may have signalled another before the signalled one has come.
pub(crate) fn threads_and_tasks_share_one_queue<L: Send + Sync>(grid: &Grid<L>) {
    share_one_queue(grid, |_enqueued, released| released);
}

/// From the beginning each may recheck on its own before the woken one has come.
pub(crate) fn threads_and_tasks_share_one_queue_and_recheck<L: Send + Sync>(grid: &Grid<L>) {
    share_one_queue(grid, |enqueued, _released| enqueued);
}

/// Of a lock that one at a time can hold: in every mixture they have their turns in the order in which they came, until too long after
/// `strict` that may be another.
fn share_one_queue<L: Send + Sync>(grid: &Grid<L>, strict: fn(Instant, Instant) -> Instant) {
    let kinds = [grid.plain(false), grid.plain(true)];
    for mixture in 0..1_usize << 5 {
        let lock = (grid.closed)();
        let turns = Mutex::new(Vec::new());
        let open = (grid.close)(&lock);
        let enqueued = Instant::now();
        let mut released = enqueued;
        thread::scope(|scope| {
            for place in 0..5 {
                let (lock, turns, way) = (&lock, &turns, kinds[mixture >> place & 1]);
                scope.spawn(move || {
                    let _held = way.run(lock, Duration::MAX).unwrap();
                    turns.lock().unwrap().push(place);
                });
                until(|| (grid.waiters)(lock) == place + 1);
            }
            released = Instant::now();
            open();
        });
        let turns = turns.into_inner().unwrap();
        if strict(enqueued, released).elapsed() < STALL_TIMEOUT {
            assert_eq!(turns, [0, 1, 2, 3, 4], "{mixture:b}");
        }
        assert_eq!(turns.len(), 5);
    }
}
