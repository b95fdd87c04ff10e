//! Every schedule of the steps of a small world, each run on the real locks.

use std::fmt::Debug;
use std::thread;
use std::time::Instant;

use waitword::STALL_TIMEOUT;

/// A lock and those who want it, at some point of a schedule.
pub(crate) trait World {
    type Op: Copy + Debug + PartialEq;

    /// What may come next.
    fn possible(&self) -> Vec<Self::Op>;

    fn perform(&mut self, op: Self::Op);

    /// Whether somebody still waits, for whom nothing is left to be done.
    fn is_stuck(&self) -> bool;

    /// Whether a schedule may end without it. The choice not to take such a step is made by taking another.
    fn is_optional(op: Self::Op) -> bool;
}

/// Depth first; a schedule is run from the beginning for each of its continuations. `run` makes a world, has it
/// [follow](Schedule::ends) the schedule, and looks at what it has come to at the end. Returns how many schedules there are.
pub(crate) fn explore<Op: Copy + PartialEq>(run: impl Fn(&mut Schedule<Op>)) -> usize {
    let mut ends = 0;
    let mut unexplored = vec![Vec::new()];
    while let Some(ops) = unexplored.pop() {
        let mut schedule = Schedule { ops, possible: Vec::new(), ends: false };
        run(&mut schedule);
        let Schedule { ops, possible, ends: is_end } = schedule;
        unexplored.extend(possible.into_iter().map(|op| ops.iter().copied().chain([op]).collect()));
        ends += usize::from(is_end);
    }
    ends
}

/// What has been done so far.
pub(crate) struct Schedule<Op> {
    pub(crate) ops: Vec<Op>,
    possible: Vec<Op>,
    ends: bool,
}

impl<Op: Copy + PartialEq> Schedule<Op> {
    /// Takes all its steps in a new world. Returns whether it has come to an end: nobody has anything to do that must be done.
    pub(crate) fn ends<W: World<Op = Op>>(&mut self, world: &mut W) -> bool {
        // A machine so slow that somebody was called by a sweep would lead elsewhere than the last time.
        let is_possible = self.ops.iter().all(|&op| {
            let is_possible = world.possible().contains(&op);
            if is_possible {
                world.perform(op);
            }
            is_possible
        });
        if is_possible {
            let start = Instant::now();
            loop {
                self.possible = world.possible();
                self.ends = self.possible.iter().all(|&op| W::is_optional(op));
                // A sweep may have called somebody and not yet woken it: that is no lost wakeup, but one on its way.
                if !(self.ends && world.is_stuck() && start.elapsed() < 100 * STALL_TIMEOUT) {
                    break;
                }
                thread::yield_now();
            }
        }
        self.ends
    }
}
