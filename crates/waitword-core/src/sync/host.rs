//! What an agent of `wasm32-unknown-unknown` gets from its host: a clock, random bits, a bell for the timekeeper, and whether it may
//! block.
//!
//! The crate has no imports of its own, so that it fits every host and needs no tool. The host (`waitword-web`) installs its functions
//! with [`start`], in each agent, before the agent waits. The functions are the same in all agents: these are instances of one module.
//!
//! An agent that was not started must not block: it may be a page, and a page that blocks would trap.

use std::cell::Cell;
use std::hash::{BuildHasher, DefaultHasher, Hasher};
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

/// The functions that a host provides to its agents.
#[derive(Debug)]
pub struct Host {
    /// The time since an origin that all agents have in common. It never goes back.
    pub now: fn() -> Duration,
    /// Random bits that a script cannot predict.
    pub random: fn() -> u64,
    /// Tells the timekeeper, from any agent, that a deadline is earlier than the one that
    /// [`expire_due`](crate::host::expire_due) has returned last. Does not block.
    pub ring_timekeeper: fn(),
}

static HOST: AtomicPtr<Host> = AtomicPtr::new(ptr::null_mut());

thread_local! {
    static CAN_BLOCK: Cell<bool> = const { Cell::new(false) };
}

/// Starts this agent. All agents use `host` from now on; `can_block` says whether the engine lets this one block (`Atomics.wait`). Without
/// atomics there is one agent, which never blocks.
pub fn start(host: &'static Host, can_block: bool) {
    HOST.store(ptr::from_ref(host).cast_mut(), Ordering::Release);
    CAN_BLOCK.set(can_block && cfg!(target_feature = "atomics"));
}

/// Whether the engine lets this agent block.
pub(crate) fn can_block() -> bool {
    CAN_BLOCK.get()
}

pub(crate) fn host() -> Option<&'static Host> {
    // SAFETY: null, or a `&'static Host` that `start` was given.
    unsafe { HOST.load(Ordering::Acquire).as_ref() }
}

/// As `std::time::Instant`: the time since the host's origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(Duration);

impl Instant {
    /// Returns the current time.
    ///
    /// # Panics
    /// Before the first agent is started.
    pub fn now() -> Self {
        let host = host().expect("no clock: call `waitword_web::start()` in each agent, before it waits");
        Self((host.now)())
    }

    /// Returns the time since this moment.
    pub fn elapsed(&self) -> Duration {
        Self::now().duration_since(*self)
    }

    /// Returns the time since `earlier`; zero if that is later.
    pub fn duration_since(&self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// Returns the time since `earlier`, or `None` if that is later.
    pub fn checked_duration_since(&self, earlier: Self) -> Option<Duration> {
        self.0.checked_sub(earlier.0)
    }

    /// Returns the time since `earlier`; zero if that is later.
    pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
        self.duration_since(earlier)
    }

    /// Returns the moment `span` later, if it can be represented.
    pub fn checked_add(&self, span: Duration) -> Option<Self> {
        self.0.checked_add(span).map(Self)
    }

    /// Returns the moment `span` earlier, if it can be represented.
    pub fn checked_sub(&self, span: Duration) -> Option<Self> {
        self.0.checked_sub(span).map(Self)
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, span: Duration) -> Self {
        Self(self.0 + span)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, span: Duration) {
        self.0 += span;
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    fn sub(self, span: Duration) -> Self {
        Self(self.0 - span)
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, span: Duration) {
        self.0 -= span;
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.duration_since(earlier)
    }
}

/// The agent that checks the deadlines. The host knows which.
#[derive(Clone, Debug)]
pub(crate) struct Timekeeper;

impl Timekeeper {
    pub(crate) fn unpark(&self) {
        if let Some(host) = host() {
            (host.ring_timekeeper)();
        }
    }
}

/// The standard library's `RandomState` has no random bits here.
#[derive(Debug)]
pub(crate) struct RandomState([u64; 2]);

impl RandomState {
    pub(crate) fn new() -> Self {
        Self([(); 2].map(|()| host().map_or(0, |host| (host.random)())))
    }
}

impl BuildHasher for RandomState {
    type Hasher = DefaultHasher;

    fn build_hasher(&self) -> DefaultHasher {
        let mut hasher = DefaultHasher::new();
        self.0.iter().for_each(|&bits| hasher.write_u64(bits));
        hasher
    }
}
