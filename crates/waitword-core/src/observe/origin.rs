//! Where waits come from. Without the feature `observe` these types are empty, and cost nothing.

#[cfg(feature = "observe")]
use std::panic::Location;

/// A place in the source.
#[cfg(feature = "observe")]
pub type Site = Location<'static>;

/// What a waiter waits for: which of the locks enqueued it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WaitsFor {
    /// A notify on a word of memory.
    Word,
    /// A `Mutex`.
    Mutex,
    /// Shared access to an `RwLock`.
    Read,
    /// Exclusive access to an `RwLock`.
    Write,
    /// An upgradable read of an `RwLock`, or its upgrade.
    UpgradableRead,
    /// Permits of a `Semaphore`.
    Semaphore,
    /// A notify of a `Condvar`; once notified, the mutex that goes with it.
    Condvar,
    /// An `Event`.
    Event,
    /// A `WaitGroup`.
    WaitGroup,
    /// A `Barrier`.
    Barrier,
    /// The value of a `OnceLock`.
    OnceLock,
    /// An `AsyncLock`.
    AsyncLock,
}

/// The caller of a method that waits.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    #[cfg(feature = "observe")]
    site: &'static Site,
}

impl Caller {
    /// The caller of the function that calls this, if that is `#[track_caller]`.
    #[cfg_attr(feature = "observe", track_caller)]
    #[inline(always)]
    pub fn here() -> Self {
        Self {
            #[cfg(feature = "observe")]
            site: Location::caller(),
        }
    }
}

/// Where a wait comes from: its caller, and what it waits for.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    #[cfg(feature = "observe")]
    caller: Caller,
    #[cfg(feature = "observe")]
    waits_for: WaitsFor,
}

impl Origin {
    /// A wait of `caller`.
    #[cfg_attr(not(feature = "observe"), expect(unused_variables))]
    #[inline(always)]
    pub fn new(caller: Caller, waits_for: WaitsFor) -> Self {
        Self {
            #[cfg(feature = "observe")]
            caller,
            #[cfg(feature = "observe")]
            waits_for,
        }
    }

    /// A wait of the caller of the function that calls this.
    #[cfg_attr(feature = "observe", track_caller)]
    #[inline(always)]
    pub fn here(waits_for: WaitsFor) -> Self {
        Self::new(Caller::here(), waits_for)
    }

    #[cfg(feature = "observe")]
    pub(crate) fn site(self) -> &'static Site {
        self.caller.site
    }

    #[cfg(feature = "observe")]
    pub(crate) fn waits_for(self) -> WaitsFor {
        self.waits_for
    }
}

/// What a node says of its wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    /// None of an agent's.
    #[cfg(feature = "observe")]
    pub(crate) origin: Option<Origin>,
    /// The identity of the wake that was set last: a signal takes the wake, and a snapshot asks for it just then. Of an agent's wait
    /// its token.
    #[cfg(feature = "observe")]
    pub(crate) who: usize,
}

impl Mark {
    #[cfg_attr(not(feature = "observe"), expect(unused_variables))]
    #[inline(always)]
    pub(crate) fn new(origin: Option<Origin>) -> Self {
        Self {
            #[cfg(feature = "observe")]
            origin,
            #[cfg(feature = "observe")]
            who: 0,
        }
    }

    /// `who` is asked only if it is kept.
    #[cfg_attr(not(feature = "observe"), expect(unused_variables))]
    #[inline(always)]
    pub(crate) fn set_who(&mut self, who: impl FnOnce() -> usize) {
        #[cfg(feature = "observe")]
        {
            self.who = who();
        }
    }
}
