//! The threads of the timer: one at a time turns the wheel and calls the wakers that are due.
//!
//! A waker is foreign code. A waker that blocks (on the lock of a run queue, on a full channel, on a lock of this library) must delay
//! neither the deadlines of others nor the watchdog (`watchdog.rs`), which is a deadline, too.
//!
//! # The race
//! With one thread, all that is due after a waker that blocks waits for that waker: for ever, if the waker waits for one of these
//! deadlines.
//!
//! ```text
//!   timer                                    another thread
//!   ───────────────────────────────          ───────────────────────────────
//!   takes A and B, both due, out of the wheel
//!   calls A: blocks until C is over
//!                                            waits for C, with a deadline
//!   B is out of the wheel, and not called
//!   no thread checks the wheel: C is never over
//! ```
//!
//! *Fixed:* wakes that are due and not called yet are stored where another thread finds them ([`Calls::queue`]), and a second thread, the
//! **stand-by**, checks on the first, the **leader**.
//!
//! ```text
//!   leader                                   stand-by
//!   ───────────────────────────────          ───────────────────────────────
//!   wakes up at wakes_at; lock: A and B go   sleeps, until checks_at at the latest
//!   from the wheel to the queue; calling,
//!   since now; B is behind A, so
//!   checks_at ≤ now + LIMIT
//!   lock: takes A from the queue; unlock
//!   calls A, which blocks                    wakes up at checks_at; lock: the leader is calling, and
//!                                            has been for LIMIT: it is the leader now, and another
//!                                            is the stand-by
//!                                            checks the wheel; calls B; sleeps until C is due
//!   A returns; lock: not the leader any more
//!   becomes the stand-by, or ends
//! ```
//!
//! The wheel and the queue have a lock each. A thread that needs both takes the queue's first.
//!
//! # States of a thread
//! ```text
//!                takes over                another took over           returns
//!   stand-by ───────────────► leader ───────────────────────► stuck ───────────► stand-by, if there is none,
//!      ▲                        ▲                                                 else it ends
//!      │ the one before took over
//!   a new thread                └── the first of all
//! ```
//! A thread learns its role under the lock; one that has neither has been stuck.
//!
//! # When the stand-by checks
//! The stand-by is not unparked for each call, because that would be a context switch each time. It sleeps until `checks_at`, at most LIMIT
//! after the first moment at which a waker would be delayed:
//!
//! ```text
//!   checks_at  ≤  LIMIT + the time when the leader began to call the batch     if several wakers are in the queue
//!   checks_at  ≤  LIMIT + the earliest deadline in the wheel
//! ```
//!
//! So it wakes up at most once per LIMIT, and not at all while the wheel is empty. It is unparked only if it would sleep for too long: for
//! the first deadline after a pause, or when many come at once. It delays no deadline, because the leader calls the wakers itself. In an
//! earlier version, leader and stand-by swapped their roles to save wake-ups; that saved 2 ms of CPU in a second with 1,000 deadlines
//! (`docs/costs.md`).
//!
//! After a `fork` the child has none of these threads, and starts anew when it sets an alarm (`sync/fork.rs`). The alarms that the forking
//! thread had set stay set. Wakes that were due and not called yet are called there, too, whatever thread set them; a wake that was being
//! called is not.
//!
//! A leader that is not stuck but slow, or has no CPU for that long, is replaced as well. Nothing is lost by that: it finishes its current
//! call, and the others continue from the queue.

use crate::time::Instant;
use std::collections::VecDeque;
use std::task::Waker;
use std::thread::{Builder, Thread, ThreadId};

use super::deadlines::{Clock, DEADLINES, Deadlines, LIMIT, expire};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::thread::{current, park, park_until};
use crate::sync::{Mutex, OnceLock, Timekeeper, mutant};
use crate::wake::{BATCH, Wake, WakeBatch};

/// The maximum number of threads. If none is left for a stand-by, the leader calls wakers without one, until a stuck thread returns.
const MOST_THREADS: usize = 32;

static CLOCK: OnceLock<Clock> = OnceLock::new();

/// Whether there is a leader, and so a clock.
static IS_LED: AtomicBool = AtomicBool::new(false);

static CALLS: Mutex<Calls> = Mutex::new(Calls {
    leader: None,
    stand_by: None,
    threads: 0,
    queue: VecDeque::new(),
    since: 0,
    check_wheel: true,
});

/// The wakers that are due, and the threads that call them. Its lock is taken before that of the deadlines, and by these threads alone.
struct Calls {
    leader: Option<ThreadId>,
    /// Also in [`Deadlines::stand_by`], for the threads that set a deadline.
    stand_by: Option<ThreadId>,
    /// How many threads there are, stuck ones included.
    threads: usize,
    /// Wakes that were taken out of the wheel, and are not called yet.
    queue: VecDeque<Wake>,
    /// When the leader began to call what it last took out.
    since: u64,
    /// Whether the leader checks the wheel before it calls what is in the queue.
    check_wheel: bool,
}

/// The clock of the deadlines. `None` if the timer has no thread, and the system would not start one.
#[inline]
pub(crate) fn clock_of_callers() -> Option<Clock> {
    if IS_LED.load(Ordering::Acquire) { CLOCK.get().copied() } else { start_leader() }
}

#[cold]
fn start_leader() -> Option<Clock> {
    // Registered before there is a leader, so that no child takes it for its own.
    #[cfg(unix)]
    register_timer();
    let mut calls = CALLS.lock();
    let clock = *CLOCK.get_or_init(|| Clock { epoch: Instant::now() });
    if !IS_LED.load(Ordering::Relaxed) {
        // Room for a batch, and for a batch of a watchdog's pass with its continuation.
        calls.queue.reserve(2 * BATCH + 1);
        let leader = match BY_HAND.get() {
            Some(rings) => Timekeeper::Program(*rings),
            None => {
                let leader = calls.start(clock)?;
                calls.leader = Some(leader.id());
                Timekeeper::Thread(leader)
            }
        };
        DEADLINES.lock().leader = Some(leader);
        IS_LED.store(true, Ordering::Release);
    }
    Some(clock)
}

/// Set if the program serves the deadlines, which is called when an earlier one is set.
static BY_HAND: OnceLock<fn()> = OnceLock::new();

/// Lets the program serve the deadlines of futures and the watchdog from now on: no thread of the timer is ever started.
///
/// Otherwise, the first deadline of a future or the first waiter behind a signalled one starts a thread (`waitword-timer`), and the first
/// deadline that is due starts another. A program that must have no threads but its own, such as a simulator, calls this first. Then it
/// calls [`expire_due`] in each turn of its loop, the next time no later than at the [`Instant`] that the last call has returned.
///
/// The function `rings` is called when a deadline is set that is earlier than that `Instant`, or when `expire_due` has returned `None` or
/// was not called yet. The watchdog, which passes over waiters that do not respond, sets deadlines, too. `rings` runs on the thread that
/// sets the deadline. That thread may hold locks of the program, so `rings` should wake the loop and do nothing else. It is not called
/// for deadlines that are set within `expire_due`.
///
/// Deadlines of blocking threads need none of this.
///
/// Returns `false`, and changes nothing, if the timer has a thread already, or this was called before.
///
/// ```
/// use std::time::{Duration, Instant};
/// use waitword_core::{Outcome, timer, wait_async_for};
/// # use std::{future::Future, pin::pin, sync::atomic::AtomicI32, task::{Context, Poll, Waker}};
///
/// // The loop of this program never sleeps for long, so nobody has to wake it.
/// assert!(timer::serve_by_hand(|| ()));
///
/// let word = AtomicI32::new(0);
/// let mut wait = pin!(wait_async_for(&word, 0, Duration::from_millis(5)));
/// while wait.as_mut().poll(&mut Context::from_waker(Waker::noop())) != Poll::Ready(Outcome::TimedOut) {
///     // `None` if this call has served the last deadline: then the wait is ready.
///     if let Some(next) = timer::expire_due() {
///         std::thread::sleep(next.saturating_duration_since(Instant::now()));
///     }
/// }
/// ```
pub fn serve_by_hand(rings: fn()) -> bool {
    let mut is_new = false;
    let calls = CALLS.lock();
    if calls.leader.is_none() {
        BY_HAND.get_or_init(|| {
            is_new = true;
            rings
        });
    }
    is_new
}

/// Wakes the tasks whose deadlines have passed, and makes the watchdog's pass if it is due. Returns the time at which it has to be called
/// again, or `None` if no deadline is left, because it has served the last one or there was none.
///
/// Does nothing if [`serve_by_hand`] was not called, because then the threads of the timer do this.
///
/// Only one thread at a time should call this. A waker that blocks delays all deadlines.
pub fn expire_due() -> Option<Instant> {
    BY_HAND.get()?;
    let clock = clock_of_callers()?;
    expire(clock, |with| with(&mut CALLS.lock().queue))
}

/// Returns when [`expire_due`] has to be called next, as far as is known now: never later than the earliest deadline. `None` if there is no
/// deadline.
pub fn next_deadline() -> Option<Instant> {
    CLOCK.get()?.instant(DEADLINES.lock().wakes_at()?)
}

#[cfg(unix)]
pub(crate) use fork::register_timer;

/// Forks, for the timer: the forking thread holds both locks, and the child has no thread of the timer.
#[cfg(unix)]
mod fork {
    use std::sync::MutexGuard;
    use std::sync::atomic::AtomicBool;
    use std::thread::LocalKey;

    use super::{CALLS, Calls, DEADLINES, Deadlines, IS_LED, Ordering};
    use crate::sync::fork::{AtFork, Slot, at_fork};

    /// Set once the fork handlers are registered.
    pub(super) static IS_REGISTERED: AtomicBool = AtomicBool::new(false);

    /// Registers the timer with the fork handlers.
    pub(crate) fn register_timer() {
        at_fork::<Held>(&IS_REGISTERED);
    }

    struct Held {
        deadlines: MutexGuard<'static, Deadlines>,
        calls: MutexGuard<'static, Calls>,
    }

    thread_local!(static HELD: Slot<Held> = const { Slot::new(None) });

    impl AtFork for Held {
        fn hold() -> Self {
            let calls = CALLS.lock();
            Self { deadlines: DEADLINES.lock(), calls }
        }

        fn in_child(&mut self) {
            (self.calls.leader, self.calls.stand_by, self.calls.threads) = (None, None, 0);
            self.calls.check_wheel = true;
            self.deadlines.in_child();
            IS_LED.store(false, Ordering::Release);
        }

        fn slot() -> &'static LocalKey<Slot<Self>> {
            &HELD
        }
    }
}

/// Has all wakes of `batch` called by the threads of the timer, and `then` after them.
///
/// For a waker that these threads call and that has other wakers to call, which might block.
pub(crate) fn wake_by_timer(batch: &mut WakeBatch, then: Option<Waker>) {
    let mut calls = CALLS.lock();
    calls.queue.extend(batch.drain().chain(then.map(Wake::Task)));
    let mut deadlines = DEADLINES.lock();
    let unpark = if calls.leader == Some(current().id()) {
        // The leader has been in a call since then, which might hold up what is queued behind it.
        let since = calls.since;
        (!calls.queue.is_empty()).then(|| deadlines.check_after(since)).flatten()
    } else {
        // Another thread has become the leader meanwhile, and may be asleep.
        calls.check_wheel = true;
        mutant!("timer-deposed" => return);
        deadlines.leader.clone()
    };
    drop((deadlines, calls));
    unpark.iter().for_each(Timekeeper::unpark);
}

/// What a thread does next, without the locks.
enum Next {
    Call(Wake),
    /// There is more of a large bucket to be sorted.
    Again,
    ParkUntil(Option<u64>),
    End,
}

fn run(clock: Clock) {
    let me = current();
    loop {
        let next = CALLS.lock().next(&me, clock);
        match next {
            Next::Call(wake) => wake.wake(),
            Next::Again => {}
            // An earlier deadline unparks us; its token survives if we are not parked yet.
            Next::ParkUntil(at) => match at.and_then(|at| clock.instant(at)) {
                Some(at) => park_until(at),
                None => park(),
            },
            Next::End => return,
        }
    }
}

impl Calls {
    fn next(&mut self, me: &Thread, clock: Clock) -> Next {
        let id = me.id();
        if self.leader == Some(id) {
            self.lead(clock)
        } else if self.stand_by == Some(id) {
            self.check(me, clock)
        } else if self.stand_by.is_none() {
            self.appoint(&mut DEADLINES.lock(), me.clone());
            Next::Again
        } else {
            self.threads -= 1;
            Next::End
        }
    }

    fn lead(&mut self, clock: Clock) -> Next {
        if !self.check_wheel
            && let Some(wake) = self.queue.pop_front()
        {
            return Next::Call(wake);
        }
        self.check_wheel = false;
        let mut deadlines = DEADLINES.lock();
        let now = clock.passed(Instant::now());
        let next = deadlines.take_due(now, |waker| self.queue.push_back(Wake::Task(waker)));
        deadlines.calling = !self.queue.is_empty();
        let Some(wake) = self.queue.pop_front() else {
            return match next {
                Some(next) if next == now => Next::Again,
                next => Next::ParkUntil(next),
            };
        };
        self.since = now;
        if deadlines.stand_by.is_none() {
            self.find_stand_by(&mut deadlines, clock);
        }
        // From when on another waker would be delayed, if this one blocks.
        let behind = if self.queue.is_empty() { next } else { Some(now) };
        let unpark = behind.and_then(|at| deadlines.check_after(at));
        unpark.iter().for_each(Timekeeper::unpark);
        Next::Call(wake)
    }

    /// The stand-by checks on the leader.
    fn check(&mut self, me: &Thread, clock: Clock) -> Next {
        let mut deadlines = DEADLINES.lock();
        let now = clock.passed(Instant::now());
        let stuck_at = self.since.saturating_add(LIMIT);
        if deadlines.calling && stuck_at <= now {
            (self.leader, deadlines.leader) = (Some(me.id()), Some(Timekeeper::Thread(me.clone())));
            (self.stand_by, deadlines.stand_by) = (None, None);
            // What is due by now goes behind what is in the queue, and the next stand-by learns since when we call.
            self.check_wheel = true;
            return Next::Again;
        }
        deadlines.checks_at = if deadlines.calling {
            Some(stuck_at)
        } else {
            deadlines.wakes_at().map(|at| at.max(now).saturating_add(LIMIT))
        };
        Next::ParkUntil(deadlines.checks_at)
    }

    /// Starts a stand-by, to check on the leader, which is about to call.
    #[cold]
    fn find_stand_by(&mut self, deadlines: &mut Deadlines, clock: Clock) {
        // If the system cannot start a thread now, the next batch tries again.
        if let Some(stand_by) = self.start(clock) {
            self.appoint(deadlines, stand_by);
        }
    }

    /// Makes `stand_by` the stand-by. It finds out by itself when to check.
    fn appoint(&mut self, deadlines: &mut Deadlines, stand_by: Thread) {
        self.stand_by = Some(stand_by.id());
        // It checks once before it sleeps, so until then nobody has to unpark it.
        deadlines.checks_at = Some(0);
        stand_by.unpark();
        deadlines.stand_by = Some(Timekeeper::Thread(stand_by));
    }

    /// Starts one more thread, if the maximum is not reached.
    fn start(&mut self, clock: Clock) -> Option<Thread> {
        if self.threads == MOST_THREADS {
            return None;
        }
        let started = Builder::new().name("waitword-timer".into()).spawn(move || run(clock)).ok()?;
        self.threads += 1;
        Some(started.thread().clone())
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::mpsc::{Sender, channel};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use super::*;

    struct Tells(Mutex<Sender<()>>);

    impl std::task::Wake for Tells {
        fn wake(self: Arc<Self>) {
            self.0.lock().unwrap().send(()).unwrap();
        }
    }

    /// Runs `scenario` in a process of its own, where no alarm has started or wakes the leader.
    fn in_a_process_of_its_own(test: &str, scenario: impl FnOnce()) {
        const ALONE: &str = "WAITWORD_TEST_ALONE";
        if std::env::var_os(ALONE).is_some() {
            return scenario();
        }
        let mut alone = Command::new(std::env::current_exe().unwrap());
        let name = format!("timer::callers::tests::{test}");
        let output = alone.args(["--exact", &name, "--nocapture"]).env(ALONE, "").output().unwrap();
        let output = String::from_utf8_lossy(&output.stdout);
        assert!(output.contains("1 passed"), "{output}");
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri starts no processes")]
    fn who_is_not_the_leader_wakes_it_for_what_is_due() {
        in_a_process_of_its_own("who_is_not_the_leader_wakes_it_for_what_is_due", || {
            assert!(clock_of_callers().is_some());
            // The leader parks once it has checked the wheel, whatever comes into the queue.
            while CALLS.lock().check_wheel {
                std::thread::yield_now();
            }
            let (tells, told) = channel();
            wake_by_timer(&mut WakeBatch::new(), Some(Waker::from(Arc::new(Tells(Mutex::new(tells))))));
            told.recv_timeout(Duration::from_secs(60)).expect("the leader sleeps");
        });
    }

    /// Otherwise the child of a fork in between would wait for a leader that does not exist, or for a lock that no thread releases.
    #[test]
    #[cfg_attr(miri, ignore = "Miri starts no processes")]
    fn forks_are_noticed_before_there_is_a_leader() {
        in_a_process_of_its_own("forks_are_noticed_before_there_is_a_leader", || {
            let calls = CALLS.lock();
            let starts = std::thread::spawn(|| clock_of_callers().is_some());
            let start = Instant::now();
            while !fork::IS_REGISTERED.load(Ordering::Relaxed) {
                assert!(start.elapsed() < Duration::from_secs(60), "it waits for the lock of a leader to be");
                std::thread::yield_now();
            }
            assert!(calls.leader.is_none());
            drop(calls);
            assert!(starts.join().unwrap());
        });
    }
}
