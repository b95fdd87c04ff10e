//! What the agents of an observed program did to the words of shared memory, one step after the other.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::agent_name::AgentName;
use crate::lock::lock;

/// So many steps are kept.
const MOST: usize = 200_000;

/// Something that an agent did.
#[derive(Clone, Debug)]
pub struct ObservedStep {
    /// When.
    pub at: Instant,
    /// Which agent.
    pub agent: AgentName,
    /// The number of the word's block, as in [`ObservedWord`](crate::ObservedWord).
    pub block: u64,
    /// Where in the block the word is.
    pub byte_index: usize,
    /// Its address, which another word may have when the block is gone.
    pub address: usize,
    /// What it did.
    pub kind: StepKind,
    /// The line of its script: `file:line:column`.
    pub place: Option<Arc<str>>,
}

/// What an agent did to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepKind {
    /// It began to wait.
    Waits,
    /// The wait that began then is over, for whatever reason.
    Runs {
        /// The time of its [`Waits`](Self::Waits).
        since: Instant,
    },
    /// It notified, and woke so many waiters.
    Notifies(usize),
    /// It took the word as a lock is taken: found 0, and left something else.
    Takes,
    /// It left 0.
    Releases,
}

/// The last steps of a program.
#[derive(Clone, Debug, Default)]
pub struct ObservedSteps {
    /// In order of time.
    pub steps: Vec<ObservedStep>,
    /// How many older ones were dropped: 200,000 are kept.
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
        // Agents record after they have acted, so they may come in another order.
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
