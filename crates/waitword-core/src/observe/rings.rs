//! The rings of the process, and what goes into them: see [`trace`](super::trace).
//!
//! A place in [`PLACES`] is taken by a thread with a compare-and-swap, and given back when the thread ends. Only who took
//! it writes to its ring, and taking acquires what the thread before has written.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread::{self, Thread};

use super::asked;
pub(crate) use super::asked::is_followed;
pub(crate) use super::asked::traces as is_on;
pub use super::asked::traces_all;
use super::clock::{instant, nanos_at, now, start_clock};
use super::origin::{Origin, WaitsFor};
use super::release::Release;
use super::ring::Ring;
use super::site::Site;
use super::trace::{Event, EventKind, Events, Who};
use crate::sync::lock;
use crate::time::Instant;

/// So many threads can write at a time; the events of others are counted.
const MOST_THREADS: usize = 256;

/// The events of a thread that are kept: 48 bytes each.
const EVENTS: usize = 4096;

/// Events that had no ring.
static HOMELESS: AtomicU64 = AtomicU64::new(0);

static PLACES: [Place; MOST_THREADS] =
    [const { Place { is_taken: AtomicBool::new(false), kept: OnceLock::new() } }; MOST_THREADS];

struct Place {
    is_taken: AtomicBool,
    kept: OnceLock<Kept>,
}

struct Kept {
    ring: Ring,
    /// Who wrote, from which event on. Locked when a thread takes the place, and by readers.
    writers: Mutex<Vec<(u64, Thread)>>,
}

/// A trace that is being made. Dropping it ends it without a result.
#[derive(Debug)]
pub struct Tracing {
    start: Instant,
    all: bool,
    /// How far each ring was.
    written: Vec<u64>,
    homeless: u64,
}

/// Starts to trace waits and contended releases; with `all` every acquisition and release of a lock too. Starts the clock. Several traces
/// can be made at a time.
pub fn trace(all: bool) -> Tracing {
    start_clock();
    let start = Instant::now();
    let written = PLACES.iter().map(|place| place.kept.get().map_or(0, |kept| kept.ring.written())).collect();
    asked::begin(kind(all));
    Tracing { start, all, written, homeless: HOMELESS.load(Ordering::Relaxed) }
}

fn kind(all: bool) -> u32 {
    if all { asked::TRACE_ALL } else { asked::TRACE }
}

impl Tracing {
    /// What was traced until now. Allocates; threads go on meanwhile.
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

impl Drop for Tracing {
    fn drop(&mut self) {
        asked::end(kind(self.all));
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
    let identity = who as usize;
    Some(Event {
        at: instant(time)?,
        thread: thread.clone(),
        kind: match kind {
            WAITS => EventKind::Waits(WaitsFor::ALL.get(waits_for as usize).copied()?),
            SIGNALLED => EventKind::Signalled,
            NOTIFIED => EventKind::Notified,
            ACQUIRED => EventKind::Acquired,
            ENDED => EventKind::Ended,
            GAVE_UP => EventKind::GaveUp,
            RELEASED => EventKind::Released { since: (since != 0).then(|| instant(since)).flatten() },
            _ => return None,
        },
        word: word as usize,
        who: match sort {
            THREAD => Who::ThisThread,
            TASK => Who::Task(identity),
            AGENT => Who::Agent(identity),
            _ => Who::Waiter(identity),
        },
        identity,
        site,
    })
}

const WAITS: u64 = 1;
pub(crate) const SIGNALLED: u64 = 2;
pub(crate) const NOTIFIED: u64 = 3;
pub(crate) const ACQUIRED: u64 = 4;
pub(crate) const ENDED: u64 = 5;
pub(crate) const GAVE_UP: u64 = 6;
const RELEASED: u64 = 7;

pub(crate) const THREAD: u64 = 1;
pub(crate) const TASK: u64 = 2;
pub(crate) const AGENT: u64 = 3;

/// A wait that is about to begin, if there is a trace.
pub(crate) struct Begun(Option<u64>);

impl Begun {
    #[inline]
    pub(crate) fn now() -> Self {
        Self(is_on().then(now))
    }

    /// It has begun. `sort` is that of the waiter.
    #[inline]
    pub(crate) fn enqueued(self, word: usize, (sort, identity): (u64, usize), origin: Option<Origin>) {
        if let Some(time) = self.0 {
            let waits_for = origin.map_or(WaitsFor::Word, Origin::waits_for) as u64;
            let words = [WAITS | sort << 8 | waits_for << 16, time, word as u64, identity as u64, 0];
            write(words, origin.and_then(Origin::site));
        }
    }
}

/// Waiters that are about to be signalled or notified, if there is a trace. The time is taken under the lock of their shard: after they
/// enqueued, and before they can see it and run.
pub(crate) struct Waking(Option<u64>);

impl Waking {
    #[inline]
    pub(crate) fn now() -> Self {
        Self(is_on().then(now))
    }

    /// These were, and are about to be woken.
    #[inline]
    pub(crate) fn trace(self, kind: u64, word: usize, woken: impl IntoIterator<Item = usize>) {
        if let Some(time) = self.0 {
            woken.into_iter().for_each(|who| write([kind, time, word as u64, who as u64, 0], None));
        }
    }
}

/// Something happened to the waiter with this identity.
#[cold]
pub(crate) fn to_waiter(kind: u64, word: usize, identity: usize) {
    write([kind, now(), word as u64, identity as u64, 0], None);
}

/// For building locks: a lock was acquired, and a trace has [all acquisitions](traces_all). `task` is the data pointer of the task's waker;
/// `None`: this thread.
#[cold]
pub fn trace_acquired(word: usize, task: Option<usize>, site: Option<&'static Site>) {
    if !asked::is_all_traced() {
        return;
    }
    let [sort, identity] = holder(task);
    write([ACQUIRED | sort << 8, now(), word as u64, identity, 0], site);
}

/// For building locks: a lock was released that was held `since`, acquired by `task` or this thread at `site`, and a trace has [all
/// releases](traces_all).
#[cold]
pub fn trace_released(word: usize, task: Option<usize>, site: Option<&'static Site>, since: Option<Instant>) {
    if asked::is_all_traced() {
        write_released(word, task, site, since);
    }
}

#[cold]
fn write_released(word: usize, task: Option<usize>, site: Option<&'static Site>, since: Option<Instant>) {
    let [sort, identity] = holder(task);
    let since = since.map_or(0, nanos_at);
    write([RELEASED | sort << 8, now(), word as u64, identity, since], site);
}

fn holder(task: Option<usize>) -> [u64; 2] {
    task.map_or([THREAD, 0], |task| [TASK, task as u64])
}

/// A lock was released for which others wait. With [all acquisitions](traces_all) the release itself is in the trace.
pub(crate) fn contended_release(word: usize, release: &Release) {
    if is_on() && !asked::is_all_traced() {
        write_released(word, release.task, release.site, release.since);
    }
}

/// What this thread writes to.
#[derive(Clone, Copy)]
enum Mine {
    Unknown,
    /// None, or it is being made: an allocator may have locks of ours.
    Nothing,
    Place(&'static Kept),
}

thread_local! {
    static MINE: Cell<Mine> = const { Cell::new(Mine::Unknown) };
    static GIVES_BACK: GivesBack = const { GivesBack(Cell::new(None)) };
}

/// Gives the place back when the thread ends.
struct GivesBack(Cell<Option<&'static Place>>);

impl Drop for GivesBack {
    fn drop(&mut self) {
        MINE.set(Mine::Nothing);
        if let Some(place) = self.0.get() {
            place.is_taken.store(false, Ordering::Release);
        }
    }
}

fn write(words: [u64; 5], site: Option<&'static Site>) {
    let mine = match MINE.get() {
        Mine::Unknown => take_place(),
        mine => mine,
    };
    match mine {
        Mine::Place(kept) => kept.ring.write(words, site),
        _ => {
            HOMELESS.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cold]
fn take_place() -> Mine {
    MINE.set(Mine::Nothing);
    let free = |place: &&Place| {
        let is_taken = &place.is_taken;
        is_taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
    };
    let Some(place) = PLACES.iter().find(free) else { return Mine::Nothing };
    if GIVES_BACK.try_with(|gives_back| gives_back.0.set(Some(place))).is_err() {
        // The thread is ending.
        place.is_taken.store(false, Ordering::Release);
        return Mine::Nothing;
    }
    let kept = place.kept.get_or_init(|| Kept { ring: Ring::new(EVENTS), writers: Mutex::default() });
    let mut writers = lock(&kept.writers);
    let written = kept.ring.written();
    // Of those that wrote before, the ones are kept of which there are events.
    let oldest = written.saturating_sub(EVENTS as u64);
    while writers.get(1).is_some_and(|(from, _)| *from <= oldest) {
        writers.remove(0);
    }
    writers.push((written, thread::current()));
    drop(writers);
    MINE.set(Mine::Place(kept));
    Mine::Place(kept)
}
