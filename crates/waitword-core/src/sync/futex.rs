//! The futex of Linux: threads that sleep on one word, of which one system call wakes a set.
//!
//! The standard library parks each thread on a word of its own, so there it takes a call for each. Its parking needs the same
//! two operations, so where that works these do.

use std::ffi::{c_int, c_long, c_void};
use std::ptr;
use std::sync::atomic::AtomicU32;

/// Whether the system call's number is known here.
pub(crate) const EXISTS: bool = SYS_FUTEX.is_some();

const FUTEX_PRIVATE_FLAG: c_int = 128;
const FUTEX_WAIT_BITSET: c_int = 9 | FUTEX_PRIVATE_FLAG;
const FUTEX_WAKE_BITSET: c_int = 10 | FUTEX_PRIVATE_FLAG;

/// Of processors with words of 64 bits.
const SYS_FUTEX: Option<c_long> = if cfg!(target_arch = "x86_64") {
    Some(202)
} else if cfg!(any(target_arch = "aarch64", target_arch = "riscv64", target_arch = "loongarch64")) {
    Some(98)
} else {
    None
};

unsafe extern "C" {
    /// Of the C library, which the standard library links.
    fn syscall(number: c_long, ...) -> c_long;
}

/// Sleeps while the word holds `expected`, until a [`wake`] of one of the `bits`. May return for no reason.
pub(crate) fn wait(word: &AtomicU32, expected: u32, bits: u32) {
    // Whether it slept, or why it did not, makes no difference: the caller has to recheck.
    call(word, FUTEX_WAIT_BITSET, expected, bits);
}

/// Wakes all that sleep on the word with one of the `bits`. Returns how many.
pub(crate) fn wake(word: &AtomicU32, bits: u32) -> usize {
    call(word, FUTEX_WAKE_BITSET, c_int::MAX.cast_unsigned(), bits).try_into().unwrap_or(0)
}

fn call(word: &AtomicU32, operation: c_int, value: u32, bits: u32) -> c_long {
    let Some(number) = SYS_FUTEX else { return 0 };
    let (no_timeout, no_other_word) = (ptr::null::<c_void>(), ptr::null::<u32>());
    // SAFETY: the arguments are those of `futex(2)`; the word lives for as long as the call, which only loads it.
    unsafe { syscall(number, word.as_ptr(), operation, value, no_timeout, no_other_word, bits) }
}
