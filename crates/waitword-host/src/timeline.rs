//! The steps of an observed program: the operations of its agents on words of shared memory, in order.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::agent_name::AgentName;
use crate::lock::lock;

/// The number of steps that are kept.
const MOST: usize = 200_000;

/// One entry of the log of operations on words: which agent did what, where and when.
#[derive(Clone, Debug)]
pub struct ObservedStep {
    /// The time.
    pub at: Instant,
    /// The agent.
    pub agent: AgentName,
    /// The number of the word's block, as in [`ObservedWord`](crate::ObservedWord).
    pub block: u64,
    /// The word's offset in the block, in bytes.
    pub byte_index: usize,
    /// The word's address. Another word may have it after the block is freed.
    pub address: usize,
    /// The operation.
    pub kind: StepKind,
    /// The line of its script: `file:line:column`.
    pub place: Option<Arc<str>>,
}

/// The operation of an [`ObservedStep`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepKind {
    /// A wait began.
    Waits,
    /// A wait ended, for whatever reason.
    Runs {
        /// The time of the wait's [`Waits`](Self::Waits) step.
        since: Instant,
    },
    /// A notify woke this number of waiters.
    Notifies(usize),
    /// The word was acquired as a lock: an atomic step changed it from 0 to another value.
    Takes,
    /// The word was set to 0.
    Releases,
}

/// The last steps of a program, returned by [`Observer::steps`](crate::Observer::steps).
#[derive(Clone, Debug, Default)]
pub struct ObservedSteps {
    /// The steps, in order of time.
    pub steps: Vec<ObservedStep>,
    /// The number of older steps that were dropped. The last 200,000 are kept.
    pub dropped: u64,
}

#[derive(Default)]
pub(crate) struct Steps(Mutex<(VecDeque<ObservedStep>, u64)>);

impl Steps {
    pub(crate) fn add(&self, step: ObservedStep) {
        let mut steps = lock(&self.0);
        let (steps, dropped) = &mut *steps;
        if steps.len() == MOST {
            steps.pop_front();
            *dropped += 1;
        }
        steps.push_back(step);
    }

    pub(crate) fn all(&self) -> ObservedSteps {
        let (steps, dropped) = lock(&self.0).clone();
        let mut steps = Vec::from(steps);
        // Sorted, because agents record a step after making it, so the records may come in another order.
        steps.sort_by_key(|step| step.at);
        ObservedSteps { steps, dropped }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_oldest_steps_go_and_are_counted() {
        let (steps, start) = (Steps::default(), Instant::now());
        for nanos in (0..MOST as u64 + 7).rev() {
            steps.add(ObservedStep {
                at: start + Duration::from_nanos(nanos),
                agent: AgentName(1),
                block: 1,
                byte_index: 0,
                address: 0,
                kind: StepKind::Waits,
                place: None,
            });
        }
        let all = steps.all();
        assert_eq!((all.steps.len(), all.dropped), (MOST, 7));
        assert!(all.steps.is_sorted_by_key(|step| step.at));
    }
}
