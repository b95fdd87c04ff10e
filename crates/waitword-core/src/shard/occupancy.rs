//! Which words of a shard may have waiters, in as many bits as fit beside its lock.
//!
//! A word's bit is set while it or another word with the same bit has a queue. So a notify that finds it clear is done, and
//! other words of the shard cost it the lock only if they have the same bit.

use super::lock::FIRST_OCCUPANCY_BIT;
use crate::sync::MODEL;

/// How many bits, counting the two that the lock has. A model has one for all words, because their hashes change from run
/// to run and its steps must not.
const BITS: usize = if MODEL { 1 } else { usize::BITS as usize };

/// The bit of a word with this hash, in the state of its shard's lock.
#[inline]
pub(crate) fn bit(hash: u64) -> usize {
    1 << index(hash)
}

/// How many queues there are of each bit. The bits themselves are in the state of the lock, or with its holder.
///
/// A count that has run over stays at the maximum, and its bit set, until there are no queues at all.
#[derive(Debug)]
pub(crate) struct Occupancy {
    queues: [u16; usize::BITS as usize],
}

impl Occupancy {
    pub(crate) fn new() -> Self {
        Self { queues: [0; usize::BITS as usize] }
    }

    /// A word with this hash has a queue now. Returns the bits as they are after that.
    #[inline]
    pub(crate) fn enter(&mut self, hash: u64, bits: usize) -> usize {
        let queues = &mut self.queues[index(hash)];
        *queues = queues.saturating_add(1);
        bits | bit(hash)
    }

    /// A word with this hash has no queue any more. Returns the bits as they are after that.
    #[inline]
    pub(crate) fn leave(&mut self, hash: u64, bits: usize) -> usize {
        let queues = &mut self.queues[index(hash)];
        if *queues == u16::MAX {
            return bits;
        }
        *queues -= 1;
        bits & !(usize::from(*queues == 0) << index(hash))
    }

    /// No word has a queue any more.
    #[cold]
    pub(crate) fn clear(&mut self) {
        *self = Self::new();
    }
}

/// From the low bits of the hash, which tell the words of one cache line apart.
#[inline]
fn index(hash: u64) -> usize {
    (hash as usize % BITS).max(FIRST_OCCUPANCY_BIT as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those with one bit, through all counts, beyond what a count can hold and back.
    #[test]
    fn a_bit_is_set_while_anyone_of_it_is_there() {
        for crowd in [1_u64, 2, 65_534, 65_535, 65_536, 70_000] {
            let mut occupancy = Occupancy::new();
            let mut bits = occupancy.enter(5, 0);
            for _ in 0..crowd {
                bits = occupancy.enter(9, bits);
            }
            for _ in 0..crowd {
                assert_eq!(bits, bit(5) | bit(9));
                bits = occupancy.leave(9, bits);
            }
            let left_over = if crowd < 65_535 { 0 } else { bit(9) };
            assert_eq!(bits, bit(5) | left_over, "{crowd}");
        }
    }

    /// No word may have a bit of the lock's.
    #[test]
    fn all_bits_but_the_lock_s_are_used() {
        let all = (0..1000).fold(0, |all, hash| all | bit(hash));
        assert_eq!(all, usize::MAX << FIRST_OCCUPANCY_BIT);
    }
}
