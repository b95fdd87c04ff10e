//! The interface between the queue and an observer: a word of flags, and a table of functions.
//!
//! Code of interest to an observer loads [`ASKED`] and tests a bit. If the bit is set, it calls a function of the [`Observer`], which was
//! set before. Without the feature `observe` the test is constant, and nothing is left of it.
//!
//! An observer runs in the middle of the acquisition or the wait that is reported to it. It must not panic, and must not wait for the lock
//! in question. [`Observer::queued`] runs under the lock of a shard: it must not allocate, nor wait for anything that enqueues.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Waker;

use super::origin::{Site, WaitsFor};
use super::seen::{nanos, nanos_of};
use crate::sync::OnceLock;

/// Flag: report the begin, the wakes and the end of each wait.
pub const WAITS: u32 = 1;
/// Flag: report enqueues and dequeues, which tell for how long the waiters of a queue have waited.
pub const DELAYS: u32 = 1 << 1;
/// Flag: report releases of locks that others wait for.
pub const CONTENDED: u32 = 1 << 2;
/// Flag: report each task that begins to wait.
pub const TASKS: u32 = 1 << 3;
/// Flag: report acquisitions, notifies of condition variables and events, and the types of locks.
pub const HOLDERS: u32 = 1 << 4;
/// Flag: report releases by guards that cannot store a `HoldId`, changes of holds, and drops of locks.
pub const RELEASES: u32 = 1 << 5;
/// Flag: report waits that do not end with an acquisition (for the value of a cell, for readers before an upgrade).
pub const AWAITED: u32 = 1 << 6;
/// Bits from here on are the observer's own.
pub const OWN: u32 = 1 << 16;

static ASKED: AtomicU32 = AtomicU32::new(0);
static OBSERVER: OnceLock<&'static Observer> = OnceLock::new();

/// The functions of an observer, each of which is called only while its flag is set.
#[derive(Debug)]
pub struct Observer {
    /// [`WAITS`]: a wait has begun. Called on the thread that began it.
    pub waits: fn(&Begun),
    /// [`DELAYS`]: a waiter has enqueued. With the address of the word, what it waits for, and since when ([`nanos`]; `None`: the clock
    /// does not run). Called under the lock of the word's shard.
    pub queued: fn(usize, WaitsFor, Option<u64>),
    /// [`WAITS`] or [`DELAYS`]: waiters are about to be woken.
    pub woken: fn(Woken<'_>),
    /// [`WAITS`] or [`DELAYS`]: a wait has ended. Called on the thread that saw its end.
    pub ended: fn(&Ended),
    /// [`CONTENDED`]: a lock was released for which others wait.
    pub contended: fn(&Contended<'_>),
    /// [`TASKS`]: the task that is polled with this waker begins to wait.
    pub polled: fn(&Waker),
}

/// What waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaiterKind {
    /// A thread.
    Thread,
    /// A task.
    Task,
    /// An agent.
    Agent,
}

/// A wait that has begun.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    /// When, before it enqueued ([`nanos`]).
    pub at: u64,
    /// The address of the word.
    pub word: usize,
    /// What waits.
    pub kind: WaiterKind,
    /// Its identity.
    pub who: usize,
    /// What it waits for.
    pub waits_for: WaitsFor,
    /// Where the wait began.
    pub site: Option<&'static Site>,
}

/// Waiters that are about to be woken.
pub struct Woken<'a> {
    /// When: after they enqueued, and before they can run ([`nanos`]).
    pub at: u64,
    /// Whether they were notified, and have left the queue. If not, they were signalled.
    pub are_notified: bool,
    /// The address of the word.
    pub word: usize,
    /// Their identities.
    pub who: &'a mut dyn Iterator<Item = usize>,
}

impl fmt::Debug for Woken<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Woken").field("word", &self.word).finish_non_exhaustive()
    }
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The waiter has acquired what it waited for.
    Acquired,
    /// The waiter was notified, and runs.
    Notified,
    /// The waiter gave up.
    GaveUp,
}

/// A wait that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// How it ended.
    pub end: End,
    /// The address of the word.
    pub word: usize,
    /// Whose wait it was.
    pub who: usize,
    /// Where it began.
    pub site: Option<&'static Site>,
    /// If the waiter was queued until it left: what it waited for, and since when, if the clock ran ([`nanos`]).
    pub left: Option<(WaitsFor, Option<u64>)>,
}

/// A release of a lock that others wait for.
pub struct Contended<'a> {
    /// The address of the word that they wait on.
    pub word: usize,
    /// The address under which holders are recorded.
    pub held: usize,
    /// Reads the front of the queue, if it is not empty, and fills in the identities of the first waiters. Takes the lock of the shard.
    pub front: &'a dyn Fn(&mut [usize]) -> Option<Front>,
}

impl fmt::Debug for Contended<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contended").field("word", &self.word).finish_non_exhaustive()
    }
}

/// The front of a queue.
#[derive(Clone, Copy, Debug)]
pub struct Front {
    /// How many waiters there are.
    pub len: usize,
    /// What the head waits for.
    pub waits_for: WaitsFor,
    /// Where its wait began.
    pub site: Option<&'static Site>,
    /// Since when it waits, if the clock ran ([`nanos`]).
    pub since: Option<u64>,
}

/// Sets the observer of the process, unless there is one. Returns whether `observer` is the observer now. Nothing is reported to it before
/// [`ask`].
pub fn set_observer(observer: &'static Observer) -> bool {
    std::ptr::eq(*OBSERVER.get_or_init(|| observer), observer)
}

/// Sets the flags for what is reported to the observer from now on. Without the feature `observe` nothing is reported.
pub fn ask(flags: u32) {
    ASKED.store(flags, Ordering::SeqCst);
}

/// Returns whether any of these flags is set. Costs one load.
#[inline(always)]
pub fn asks(what: u32) -> bool {
    cfg!(feature = "observe") && ASKED.load(Ordering::Relaxed) & what != 0
}

/// The observer, if one was set.
#[inline]
fn observer() -> Option<&'static Observer> {
    OBSERVER.get().copied()
}

/// A wait has begun, and enqueued.
pub(crate) fn began(begun: &Begun) {
    tell(|observer| (observer.waits)(begun));
}

/// The report that waiters are signalled or notified, with the time, if that is asked for. The clock is read under the lock of their shard,
/// before any of them can run.
#[derive(Clone, Copy)]
pub(crate) struct Woke {
    at: Option<u64>,
    are_notified: bool,
}

impl Woke {
    #[inline(always)]
    pub(crate) fn signalled() -> Self {
        Self { at: asks(WAITS | DELAYS).then(nanos), are_notified: false }
    }

    #[inline(always)]
    pub(crate) fn notified() -> Self {
        Self { are_notified: true, ..Self::signalled() }
    }

    /// Tells the observer.
    #[inline(always)]
    pub(crate) fn tell(self, word: impl FnOnce() -> usize, who: impl IntoIterator<Item = usize>) {
        if cfg!(feature = "observe")
            && let Some(at) = self.at
        {
            let (word, who) = (word(), &mut who.into_iter());
            tell(|observer| (observer.woken)(Woken { at, are_notified: self.are_notified, word, who }));
        }
    }
}

/// A waiter has enqueued, with this ticket, under the lock that the caller holds.
#[inline]
pub(crate) fn queued(
    word: impl FnOnce() -> usize,
    waits_for: impl FnOnce() -> WaitsFor,
    ticket: impl FnOnce() -> u64,
) {
    if asks(DELAYS) {
        tell(|observer| (observer.queued)(word(), waits_for(), nanos_of(ticket())));
    }
}

/// A wait has ended.
#[inline]
pub(crate) fn ended(ended: impl FnOnce() -> Ended) {
    if asks(WAITS | DELAYS) {
        tell(|observer| (observer.ended)(&ended()));
    }
}

/// A task begins to wait.
#[inline(always)]
pub(crate) fn polled(waker: &Waker) {
    if asks(TASKS) {
        tell(|observer| (observer.polled)(waker));
    }
}

/// A lock was released for which others wait on `word`.
pub(crate) fn contended(word: usize, held: usize, front: &dyn Fn(&mut [usize]) -> Option<Front>) {
    tell(|observer| (observer.contended)(&Contended { word, held, front }));
}

/// Out of line, because most calls have nothing to report.
#[cold]
#[inline(never)]
fn tell(what: impl FnOnce(&'static Observer)) {
    if let Some(observer) = observer() {
        what(observer);
    }
}
