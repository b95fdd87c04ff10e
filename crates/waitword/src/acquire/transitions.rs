//! A lock is a state word and its transitions. The headers of the locks list all states.

use std::ops::{BitAnd, BitXor};

use waitword_core::observe::WaitsFor;
use waitword_core::{Location, Masked, Masked64, Word};

use crate::holders::Hold;
use crate::sync::atomic::Ordering;

/// A lock: the transitions of its state word. All functions without `self` are functions of the state (and of the time, if a barging window
/// closes).
pub(crate) trait Acquire: Sized {
    /// Its value is a state.
    type Word: StateWord;

    /// The request of an acquirer: a mode, or a number of permits; `()` if there is no choice.
    type Ask: Copy;

    /// The error of an acquisition after the lock was closed. [`Infallible`](std::convert::Infallible) for a type that cannot be closed.
    type Closed;

    /// If one of these bits is set, others may wait, and an acquirer that may not barge past them need not spin.
    const WAITERS: State<Self>;

    /// The bits that most acquisitions or releases change.
    const HOLDERS: State<Self>;

    /// `None`: a queued thread sleeps at once.
    const YIELDS: Option<Yields<State<Self>>> = None;

    /// The state word.
    fn word(&self) -> &Self::Word;

    /// Where waiters are queued.
    fn at(&self, _ask: Self::Ask) -> &Self::Word {
        self.word()
    }

    /// The value that a waiter compares there after it has marked the word, which then has this state.
    fn awaited(state: State<Self>, _ask: Self::Ask) -> State<Self> {
        state & Self::Word::AWAITED
    }

    /// The first attempt, for the usual state of the word: as [`take_if`](super::attempts::take_if), in as few instructions as possible.
    fn take_once(&self, ask: Self::Ask) -> bool;

    /// The result of an attempt.
    ///
    /// # Panics
    /// If the attempt would succeed, and there are too many holders.
    fn next(state: State<Self>, ask: Self::Ask, by: Attempt) -> Next<State<Self>, Self::Closed>;

    /// A waiter has left the queue. Also returns whether the head waiter has to be signalled.
    fn left(state: State<Self>, ask: Self::Ask, left: Left) -> (State<Self>, bool);

    /// A signal has found no waiter that is not signalled. `are_waiters` tells whether any are queued. Called under the lock of the queue,
    /// so that an acquirer that is about to enqueue compares the new state.
    fn unanswered(state: State<Self>, are_waiters: bool) -> State<Self>;

    /// A waiter that has taken the word leaves the queue, and none is left there. The new state spares the release a look-up of waiters.
    /// Called under the lock of the queue.
    fn emptied(state: State<Self>, ask: Self::Ask) -> State<Self>;

    /// A waiter lets others pass, and signals the one behind. Only for [`Behind::Pass`].
    fn passed(state: State<Self>) -> State<Self> {
        state
    }

    /// Called by an acquirer that is about to wait.
    ///
    /// # Panics
    /// If there can never be enough for this request.
    #[track_caller]
    fn admits(_ask: Self::Ask) {}

    /// Called before an attempt that may mark the word, so that a thread that sees the mark also sees what this has stored.
    fn will_mark(&self, _ask: Self::Ask) {}

    /// For reports: a waiter has given up. Called between the change of the state and the signal, where a release is charged.
    fn gave_up(&self, _ask: Self::Ask) {}

    /// Called before the head waiter is signalled: its barging window begins.
    fn will_signal(&self) {}

    /// Releases what was acquired.
    fn give_back(&self, ask: Self::Ask);

    /// What reports tell of an acquirer with this request.
    fn report(ask: Self::Ask) -> Report;

    /// The address under which its holders are recorded: that of the state word.
    #[inline(always)]
    fn held_at(&self) -> usize {
        std::ptr::from_ref(self.word()).addr()
    }
}

/// See [`Acquire::Word`].
pub(crate) type State<R> = <<R as Acquire>::Word as StateWord>::Bits;

/// See [`Acquire::Ask`].
pub(crate) type Ask<R> = <R as Acquire>::Ask;

/// See [`Acquire::report`].
pub(crate) struct Report {
    /// What snapshots call a waiter.
    pub(crate) waits_for: WaitsFor,
    /// How the acquirer will hold the lock. `None`: the holder has a record already.
    pub(crate) hold: Option<Hold>,
    /// The number of permits.
    pub(crate) permits: usize,
}

/// How an acquisition without a deadline ends.
pub(crate) type Acquired<R> = Result<(), <R as Acquire>::Closed>;

/// What makes an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// An acquirer that is not queued. It must not take what is reserved for the queue.
    Barging,
    /// A signalled waiter, which has not acknowledged the signal: no other comes for it.
    Signalled(Kind),
    /// A queued waiter that the next signal will find; or one that left the queue just now because it timed out, and that was signalled as
    /// far as it knows.
    Queued(Kind),
}

impl Attempt {
    /// As a queued thread.
    pub(crate) const THREAD: Self = Self::Queued(Kind::Thread);
}

/// What a waiter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Thread,
    Task,
}

/// The result of an attempt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next<S, C> {
    /// The attempt takes the word, with this state. If it `signals`, the next waiter has to be signalled: by a barging acquirer at once, by
    /// a waiter when it has left the queue.
    Take { state: S, signals: bool },
    /// The acquirer has to wait, with this state.
    Mark {
        state: S,
        /// What this means for the waiters behind it.
        behind: Behind,
    },
    /// As [`Mark`](Self::Mark), for a barging acquirer: the word is reserved for waiters, or will be at the next release.
    Reserved(S),
    /// The lock is closed, so there is nothing to wait for.
    Closed(C),
}

/// What a queued waiter that found too little means for the waiters behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behind {
    /// They wait for what this one waits for.
    Wait,
    /// They could take what is free, but it is reserved for this one. The watchdog has to notice if this one becomes unresponsive.
    HeldUp,
    /// They may take what is free: a signal that this one cannot use goes past it ([`signal_past`](super::attempts::signal_past)), and so
    /// does one for a waiter that `is_new`.
    Pass {
        /// Another waiter has come since the last signal went past this one.
        is_new: bool,
    },
}

/// How a waiter has left the queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    /// The waiter has taken the word, and its release signals. If not, what was too little for it may be enough for the waiters behind it.
    pub(crate) holds: bool,
    /// The waiter has a signal that it does not use, or that came after it took the word: the next waiter has to be signalled, now or by
    /// the next release.
    pub(crate) was_signalled: bool,
    /// No waiter was left, and the state is what [`emptied`](Acquire::emptied) has made of it.
    pub(crate) is_last: bool,
}

/// When a queued thread yields before it sleeps.
pub(crate) struct Yields<B> {
    /// The bits that tell that the lock is reserved for a waiter.
    pub(crate) reserved: B,
    /// The bits that tell that a task has taken the lock from the queue lately. The thread does not yield then, because tasks get nothing
    /// of what threads take by yielding: a worker sleeps once its tasks are queued.
    pub(crate) tasks: B,
    /// The least number of queued waiters, including the thread; 0: any number.
    pub(crate) enough: usize,
}

/// A word whose value is the state of a lock.
pub(crate) trait StateWord: Location<Word = Self> + Word<Value = Self::Bits> {
    type Bits: Copy + Eq + Default + BitAnd<Output = Self::Bits> + BitXor<Output = Self::Bits>;

    /// What a waiter compares.
    const AWAITED: Self::Bits;

    fn state(&self) -> Self::Bits;

    /// May fail without a reason.
    fn replace(&self, state: Self::Bits, new: Self::Bits, order: Ordering) -> Result<Self::Bits, Self::Bits>;

    /// Returns the state before the change. Stores nothing if the change changes nothing.
    #[inline]
    fn change(&self, order: Ordering, mut change: impl FnMut(Self::Bits) -> Self::Bits) -> Self::Bits {
        let mut state = self.state();
        loop {
            let new = change(state);
            if new == state {
                return state;
            }
            match self.replace(state, new, order) {
                Ok(_) => return state,
                Err(other) => state = other,
            }
        }
    }
}

macro_rules! state_word {
    ($Masked:ident: $bits:ident) => {
        impl<const MASK: $bits> StateWord for $Masked<MASK> {
            type Bits = $bits;

            const AWAITED: $bits = MASK;

            #[inline(always)]
            fn state(&self) -> $bits {
                (**self).load(Ordering::Relaxed)
            }

            #[inline(always)]
            fn replace(&self, state: $bits, new: $bits, order: Ordering) -> Result<$bits, $bits> {
                self.compare_exchange_weak(state, new, order, Ordering::Relaxed)
            }
        }
    };
}

state_word!(Masked: u32);
state_word!(Masked64: u64);
