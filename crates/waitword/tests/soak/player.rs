//! A player: what it is about to do, drawn at random, and what others see of it.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use waitword::{AcquireError, Event};

/// How a player takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Blocks.
    Thread,
    /// A task, on a thread of its own.
    HandPolled,
    Tokio,
    Smol,
}

pub(crate) const KINDS: [Kind; 4] = [Kind::Thread, Kind::HandPolled, Kind::Tokio, Kind::Smol];

/// Draws, and notes what it has drawn.
pub(crate) struct Player {
    pub(crate) index: usize,
    pub(crate) kind: Kind,
    /// Whether it polls its futures whenever they are woken: without the watchdog no other can get past a future that is not.
    responds: bool,
    random: u64,
    seat: Arc<Seat>,
}

impl Player {
    /// Whose choices follow from the `seed`, the `round` and the `index`; how they meet those of others does not.
    pub(crate) fn new(
        (seed, round): (u64, u64),
        index: usize,
        kind: Kind,
        responds: bool,
        seat: &Arc<Seat>,
    ) -> Self {
        // Neighbours must not begin alike: each bit of the three changes half of those that come out.
        let mut random = seed;
        for part in [round, index as u64 + 1] {
            random = (random ^ part).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            random ^= random >> 32;
        }
        Self { index, kind, responds, random: random.max(1), seat: Arc::clone(seat) }
    }

    pub(crate) fn is_thread(&self) -> bool {
        self.kind == Kind::Thread
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 33) as usize % bound
    }

    pub(crate) fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    /// How many have to come together, of so many players: three, or all.
    pub(crate) fn parties(&mut self, players: usize) -> usize {
        if self.one_in(2) { players.min(3) } else { players }
    }

    /// The next step begins, with this lock.
    pub(crate) fn begins(&self, lock: &'static str) {
        *self.seat.step.lock().unwrap() = (lock, None, None);
    }

    /// The step is over.
    pub(crate) fn ends(&self) {
        self.seat.steps.fetch_add(1, Ordering::Relaxed);
    }

    /// How long a blocking call or a future may wait: for ever, hardly at all, or longer than the soak.
    pub(crate) fn limit(&mut self) -> Limit {
        let timeout = match self.below(32) {
            0..16 => None,
            16..20 => Some(Duration::ZERO),
            20..27 => Some(Duration::from_micros(self.below(300) as u64)),
            // About as long as the stall timeout.
            27 => Some(Duration::from_millis(self.below(30) as u64)),
            _ => Some(Duration::MAX),
        };
        let limit = match timeout {
            None => Limit::Never,
            Some(timeout) if self.one_in(2) => Limit::In(timeout, Instant::now().checked_add(timeout)),
            Some(timeout) => {
                let now = Instant::now();
                Limit::At(now.checked_add(timeout).unwrap_or(now + Duration::from_secs(1 << 30)))
            }
        };
        self.seat.step.lock().unwrap().1 = Some(limit);
        limit
    }

    /// How a future is polled.
    pub(crate) fn fate(&mut self) -> Fate {
        let fate = match self.below(128) {
            0..72 => Fate::Awaited,
            72..127 => Fate::Dropped { polls: self.below(4), unwoken: self.one_in(2) },
            _ if self.responds => Fate::Awaited,
            _ => Fate::Unpolled(Duration::from_millis(self.below(40) as u64)),
        };
        self.seat.step.lock().unwrap().2 = Some(fate);
        fate
    }

    /// What it does while it holds something: mostly nothing.
    pub(crate) async fn linger(&mut self) {
        match self.below(64) {
            0 => {
                let time = Duration::from_micros(self.below(1_000) as u64);
                if self.is_thread() { thread::sleep(time) } else { sleep(time).await }
            }
            1..12 if self.is_thread() => thread::yield_now(),
            1..12 => smol::future::yield_now().await,
            12..32 => (0..self.below(2_000)).for_each(|_| std::hint::spin_loop()),
            _ => {}
        }
    }
}

/// A player that is gone in the middle of its steps has failed.
impl Drop for Player {
    fn drop(&mut self) {
        if thread::panicking() {
            self.seat.failed.store(true, Ordering::SeqCst);
        }
        self.seat.left.store(true, Ordering::SeqCst);
        self.seat.watcher.unpark();
    }
}

/// On any executor.
async fn sleep(time: Duration) {
    // It is not notified.
    let _ = Event::new().wait_async().timeout(time).await;
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    Never,
    /// With the earliest moment at which it can be over; none if no clock gets there.
    In(Duration, Option<Instant>),
    At(Instant),
}

impl Limit {
    /// No wait times out before its deadline.
    pub(crate) fn kept<T, E: Copy + Into<AcquireError>>(self, result: Result<T, E>) -> Result<T, E> {
        match result.as_ref().err().map(|&error| error.into()) {
            Some(AcquireError::TimedOut) => {
                let due = match self {
                    Self::Never => None,
                    Self::In(_, due) => due,
                    Self::At(due) => Some(due),
                };
                assert!(due.is_some_and(|due| due <= Instant::now()), "late before the time was up");
            }
            Some(AcquireError::BlockingForbidden) => panic!("blocking is not forbidden"),
            Some(AcquireError::Closed) | None => {}
        }
        result
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Fate {
    Awaited,
    /// After so many polls. Unless it is `unwoken`, at the moment when it would have been polled once more, and so
    /// with whatever it was woken for.
    Dropped {
        polls: usize,
        unwoken: bool,
    },
    /// Polled once, and not again for so long, whatever it is woken for.
    Unpolled(Duration),
}

impl Fate {
    /// What the future comes to, if it is not dropped before.
    pub(crate) async fn of<F: Future>(self, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        match self {
            Self::Awaited => Some(future.await),
            Self::Dropped { polls, unwoken } => {
                let mut left = polls;
                poll_fn(|cx| {
                    let Some(fewer) = left.checked_sub(1) else { return Poll::Ready(None) };
                    left = fewer;
                    let polled = future.as_mut().poll(cx).map(Some);
                    if polled.is_pending() && unwoken {
                        cx.waker().wake_by_ref();
                    }
                    polled
                })
                .await
            }
            Self::Unpolled(time) => {
                if let Some(value) = smol::future::poll_once(future.as_mut()).await {
                    return Some(value);
                }
                sleep(time).await;
                Some(future.await)
            }
        }
    }
}

/// A wait in one of its forms, which is drawn: plain, `_for` or `_until`; by a thread the blocking one, by a task the future.
/// Returns how it ended, or `None` if the future was dropped.
macro_rules! ended {
    ($player:ident: $lock:expr, $plain:ident, $within:ident, $until:ident; $future:ident) => {
        $crate::world::player::ended! { $player:
            Ok($lock.$plain()), Ok($lock.$future().await);
            time => $lock.$within(time), $lock.$future().timeout(time);
            time => $lock.$until(time), $lock.$future().deadline(time)
        }
    };
    // A thread has no form with a limit: it drives the future.
    ($player:ident: $lock:expr, $plain:ident; $future:ident) => {
        $crate::world::player::ended! { $player:
            Ok($lock.$plain()), Ok($lock.$future().await);
            time => smol::block_on($lock.$future().timeout(time)), $lock.$future().timeout(time);
            time => smol::block_on($lock.$future().deadline(time)), $lock.$future().deadline(time)
        }
    };
    // No form has a limit.
    ($player:ident: $plain:expr, $future:expr) => {
        if $player.is_thread() { Some($plain) } else { $player.fate().of(async { $future }).await }
    };
    ($player:ident: $plain:expr, $future:expr;
        $timeout:ident => $within:expr, $future_within:expr;
        $deadline:ident => $until:expr, $future_until:expr) => {{
        use $crate::world::player::Limit;
        let limit = $player.limit();
        let ended = if $player.is_thread() {
            Some(match limit {
                Limit::Never => $plain,
                Limit::In($timeout, _) => $within,
                Limit::At($deadline) => $until,
            })
        } else {
            let fate = $player.fate();
            match limit {
                Limit::Never => fate.of(async { $future }).await,
                Limit::In($timeout, _) => fate.of($future_within).await,
                Limit::At($deadline) => fate.of($future_until).await,
            }
        };
        ended.map(|ended| limit.kept(ended))
    }};
}
pub(crate) use ended;

/// What was waited for, if the wait came to it: as [`ended`].
macro_rules! got {
    ($($wait:tt)*) => { $crate::world::player::ended!($($wait)*).and_then(Result::ok) };
}
pub(crate) use got;

/// What others see of a player.
pub(crate) struct Seat {
    name: String,
    /// The lock, and what was drawn last.
    step: Mutex<(&'static str, Option<Limit>, Option<Fate>)>,
    steps: AtomicU64,
    failed: AtomicBool,
    left: AtomicBool,
    /// Is unparked when the player leaves.
    watcher: Thread,
}

impl Seat {
    /// Watched by this thread.
    pub(crate) fn new(name: String) -> Self {
        Self {
            name,
            step: Mutex::default(),
            steps: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            left: AtomicBool::new(false),
            watcher: thread::current(),
        }
    }

    /// Steps that are over.
    pub(crate) fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::SeqCst)
    }

    pub(crate) fn has_left(&self) -> bool {
        self.left.load(Ordering::SeqCst)
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} after {} steps: {:?}", self.name, self.steps(), self.step.lock().unwrap())
    }
}
