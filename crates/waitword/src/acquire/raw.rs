//! What the acquisition loop asks of a lock's state word.

use waitword_core::{Location, Word};

use crate::stall_timeout::Rechecks;

/// A state word that can be acquired: the attempts on it, and where its waiters are queued.
pub(crate) trait Acquire {
    /// Where waiters are queued.
    type At: Location;

    /// What an acquirer asks for: a mode, or a number of permits; `()` where there is no choice.
    type Ask: Copy;

    /// How an acquisition ends: taken, or closed, for a type that can be closed.
    type End: Ended;

    /// When waiters recheck without a signal.
    type Rechecks: Rechecks;

    /// See [`Acquire::At`]. Returns the same location for equal asks.
    fn at(&self, ask: Self::Ask) -> &Self::At;

    /// The first attempt of an acquirer: takes it if it is free and not reserved, and leaves no trace otherwise.
    fn take(&self, ask: Self::Ask) -> bool;

    /// The attempt of a waiter, or of an acquirer about to enqueue: takes it if it is free, so that its release signals the next
    /// waiter; otherwise marks the word, so that the holder's release does. The error is the value to wait on. No other
    /// attempt finds out that there is nothing to wait for.
    fn take_or_mark(&self, ask: Self::Ask, attempt: Attempt) -> Result<Self::End, Value<Self>>;

    /// The attempt of a signalled waiter: takes it if it is free, so that its release signals the next waiter, and leaves no
    /// trace otherwise.
    fn take_signalled(&self, ask: Self::Ask) -> bool;

    /// Whether it is not held, but reserved for waiters.
    fn is_reserved(&self, _ask: Self::Ask) -> bool {
        false
    }

    /// Retries in a thread for a while before it sleeps, if that is worth it. Returns whether an attempt took it.
    fn spin(&self, ask: Self::Ask, attempt: Attempt) -> bool;

    /// Whether a waiter that has just rechecked in vain blocks what other waiters could take. The watchdog has to notice then if
    /// this waiter becomes unresponsive.
    fn holds_up_others(&self, _ask: Self::Ask) -> bool {
        false
    }

    /// A waiter took it, and then left the queue. Where there can be several holders, this may signal the next waiter; it must
    /// do so if this waiter was signalled once more after its acquisition.
    fn dequeued(&self, _ask: Self::Ask, _was_signalled: bool) {}

    /// Releases what was taken for an acquirer that unwinds before it has it: foreign code has panicked.
    fn give_back(&self, ask: Self::Ask);

    /// A waiter leaves the queue without having taken it. If this waiter was signalled, another one has to be, now or by the
    /// next release. If not, it may have blocked what is enough for the waiters behind it.
    fn forward(&self, ask: Self::Ask, was_signalled: bool);
}

/// See [`Acquire::End`].
pub(crate) trait Ended {
    /// The acquirer took it.
    const TAKEN: Self;
}

impl Ended for () {
    const TAKEN: () = ();
}

impl<E> Ended for Result<(), E> {
    const TAKEN: Self = Ok(());
}

/// Who makes an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// An acquirer that is not queued. It must not take what is reserved for the queue.
    Barging,
    /// A queued waiter; or one that left the queue just now because its time was up, and that was signalled as far as it knows.
    Queued,
}

/// What a waiter expects in the word.
pub(crate) type Value<R> = <<<R as Acquire>::At as Location>::Word as Word>::Value;

/// Gives back what was taken, if the acquirer unwinds before it has it.
pub(crate) struct GivesBack<'a, R: Acquire> {
    pub(crate) raw: &'a R,
    pub(crate) ask: R::Ask,
}

impl<R: Acquire> Drop for GivesBack<'_, R> {
    fn drop(&mut self) {
        self.raw.give_back(self.ask);
    }
}
