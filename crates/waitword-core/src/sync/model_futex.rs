//! A futex for the model checkers: as in the kernel, the word is compared under the lock that a wake takes.

use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::{Condvar, Mutex, lazy_static};

pub(crate) const EXISTS: bool = true;

lazy_static! {
    static ref LOCK: Mutex<()> = Mutex::new(());
    /// With each bit. There is one word.
    static ref SLEEPERS: [Condvar; 2] = [Condvar::new(), Condvar::new()];
}

pub(crate) fn wait(word: &AtomicU32, expected: u32, bits: u32) {
    let locked = LOCK.lock();
    if word.load(Ordering::Relaxed) == expected {
        drop(SLEEPERS[bits.trailing_zeros() as usize].wait(locked));
    }
}

/// How many it wakes, it does not know.
pub(crate) fn wake(_word: &AtomicU32, bits: u32) -> usize {
    let _locked = LOCK.lock();
    let called = SLEEPERS.iter().enumerate().filter(|(bit, _)| bits & (1 << bit) != 0);
    called.for_each(|(_, sleepers)| sleepers.notify_all());
    0
}
