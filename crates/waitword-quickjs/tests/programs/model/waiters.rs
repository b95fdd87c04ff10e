//! WaiterList Records: the waiters of each location, and how waits end.

use std::collections::BTreeMap;

use super::super::program::HORIZON;
use super::Model;

/// An asynchronous wait. One that blocks has ended before the next step.
struct Waiter {
    agent: usize,
    promise: u32,
    /// Milliseconds; infinite for those without.
    timeout: f64,
}

/// The lists, by buffer and byte.
#[derive(Default)]
pub(super) struct WaiterLists(BTreeMap<(usize, usize), Vec<Waiter>>);

impl WaiterLists {
    /// AddWaiter
    pub(super) fn add(&mut self, place: (usize, usize), agent: usize, promise: u32, timeout: f64) {
        self.0.entry(place).or_default().push(Waiter { agent, promise, timeout });
    }

    pub(super) fn of_agent(&self, agent: usize) -> usize {
        self.0.values().flatten().filter(|waiter| waiter.agent == agent).count()
    }

    pub(super) fn remove_agent(&mut self, agent: usize) {
        self.0.values_mut().for_each(|list| list.retain(|waiter| waiter.agent != agent));
    }

    /// RemoveWaiters: the first so many.
    fn remove(&mut self, place: (usize, usize), count: f64) -> Vec<Waiter> {
        let Some(list) = self.0.get_mut(&place) else { return Vec::new() };
        let count = if count >= list.len() as f64 { list.len() } else { count as usize };
        list.drain(..count).collect()
    }

    /// Those of an agent whose deadlines come.
    fn expire(&mut self, agent: usize) -> Vec<Waiter> {
        let is_due = |waiter: &mut Waiter| waiter.agent == agent && waiter.timeout < HORIZON;
        self.0.values_mut().flat_map(|list| list.extract_if(.., is_due).collect::<Vec<_>>()).collect()
    }
}

impl Model<'_> {
    /// Notifies the first `count` at a place, on behalf of an agent or of none. How many there were.
    pub(super) fn notify_at(&mut self, place: (usize, usize), count: f64, by: Option<usize>) -> u64 {
        let removed = self.lists.remove(place, count);
        for Waiter { agent, promise, .. } in &removed {
            if by == Some(*agent) {
                // NotifyWaiter: the promise is resolved here and now.
                self.agents[*agent].microtasks.push((*promise, "ok"));
            } else {
                self.agents[*agent].inbox.push((*promise, "ok"));
            }
        }
        self.notified += removed.len() as u64;
        removed.len() as u64
    }

    /// The agent's deadlines come. In which order is the clock's.
    pub(in super::super) fn expire(&mut self, agent: usize) {
        for Waiter { promise, .. } in self.lists.expire(agent) {
            self.agents[agent].inbox.push((promise, "timed-out"));
        }
    }

    /// What Rust code gets for a notify; `None` where there is no such word.
    pub(in super::super) fn notify_from_rust(
        &mut self,
        buffer: usize,
        byte_index: usize,
        count: usize,
    ) -> Option<u64> {
        let block = self.shared[buffer].as_ref()?;
        (byte_index + 4 <= block.bytes.len())
            .then(|| self.notify_at((buffer, byte_index), count as f64, None))
    }
}
