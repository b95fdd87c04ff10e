//! The present holds, and the edges that follow from them: see the parent module.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;
use std::thread::{self, Thread};
use std::time::Duration;

use waitword::observe::holders::Hold;
use waitword_core::lock;
use waitword_core::observe::{Site, WaitsFor};
use waitword_core::time::Instant;

use super::graph::{Acquirer, Edge, Graph, Held, LockId, Member, Whose};
use crate::finding::{OrderMember, PotentialDeadlock};
use crate::model::{Access, Actor, LockKind, held_as, sort};
use crate::names::names;
use crate::process;
use crate::tasks::may_ask;

/// The maximum number of potential deadlocks,
const MOST_FOUND: usize = 64;

/// and the maximum number of edges of one hold that wait for its release.
const MOST_PENDING: usize = 256;

/// A hold that has not ended.
struct Live {
    lock: LockId,
    mode: Access,
    site: &'static Site,
    by: Acquirer,
    /// Edges from it, each with its [`Whose::youngest`]. They count once its acquirer has released it.
    edges: Vec<(Edge, Option<u64>)>,
}

/// The places in the source of a cycle: for each member, where it acquired the lock that it held, and the other lock.
type Places = BTreeSet<[&'static Site; 2]>;

/// The beginning of the check. A thread that existed before may hold locks that it acquired before, or poll tasks that do.
struct Began {
    /// The number of the youngest thread at that time,
    youngest: u64,
    /// and that of the thread that began the check, which knows what it holds.
    by: u64,
}

impl Began {
    fn now() -> Self {
        let last = thread::Builder::new().spawn(|| {});
        // If no thread can be started, all threads count as older.
        let youngest = last.map_or(u64::MAX, |last| number(last.thread()));
        Self { youngest, by: number(&thread::current()) }
    }

    fn is_before_this_thread(&self) -> bool {
        let this = number(&thread::current());
        this <= self.youngest && this != self.by
    }
}

/// Threads are numbered in the order in which they are made.
fn number(thread: &Thread) -> u64 {
    match process::thread(thread) {
        Actor::Thread { id, .. } => id,
        _ => 0,
    }
}

#[derive(Default)]
pub(crate) struct Order {
    /// `None`: the check is off.
    began: Option<Began>,
    locks: HashMap<usize, (u64, LockKind)>,
    last: u64,
    live: HashMap<usize, Live>,
    graph: Graph,
    places: BTreeSet<Places>,
    /// The cycles of this step.
    circles: Vec<Circle>,
    found: Vec<(Instant, PotentialDeadlock)>,
    lost: u64,
}

static STATE: Mutex<Option<Order>> = Mutex::new(None);

pub(crate) fn start() {
    let began = Began::now();
    let mut state = lock(&STATE);
    let state = state.get_or_insert_default();
    state.began.get_or_insert(began);
}

/// Holds are no longer followed, so nothing is known about them.
pub(crate) fn stop() {
    if let Some(state) = lock(&STATE).as_mut() {
        // Edges are dropped: when the check starts again, other locks may be at the same addresses.
        let Order { found, places, lost, last, .. } = std::mem::take(state);
        *state = Order { found, places, lost, last, ..Order::default() };
    }
}

pub(super) fn is_on() -> bool {
    lock(&STATE).as_ref().is_some_and(|state| state.began.is_some())
}

/// The potential deadlocks, and how much was left out.
pub(super) fn found() -> (Vec<PotentialDeadlock>, u64) {
    let state = lock(&STATE);
    let Some(Order { found, lost, .. }) = state.as_ref() else { return Default::default() };
    let aged = |(at, found): &(Instant, PotentialDeadlock)| PotentialDeadlock {
        found: at.elapsed(),
        ..found.clone()
    };
    (found.iter().map(aged).collect(), *lost)
}

/// Follows a step of a hold or of a lock, if the order is checked. Locks that are acquired meanwhile, by the check itself, are not followed.
/// The steps of one hold come in order: acquired after its record has been written, released before the record is erased. So the record's
/// address identifies the hold in between.
pub(crate) fn follow(step: impl FnOnce(&mut Order)) {
    thread_local! {
        static FOLLOWS: Cell<bool> = const { Cell::new(false) };
    }
    if FOLLOWS.replace(true) {
        return;
    }
    let mut circles = Vec::new();
    if let Some(order) = lock(&STATE).as_mut().filter(|order| order.began.is_some()) {
        step(order);
        circles = std::mem::take(&mut order.circles);
    }
    // Not under the lock: numbering the tasks may acquire locks, and call this function.
    let found: Vec<_> = circles.iter().map(|circle| (Instant::now(), potential_deadlock(circle))).collect();
    if !found.is_empty() {
        lock(&STATE).get_or_insert_default().found.extend(found);
    }
    FOLLOWS.set(false);
}

type Circle = Vec<(Edge, Whose)>;

/// Locks whose acquirers wait only for holders: see the parent module.
fn followed(hold: Hold) -> Option<(LockKind, Access)> {
    match held_as(hold) {
        (LockKind::Semaphore, _) => None,
        followed => Some(followed),
    }
}

impl Order {
    /// A lock was acquired at this place, by an actor that would have waited without a limit unless it `gives_up`. `hold` identifies the hold.
    pub(crate) fn acquired(
        &mut self,
        hold: usize,
        word: usize,
        mode: Hold,
        site: &'static Site,
        by: Acquirer,
        gives_up: bool,
    ) {
        let Some((kind, mode)) = followed(mode) else { return };
        // A holder that excludes this one has leaked its guard; the lock was moved since, or replaced by another.
        let is_gone = |live: &Live| live.lock.word == word && live.mode.excludes(mode);
        if self.live.values().any(is_gone) {
            self.dropped(word);
        }
        // The last hold with this number was leaked, too.
        self.live.remove(&hold);
        let lock = self.lock_at(word, kind);
        if !gives_up {
            self.waits(by, lock, mode, site);
        }
        self.live.insert(hold, Live { lock, mode, site, by, edges: Vec::new() });
    }

    /// The actor has waited, or would have, for a lock that it does not hold afterwards.
    pub(super) fn awaited(&mut self, word: usize, waits_for: WaitsFor, site: &'static Site, by: Acquirer) {
        let (kind, wants) = sort(waits_for);
        let lock = self.lock_at(word, kind);
        self.waits(by, lock, wants, site);
    }

    /// Makes the edges from all locks that `by` holds.
    fn waits(&mut self, by: Acquirer, lock: LockId, wants: Access, site: &'static Site) {
        // An upgrade is followed after it has succeeded.
        let before = |live: &Live| match live.lock == lock && wants == Access::Upgrade {
            true => (live.lock, Access::Upgradable),
            false => (live.lock, live.mode),
        };
        let mine: Vec<&mut Live> = self.live.values_mut().filter(|live| live.by == by).collect();
        let mut held: Vec<(LockId, Access)> = mine.iter().map(|live| before(live)).collect();
        if held.is_empty() {
            return;
        }
        // Sorted, so that equal ones are found.
        held.sort_unstable();
        let held = Held::from(held);
        let youngest = self.began.as_ref().is_some_and(Began::is_before_this_thread).then_some(self.last);
        for from in mine.into_iter().filter(|from| from.lock != lock) {
            let edge = Edge {
                from: from.lock,
                holds: from.mode,
                taken: from.site,
                to: lock,
                wants,
                site,
                held: Held::clone(&held),
            };
            if let Some((_, known)) = from.edges.iter_mut().find(|(known, _)| *known == edge) {
                *known = youngest;
            } else if from.edges.len() < MOST_PENDING {
                from.edges.push((edge, youngest));
            } else {
                self.lost += 1;
            }
        }
    }

    /// A hold changes its mode.
    pub(crate) fn changed(&mut self, hold: usize, mode: Hold) {
        if let (Some(live), Some((_, mode))) = (self.live.get_mut(&hold), followed(mode)) {
            live.mode = mode;
        }
    }

    /// A lock is about to be released by this thread, or by the task that `identify` numbers. Without a number, the task is not known.
    pub(crate) fn released(&mut self, hold: usize, by: Acquirer) {
        let Some(live) = self.live.remove(&hold) else { return };
        let is_own = match (live.by, by) {
            // Which task runs here is not known.
            (Acquirer::Task(_), Acquirer::Thread(_)) => true,
            (Acquirer::Identified(_), Acquirer::Thread(_)) if !may_ask() => true,
            (one, other) => one == other,
        };
        if !is_own || live.edges.is_empty() {
            return;
        }
        // The acquirer itself releases the lock.
        let thread = matches!(live.by, Acquirer::Thread(_)).then(|| process::thread(&thread::current()));
        for (edge, youngest) in live.edges {
            self.add(edge, Whose { by: live.by, thread: thread.clone(), youngest });
        }
    }

    fn add(&mut self, edge: Edge, whose: Whose) {
        let Self { graph, places, lost, circles, .. } = self;
        let mut found = |circle: &[Member<'_>]| {
            let at = circle.iter().map(|(edge, _)| [edge.taken, edge.site]).collect();
            if places.len() == MOST_FOUND && !places.contains(&at) {
                *lost += 1;
            } else if places.insert(at) {
                circles
                    .push(circle.iter().map(|(edge, whose)| ((*edge).clone(), (*whose).clone())).collect());
            }
        };
        let searched = match graph.add(edge.clone(), whose.clone()) {
            Ok(true) => graph.circles(&edge, &whose, &mut found),
            known => known.map(drop),
        };
        self.lost += u64::from(searched.is_err());
    }

    /// The lock with this word is dropped. Another may be made at its address.
    pub(crate) fn dropped(&mut self, word: usize) {
        let Some((lock, _)) = self.locks.remove(&word) else { return };
        self.graph.forget(lock);
        // Its holders have leaked it.
        self.live.retain(|_, live| live.lock.word != word);
        for live in self.live.values_mut() {
            live.edges.retain(|(edge, _)| edge.to.number != lock);
        }
    }

    fn lock_at(&mut self, word: usize, kind: LockKind) -> LockId {
        if self.locks.get(&word).is_some_and(|(_, known)| *known != kind) {
            self.dropped(word);
        }
        let (number, _) = *self.locks.entry(word).or_insert_with(|| {
            self.last += 1;
            (self.last, kind)
        });
        LockId { number, word, kind }
    }
}

fn potential_deadlock(circle: &Circle) -> PotentialDeadlock {
    let actor = |whose: &Whose| match (&whose.thread, whose.by) {
        (Some(thread), _) => thread.clone(),
        (None, Acquirer::Task(task)) => process::task_actor(task),
        (None, Acquirer::Identified(number) | Acquirer::Thread(number)) => Actor::Task { number, name: None },
    };
    let name = |lock: LockId| names().of(lock.word, lock.kind);
    let member = |(edge, whose): &(Edge, Whose)| OrderMember {
        actor: actor(whose),
        holds: name(edge.from),
        mode: edge.holds,
        taken: edge.taken.into(),
        wants: name(edge.to),
        access: edge.wants,
        site: edge.site.into(),
    };
    PotentialDeadlock { found: Duration::ZERO, members: circle.iter().map(member).collect() }
}
