//! The word of the lock that scripts share: its states, and all their transitions. No queue: a caller notifies where a transition says so.
//!
//! |                | `FREE` (0)             | `LOCKED` (1)               | `CONTENDED` (2)                   |
//! |----------------|------------------------|----------------------------|-----------------------------------|
//! | means          | not held               | held                       | held, and there may be waiters    |
//! | `try_lock`     | → `LOCKED`: taken      | –                          | –                                 |
//! | `take_or_mark` | → `CONTENDED`: taken   | → `CONTENDED`: wait        | wait                              |
//! | `unlock`       | error                  | → `FREE`                   | → `FREE`, notify one              |
//! | `forward`      | notify one             | → `CONTENDED`              | –                                 |
//!
//! All three locks on such a word follow this table. [`AsyncLock`](crate::word::AsyncLock) waits in this library's queue, that of
//! `waitword-web` in the engine's; both call these functions. The `AsyncLock` of the npm package has the same table in JavaScript.
//!
//! A release without waiters is one exchange, and touches no queue.
//!
//! An acquirer that has failed once takes the lock as `CONTENDED`, not as `LOCKED`: it cannot know whether there are waiters
//! behind it. At worst that costs one notify that finds none; `LOCKED` would lose the wakeup of a waiter.
//!
//! A waiter that leaves although a notify has counted it **forwards** that wakeup. If another acquirer has taken the lock meanwhile, the
//! waiter makes it `CONTENDED`, so that its release notifies. If the word is `CONTENDED` already, the release notifies anyway. (The mark
//! may have come after the wakeup. Then it belongs to a holder whose release notifies as well.)
//!
//! A zeroed word is a free lock. A word with any other value counts as `CONTENDED`, and becomes that when a waiter marks it.

use crate::error::NotLocked;
use crate::sync::atomic::{AtomicI32, Ordering};
use crate::sync::mutant;

/// Not held.
pub const FREE: i32 = 0;
/// Held, without waiters.
pub const LOCKED: i32 = 1;
/// Held, and there may be waiters.
pub const CONTENDED: i32 = 2;

/// The state at this moment.
#[inline]
pub fn state(word: &AtomicI32) -> i32 {
    word.load(Ordering::Relaxed)
}

/// What `Debug` shows of a state.
pub fn name(state: i32) -> &'static str {
    match state {
        FREE => "free",
        LOCKED => "locked",
        _ => "locked with waiters",
    }
}

/// The attempt of an acquirer that has not waited. Returns whether it took the lock.
#[inline]
pub fn try_lock(word: &AtomicI32) -> bool {
    word.compare_exchange(FREE, LOCKED, Ordering::Acquire, Ordering::Relaxed).is_ok()
}

/// The attempt of a waiter. If it returns `false`, the acquirer waits while the word is `CONTENDED`.
pub fn take_or_mark(word: &AtomicI32) -> bool {
    mutant!("script-lock-mark" => return try_lock(word) || word.swap(CONTENDED, Ordering::Acquire) == FREE);
    word.swap(CONTENDED, Ordering::Acquire) == FREE
}

/// Releases the lock. Returns whether the caller has to notify the head waiter.
#[inline]
pub fn unlock(word: &AtomicI32) -> Result<bool, NotLocked> {
    match word.swap(FREE, Ordering::Release) {
        FREE => Err(NotLocked),
        before => Ok(before != LOCKED),
    }
}

/// Forwards a wakeup that its waiter does not use. Returns whether the caller has to notify the head waiter.
#[must_use]
pub fn forward(word: &AtomicI32) -> bool {
    mutant!("script-lock-forward" => return state(word) == FREE);
    // Relaxed: this protects nothing, and an outdated value does no harm, as the header says.
    word.compare_exchange(LOCKED, CONTENDED, Ordering::Relaxed, Ordering::Relaxed) == Err(FREE)
}

#[cfg(all(test, not(waitword_loom)))]
mod tests {
    use super::*;

    /// A column of the table: what each of the functions returns in `state`, and leaves there.
    fn column(state: i32) -> [(Option<bool>, i32); 4] {
        let from = |transition: &dyn Fn(&AtomicI32) -> Option<bool>| {
            let word = AtomicI32::new(state);
            (transition(&word), word.into_inner())
        };
        [
            from(&|word| Some(try_lock(word))),
            from(&|word| Some(take_or_mark(word))),
            from(&|word| unlock(word).ok()),
            from(&|word| Some(forward(word))),
        ]
    }

    #[test]
    fn each_transition_of_each_state_is_as_in_the_table() {
        let (no, yes, error) = (Some(false), Some(true), None);
        assert_eq!(column(FREE), [(yes, LOCKED), (yes, CONTENDED), (error, FREE), (yes, FREE)]);
        assert_eq!(column(LOCKED), [(no, LOCKED), (no, CONTENDED), (no, FREE), (no, CONTENDED)]);
        for state in [CONTENDED, 3, -1, i32::MIN, i32::MAX] {
            assert_eq!(column(state), [(no, state), (no, CONTENDED), (yes, FREE), (no, state)]);
        }
        assert_eq!([FREE, LOCKED, CONTENDED, 3].map(name)[2..], ["locked with waiters"; 2]);
    }
}
