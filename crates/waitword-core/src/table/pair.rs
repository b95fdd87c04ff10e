//! The shards of two words, locked together: for a waiter that moves from one queue to another.

use super::follow_up::{FollowUp, unlock};
use super::shards::Table;
use crate::shard::{Key, Locked};

impl Table {
    /// Locks the shards of two words; one shard once. Always in the same order, so that no two threads wait for each other.
    pub(crate) fn lock_two(&self, first: Key, second: Key) -> Two<'_> {
        let order = std::ptr::from_ref(self.shard(first)).cmp(&std::ptr::from_ref(self.shard(second)));
        match order {
            std::cmp::Ordering::Equal => Two { first: self.lock(first), second: None },
            std::cmp::Ordering::Less => {
                let first = self.lock(first);
                Two { first, second: Some(self.lock(second)) }
            }
            std::cmp::Ordering::Greater => {
                let second = Some(self.lock(second));
                Two { first: self.lock(first), second }
            }
        }
    }
}

/// The shards of two words, locked.
pub(crate) struct Two<'a> {
    pub(crate) first: Locked<'a>,
    second: Option<Locked<'a>>,
}

impl<'a> Two<'a> {
    pub(crate) fn second(&mut self) -> &mut Locked<'a> {
        self.second.as_mut().unwrap_or(&mut self.first)
    }

    /// Unlocks both.
    pub(crate) fn unlock(self) -> (FollowUp<'a>, Option<FollowUp<'a>>) {
        (unlock(self.first), self.second.map(unlock))
    }
}
