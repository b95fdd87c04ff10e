//! Who changed a word last, who notified it last, and, if it is a lock, who holds it.
//!
//! A word does not name its holder. But a lock on a word is acquired by an atomic step from 0 to another value (`Atomics.compareExchange`,
//! `Atomics.exchange`), and released by a step to 0. So while a word is not 0, its holder is the agent that changed it from 0 in this way.
//! A word that is changed in another way (`store`, `add`) is not a lock, or no longer one.
//!
//! An agent records a change after making it, so the records may arrive in another order than the changes:
//!
//! ```text
//!   A releases                       B acquires
//!   ─────────────────────────        ─────────────────────────
//!   begun = now
//!   1 -> 0
//!                                    0 -> 1
//!                                    done = now;  holder = B
//!   record: not held any more?       B was done after A had begun: B holds it
//! ```
//! A release therefore ends only a hold of its own agent, or one whose acquisition was done before the release began. A snapshot also
//! ignores the recorded holder of a word that is 0.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::agent_id::AgentId;

/// The most words of a block that have a history. A program that accesses all of a large block with `Atomics` waits on few of its words.
const MOST: usize = 4096;

/// An operation of an agent on a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// The agent. It may have ended.
    pub agent: AgentId,
    /// Where in its script, if the host knows.
    pub place: Option<Arc<str>>,
    /// The time just before the operation.
    pub begun: Instant,
    /// The time just after the operation.
    pub done: Instant,
}

/// How a word was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// By an atomic step that compares, or that returns the old value. Locks are acquired and released in this way.
    Swapped {
        /// The value before.
        before: i64,
        /// The value after.
        after: i64,
    },
    /// In any other way.
    Written {
        /// The value after.
        after: i64,
    },
}

/// What has been recorded of a word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordHistory {
    /// The acquisition by the current holder, if the word was last used as a lock and has not been released.
    pub holder: Option<Deed>,
    /// The last change.
    pub changed: Option<Deed>,
    /// The last notify, and how many waiters it woke.
    pub notified: Option<(Deed, usize)>,
}

/// The histories of a block's words, by byte index.
#[derive(Default)]
pub(crate) struct Histories(Mutex<BTreeMap<usize, WordHistory>>);

impl Histories {
    pub(crate) fn change(&self, byte_index: usize, change: Change, deed: Deed) {
        self.of(byte_index, |word| word.change(change, deed));
    }

    pub(crate) fn notify(&self, byte_index: usize, deed: Deed, woken: usize) {
        self.of(byte_index, |word| {
            if is_later(&deed, word.notified.as_ref().map(|(deed, _)| deed)) {
                word.notified = Some((deed, woken));
            }
        });
    }

    pub(crate) fn all(&self) -> BTreeMap<usize, WordHistory> {
        self.lock().clone()
    }

    fn of(&self, byte_index: usize, record: impl FnOnce(&mut WordHistory)) {
        let mut words = self.lock();
        if words.len() < MOST || words.contains_key(&byte_index) {
            record(words.entry(byte_index).or_default());
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, WordHistory>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WordHistory {
    fn change(&mut self, change: Change, deed: Deed) {
        match change {
            Change::Swapped { before: 0, after } if after != 0 => {
                if is_later(&deed, self.holder.as_ref()) {
                    self.holder = Some(deed.clone());
                }
            }
            // For example a waiter's mark: the holder is unchanged.
            Change::Swapped { after, .. } if after != 0 => {}
            Change::Swapped { .. } | Change::Written { .. } => {
                let is_over = |holder: &Deed| holder.agent == deed.agent || holder.done <= deed.begun;
                if self.holder.as_ref().is_some_and(is_over) {
                    self.holder = None;
                }
            }
        }
        if is_later(&deed, self.changed.as_ref()) {
            self.changed = Some(deed);
        }
    }
}

fn is_later(deed: &Deed, known: Option<&Deed>) -> bool {
    known.is_none_or(|known| known.done <= deed.done)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const TAKE: Change = Change::Swapped { before: 0, after: 1 };
    const MARK: Change = Change::Swapped { before: 1, after: 2 };
    const RELEASE: Change = Change::Swapped { before: 2, after: 0 };
    const WRITE: Change = Change::Written { after: 2 };

    #[test]
    fn who_took_it_holds_it_until_it_is_released_or_written() {
        let (agents, start) = ([AgentId::next(), AgentId::next()], Instant::now());
        // Which agent does what, by times in milliseconds: from, to. Which one holds it then.
        for (deeds, holder, why) in [
            (&[(0, TAKE, 1, 2), (1, MARK, 3, 4)][..], Some(0), "marked by one that waits"),
            (&[(0, TAKE, 1, 2), (1, MARK, 3, 4), (0, RELEASE, 5, 6)], None, "released"),
            (
                &[(0, TAKE, 1, 2), (1, TAKE, 4, 6), (0, RELEASE, 3, 7)],
                Some(1),
                "a release that is recorded late",
            ),
            (&[(0, TAKE, 1, 2), (1, RELEASE, 3, 4)], None, "another than the holder may release"),
            (&[(1, TAKE, 5, 6), (0, TAKE, 1, 2)], Some(1), "an acquisition that is recorded late"),
            (&[(0, TAKE, 1, 2), (1, WRITE, 3, 4)], None, "no lock any more"),
            (&[(0, WRITE, 1, 2)], None, "no lock"),
        ] {
            let mut word = WordHistory::default();
            let at = |millis| start + Duration::from_millis(millis);
            for &(agent, change, begun, done) in deeds {
                let deed = Deed { agent: agents[agent], place: None, begun: at(begun), done: at(done) };
                word.change(change, deed);
            }
            assert_eq!(word.holder.map(|deed| deed.agent), holder.map(|agent: usize| agents[agent]), "{why}");
            let last = deeds.iter().max_by_key(|(.., done)| done).map(|deed| agents[deed.0]);
            assert_eq!(word.changed.map(|deed| deed.agent), last, "{why}");
        }
    }

    #[test]
    fn a_large_block_keeps_few_histories() {
        let histories = Histories::default();
        let now = Instant::now();
        let deed = Deed { agent: AgentId::next(), place: None, begun: now, done: now };
        for word in 0..2 * MOST {
            histories.change(4 * word, TAKE, deed.clone());
        }
        assert_eq!(histories.all().len(), MOST);
    }
}
