//! Which actor is blocked by which.

use std::collections::{BTreeMap, HashMap};

use crate::finding::Blocks;
use crate::model::{Access, Actor, Holder, Lock, LockKind, Snapshot, State, Waiter};

/// `from` cannot go on before `to` does.
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
    QueuedAhead(&'a Lock),
    Upgrades(&'a Lock),
    Polls { only_there: bool },
}

impl Why<'_> {
    /// As the member of a cycle says it, whose previous member waits in `lock`.
    pub(super) fn blocks(self, lock: Option<&Lock>) -> Option<Blocks> {
        Some(match self {
            Self::Polls { only_there } => Blocks::Polls { only_there },
            Self::QueuedAhead(lock) => Blocks::QueuedAhead { lock: lock.name.clone() },
            Self::Upgrades(lock) => Blocks::Upgrades { lock: lock.name.clone() },
            Self::Holds(holder) => Blocks::Holds {
                lock: lock?.name.clone(),
                mode: holder.mode,
                site: holder.site.clone(),
                held: holder.held,
                sent_away: holder.sent_away,
            },
        })
    }
}

/// The actors by number, and the edges from each.
pub(super) struct Graph<'a> {
    pub(super) actors: Vec<&'a Actor>,
    pub(super) edges: Vec<Vec<Edge<'a>>>,
}

impl<'a> Graph<'a> {
    pub(super) fn of(snapshot: &'a Snapshot) -> Self {
        let mut graph = Self { actors: Vec::new(), edges: Vec::new() };
        let mut numbers = HashMap::new();
        let mut holders: HashMap<_, Vec<&Holder>> = HashMap::new();
        for holder in snapshot.holders.iter().flatten() {
            holders.entry(holder.lock).or_default().push(holder);
        }
        for lock in &snapshot.locks {
            let holders = holders.get(&lock.name.address).map(Vec::as_slice).unwrap_or_default();
            let mut passed = (lock.name.kind == LockKind::RwLock).then(Passed::default);
            for waiter in lock.all_waiters().filter(|waiter| stands(lock, waiter)) {
                let from = graph.number(&mut numbers, &waiter.actor);
                let wait = Some((lock, waiter));
                for holder in holders.iter().filter(|holder| blocks(lock, holder, waiter)) {
                    let to = graph.number(&mut numbers, &holder.actor);
                    graph.edges[from].push(Edge { to, wait, why: Why::Holds(holder) });
                }
                if waiter.wants == Access::Upgrade {
                    continue;
                }
                if let Some(upgrade) =
                    lock.upgrade.as_ref().filter(|upgrade| keeps_out(lock, upgrade, waiter))
                {
                    let to = graph.number(&mut numbers, &upgrade.actor);
                    graph.edges[from].push(Edge { to, wait, why: Why::Upgrades(lock) });
                }
                let Some(passed) = &mut passed else { continue };
                if let Some(ahead) = passed.nearest(waiter) {
                    let to = graph.number(&mut numbers, &ahead.actor);
                    graph.edges[from].push(Edge { to, wait, why: Why::QueuedAhead(lock) });
                }
                passed.pass(waiter);
            }
        }
        for poll in &snapshot.last_polls {
            let from = graph.number(&mut numbers, &poll.task);
            let to = graph.number(&mut numbers, &poll.thread);
            let why = Why::Polls { only_there: poll.only_there };
            graph.edges[from].push(Edge { to, wait: None, why });
        }
        graph
    }

    /// Without the edges that something unknown may take away: a cycle of these is a certain deadlock.
    pub(super) fn certain(&self) -> Self {
        let is_certain = |from: usize, edge: &Edge<'_>| {
            let waits =
                edge.wait.is_none_or(|(_, waiter)| waiter.timed.is_some() && self.actors[from].blocks());
            waits
                && match edge.why {
                    Why::Holds(holder) => !holder.sent_away && !holder.by_waker,
                    Why::QueuedAhead(_) | Why::Upgrades(_) => true,
                    Why::Polls { only_there } => only_there,
                }
        };
        let of = |(from, edges): (usize, &Vec<Edge<'a>>)| {
            edges.iter().copied().filter(|edge| is_certain(from, edge)).collect()
        };
        Self { actors: self.actors.clone(), edges: self.edges.iter().enumerate().map(of).collect() }
    }

    fn number(&mut self, numbers: &mut HashMap<&'a Actor, usize>, actor: &'a Actor) -> usize {
        *numbers.entry(actor).or_insert_with(|| {
            self.actors.push(actor);
            self.edges.push(Vec::new());
            self.actors.len() - 1
        })
    }
}

/// Whether the waiter waits for a turn that only others can give it. One that was signalled may try by itself; one with a deadline
/// will give up; permits and notifies may come from anywhere.
fn stands(lock: &Lock, waiter: &Waiter) -> bool {
    let is_owned = matches!(
        lock.name.kind,
        LockKind::Mutex | LockKind::RwLock | LockKind::OnceLock | LockKind::AsyncLock
    );
    let wants_turn = !matches!(waiter.wants, Access::Permits | Access::Notification);
    is_owned && wants_turn && waiter.state == State::Queued && waiter.timed != Some(true)
}

/// The upgradable read of a pending upgrade is with what waits for that, wherever it was acquired.
fn blocks(lock: &Lock, holder: &Holder, waiter: &Waiter) -> bool {
    let is_upgraded = holder.mode == Access::Upgradable && lock.upgrade.is_some();
    !is_upgraded && holder.mode.excludes(waiter.wants)
}

/// Whether the waiter waits for the one that upgrades the lock. It holds an upgradable read all the time, and keeps readers out while it
/// waits for those that read already; one that gives up lets them in again.
fn keeps_out(lock: &Lock, upgrade: &Waiter, waiter: &Waiter) -> bool {
    stands(lock, upgrade) || Access::Upgradable.excludes(waiter.wants)
}

/// The waiters that stand in the queue of an `RwLock`, while it is walked from its head: of each access the last two, of two actors.
#[derive(Default)]
struct Passed<'a> {
    last: BTreeMap<Access, (&'a Waiter, Option<&'a Waiter>)>,
}

impl<'a> Passed<'a> {
    /// The nearest one that cannot share with `waiter`: a reader does not pass a writer. The waiters before that one block that one.
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
