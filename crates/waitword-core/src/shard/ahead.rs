//! Waiters that were moved here from another queue in a crowd, and are woken ahead of their signal (`notify/ahead.rs`).

use super::guard::Locked;
use super::hash::Key;
use super::stalled::find_in;
use crate::waiter::node::with;
use crate::waiter::wake::Wake;

/// How many are woken at once.
pub(crate) const AHEAD: usize = 2;

/// How many waiters are looked at for them: those at the front were woken before, and are about to leave.
const LOOKED_AT: usize = 32;

impl Locked<'_> {
    /// What wakes the first threads in the queue of `key` that came in a crowd, are not signalled (a signal takes the waker), and were
    /// not returned here before. They stay queued.
    pub(crate) fn ahead(&mut self, key: Key) -> [Option<Wake>; AHEAD] {
        let mut wakes = [const { None }; AHEAD];
        let (mut found, mut looked_at) = (0, 0);
        // SAFETY: we hold the lock of `key`'s shard (I2).
        self.with(|queues, _| unsafe {
            let Some(head) = queues.bucket(key).find(key.address) else { return };
            let _ = find_in(head, |node| {
                looked_at += 1;
                if node.as_ref().is_in_crowd()
                    && let Some(wake) = with(node, |links| links.wake.another_of_thread())
                {
                    node.as_ref().leave_crowd();
                    wakes[found] = Some(wake);
                    found += 1;
                }
                (found == AHEAD || looked_at == LOOKED_AT).then_some(())
            });
        });
        wakes
    }
}
