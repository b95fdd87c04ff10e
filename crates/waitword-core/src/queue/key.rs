//! From a word's address to an unpredictable number.

use std::hash::BuildHasher;

#[cfg(waitword_loom)]
use self::model_addresses::{line_of, word_in};
use crate::sync::{MODEL, OnceLock, RandomState};

/// What the waiters of a word are queued under: its address, mixed with a secret so that nobody can pick words that collide. Different
/// addresses have different keys.
///
/// ```text
///   bits 40 to 63   choose the bucket, and the lowest of them the bit of the shard's state
///   bits 24 to 39   choose the shard
///   bits 6 to 63    the cache line (or about that) in which the word is, mixed; plus which word of that line it is, from bit 40 on
///   bits 2 to 5     which word of that line
///   bits 0 and 1    01
/// ```
/// So a walk along an array of words is a walk along the buckets, without a cache miss for each word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(pub(super) u64);

impl Key {
    /// Lower than the keys of all words. For sections that concern a whole shard.
    pub(crate) const NONE: Self = Self(0);

    /// The shard that has this word; `mask` is one less than their number, a power of two.
    #[inline(always)]
    pub(super) fn shard(self, mask: usize) -> usize {
        (self.0 >> SHARD) as usize & mask
    }

    /// The bucket that has this word; `mask` as in [`shard`](Self::shard).
    #[inline(always)]
    pub(super) fn bucket(self, mask: usize) -> usize {
        (self.0 >> BUCKET) as usize & mask
    }

    /// The bit of this word in the shard's state, which it shares with other words. A model has one bit for all words, because keys change
    /// from run to run, and the steps of a model must not.
    #[inline(always)]
    pub(super) fn bit(self) -> usize {
        FIRST_BIT + if MODEL { 0 } else { (self.0 >> BUCKET) as usize % BITS }
    }

    /// The address of the word, for reports.
    pub(crate) fn address(self) -> usize {
        let word = self.0 & WORD;
        let line = Secret::of_process().unmixed((self.0 & LINE).wrapping_sub(word << (BUCKET - 2)));
        #[cfg(waitword_loom)]
        return word_in(line);
        #[cfg(not(waitword_loom))]
        return (line | word) as usize;
    }
}

/// The bits of an address that say which cache line it is in, and which word of that.
const LINE: u64 = !0x3F;
const WORD: u64 = 0x3C;

/// The lowest bits that choose the bucket and the shard.
const BUCKET: u32 = 40;
const SHARD: u32 = 24;

/// The number of occupancy bits in a shard's state, and the first of them.
pub(super) const BITS: usize = if usize::BITS == 64 { 32 } else { 16 };
pub(super) const FIRST_BIT: usize = 2;

/// What the address of a word is mixed with: random numbers of the process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Secret {
    /// For the bits of the cache line.
    flip: u64,
    // Both are odd.
    first: u64,
    second: u64,
}

impl Secret {
    pub(crate) fn of_process() -> Self {
        static SECRET: OnceLock<Secret> = OnceLock::new();
        *SECRET.get_or_init(Self::drawn)
    }

    /// A new secret.
    fn drawn() -> Self {
        // The standard library's map keys: random bits from the system, without a dependency.
        let random = RandomState::new();
        let draw = |which: u8| random.hash_one(which);
        Self { flip: draw(0) & LINE, first: draw(1) | 1, second: draw(2) | 1 }
    }

    /// The key of the word at this address.
    #[inline(always)]
    pub(crate) fn key_of(self, address: usize) -> Key {
        #[cfg(waitword_loom)]
        let line = line_of(address);
        #[cfg(not(waitword_loom))]
        let line = address as u64 & LINE;
        let word = address as u64 & WORD;
        Key(self.mixed(line).wrapping_add(word << (BUCKET - 2)) | word | 1)
    }

    /// Two multiplications, so that all bits depend on all others; the bits below those of the line stay zero. Each step can be undone.
    #[inline(always)]
    fn mixed(self, line: u64) -> u64 {
        folded((line ^ self.flip).wrapping_mul(self.first)).wrapping_mul(self.second)
    }

    fn unmixed(self, mixed: u64) -> u64 {
        folded(mixed.wrapping_mul(inverse(self.second))).wrapping_mul(inverse(self.first)) ^ self.flip
    }
}

/// The lower half xored with the upper one. Its own inverse: the upper half stays.
#[inline(always)]
fn folded(line: u64) -> u64 {
    line ^ line >> 32 & LINE
}

/// The inverse of `odd` modulo 2^64.
fn inverse(odd: u64) -> u64 {
    // Each step doubles the number of bits that are right, from three on (Newton).
    (0..5).fold(odd, |inverse, _| inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse))))
}

/// Addresses in a model. A checker runs a model again and again and needs it to be deterministic, but the allocator gives out other
/// addresses each time. So a word of a model is hashed by the order in which it was first seen, as if each had a cache line of its own.
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

    /// A line for each word.
    pub(super) fn line_of(word: usize) -> u64 {
        SEEN.with_borrow_mut(|seen| {
            let known = seen.words.iter().position(|&known| known == word);
            let index = known.unwrap_or_else(|| {
                seen.words.push(word);
                seen.words.len() - 1
            });
            (index as u64 + 1) * 64
        })
    }

    pub(super) fn word_in(line: u64) -> usize {
        SEEN.with_borrow(|seen| seen.words[line as usize / 64 - 1])
    }
}

#[cfg(all(test, not(waitword_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_key_leads_back_to_the_address() {
        let secret = Secret::of_process();
        for bit in 2..usize::BITS {
            for address in [1 << bit, usize::MAX << bit, usize::MAX >> bit & !3, 0x0123_4567 << 2 ^ 1 << bit]
            {
                assert_eq!(secret.key_of(address).address(), address, "{address:#x}");
            }
        }
    }

    /// Words that lie side by side, in lines or far apart: no secret puts too many of them into one bucket.
    #[test]
    fn no_look_up_passes_many_words() {
        const SIZE: usize = 1024;
        for _ in 0..if cfg!(miri) { 2 } else { 500 } {
            let secret = Secret::drawn();
            for distance in [4, 8, 64, 72, 4096, 1 << 20] {
                let mut buckets = vec![0; SIZE];
                let words = (0..SIZE).map(|n| (1 << 30) + distance * n);
                words.for_each(|address| buckets[secret.key_of(address).bucket(SIZE - 1)] += 1);
                // Chance puts more than 16 of them into one bucket once in 10^10 times.
                let longest = buckets.into_iter().max();
                assert!(longest <= Some(16), "{longest:?} in one bucket, at a distance of {distance}");
            }
        }
    }

    #[test]
    fn all_bits_but_the_lock_s_are_used() {
        let all = (0..1000).fold(0, |all, n| all | 1_usize << Secret::of_process().key_of(4 * n).bit());
        assert_eq!(all, ((1 << BITS) - 1) << FIRST_BIT);
    }
}
