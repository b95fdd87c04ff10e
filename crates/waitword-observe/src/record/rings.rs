//! The events of a trace: what waiters and holders do, in order, in a [`Ring`] for each thread.
//!
//! A thread writes to its own ring, so no event waits for another thread, and none is written under a shard's lock. A thread gets its ring
//! at its first event while there is a trace: it takes a place in [`PLACES`] with a compare-and-swap, and gives it back when it ends. Only
//! that thread writes to the ring, and taking the place acquires what the thread before has written. The ring records from which event on
//! each thread has written.
//!
//! | event | written by | when |
//! |---|---|---|
//! | waits | the waiter | it has enqueued; the time is that before |
//! | signalled, notified | the thread that signals, for each waiter | before it is woken; the time is that before it can run |
//! | acquired | the waiter, after its wait; with `all` every acquirer | it has the lock |
//! | ended | the waiter | it was notified, and runs |
//! | gave up | the waiter | its deadline passed, or it was dropped |
//! | released | the holder | others wait; with `all` at every release |

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread::{self, Thread};

use waitword_core::lock;
use waitword_core::observe::{
    Begun, End, Ended, OWN, Site, WaiterKind, WaitsFor, asks, instant, nanos, nanos_at,
};
use waitword_core::time::Instant;

use super::recorder::Release;
use super::ring::Ring;
use crate::model::TraceKind;

/// How many threads can write at the same time; the events of others are counted.
const MOST_THREADS: usize = 256;

/// How many events of a thread are kept: 48 bytes each.
const EVENTS: usize = 4096;

/// How many events had no ring.
static HOMELESS: AtomicU64 = AtomicU64::new(0);

static PLACES: [Place; MOST_THREADS] =
    [const { Place { is_taken: AtomicBool::new(false), kept: OnceLock::new() } }; MOST_THREADS];

struct Place {
    is_taken: AtomicBool,
    kept: OnceLock<Kept>,
}

struct Kept {
    ring: Ring,
    /// The threads that wrote, each with its first event. Locked when a thread takes the place, and by readers.
    writers: Mutex<Vec<(u64, Thread)>>,
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
    /// How many events were overwritten by younger ones, or had no ring because too many threads wrote.
    pub dropped: u64,
}

/// A trace that is being made. Dropping it ends it.
#[derive(Debug)]
pub struct Traced {
    start: Instant,
    /// How many events each ring had when the trace began.
    written: Vec<u64>,
    homeless: u64,
    /// Whether the trace has all acquisitions.
    pub(crate) all: bool,
}

impl Traced {
    pub(crate) fn from_now_on(all: bool) -> Self {
        let written = |place: &Place| place.kept.get().map_or(0, |kept| kept.ring.written());
        Self {
            start: Instant::now(),
            written: PLACES.iter().map(written).collect(),
            homeless: HOMELESS.load(Ordering::Relaxed),
            all,
        }
    }

    /// The trace until now. Allocates; threads go on meanwhile.
    pub fn so_far(&self) -> Events {
        let mut events = Events {
            start: self.start,
            events: Vec::new(),
            dropped: HOMELESS.load(Ordering::Relaxed) - self.homeless,
        };
        for (place, first) in PLACES.iter().zip(&self.written) {
            if let Some(kept) = place.kept.get() {
                kept.read(*first, &mut events);
            }
        }
        events.events.sort_by_key(|event| event.at);
        events
    }
}

impl Kept {
    fn read(&self, first: u64, to: &mut Events) {
        let writers = lock(&self.writers).clone();
        let (end, records) = self.ring.read(first);
        to.dropped += (end - first).saturating_sub(records.len() as u64);
        let mut at = 0;
        for (index, words, site) in records {
            while writers.get(at + 1).is_some_and(|(from, _)| *from <= index) {
                at += 1;
            }
            let Some((_, thread)) = writers.get(at) else { continue };
            to.events.extend(event(words, site, thread));
        }
    }
}

fn event(
    [meta, time, word, who, since]: [u64; 5],
    site: Option<&'static Site>,
    thread: &Thread,
) -> Option<Event> {
    let (kind, sort, waits_for) = (meta & 0xff, meta >> 8 & 0xff, meta >> 16 & 0xff);
    let at = instant(time)?;
    let since = (since != 0).then(|| instant(since)).flatten();
    Some(Event {
        at,
        thread: thread.clone(),
        kind: match kind {
            WAITS => TraceKind::Waits,
            SIGNALLED => TraceKind::Signalled,
            NOTIFIED => TraceKind::Notified,
            ACQUIRED => TraceKind::Acquired,
            ENDED => TraceKind::Ended,
            GAVE_UP => TraceKind::GaveUp,
            RELEASED => TraceKind::Released { held: since.map(|since| at.saturating_duration_since(since)) },
            _ => return None,
        },
        waits_for: WaitsFor::ALL.get(waits_for as usize).copied().filter(|_| kind == WAITS),
        word: word as usize,
        who: SORTS.into_iter().find(|kind| self::sort(*kind) == sort),
        identity: who as usize,
        site,
    })
}

const WAITS: u64 = 1;
const SIGNALLED: u64 = 2;
const NOTIFIED: u64 = 3;
const ACQUIRED: u64 = 4;
const ENDED: u64 = 5;
const GAVE_UP: u64 = 6;
const RELEASED: u64 = 7;

const SORTS: [WaiterKind; 3] = [WaiterKind::Thread, WaiterKind::Task, WaiterKind::Agent];

/// The code of a kind in an event; 0 stands for one that is known by its identity alone.
fn sort(kind: WaiterKind) -> u64 {
    kind as u64 + 1
}

/// A wait has begun.
pub(crate) fn begun(begun: &Begun) {
    let meta = WAITS | sort(begun.kind) << 8 | (begun.waits_for as u64) << 16;
    write([meta, begun.at, begun.word as u64, begun.who as u64, 0], begun.site);
}

/// A waiter is about to be woken.
pub(crate) fn woken(at: u64, is_notified: bool, word: usize, who: usize) {
    let kind = if is_notified { NOTIFIED } else { SIGNALLED };
    write([kind, at, word as u64, who as u64, 0], None);
}

/// A wait has ended.
pub(crate) fn ended(ended: &Ended) {
    let kind = match ended.end {
        End::Acquired => ACQUIRED,
        End::Notified => ENDED,
        End::GaveUp => GAVE_UP,
    };
    write([kind, nanos(), ended.word as u64, ended.who as u64, 0], None);
}

/// A lock was acquired by this task, or by this thread.
#[cold]
pub fn acquired(word: usize, task: Option<usize>, site: Option<&'static Site>) {
    if asks(OWN) {
        let [sort, identity] = holder(task);
        write([ACQUIRED | sort << 8, nanos(), word as u64, identity, 0], site);
    }
}

/// A lock is about to be released.
#[cold]
pub fn released(word: usize, release: &Release) {
    if asks(OWN) {
        write_released(word, release);
    }
}

#[cold]
fn write_released(word: usize, release: &Release) {
    let [sort, identity] = holder(release.task);
    let since = release.since.map_or(0, nanos_at);
    write([RELEASED | sort << 8, nanos(), word as u64, identity, since], release.site);
}

fn holder(task: Option<usize>) -> [u64; 2] {
    task.map_or([sort(WaiterKind::Thread), 0], |task| [sort(WaiterKind::Task), task as u64])
}

/// A lock was released for which others wait. With `all`, the release itself is in the trace already.
pub(crate) fn contended_release(word: usize, release: &Release) {
    if !asks(OWN) {
        write_released(word, release);
    }
}

thread_local! {
    static MINE: Mine = const { Mine { has_asked: Cell::new(false), place: Cell::new(None) } };
}

/// The place that this thread writes to, which it gives back when it ends.
struct Mine {
    /// Set before the thread gets a place: an allocator may use locks of this crate.
    has_asked: Cell<bool>,
    place: Cell<Option<&'static Place>>,
}

impl Drop for Mine {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            place.is_taken.store(false, Ordering::Release);
        }
    }
}

fn write(words: [u64; 5], site: Option<&'static Site>) {
    let is_written = MINE.try_with(|mine| {
        if !mine.has_asked.replace(true) {
            mine.place.set(take_place());
        }
        let kept = mine.place.get().and_then(|place| place.kept.get());
        kept.map(|kept| kept.ring.write(words, site)).is_some()
    });
    // In a thread that is ending, the place may be gone.
    if is_written != Ok(true) {
        HOMELESS.fetch_add(1, Ordering::Relaxed);
    }
}

#[cold]
fn take_place() -> Option<&'static Place> {
    let place = PLACES.iter().find(|place| {
        let is_taken = &place.is_taken;
        is_taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
    })?;
    let kept = place.kept.get_or_init(|| Kept { ring: Ring::new(EVENTS), writers: Mutex::default() });
    let mut writers = lock(&kept.writers);
    let written = kept.ring.written();
    // Of the former writers, those are kept that have events left.
    let oldest = written.saturating_sub(EVENTS as u64);
    while writers.get(1).is_some_and(|(from, _)| *from <= oldest) {
        writers.remove(0);
    }
    writers.push((written, thread::current()));
    Some(place)
}
