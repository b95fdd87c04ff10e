//! What was found of the order of some locks, in a process where other tests take locks too.

use waitword_observe::{LockOrder, Nameable, lock_order};

pub(crate) fn address<L: Nameable>(lock: &L) -> u64 {
    std::ptr::from_ref(lock).addr() as u64
}

/// What was found of these locks alone, and in the test of this `source` that has the line `here`: memory is used again, so what was found in
/// other tests may be of the same addresses.
pub(crate) fn found_in(source: &str, here: usize, locks: &[u64]) -> LockOrder {
    let source: Vec<&str> = source.lines().collect();
    let start = source[..here].iter().rposition(|line| line.starts_with("fn ")).expect("a test");
    let mut order = lock_order();
    order.potential_deadlocks.retain(|found| {
        found.members.iter().all(|member| {
            let is_here = member.site.line as usize > start && member.site.line as usize <= here;
            is_here && locks.contains(&member.holds.address.0)
        })
    });
    order
}
