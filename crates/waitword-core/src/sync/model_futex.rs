//! A futex for the model checkers: as in the kernel, the word is compared under a lock that a wake takes.
//!
//! There is a lock for each bit, so that threads of different bits do not synchronize here: in the memory model no futex does that.

use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::{Condvar, Mutex, lazy_static};

pub(crate) const EXISTS: bool = true;

lazy_static! {
    /// With each bit. There is one word.
    static ref SLEEPERS: [(Mutex<()>, Condvar); 2] =
        [(Mutex::new(()), Condvar::new()), (Mutex::new(()), Condvar::new())];
}

pub(crate) fn wait(word: &AtomicU32, expected: u32, bits: u32) {
    let (lock, sleepers) = &SLEEPERS[bits.trailing_zeros() as usize];
    let locked = lock.lock();
    if word.load(Ordering::Relaxed) == expected {
        drop(sleepers.wait(locked));
    }
}

/// How many it wakes, it does not know.
pub(crate) fn wake(_word: &AtomicU32, bits: u32) -> usize {
    for (bit, (lock, sleepers)) in SLEEPERS.iter().enumerate() {
        if bits & (1 << bit) != 0 {
            let _locked = lock.lock();
            sleepers.notify_all();
        }
    }
    0
}
