//! The types of locks, by the addresses of their words: of those that somebody has waited for while holders were recorded.
//!
//! A queue knows a word, and not that it lies in a `Mutex<Pool>`: that is known only where the mutex is locked. So an acquirer that has to
//! wait says it; one that finds the lock free does nothing. What a report shows has waiters, so somebody has said its
//! type.
//!
//! A lock of another type at the same address is shown under the old type until it is waited for: its first waiter says its own.

use waitword::observe::LockType;

use crate::by_word::ByWord;

/// 4,096 locks have a type. A further one may displace another.
static TYPES: ByWord<&'static LockType, 256> = ByWord::new();

/// Somebody is about to wait for the lock with this word, which is of this type.
pub(crate) fn note(word: usize, lock_type: &'static LockType) {
    TYPES.put(word, lock_type, |_| 0);
}

/// The type of the lock with this word, if somebody has waited for it while holders were recorded.
pub(crate) fn lock_type_of(word: usize) -> Option<&'static LockType> {
    TYPES.get(word)
}

/// The lock goes.
pub(crate) fn forget(word: usize) {
    TYPES.remove(word);
}
