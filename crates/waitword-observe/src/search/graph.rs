//! Which actor is blocked by which.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use crate::finding::Blocks;
use crate::model::{Access, Actor, Holder, Lock, LockKind, Snapshot, State, Waiter};

/// `from` cannot continue before `to` does.
#[derive(Clone, Copy)]
pub(super) struct Edge<'a> {
    pub(super) to: usize,
    /// The wait. `None` for a task that waits for its thread.
    pub(super) wait: Option<(&'a Lock, &'a Waiter)>,
    pub(super) why: Why<'a>,
}

/// How `to` blocks `from`.
#[derive(Clone, Copy)]
pub(super) enum Why<'a> {
    Holds(&'a Holder),
    QueuedAhead,
    Upgrades,
    Polls { only_there: bool },
}

impl Edge<'_> {
    /// How the member that the edge leads to blocks the previous one.
    pub(super) fn blocks(&self) -> Option<Blocks> {
        let lock = self.wait.map(|(lock, _)| lock.name.clone());
        Some(match self.why {
            Why::Polls { only_there } => Blocks::Polls { only_there },
            Why::QueuedAhead => Blocks::QueuedAhead { lock: lock? },
            Why::Upgrades => Blocks::Upgrades { lock: lock? },
            Why::Holds(&Holder { mode, ref site, held, sent_away, .. }) => {
                Blocks::Holds { lock: lock?, mode, site: site.clone(), held, sent_away }
            }
        })
    }
}

/// The actors by number, and the edges from each.
#[derive(Default)]
pub(super) struct Graph<'a> {
    pub(super) actors: Vec<&'a Actor>,
    pub(super) edges: Vec<Vec<Edge<'a>>>,
    numbers: HashMap<&'a Actor, usize>,
}

impl<'a> Graph<'a> {
    pub(super) fn of(snapshot: &'a Snapshot) -> Self {
        let mut graph = Self::default();
        let mut holders: HashMap<_, Vec<&Holder>> = HashMap::new();
        let goes_on = goes_on(snapshot);
        for holder in snapshot.holders.iter().flatten().filter(|holder| !goes_on(&holder.actor)) {
            holders.entry(holder.lock).or_default().push(holder);
        }
        for lock in &snapshot.locks {
            let holders = holders.get(&lock.name.address).map(Vec::as_slice).unwrap_or_default();
            let mut passed = (lock.name.kind == LockKind::RwLock).then(Passed::default);
            for waiter in lock.all_waiters().filter(|waiter| stands(lock, waiter)) {
                let mut waits_for =
                    |to: &'a Actor, why| graph.add(&waiter.actor, to, Some((lock, waiter)), why);
                for holder in holders.iter().filter(|holder| blocks(lock, holder, waiter)) {
                    waits_for(&holder.actor, Why::Holds(holder));
                }
                if waiter.wants == Access::Upgrade {
                    continue;
                }
                if let Some(upgrade) =
                    lock.upgrade.as_ref().filter(|upgrade| keeps_out(lock, upgrade, waiter))
                {
                    waits_for(&upgrade.actor, Why::Upgrades);
                }
                let Some(passed) = &mut passed else { continue };
                if let Some(ahead) = passed.nearest(waiter) {
                    waits_for(&ahead.actor, Why::QueuedAhead);
                }
                passed.pass(waiter);
            }
        }
        for poll in &snapshot.last_polls {
            graph.add(&poll.task, &poll.thread, None, Why::Polls { only_there: poll.only_there });
        }
        graph
    }

    fn add(&mut self, from: &'a Actor, to: &'a Actor, wait: Option<(&'a Lock, &'a Waiter)>, why: Why<'a>) {
        let [from, to] = [from, to].map(|actor| self.number(actor));
        self.edges[from].push(Edge { to, wait, why });
    }

    fn number(&mut self, actor: &'a Actor) -> usize {
        *self.numbers.entry(actor).or_insert_with(|| {
            self.actors.push(actor);
            self.edges.push(Vec::new());
            self.actors.len() - 1
        })
    }

    /// The graph without the edges that may end by an unknown cause: a cycle of the rest is a certain deadlock.
    pub(super) fn certain(&self) -> Self {
        let is_certain = |from: usize, edge: &Edge<'_>| {
            let blocks =
                |(_, waiter): (_, &Waiter)| waiter.timed == Some(false) && self.actors[from].blocks();
            edge.wait.is_none_or(blocks)
                && match edge.why {
                    Why::Holds(holder) => !holder.sent_away && !holder.by_waker,
                    Why::QueuedAhead | Why::Upgrades => true,
                    Why::Polls { only_there } => only_there,
                }
        };
        let of = |(from, edges): (usize, &Vec<Edge<'a>>)| {
            edges.iter().copied().filter(|edge| is_certain(from, edge)).collect()
        };
        let edges = self.edges.iter().enumerate().map(of).collect();
        Self { actors: self.actors.clone(), edges, numbers: HashMap::new() }
    }
}

/// Whether an actor does not wait for another, so that it is in no cycle. As a rule that is true of most holders. With them, a lock of many
/// readers and many waiting writers would have an edge for each pair.
fn goes_on(snapshot: &Snapshot) -> impl Fn(&Actor) -> bool {
    let waits =
        |lock| Lock::all_waiters(lock).filter(|waiter| stands(lock, waiter)).map(|waiter| &waiter.actor);
    let mut blocked: HashSet<&Actor> = snapshot.locks.iter().flat_map(waits).collect();
    let polls = snapshot.last_polls.iter().filter(|poll| blocked.contains(&poll.thread));
    let polled: Vec<&Actor> = polls.map(|poll| &poll.task).collect();
    blocked.extend(polled);
    move |actor| !blocked.contains(actor)
}

/// The deadline of a wait that has lasted for this long counts as far away.
const FAR: Duration = Duration::from_secs(1);

/// Whether only a holder can end the wait. A signalled waiter may acquire the lock by itself, a waiter whose deadline is near will give up,
/// and permits and notifies may come from any actor.
fn stands(lock: &Lock, waiter: &Waiter) -> bool {
    let is_owned = matches!(
        lock.name.kind,
        LockKind::Mutex | LockKind::RwLock | LockKind::OnceLock | LockKind::AsyncLock
    );
    let wants_turn = !matches!(waiter.wants, Access::Permits | Access::Notification);
    let gives_up_soon = waiter.timed == Some(true) && waiter.age < Some(FAR);
    is_owned && wants_turn && waiter.state == State::Queued && !gives_up_soon
}

/// Whether `holder` blocks `waiter`. The upgradable read of a pending upgrade belongs to the waiting upgrade, wherever it was acquired.
fn blocks(lock: &Lock, holder: &Holder, waiter: &Waiter) -> bool {
    let is_upgraded = holder.mode == Access::Upgradable && lock.upgrade.is_some();
    !is_upgraded && holder.mode.excludes(waiter.wants)
}

/// Whether the waiter waits for the upgrading reader. That reader holds an upgradable read all the time, and excludes further readers while it
/// waits for the present ones. If it gives up, readers can acquire the lock again.
fn keeps_out(lock: &Lock, upgrade: &Waiter, waiter: &Waiter) -> bool {
    stands(lock, upgrade) || Access::Upgradable.excludes(waiter.wants)
}

/// The waiters that a walk through the queue of an `RwLock` has passed, from its head: for each access the last two, of two actors.
#[derive(Default)]
struct Passed<'a> {
    last: BTreeMap<Access, (&'a Waiter, Option<&'a Waiter>)>,
}

impl<'a> Passed<'a> {
    /// The nearest waiter ahead that cannot share the lock with `waiter`, because a reader does not pass a writer. Waiters further ahead block
    /// that one.
    fn nearest(&self, waiter: &Waiter) -> Option<&'a Waiter> {
        let excludes =
            |(wants, _): &(&Access, _)| wants.excludes(waiter.wants) || waiter.wants.excludes(**wants);
        let of_others = |(_, (last, before)): (_, &(&'a Waiter, Option<&'a Waiter>))| {
            [Some(*last), *before].into_iter().flatten().find(|other| other.actor != waiter.actor)
        };
        self.last.iter().filter(excludes).filter_map(of_others).max_by_key(|other| other.position)
    }

    fn pass(&mut self, waiter: &'a Waiter) {
        let (last, before) = self.last.entry(waiter.wants).or_insert((waiter, None));
        if last.actor != waiter.actor {
            *before = Some(*last);
        }
        *last = waiter;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Address, LockName};

    /// An edge for each pair of a reader and a writer would be gigabytes, where there are thousands.
    #[test]
    fn only_holders_that_wait_have_edges_to_them() {
        let thread = |id| Actor::Thread { id, name: None };
        let lock = |at| Lock::new(LockName::new(Address(at), LockKind::RwLock));
        let (wants, state, timed) = (Access::Exclusive, State::Queued, Some(false));
        let waiter = |position, id| Waiter {
            position,
            actor: thread(id),
            wants,
            state,
            site: None,
            age: None,
            timed,
            signalled: None,
        };
        let mut locks = vec![lock(8), lock(16)];
        locks[0].waiters.extend([waiter(0, 1), waiter(1, 2)]);
        locks[1].waiters.push(waiter(0, 3));
        let holder = |id| Holder {
            number: None,
            lock: locks[0].name.address,
            kind: LockKind::RwLock,
            actor: thread(id),
            by_waker: false,
            mode: Access::Shared,
            permits: None,
            site: None,
            held: None,
            sent_away: false,
            forgotten: false,
        };
        let holders = Some(vec![holder(3), holder(4), holder(5)]);
        let snapshot = Snapshot { locks, holders, ..Snapshot::default() };
        let graph = Graph::of(&snapshot);
        let blocked_by =
            |id| graph.edges.iter().flatten().filter(|edge| *graph.actors[edge.to] == thread(id)).count();
        assert_eq!([3, 4, 5].map(blocked_by), [2, 0, 0]);
    }
}
