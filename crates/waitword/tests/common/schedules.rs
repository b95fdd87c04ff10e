//! Every schedule of the steps of a small world, each run on the real locks.

use std::fmt::Debug;
use std::thread;
use std::time::Instant;

use waitword::STALL_TIMEOUT;

/// A lock and its acquirers, at some point of a schedule.
pub(crate) trait World {
    type Op: Copy + Debug + PartialEq;

    /// What may come next.
    fn possible(&self) -> Vec<Self::Op>;

    fn perform(&mut self, op: Self::Op);

    /// Whether a waiter is left although no step is.
    fn is_stuck(&self) -> bool;

    /// Whether a schedule may end without it. The choice not to take such a step is made by taking another.
    fn is_optional(op: Self::Op) -> bool;
}

/// Depth first; a schedule is run from the beginning for each of its continuations. `run` makes a world, has it
/// [follow](Schedule::ends) the schedule, and checks what it has come to at the end. Returns how many schedules there are.
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
    /// Takes all its steps in a new world. Returns whether it has come to an end: no step that must be taken is left.
    pub(crate) fn ends<W: World<Op = Op>>(&mut self, world: &mut W) -> bool {
        // On a slow machine the watchdog may have signalled another waiter, and the steps differ from the last time.
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
                // The watchdog may have signalled a waiter and not yet woken it: that wakeup is not lost.
                if !(self.ends && world.is_stuck() && start.elapsed() < 100 * STALL_TIMEOUT) {
                    break;
                }
                thread::yield_now();
            }
        }
        self.ends
    }
}
