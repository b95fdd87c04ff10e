//! The events of a trace: what waiters and holders do, in order. Each thread has a ring, which keeps its youngest events.
//!
//! A thread writes to the ring of its shelf (`table.rs`). The ring's mutex is free, unless a trace is just reading an event there. No event is
//! written under a shard's lock. In the child of a fork, a ring may be locked by a thread that does not exist there.
//!
//! | event | written by | when |
//! |---|---|---|
//! | waits | the waiter | after it has enqueued, with the time before that |
//! | signalled, notified | the thread that signals, for each waiter | before the waiter is woken, with a time at which it cannot run yet |
//! | acquired | the waiter, after its wait; with `all` every acquirer | it holds the lock |
//! | ended | the waiter | it was notified, and runs |
//! | gave up | the waiter | its deadline passed, or it was dropped |
//! | released | the holder | others wait; with `all` at every release |

use std::collections::VecDeque;
use std::iter;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread::Thread;

use waitword_core::lock;
use waitword_core::observe::{Begun, End, Ended, OWN, Site, WaiterKind, WaitsFor, asks, instant, nanos};
use waitword_core::time::Instant;

use super::recorder::{Release, this_thread};
use super::table::{COMMON, HERE, Here, as_unknown};
use crate::model::TraceKind;

/// How many threads have a ring at the same time. Events of further threads are only counted.
const MOST_THREADS: usize = 256;

/// How many events of a thread are kept.
const EVENTS: usize = 4096;

/// The rings of all shelves but the common one.
static RINGS: [Mutex<Ring>; MOST_THREADS] =
    [const { Mutex::new(Ring { events: VecDeque::new(), written: 0 }) }; MOST_THREADS];

/// How many events had no ring.
static HOMELESS: AtomicU64 = AtomicU64::new(0);

/// The youngest events of a thread.
pub(super) struct Ring {
    events: VecDeque<Event>,
    written: u64,
}

/// One event.
#[derive(Clone, Debug)]
pub struct Event {
    /// When it happened.
    pub at: Instant,
    /// The thread on which it happened.
    pub thread: Thread,
    /// What happened.
    pub kind: TraceKind,
    /// For a wait that begins: what it waits for.
    pub waits_for: Option<WaitsFor>,
    /// The address of the word.
    pub word: usize,
    /// The kind of waiter or holder: `thread`, a task or an agent. `None`: the waiter that began to wait under `identity`.
    pub who: Option<WaiterKind>,
    /// The data pointer of a task's waker, the address of an agent's inbox; 0 for a thread that holds.
    pub identity: usize,
    /// Where the wait began, or the lock was acquired, if that is known.
    pub site: Option<&'static Site>,
}

/// What was traced.
#[derive(Clone, Debug)]
pub struct Events {
    /// When the trace began.
    pub start: Instant,
    /// In order of time.
    pub events: Vec<Event>,
    /// How many events were overwritten by younger ones, or had no ring.
    pub dropped: u64,
}

/// A trace that is being recorded. Dropping it ends the recording.
#[derive(Debug)]
#[must_use = "dropping it ends the trace"]
pub struct Tracing {
    start: Instant,
    /// How many events each ring had when the trace began.
    written: Vec<u64>,
    homeless: u64,
    /// The process in which it began.
    process: u32,
    /// Whether the trace has all acquisitions.
    pub(crate) all: bool,
}

impl Tracing {
    pub(crate) fn from_now_on(all: bool) -> Self {
        Self {
            start: Instant::now(),
            written: RINGS.iter().map(|ring| lock(ring).written).collect(),
            homeless: HOMELESS.load(Ordering::Relaxed),
            process: process_id(),
            all,
        }
    }

    /// Returns the events until now. Allocates; threads continue meanwhile.
    #[doc(hidden)]
    pub fn events(&self) -> Events {
        let homeless = HOMELESS.load(Ordering::Relaxed) - self.homeless;
        let mut so_far = Events { start: self.start, events: Vec::new(), dropped: homeless };
        for (ring, first) in RINGS.iter().zip(&self.written) {
            let Some(end) = self.locked(ring).map(|ring| ring.written) else { continue };
            let before = so_far.events.len();
            so_far.events.extend(self.events_of(ring, *first, end));
            so_far.dropped += end - first - (so_far.events.len() - before) as u64;
        }
        so_far.events.sort_by_key(|event| event.at);
        so_far
    }

    /// The events from number `first` on that are still there, each read on its own.
    fn events_of(&self, ring: &Mutex<Ring>, first: u64, end: u64) -> impl Iterator<Item = Event> {
        let next = move |number: u64| {
            let ring = self.locked(ring)?;
            let oldest = ring.written - ring.events.len() as u64;
            let number = number.max(oldest);
            let event = ring.events.get((number - oldest) as usize).filter(|_| number < end)?;
            Some((number, event.clone()))
        };
        iter::successors(next(first), move |(number, _)| next(number + 1)).map(|(_, event)| event)
    }

    /// `None` in the child of a fork, if the ring is locked: a thread of the parent may have locked it for ever.
    fn locked<'a>(&self, ring: &'a Mutex<Ring>) -> Option<MutexGuard<'a, Ring>> {
        if self.process == process_id() { Some(lock(ring)) } else { ring.try_lock().ok() }
    }
}

/// Returns the number of this process. A page has none, and gets 0.
pub(crate) fn process_id() -> u32 {
    if cfg!(target_family = "wasm") { 0 } else { std::process::id() }
}

/// A wait has begun.
pub(crate) fn begun(begun: &Begun) {
    let &Begun { at, word, kind, who, waits_for, site } = begun;
    write(|thread| {
        let (waits_for, at) = (Some(waits_for), instant(at)?);
        let (kind, who, identity) = (TraceKind::Waits, Some(kind), who);
        Some(Event { at, thread, kind, waits_for, word, who, identity, site })
    });
}

/// A waiter is about to be woken.
pub(crate) fn woken(at: u64, is_notified: bool, word: usize, who: usize) {
    let kind = if is_notified { TraceKind::Notified } else { TraceKind::Signalled };
    write(|thread| Some(Event { at: instant(at)?, ..now(thread, kind, word, None, who)? }));
}

/// A wait has ended.
pub(crate) fn ended(ended: &Ended) {
    let kind = match ended.end {
        End::Acquired => TraceKind::Acquired,
        End::Notified => TraceKind::Ended,
        End::GaveUp => TraceKind::GaveUp,
    };
    write(|thread| now(thread, kind, ended.word, None, ended.who));
}

/// A lock was acquired by this task, or by this thread.
#[cold]
pub fn acquired(word: usize, task: Option<usize>, site: Option<&'static Site>) {
    if asks(OWN) {
        write(|thread| held(thread, TraceKind::Acquired, word, task, site));
    }
}

/// A lock is about to be released.
#[cold]
pub fn released(word: usize, release: &Release) {
    if asks(OWN) {
        write_released(word, release);
    }
}

/// A lock was released for which others wait. With `all`, the release itself is in the trace already.
pub(crate) fn contended_release(word: usize, release: &Release) {
    if !asks(OWN) {
        write_released(word, release);
    }
}

#[cold]
fn write_released(word: usize, release: &Release) {
    write(|thread| {
        let event = held(thread, TraceKind::Released { held: None }, word, release.task, release.site)?;
        let held = release.since.map(|since| event.at.saturating_duration_since(since));
        Some(Event { kind: TraceKind::Released { held }, ..event })
    });
}

/// What a holder does at this moment: this task, or this thread.
fn held(
    thread: Thread,
    kind: TraceKind,
    word: usize,
    task: Option<usize>,
    site: Option<&'static Site>,
) -> Option<Event> {
    let who = if task.is_some() { WaiterKind::Task } else { WaiterKind::Thread };
    Some(Event { site, ..now(thread, kind, word, Some(who), task.unwrap_or(0))? })
}

fn now(
    thread: Thread,
    kind: TraceKind,
    word: usize,
    who: Option<WaiterKind>,
    identity: usize,
) -> Option<Event> {
    Some(Event { at: instant(nanos())?, thread, kind, waits_for: None, word, who, identity, site: None })
}

fn write(event: impl FnOnce(Thread) -> Option<Event>) {
    let thread = this_thread();
    let shelf = HERE.with(Here::shelf);
    let ring = shelf.checked_sub(COMMON + 1).and_then(|at| RINGS.get(at));
    // A thread that is ending may have lost its ring.
    let (Some(thread), Some(ring)) = (thread, ring) else {
        HOMELESS.fetch_add(1, Ordering::Relaxed);
        return;
    };
    let Some(event) = event(thread) else { return };
    let mut locked = lock(ring);
    let mut room = VecDeque::new();
    if locked.events.capacity() == 0 {
        // Not under the mutex: the allocator may be one that acquires locks, or waits.
        drop(locked);
        room = as_unknown(|| VecDeque::with_capacity(EVENTS));
        locked = lock(ring);
    }
    let ring = &mut *locked;
    if ring.events.capacity() == 0 {
        ring.events = std::mem::take(&mut room);
    }
    let oldest = if ring.events.len() == EVENTS { ring.events.pop_front() } else { None };
    ring.events.push_back(event);
    ring.written += 1;
    drop(locked);
    drop((oldest, room));
}
