//! The heap of an engine whose memory is limited: the system's heap, charged to the budget of the agent.
//!
//! A script's request beyond the budget is refused. The engine then creates an InternalError, for which it needs memory. So a refusal
//! opens the reserve of the budget to the next [`GRANTS`] small requests. A script that continues until the reserve is used up must be
//! ended ([`Heap::is_exhausted`]). Until it is, small requests are granted beyond the limit ([`OVERDRAFT`]), because the engine throws
//! `null` if it cannot create the error.
//!
//! What the host needs for itself (realms, its own JavaScript) is not charged to the agent's budget, because scripts cannot reduce it. It is
//! charged to the budget of the whole program, if there is one, because scripts can create more agents. Such a charge is never refused here;
//! the check is made before an agent is created.
//!
//! The engine's parser does not survive a refusal: it leaks, or finds its code without an end, and an assertion ends the process. So while
//! it runs, refusals are postponed: its requests are granted beyond the limit, up to [`PARSER_OVERDRAFT`], and its result is discarded
//! afterwards. This does not cover a script's own `eval`.
//!
//! The functions that the engine calls are in `malloc.rs`. An engine without a limit uses its own allocator instead.

use std::cell::Cell;
use std::sync::Arc;

use waitword_agents::MemoryBudget;

/// The largest request that may use the reserve, in bytes. The engine allocates small objects in blocks of a page; our header is added.
const SMALL: usize = (4 << 10) + HEADER;
/// The size of the header before the bytes that the engine gets, on 32 and on 64 bits (`malloc.rs`).
pub(super) const HEADER: usize = 16;
/// The number of small requests to which a refusal opens the reserve: an error, its message, its stack.
const GRANTS: u32 = 8;

/// The bytes beyond the limit that a script may get after it has used up the reserve and before it ends. The engine checks for interrupts
/// only every 10,000 loops or calls, so this is about 400 bytes for each of them.
const OVERDRAFT: usize = 4 << 20;

/// The bytes beyond the limit that the parser may get: about ten thousand lines.
const PARSER_OVERDRAFT: usize = 4 << 20;

/// The state of an engine's heap.
pub(super) struct Heap {
    pub(super) budget: Arc<MemoryBudget>,
    /// The host is working: nothing is refused, and nothing is charged to the agent's budget.
    pub(super) is_hosts: Cell<bool>,
    /// How many small requests may still use the reserve.
    grants: Cell<u32>,
    is_exhausted: Cell<bool>,
    /// The engine's parser is running.
    is_parsing: Cell<bool>,
    /// A refusal was postponed.
    is_put_off: Cell<bool>,
    /// A request was refused, or its refusal postponed.
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

    /// Sets whose work begins, the host's or a script's, until the result is dropped (by a panic, too).
    pub(super) fn work_as(&self, is_hosts: bool) -> Work<'_> {
        Work { heap: self, before: self.is_hosts.replace(is_hosts) }
    }

    /// Runs the engine's parser. The second part of the result is true if a refusal was postponed: then the caller must discard the result,
    /// and the reserve is open for the error. Calls nest, because parsing a module can load others.
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

    /// Charges bytes to the budget for a script. Returns `false` if the request is refused.
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

    /// Refunds bytes of an allocation of which `counted` are charged to the agent's budget.
    pub(super) fn give_back(&self, bytes: usize, counted: usize) {
        match counted {
            0 => self.budget.give_back_to_whole(bytes),
            _ => self.budget.give_back(bytes),
        }
    }
}

/// Work of the host, or of a script.
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
