//! The shortest cycles of a graph, and their description.

use std::collections::VecDeque;

use super::graph::{Edge, Graph, Why};
use crate::finding::{Blocks, Certainty, Cycle, Member, MemberWait, Unless};
use crate::model::{Holder, LockKind, Snapshot};

/// Cycles that have no member in common, each the shortest through one of its members. Certain cycles come first: an uncertain one may
/// share a member with them, and says less.
pub(super) fn find(snapshot: &Snapshot) -> Vec<Cycle> {
    let graph = Graph::of(snapshot);
    let mut is_free = vec![true; graph.actors.len()];
    let mut cycles = find_in(&graph.certain(), &mut is_free);
    cycles.extend(find_in(&graph, &mut is_free));
    cycles
}

/// Cycles of free nodes, which are not free afterwards.
fn find_in(graph: &Graph<'_>, is_free: &mut [bool]) -> Vec<Cycle> {
    let mut open = trimmed(graph, is_free);
    let mut cycles = Vec::new();
    for start in 0..graph.actors.len() {
        if let Some(path) = open[start].then(|| shortest(graph, &open, start)).flatten() {
            for (from, _) in &path {
                (open[*from], is_free[*from]) = (false, false);
            }
            cycles.extend(described(graph, &path));
        }
    }
    cycles
}

/// The free nodes that remain when those without an edge from or to the others are removed, again and again: the cycles, and the paths
/// between them. Ten thousand waiters behind one holder are removed at once.
fn trimmed(graph: &Graph<'_>, is_free: &[bool]) -> Vec<bool> {
    let count = graph.actors.len();
    let mut reverse = vec![Vec::new(); count];
    for (from, edges) in graph.edges.iter().enumerate() {
        edges.iter().for_each(|edge| reverse[edge.to].push(from));
    }
    let forward: Vec<Vec<usize>> =
        graph.edges.iter().map(|edges| edges.iter().map(|edge| edge.to).collect()).collect();
    let mut open = is_free.to_vec();
    // Without edges to others first, then without edges from others.
    for (out, back) in [(&forward, &reverse), (&reverse, &forward)] {
        let mut left: Vec<usize> =
            (0..count).map(|node| out[node].iter().filter(|to| open[**to]).count()).collect();
        let mut ends: Vec<usize> = (0..count).filter(|node| open[*node] && left[*node] == 0).collect();
        while let Some(end) = ends.pop() {
            open[end] = false;
            for &node in &back[end] {
                left[node] = left[node].saturating_sub(1);
                if left[node] == 0 && open[node] {
                    ends.push(node);
                }
            }
        }
    }
    open
}

type Path<'a> = Vec<(usize, Edge<'a>)>;

/// The shortest path from `start` back to itself, edge by edge, breadth first.
fn shortest<'a>(graph: &Graph<'a>, open: &[bool], start: usize) -> Option<Path<'a>> {
    let mut came: Vec<Option<(usize, Edge<'a>)>> = vec![None; graph.actors.len()];
    let mut queue = VecDeque::from([start]);
    while let Some(from) = queue.pop_front() {
        for &edge in graph.edges[from].iter().filter(|edge| open[edge.to]) {
            if edge.to == start {
                let mut path = vec![(from, edge)];
                let mut at = from;
                while at != start {
                    let (before, edge) = came[at]?;
                    path.push((before, edge));
                    at = before;
                }
                path.reverse();
                return Some(path);
            }
            if came[edge.to].is_none() {
                came[edge.to] = Some((from, edge));
                queue.push_back(edge.to);
            }
        }
    }
    None
}

fn described(graph: &Graph<'_>, path: &Path<'_>) -> Option<Cycle> {
    // The youngest wait first, whichever the search began with.
    let age = |(_, edge): &(usize, Edge<'_>)| edge.wait.and_then(|(_, waiter)| waiter.age);
    let (since, youngest) = path.iter().enumerate().filter_map(|(at, step)| Some((age(step)?, at))).min()?;
    let mut path = path.clone();
    path.rotate_left(youngest);
    let mut members = Vec::with_capacity(path.len());
    let mut unless = Vec::new();
    for (at, (from, edge)) in path.iter().enumerate() {
        let actor = graph.actors[*from].clone();
        let (_, before) = &path[(at + path.len() - 1) % path.len()];
        let waits = match edge.wait {
            None => None,
            Some((lock, waiter)) => {
                if waiter.timed.is_none() {
                    unless.push(Unless::Timed { actor: actor.clone() });
                }
                if !actor.blocks() {
                    unless.push(Unless::OtherWay { actor: actor.clone() });
                }
                Some(MemberWait {
                    lock: lock.name.clone(),
                    wants: waiter.wants,
                    site: waiter.site.clone(),
                    age: waiter.age?,
                })
            }
        };
        if let (Why::Holds(Holder { by_waker: true, .. }), Some(_)) = (before.why, edge.wait) {
            unless.push(Unless::AnotherTask { actor: actor.clone() });
        }
        let blocks = before.blocks()?;
        if let Blocks::Holds { lock, sent_away: true, .. } = &blocks {
            unless.push(match lock.kind {
                LockKind::AsyncLock => Unless::UnlockedByAnother { actor: actor.clone() },
                _ => Unless::GuardSentAway { actor: actor.clone() },
            });
        }
        members.push(Member { actor, waits, blocks });
    }
    let polls = path.iter().filter_map(|(_, edge)| match edge.why {
        Why::Polls { only_there } => Some(only_there),
        _ => None,
    });
    let certainty = match polls.reduce(|all, only_there| all && only_there) {
        None => Certainty::Deadlock,
        Some(true) => Certainty::ExecutorBlocked,
        Some(false) => Certainty::ExecutorMayBeBlocked,
    };
    Some(Cycle { certainty, since, members, unless })
}
