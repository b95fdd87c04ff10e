//! The types of locks, by the addresses of their words: of those that somebody has waited for while holders were recorded.
//!
//! A queue knows a word, and not that it lies in a `Mutex<Pool>`: that is known only where the mutex is locked. So an acquirer that has to
//! wait says it ([`note_lock_type`]); one that finds the lock free does nothing. What a report shows has waiters, so somebody has said its
//! type.
//!
//! The table is fixed. A slot belongs to the word that claimed it, until the lock is dropped or another word displaces it:
//!
//! ```text
//!   claim        word: 0 → W;              type ← T      a reader between the two finds no type
//!   forget       type ← none;              word ← 0      so a claim never finds the type of another
//!   displace     type ← none;              word: V → W;  type ← T
//! ```
//! A lock of another type at the same address is shown under the old type until it is waited for: its first waiter stores its own.

use std::any::type_name;
use std::fmt;

#[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
pub(crate) use imp::forget;
pub use imp::{lock_type_of, note_lock_type};

/// What a lock is, such as `Mutex<alloc::vec::Vec<u8>>`.
#[derive(Debug)]
pub struct LockType {
    lock: &'static str,
    // What asks the compiler for the name is no constant, so this asks when a report is written.
    value: fn() -> &'static str,
}

impl LockType {
    /// A `lock`, such as `Mutex`, of a value of type `T`.
    pub const fn new<T: ?Sized>(lock: &'static str) -> Self {
        Self { lock, value: type_name::<T> }
    }

    /// Whether both print as the same. One type may have several statics.
    #[cfg(feature = "observe")]
    pub(super) fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || (self.lock, (self.value)()) == (other.lock, (other.value)())
    }
}

/// The lock and the type of its value, that with all paths, as [`type_name`] has it.
impl fmt::Display for LockType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}<{}>", self.lock, (self.value)())
    }
}

#[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
mod imp {
    use std::sync::atomic::{AtomicUsize, Ordering, fence};

    use super::LockType;
    use crate::observe::holders::is_on;
    use crate::observe::site_ptr::AtomicStatic;

    /// So many locks have a type: 64 KiB, which no memory is behind until they are used.
    const SLOTS: usize = 4096;

    /// In how many slots a word can be.
    const PROBES: usize = 8;

    struct Slot {
        word: AtomicUsize,
        lock_type: AtomicStatic<LockType>,
    }

    struct Types([Slot; SLOTS]);

    static TYPES: Types = Types::new();

    /// For building locks: somebody is about to wait for the lock with this word, which is of this type.
    #[cold]
    pub fn note_lock_type(word: usize, lock_type: &'static LockType) {
        if is_on() {
            TYPES.note(word, lock_type);
        }
    }

    /// The type of the lock with this word, if somebody has waited for it while holders were recorded.
    pub fn lock_type_of(word: usize) -> Option<&'static LockType> {
        TYPES.get(word)
    }

    /// The lock goes.
    pub(crate) fn forget(word: usize) {
        TYPES.forget(word);
    }

    impl Types {
        const fn new() -> Self {
            Self([const { Slot { word: AtomicUsize::new(0), lock_type: AtomicStatic::none() } }; SLOTS])
        }

        fn slots(&self, word: usize) -> impl Iterator<Item = &Slot> {
            (0..PROBES).map(move |probe| &self.0[((word >> 2) + probe) % SLOTS])
        }

        fn find(&self, word: usize) -> Option<&Slot> {
            self.slots(word).find(|slot| slot.word.load(Ordering::Acquire) == word)
        }

        fn note(&self, word: usize, lock_type: &'static LockType) {
            let claimed = |slot: &&Slot| slot.claim(0, word);
            let slot = self.find(word).or_else(|| self.slots(word).find(claimed)).or_else(|| {
                let home = self.slots(word).next()?;
                let displaced = home.word.load(Ordering::Relaxed);
                home.lock_type.store(None);
                home.claim(displaced, word).then_some(home)
            });
            if let Some(slot) = slot {
                // (N) A reader that finds this type finds this word, too, or a later one.
                fence(Ordering::Release);
                slot.lock_type.store(Some(lock_type));
            }
        }

        fn get(&self, word: usize) -> Option<&'static LockType> {
            let slot = self.find(word)?;
            let lock_type = slot.lock_type.load();
            // With (N). Another word may have the slot by now.
            fence(Ordering::Acquire);
            lock_type.filter(|_| slot.word.load(Ordering::Relaxed) == word)
        }

        fn forget(&self, word: usize) {
            while let Some(slot) = self.find(word) {
                slot.lock_type.store(None);
                slot.claim(word, 0);
            }
        }
    }

    impl Slot {
        /// Whether the slot is the word's now. Two that wait for one lock at the same time have the same type to store.
        fn claim(&self, from: usize, word: usize) -> bool {
            let claimed = self.word.compare_exchange(from, word, Ordering::AcqRel, Ordering::Acquire);
            claimed.is_ok() || claimed == Err(word)
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_youngest_type_at_an_address_counts_until_it_is_forgotten() {
            static BYTE: LockType = LockType::new::<u8>("Mutex");
            static TEXT: LockType = LockType::new::<str>("RwLock");
            let types = Types::new();
            let name = |word| types.get(word).map(ToString::to_string).unwrap_or_default();
            assert_eq!(name(64), "");
            types.note(64, &BYTE);
            types.note(68, &BYTE);
            assert_eq!((&*name(64), &*name(68)), ("Mutex<u8>", "Mutex<u8>"));
            types.note(64, &TEXT);
            assert_eq!(name(64), "RwLock<str>");
            types.forget(64);
            assert_eq!((&*name(64), &*name(68)), ("", "Mutex<u8>"));
        }

        #[test]
        fn of_words_that_find_no_slot_the_youngest_displaces_another() {
            let types = Types::new();
            let word = |at: usize| 64 + ((at * SLOTS) << 2);
            for at in 0..=PROBES {
                types.note(word(at), &const { LockType::new::<u8>("Mutex") });
            }
            let known: Vec<bool> = (0..=PROBES).map(|at| types.get(word(at)).is_some()).collect();
            assert_eq!(known.iter().filter(|known| **known).count(), PROBES);
            assert!(known[PROBES] && !known[0]);
        }
    }
}

#[cfg(not(all(feature = "observe", not(any(waitword_loom, waitword_shuttle)))))]
mod imp {
    use super::LockType;

    /// Nothing is recorded.
    #[inline(always)]
    pub fn note_lock_type(_word: usize, _lock_type: &'static LockType) {}

    /// Nothing is recorded.
    pub fn lock_type_of(_word: usize) -> Option<&'static LockType> {
        None
    }
}
