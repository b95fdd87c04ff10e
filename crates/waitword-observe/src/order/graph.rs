//! Edges between locks, and the cycles in them: see the module above.

use std::collections::HashMap;
use std::sync::Arc;

use waitword_core::observe::Site;

use crate::model::{Access, Actor, LockKind};

/// What acquired a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Acquirer {
    /// A task or a thread that [`identify`](crate::identify()) gave this number.
    Identified(u64),
    /// A thread, by a number that is never reused.
    Thread(u64),
    /// A task, by the data pointer of its waker, which another task may get after this one has ended.
    Task(usize),
}

/// The maximum number of edges,
const MOST_EDGES: usize = 1 << 14;

/// and the maximum length of the cycles that are found. With this many actors, each edge of a cycle finds one of its own.
const LONGEST: usize = 8;

/// How many edges are visited in the search that a new edge starts.
const MOST_STEPS: usize = 20_000;

/// A lock, by a number that is never reused; and its kind when it was acquired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LockId {
    pub(super) number: u64,
    pub(super) word: usize,
    pub(super) kind: LockKind,
}

/// What an actor held, and in which mode.
pub(super) type Held = Arc<[(LockId, Access)]>;

/// While an actor held one lock, it acquired another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) from: LockId,
    pub(super) holds: Access,
    pub(super) taken: &'static Site,
    pub(super) to: LockId,
    pub(super) wants: Access,
    pub(super) site: &'static Site,
    /// All locks that the actor held, with `from`.
    pub(super) held: Held,
}

/// The actor of an edge.
#[derive(Clone, Debug)]
pub(super) struct Whose {
    pub(super) by: Acquirer,
    /// For a thread, which may end: its name in reports.
    pub(super) thread: Option<Actor>,
    /// The number of the youngest lock when the actor made the edge, if the actor may have held locks that it acquired before the check began.
    pub(super) youngest: Option<u64>,
}

/// An edge with its actor: one member of a cycle.
pub(super) type Member<'a> = (&'a Edge, &'a Whose);

#[derive(Debug, Default)]
pub(super) struct Graph {
    from: HashMap<u64, Vec<(Edge, Vec<Whose>)>>,
    edges: usize,
}

/// Whether two actors can hold the locks of their edges at the same moment.
fn are_compatible((one, whose): Member<'_>, (other, others): Member<'_>) -> bool {
    let at_once = |(lock, mode): &(LockId, Access)| {
        other.held.iter().all(|(same, held)| same != lock || !mode.excludes(*held))
    };
    one.held.iter().all(at_once) && !may_exclude(one, whose, other) && !may_exclude(other, others, one)
}

/// Whether the other actor held a lock that was first seen after the edge was made. The edge's actor may have held that lock, unseen, when it
/// made the edge, so the lock may be a gate.
fn may_exclude(edge: &Edge, whose: &Whose, other: &Edge) -> bool {
    let is_unseen = |(lock, _): &(LockId, Access)| whose.youngest.is_some_and(|last| lock.number > last);
    other.held.iter().any(|held| is_unseen(held) && !edge.held.contains(held))
}

impl Graph {
    /// Adds an edge. `Ok(true)`: the edge is new, or its actor is, or more is known about it. `Err`: the graph is full.
    pub(super) fn add(&mut self, edge: Edge, whose: Whose) -> Result<bool, ()> {
        let edges = self.from.entry(edge.from.number).or_default();
        if let Some((_, actors)) = edges.iter_mut().find(|(known, _)| *known == edge) {
            if let Some(known) = actors.iter_mut().find(|known| known.by == whose.by) {
                let is_later = known.youngest.is_some() && known.youngest < whose.youngest;
                *known = whose;
                return Ok(is_later);
            }
            // More actors than a cycle can have members make no new cycle.
            let is_new = actors.len() < LONGEST;
            if is_new {
                actors.push(whose);
            }
            return Ok(is_new);
        }
        if self.edges == MOST_EDGES {
            return Err(());
        }
        self.edges += 1;
        edges.push((edge, vec![whose]));
        Ok(true)
    }

    /// Removes a lock with its edges.
    pub(super) fn forget(&mut self, lock: u64) {
        self.from.remove(&lock);
        self.from.retain(|_, edges| {
            edges.retain(|(edge, _)| edge.to.number != lock);
            !edges.is_empty()
        });
        self.edges = self.from.values().map(Vec::len).sum();
    }

    /// Calls `found` with the cycles that contain `edge`, which comes first. `Err`: there were too many edges to visit.
    pub(super) fn circles(
        &self,
        edge: &Edge,
        whose: &Whose,
        found: &mut dyn FnMut(&[Member<'_>]),
    ) -> Result<(), ()> {
        self.extend(&mut vec![(edge, whose)], &mut { MOST_STEPS }, found)
    }

    fn extend<'a>(
        &'a self,
        path: &mut Vec<Member<'a>>,
        steps: &mut usize,
        found: &mut dyn FnMut(&[Member<'_>]),
    ) -> Result<(), ()> {
        let (first, last) = (path[0].0, path[path.len() - 1].0);
        for (edge, actors) in self.from.get(&last.to.number).into_iter().flatten() {
            *steps = steps.checked_sub(1).ok_or(())?;
            let is_end = edge.to == first.from;
            let blocks = edge.holds.excludes(last.wants) && (!is_end || first.holds.excludes(edge.wants));
            let is_new = is_end || path.iter().all(|(member, _)| member.from != edge.to);
            if !blocks || !is_new {
                continue;
            }
            let free = |whose: &&Whose| {
                let fits =
                    |member: &Member<'_>| member.1.by != whose.by && are_compatible(*member, (edge, *whose));
                path.iter().all(fits)
            };
            let free: Vec<&Whose> = actors.iter().filter(free).collect();
            for whose in free {
                path.push((edge, whose));
                let searched = match is_end {
                    true => {
                        found(path);
                        Ok(())
                    }
                    false if path.len() < LONGEST => self.extend(path, steps, found),
                    false => Ok(()),
                };
                path.pop();
                searched?;
                if is_end {
                    // The same cycle with another actor says no more.
                    break;
                }
            }
        }
        Ok(())
    }
}
