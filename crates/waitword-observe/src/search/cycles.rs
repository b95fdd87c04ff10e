//! The shortest cycles of a graph, and their description.

use std::collections::VecDeque;

use super::graph::{Edge, Graph, Why};
use crate::finding::{Blocks, Certainty, Cycle, Member, MemberWait, Unless};
use crate::model::{Holder, LockKind, Snapshot};

/// One cycle of each group of actors that all wait for each other, directly or through others: none of them can continue while the others are
/// blocked. Certain cycles are searched first, because an uncertain one may share a member with them, and says less.
pub(super) fn find(snapshot: &Snapshot) -> Vec<Cycle> {
    let graph = Graph::of(snapshot);
    let mut is_free = vec![true; graph.actors.len()];
    let mut cycles = find_in(&graph.certain(), &mut is_free);
    cycles.extend(find_in(&graph, &mut is_free));
    cycles
}

/// A cycle of each group of free nodes, which are not free afterwards.
fn find_in(graph: &Graph<'_>, is_free: &mut [bool]) -> Vec<Cycle> {
    let [forward, reverse] = neighbours(graph);
    let mut open = trimmed([&forward, &reverse], is_free);
    let mut cycles = Vec::new();
    for start in 0..graph.actors.len() {
        if !open[start] {
            continue;
        }
        let [behind, before] = [&forward, &reverse].map(|edges| reached(edges, &open, start));
        let group: Vec<usize> = (start..open.len()).filter(|node| behind[*node] && before[*node]).collect();
        // A pair that blocks itself says more than the longer cycles through it.
        let pair = group.iter().find_map(|node| pair(graph, &open, *node));
        if let Some(path) = pair.or_else(|| shortest(graph, &open, *group.first()?)) {
            cycles.extend(described(graph, &path));
        }
        group.iter().for_each(|node| (open[*node], is_free[*node]) = (false, false));
        // Also if the group is empty, and `start` is in no cycle.
        open[start] = false;
    }
    cycles
}

/// The nodes to which each node has edges, and those from which it has edges.
fn neighbours(graph: &Graph<'_>) -> [Vec<Vec<usize>>; 2] {
    let mut reverse = vec![Vec::new(); graph.actors.len()];
    for (from, edges) in graph.edges.iter().enumerate() {
        edges.iter().for_each(|edge| reverse[edge.to].push(from));
    }
    let forward = graph.edges.iter().map(|edges| edges.iter().map(|edge| edge.to).collect());
    [forward.collect(), reverse]
}

/// The open nodes to which a path leads from `start`.
fn reached(edges: &[Vec<usize>], open: &[bool], start: usize) -> Vec<bool> {
    let (mut is_reached, mut left) = (vec![false; edges.len()], vec![start]);
    while let Some(node) = left.pop() {
        for &to in edges[node].iter().filter(|to| open[**to]) {
            if !std::mem::replace(&mut is_reached[to], true) {
                left.push(to);
            }
        }
    }
    is_reached
}

/// The path from `start` back to itself, if one or two edges make one.
fn pair<'a>(graph: &Graph<'a>, open: &[bool], start: usize) -> Option<Path<'a>> {
    graph.edges[start].iter().filter(|edge| open[edge.to]).find_map(|&edge| {
        if edge.to == start {
            return Some(vec![(start, edge)]);
        }
        let back = graph.edges[edge.to].iter().find(|back| back.to == start)?;
        Some(vec![(start, edge), (edge.to, *back)])
    })
}

/// The free nodes that remain when those without an edge from or to the others are removed, again and again: the cycles, and the paths
/// between them. Ten thousand waiters behind one holder are removed at once.
fn trimmed([forward, reverse]: [&Vec<Vec<usize>>; 2], is_free: &[bool]) -> Vec<bool> {
    let (mut open, count) = (is_free.to_vec(), is_free.len());
    // Without edges to others first, then without edges from others.
    for (out, back) in [(forward, reverse), (reverse, forward)] {
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
                if waiter.timed != Some(false) {
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
