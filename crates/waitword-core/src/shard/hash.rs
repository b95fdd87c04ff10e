//! From a word's address to an unpredictable hash.

use std::hash::BuildHasher;

use crate::sync::{OnceLock, RandomState};

/// Bytes in a cache line, or about that: what matters is locality.
pub(super) const LINE: u64 = 64;

/// A word's address and its hash in one table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) address: usize,
    pub(crate) hash: u64,
}

/// A hash keyed by a secret of the process: without it nobody can pick words that collide.
///
/// One folded multiplication (the halves of a 128-bit product, xored), keyed on both sides, of the cache line that the
/// word is in; the words of one line get consecutive hashes. So a walk along an array of words is also a walk along the buckets, without a
/// cache miss for each word. Lines are spread about as at random: with most secrets the lines of an array collide less than random ones,
/// with one in some hundreds so much more that a shard draws another secret.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hasher {
    flip: u64,
    factor: u64,
}

impl Hasher {
    /// One whose secret a test knows.
    #[cfg(test)]
    pub(crate) const KNOWN: Self = Self { flip: 12345, factor: 0x9E37_79B9_7F4A_7C15 };

    pub(crate) fn of_process() -> Self {
        static HASHER: OnceLock<Hasher> = OnceLock::new();
        *HASHER.get_or_init(|| Self { flip: 0, factor: 0 }.another())
    }

    /// A hasher with another secret, which cannot be derived from this one's. Only the first call in the process can panic; a shard that
    /// has nodes calls this, and must not unwind.
    pub(crate) fn another(self) -> Self {
        // The standard library's map keys: random bits from the system, without a dependency.
        static SECRET: OnceLock<RandomState> = OnceLock::new();
        let draw = |which: u8| SECRET.get_or_init(RandomState::new).hash_one((self.flip, self.factor, which));
        Self { flip: draw(0), factor: draw(1) | 1 }
    }

    #[inline]
    pub(crate) fn hash(self, address: usize) -> u64 {
        #[cfg(waitword_loom)]
        let address = model_addresses::line_of(address) * LINE as usize;
        let (line, word) = (address as u64 / LINE, address as u64 % LINE / 4);
        let product = u128::from(line ^ self.flip) * u128::from(self.factor);
        (product as u64 ^ (product >> 64) as u64).wrapping_add(word)
    }
}

/// Addresses in a model. A checker runs a model again and again and needs it to be deterministic, but the allocator gives
/// out other addresses each time. So a word of a model is hashed by when it was first seen, each in a cache line of its own.
#[cfg(waitword_loom)]
pub(crate) mod model_addresses {
    use std::cell::RefCell;

    // All threads of a model are one thread of the system.
    std::thread_local! {
        static SEEN: RefCell<Seen> = const { RefCell::new(Seen { tables: 0, words: Vec::new() }) };
    }

    struct Seen {
        tables: usize,
        words: Vec<usize>,
    }

    pub(crate) fn begin() {
        SEEN.with_borrow_mut(|seen| seen.tables += 1);
    }

    pub(crate) fn end() {
        SEEN.with_borrow_mut(|seen| {
            seen.tables -= 1;
            if seen.tables == 0 {
                seen.words.clear();
            }
        });
    }

    pub(super) fn line_of(word: usize) -> usize {
        SEEN.with_borrow_mut(|seen| {
            let known = seen.words.iter().position(|&known| known == word);
            let index = known.unwrap_or_else(|| {
                seen.words.push(word);
                seen.words.len() - 1
            });
            index + 1
        })
    }
}
