//! A player: what it is about to do, drawn at random, and what others see of it.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use waitword::{AcquireError, Event, LockError};

/// Draws, and notes what it has drawn.
pub(crate) struct Player {
    pub(crate) index: usize,
    random: u64,
    seat: Arc<Seat>,
}

impl Player {
    /// Whose choices follow from the `seed`, the `round` and the `index`; how they meet those of others does not.
    pub(crate) fn new(seed: u64, round: u64, index: usize, seat: Arc<Seat>) -> Self {
        // Neighbours must not begin alike: each bit of the three changes half of those that come out.
        let mut random = seed;
        for part in [round, index as u64 + 1] {
            random = (random ^ part).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            random ^= random >> 32;
        }
        Self { index, random: random.max(1), seat }
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

    /// The next step begins, at this of the [`PLACES`](crate::world::PLACES).
    pub(crate) fn begins(&self, place: usize) {
        self.seat.step.store(place as u64, Ordering::Relaxed);
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
        self.seat.note(8, 1 + u64::from(timeout.is_some()) + u64::from(timeout == Some(Duration::MAX)));
        limit
    }

    /// How a future is polled.
    pub(crate) fn fate(&mut self) -> Fate {
        let fate = match self.below(128) {
            0..72 => Fate::Awaited,
            72..127 => Fate::Dropped { polls: self.below(4), unwoken: self.one_in(2) },
            _ => Fate::Unpolled(Duration::from_millis(self.below(40) as u64)),
        };
        self.seat.note(16, 1 + fate.kind());
        fate
    }

    /// What a thread does while it holds something: mostly nothing.
    pub(crate) fn linger(&mut self) {
        match self.below(64) {
            0 => std::thread::sleep(Duration::from_micros(self.below(1_000) as u64)),
            1..8 => std::thread::yield_now(),
            8..32 => (0..self.below(2_000)).for_each(|_| std::hint::spin_loop()),
            _ => {}
        }
    }

    /// What a task does while it holds something: mostly nothing.
    pub(crate) async fn linger_async(&mut self) {
        match self.below(64) {
            0 => sleep(Duration::from_micros(self.below(1_000) as u64)).await,
            1..16 => smol::future::yield_now().await,
            16..32 => (0..self.below(2_000)).for_each(|_| std::hint::spin_loop()),
            _ => {}
        }
    }
}

/// A player that is gone in the middle of its steps has failed.
impl Drop for Player {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.seat.failed.store(true, Ordering::SeqCst);
        }
        self.seat.left.store(true, Ordering::SeqCst);
    }
}

/// On any executor.
async fn sleep(time: Duration) {
    // It is not notified.
    let _ = Event::new().wait_async_for(time).await;
}

#[derive(Clone, Copy)]
pub(crate) enum Limit {
    Never,
    /// With the earliest moment at which it can be over; none if no clock gets there.
    In(Duration, Option<Instant>),
    At(Instant),
}

impl Limit {
    /// No wait times out before its deadline.
    pub(crate) fn kept<T, E: Refusal>(self, result: Result<T, E>) -> Result<T, E> {
        if let Err(error) = &result {
            assert!(!error.is_of_blocking());
            if error.is_late() {
                let due = match self {
                    Self::Never => None,
                    Self::In(_, due) => due,
                    Self::At(due) => Some(due),
                };
                assert!(due.is_some_and(|due| due <= Instant::now()), "late before the time was up");
            }
        }
        result
    }
}

/// What a wait may end with instead of what it waits for.
pub(crate) trait Refusal {
    fn is_late(&self) -> bool;
    fn is_of_blocking(&self) -> bool;
}

impl Refusal for LockError {
    fn is_late(&self) -> bool {
        matches!(self, Self::TimedOut(_))
    }

    fn is_of_blocking(&self) -> bool {
        *self == Self::BlockingForbidden
    }
}

impl Refusal for AcquireError {
    fn is_late(&self) -> bool {
        matches!(self, Self::TimedOut(_))
    }

    fn is_of_blocking(&self) -> bool {
        *self == Self::BlockingForbidden
    }
}

impl<G> Refusal for waitword::NotUpgraded<G> {
    fn is_late(&self) -> bool {
        self.error.is_late()
    }

    fn is_of_blocking(&self) -> bool {
        self.error.is_of_blocking()
    }
}

#[derive(Clone, Copy)]
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
    fn kind(self) -> u64 {
        match self {
            Self::Awaited => 0,
            Self::Dropped { unwoken: false, .. } => 1,
            Self::Dropped { unwoken: true, .. } => 2,
            Self::Unpolled(_) => 3,
        }
    }

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
                if let Poll::Ready(value) = poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await {
                    return Some(value);
                }
                sleep(time).await;
                Some(future.await)
            }
        }
    }
}

/// The three blocking forms of one thing, with a limit that is drawn: the plain one, `_for` and `_until`.
macro_rules! blocking {
    ($player:ident: $plain:expr, $timeout:ident => $within:expr, $deadline:ident => $until:expr $(,)?) => {{
        let limit = $player.limit();
        limit.kept(match limit {
            $crate::player::Limit::Never => $plain,
            $crate::player::Limit::In($timeout, _) => $within,
            $crate::player::Limit::At($deadline) => $until,
        })
    }};
}
pub(crate) use blocking;

/// The three futures of one thing, with a limit and a fate that are drawn; `None` if it was dropped.
macro_rules! polling {
    ($player:ident: $plain:expr, $timeout:ident => $within:expr, $deadline:ident => $until:expr $(,)?) => {{
        let (limit, fate) = ($player.limit(), $player.fate());
        let ended = match limit {
            $crate::player::Limit::Never => fate.of(async { $plain }).await,
            $crate::player::Limit::In($timeout, _) => fate.of($within).await,
            $crate::player::Limit::At($deadline) => fate.of($until).await,
        };
        ended.map(|ended| limit.kept(ended))
    }};
}
pub(crate) use polling;

/// What others see of a player.
pub(crate) struct Seat {
    name: String,
    /// The place, from bit 8 the limit, from bit 16 the fate.
    step: AtomicU64,
    steps: AtomicU64,
    failed: AtomicBool,
    left: AtomicBool,
}

impl Seat {
    pub(crate) fn new(name: String) -> Self {
        Self {
            name,
            step: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            left: AtomicBool::new(false),
        }
    }

    fn note(&self, shift: u32, what: u64) {
        let step = self.step.load(Ordering::Relaxed) & !(0xFF << shift);
        self.step.store(step | what << shift, Ordering::Relaxed);
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
        let step = self.step.load(Ordering::Relaxed);
        let part = |shift: u32| (step >> shift & 0xFF) as usize;
        let limit = ["", ", without a limit", ", with a deadline", ", with a deadline beyond the soak"];
        let fate = [
            "",
            ", awaited",
            ", to be dropped when woken",
            ", to be dropped unwoken",
            ", unpolled for a while",
        ];
        let place = crate::world::PLACES[part(0)];
        write!(
            f,
            "{} after {} steps, at the {place}{}{}",
            self.name,
            self.steps(),
            limit[part(8)],
            fate[part(16)]
        )
    }
}
