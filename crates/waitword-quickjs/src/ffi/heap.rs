//! The heap of an engine whose memory is limited: the system's, counted on the budget of the agent.
//!
//! What a script asks for beyond its budget is refused, and the engine makes an InternalError of that: for which it needs
//! memory. So a refusal opens the reserve of the budget for a while, to small requests only. A script that goes on until
//! the reserve is gone as well is to be ended ([`Heap::is_exhausted`]); until somebody does so, small requests are granted
//! beyond the limit ([`OVERDRAFT`]), for the engine throws `null` where it cannot even make the error.
//!
//! What the host needs for itself (realms, its own JavaScript) is not counted: scripts cannot make less of it. But it is on the budget of
//! the whole program, if there is one, for scripts can make more agents; that is never refused here, but before an agent is made.
//!
//! The engine's parser does not bear being refused: it leaks what it has made, or finds its code without an end, and an assertion ends
//! the process. So while it is at work, refusals are put off: it gets what it asks for beyond the limit as well, and what it has made
//! is thrown away afterwards. That goes so far and no further ([`PARSER_OVERDRAFT`]), and does not reach a script's own `eval`.
//!
//! The functions that the engine calls are in `malloc.rs`. An engine without a limit uses those that it brings along, and nothing of
//! this.

use std::cell::Cell;
use std::sync::Arc;

use waitword_agents::MemoryBudget;

/// The largest request that the reserve is for: the engine's small objects come in blocks of a page, with our header.
const SMALL: usize = (4 << 10) + HEADER;
/// What precedes the bytes that the engine gets, on 32 and on 64 bits (`malloc.rs`).
pub(super) const HEADER: usize = 16;
/// How many small requests a refusal opens the reserve to: an error, its message, its stack.
const GRANTS: u32 = 8;

/// How far beyond the limit a script may get between the last of the reserve and its end. The engine asks whether to go on only every
/// 10,000 loops or calls, so this is some 400 bytes for each of them.
const OVERDRAFT: usize = 4 << 20;

/// How far beyond the limit the parser may get: what some ten thousand lines take.
const PARSER_OVERDRAFT: usize = 4 << 20;

/// The counter and the mood of one engine's heap.
pub(super) struct Heap {
    pub(super) budget: Arc<MemoryBudget>,
    /// The host is at work: nothing is refused, nothing counted.
    pub(super) is_hosts: Cell<bool>,
    /// How many small requests may still use the reserve.
    grants: Cell<u32>,
    is_exhausted: Cell<bool>,
    /// The engine's parser is at work.
    is_parsing: Cell<bool>,
    /// A refusal was put off.
    is_put_off: Cell<bool>,
    /// The engine has been refused memory, or would have been.
    pub(super) has_refused: Cell<bool>,
}

impl Heap {
    pub(super) fn new(budget: Arc<MemoryBudget>) -> Box<Self> {
        Box::new(Self {
            budget,
            is_hosts: Cell::new(false),
            grants: Cell::new(0),
            is_exhausted: Cell::new(false),
            is_parsing: Cell::new(false),
            is_put_off: Cell::new(false),
            has_refused: Cell::new(false),
        })
    }

    /// Whether a script has used up even the reserve.
    pub(super) fn is_exhausted(&self) -> bool {
        self.is_exhausted.get() && !self.is_hosts.get()
    }

    /// Whether the work that begins is the host's, until the result is dropped: also by a panic.
    pub(super) fn work_as(&self, is_hosts: bool) -> Work<'_> {
        Work { heap: self, before: self.is_hosts.replace(is_hosts) }
    }

    /// Has the engine parse something; whether it has been given what it may not have, and its result has to be thrown away. Then
    /// the reserve is open for the error. What is parsed can ask for modules that are parsed in turn.
    pub(super) fn parse<T>(&self, work: impl FnOnce() -> T) -> (T, bool) {
        let was_parsing = self.is_parsing.replace(true);
        let result = work();
        self.is_parsing.set(was_parsing);
        let is_put_off = self.is_put_off.get();
        if is_put_off && !was_parsing {
            self.is_put_off.set(false);
            self.grants.set(GRANTS);
        }
        (result, is_put_off)
    }

    /// Takes bytes from the budget for a script, if it may have them.
    pub(super) fn admit(&self, bytes: usize) -> bool {
        if self.budget.take(bytes) {
            return true;
        }
        self.has_refused.set(true);
        if self.is_parsing.get() && self.budget.overdraft() < PARSER_OVERDRAFT {
            self.is_put_off.set(true);
            self.budget.take_anyway(bytes);
            return true;
        }
        let grants = self.grants.get();
        if bytes > SMALL || grants == 0 {
            self.grants.set(GRANTS);
            return false;
        }
        self.grants.set(grants - 1);
        if self.budget.take_reserved(bytes) {
            return true;
        }
        self.is_exhausted.set(true);
        let is_near = self.budget.overdraft() < OVERDRAFT;
        if is_near {
            self.grants.set(GRANTS);
            self.budget.take_anyway(bytes);
        }
        is_near
    }

    /// Gives back bytes of an allocation of which the agent's budget counts `counted`.
    pub(super) fn give_back(&self, bytes: usize, counted: usize) {
        match counted {
            0 => self.budget.give_back_to_whole(bytes),
            _ => self.budget.give_back(bytes),
        }
    }
}

/// Some work of the host's, or of a script's.
pub(super) struct Work<'a> {
    heap: &'a Heap,
    before: bool,
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        self.heap.is_hosts.set(self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_the_hosts_that_panics_is_over() {
        let heap = Heap::new(MemoryBudget::new(1 << 20));
        let work = || {
            let _until_done = heap.work_as(true);
            panic!("on purpose");
        };
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_err());
        assert!(!heap.is_hosts.get(), "what scripts do next is counted");
    }
}
