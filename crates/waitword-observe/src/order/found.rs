//! What was found.

use std::fmt;
use std::time::Duration;

use waitword_core::time::Instant;

use serde::{Deserialize, Serialize};

use crate::finding::{Finding, PotentialDeadlock};
use crate::record::holders;

/// What is known of the order in which locks were taken.
///
/// Its [`Display`](fmt::Display) is for a terminal of 100 columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LockOrder {
    /// The orders that may lead to a deadlock, in the order in which they were found: each set of places in the source once, however many
    /// locks are taken there. 64 at most.
    pub potential_deadlocks: Vec<PotentialDeadlock>,
    /// How many acquisitions, edges and searches were left out because there was no room. 0: nothing was missed.
    pub left_out: u64,
}

impl LockOrder {
    pub(super) fn new(found: &[(Instant, PotentialDeadlock)], lost: u64) -> Self {
        let age = |(at, found): &(Instant, PotentialDeadlock)| PotentialDeadlock {
            found: Duration::from_nanos(u64::try_from(at.elapsed().as_nanos()).unwrap_or(u64::MAX)),
            ..found.clone()
        };
        let unrecorded = holders().map_or(0, |holders| holders.unrecorded);
        Self { potential_deadlocks: found.iter().map(age).collect(), left_out: lost + unrecorded }
    }
}

impl fmt::Display for LockOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.potential_deadlocks.is_empty() {
            writeln!(f, "no potential deadlock was found in the order of locks")?;
        }
        for found in &self.potential_deadlocks {
            writeln!(f, "{}", Finding::PotentialDeadlock(found.clone()))?;
        }
        match self.left_out {
            0 => Ok(()),
            1 => writeln!(f, "1 acquisition was left out: there was no room"),
            count => writeln!(f, "{count} acquisitions were left out: there was no room"),
        }
    }
}
