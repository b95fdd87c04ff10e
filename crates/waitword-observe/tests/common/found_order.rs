//! What was found of the order of some locks, in a process where other tests take locks too.

use std::thread;

use waitword_observe::{LockOrder, Nameable, check_lock_order, lock_order};

/// Runs each part in a thread of its own, one after the other.
#[allow(dead_code, reason = "tasks have an executor")]
pub(crate) fn one_after_the_other(parts: &[(&str, &(dyn Fn() + Sync))]) {
    check_lock_order();
    for (name, part) in parts {
        thread::scope(|scope| {
            thread::Builder::new().name((*name).into()).spawn_scoped(scope, part).unwrap();
        });
    }
}

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
