//! Lanes, slices and arrows: beginnings paired with ends.
//!
//! - A wait begins with `Waits` and ends with `Acquired`, `Ended` or `GaveUp` of the same actor. An agent's wait ends when it is notified.
//! - A hold begins with `Acquired`, or else at the time that follows from its `Released`.
//! - A signal or notify makes an arrow to the actor's wait, if it ends that wait. The arrow begins at the hold that the signalling thread
//!   released just before, or else at a mark on that thread's lane.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use crate::model::{Actor, Address, LockKind, LockName, Site, Trace, TraceEvent, TraceKind};

/// What a slice shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A wait, and how it ended.
    Wait(End),
    Hold,
    /// A signal or notify by an actor without a known release before.
    Notify,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Acquired,
    Notified,
    GaveUp,
    /// The wait continues.
    Open,
}

#[derive(Clone, Debug)]
pub(super) struct Slice {
    pub(super) lane: usize,
    /// The row, counted over all lanes: slices of one row are nested or apart.
    pub(super) row: usize,
    pub(super) what: What,
    pub(super) begin: Duration,
    pub(super) end: Duration,
    pub(super) lock: LockName,
    pub(super) site: Option<Site>,
}

#[derive(Debug, Default)]
pub(super) struct Timeline {
    /// In order: threads, tasks, agents.
    pub(super) lanes: Vec<Actor>,
    /// The first row of each lane, and how many rows there are.
    pub(super) rows: Vec<usize>,
    pub(super) slices: Vec<Slice>,
    /// From the end of a slice to the end of a wait: the indices of both slices.
    pub(super) arrows: Vec<[usize; 2]>,
}

/// The length of a mark, which ends at its time. An agent's wait ends at the same time, and the arrow begins inside the mark and ends inside
/// the wait.
const MARK: Duration = Duration::from_nanos(10);

/// Shorter slices are drawn with this length.
const SHORTEST: Duration = Duration::from_nanos(1);

type Key = (Actor, Address);

/// When and where a wait or a hold began, and its lock.
type Begun = (Duration, LockName, Option<Site>);

#[derive(Default)]
struct Pairing {
    timeline: Timeline,
    lanes: BTreeMap<Actor, usize>,
    waits: HashMap<Key, Begun>,
    /// The condition variable that the actor began to wait for last.
    condvars: HashMap<Actor, Address>,
    holds: HashMap<Key, Vec<Begun>>,
    /// The slice from which the actor was last signalled.
    signals: HashMap<Key, usize>,
    /// When each lock was released last.
    ends: HashMap<Address, Duration>,
    /// The lock that each thread has just released, and its slice.
    released: HashMap<Actor, (Address, usize)>,
}

impl Timeline {
    pub(super) fn of(trace: &Trace) -> Self {
        let mut pairing = Pairing::default();
        trace.events.iter().for_each(|event| pairing.event(event));
        pairing.finish(trace.events.last().map(|event| event.at).unwrap_or_default(), trace.all)
    }
}

impl Pairing {
    fn event(&mut self, event: &TraceEvent) {
        let key = (event.actor.clone(), event.lock.address);
        match event.kind {
            TraceKind::Waits => {
                if event.lock.kind == LockKind::Condvar {
                    self.condvars.insert(event.actor.clone(), event.lock.address);
                }
                self.waits.insert(key, (event.at, event.lock.clone(), event.site.clone()));
            }
            TraceKind::Signalled | TraceKind::Notified => {
                let from = self.signaller(event);
                if event.kind == TraceKind::Notified && matches!(event.actor, Actor::Agent { .. }) {
                    self.signals.insert(key.clone(), from);
                    self.end_wait(&key, event, End::Notified);
                } else {
                    self.signals.insert(key, from);
                }
                return;
            }
            TraceKind::Acquired => {
                self.end_wait(&key, event, End::Acquired);
                let holds = self.holds.entry(key).or_default();
                match holds.last_mut() {
                    // The end of the wait came just before, without the site.
                    Some((.., site @ None)) if event.site.is_some() => *site = event.site.clone(),
                    _ => holds.push((event.at, event.lock.clone(), event.site.clone())),
                }
            }
            TraceKind::Ended => self.end_wait(&key, event, End::Notified),
            TraceKind::GaveUp => {
                self.signals.remove(&key);
                self.end_wait(&key, event, End::GaveUp);
            }
            TraceKind::Released { held } => {
                let begun = self.holds.get_mut(&key).and_then(Vec::pop);
                let begin = match (&begun, held) {
                    (Some((begin, ..)), _) => *begin,
                    // The time is exact to 10 ms: another may have held the lock at the beginning.
                    (None, Some(held)) => {
                        let is_exclusive = matches!(event.lock.kind, LockKind::Mutex | LockKind::AsyncLock);
                        let before = self.ends.get(&event.lock.address).filter(|_| is_exclusive);
                        event.at.saturating_sub(held).max(before.copied().unwrap_or_default())
                    }
                    (None, None) => event.at,
                };
                self.ends.insert(event.lock.address, event.at);
                let site = event.site.clone().or(begun.and_then(|(.., site)| site));
                let slice = self.slice(&event.actor, What::Hold, [begin, event.at], &event.lock, site);
                self.released.insert(event.on.clone(), (event.lock.address, slice));
                return;
            }
        }
        self.released.remove(&event.on);
    }

    /// The slice at which the arrow to the signalled actor begins.
    fn signaller(&mut self, event: &TraceEvent) -> usize {
        match self.released.get(&event.on) {
            Some((lock, slice)) if *lock == event.lock.address => *slice,
            _ => {
                let mark = [event.at.saturating_sub(MARK), event.at];
                let slice = self.slice(&event.on, What::Notify, mark, &event.lock, None);
                // A thread that notifies many does so from one place.
                self.released.insert(event.on.clone(), (event.lock.address, slice));
                slice
            }
        }
    }

    fn end_wait(&mut self, key: &Key, event: &TraceEvent, end: End) {
        // A waiter of a condition variable may have been moved to a mutex.
        let wait = self.waits.remove(key).or_else(|| {
            let condvar = self.condvars.remove(&key.0)?;
            self.waits.remove(&(key.0.clone(), condvar))
        });
        let Some((begin, lock, site)) = wait else { return };
        let slice = self.slice(&event.actor, What::Wait(end), [begin, event.at], &lock, site);
        if let Some(from) = self.signals.remove(key) {
            self.timeline.arrows.push([from, slice]);
        }
    }

    fn slice(
        &mut self,
        actor: &Actor,
        what: What,
        [begin, end]: [Duration; 2],
        lock: &LockName,
        site: Option<Site>,
    ) -> usize {
        let next = self.lanes.len();
        let lane = *self.lanes.entry(actor.clone()).or_insert(next);
        let end = end.max(begin + SHORTEST);
        self.timeline.slices.push(Slice { lane, row: 0, what, begin, end, lock: lock.clone(), site });
        self.timeline.slices.len() - 1
    }

    /// Ends open slices with the trace. Without all releases, holds are left out: their locks may have been released long ago.
    fn finish(mut self, end: Duration, all: bool) -> Timeline {
        for ((actor, _), (begin, lock, site)) in std::mem::take(&mut self.waits) {
            self.slice(&actor, What::Wait(End::Open), [begin, end], &lock, site);
        }
        for ((actor, _), holds) in std::mem::take(&mut self.holds) {
            for (begin, lock, site) in holds.into_iter().filter(|_| all) {
                self.slice(&actor, What::Hold, [begin, end], &lock, site);
            }
        }
        self.sort_lanes();
        self.timeline.set_rows();
        self.timeline
    }

    fn sort_lanes(&mut self) {
        let mut places = vec![0; self.lanes.len()];
        for (place, (actor, lane)) in std::mem::take(&mut self.lanes).into_iter().enumerate() {
            places[lane] = place;
            self.timeline.lanes.push(actor);
        }
        self.timeline.slices.iter_mut().for_each(|slice| slice.lane = places[slice.lane]);
    }
}

impl Timeline {
    /// A slice gets the first row of its lane in which it is nested in other slices, or apart from them.
    fn set_rows(&mut self) {
        let mut order: Vec<usize> = (0..self.slices.len()).collect();
        order.sort_by_key(|&at| (self.slices[at].begin, std::cmp::Reverse(self.slices[at].end)));
        // For each row the ends of its open slices, the outermost first.
        let mut open: HashMap<(usize, usize), Vec<Duration>> = HashMap::new();
        for at in order {
            let slice = &mut self.slices[at];
            for row in 0.. {
                let ends = open.entry((slice.lane, row)).or_default();
                ends.retain(|end| *end > slice.begin);
                if ends.last().is_none_or(|end| *end >= slice.end) {
                    ends.push(slice.end);
                    slice.row = row;
                    break;
                }
            }
        }
        let mut rows = vec![1; self.lanes.len()];
        self.slices.iter().for_each(|slice| rows[slice.lane] = rows[slice.lane].max(slice.row + 1));
        self.rows = vec![0];
        self.rows.extend(rows.iter().scan(0, |sum, rows| {
            *sum += rows;
            Some(*sum)
        }));
        self.slices.iter_mut().for_each(|slice| slice.row += self.rows[slice.lane]);
    }
}
