//! How long the acquisitions of a contender waited: a histogram, whose buckets are an eighth apart at most.

/// Bits of a wait that its bucket keeps, below the highest one.
const FINE: u32 = 3;
const BUCKETS: usize = 64 << FINE;

/// Of the waits only: an acquisition at once costs the histogram nothing.
#[derive(Clone, Debug)]
pub(super) struct Waits {
    buckets: Box<[u32; BUCKETS]>,
    longest: u64,
}

impl Default for Waits {
    fn default() -> Self {
        Self { buckets: Box::new([0; BUCKETS]), longest: 0 }
    }
}

impl Waits {
    #[inline]
    pub(super) fn add(&mut self, ticks: u64) {
        self.buckets[bucket(ticks)] += 1;
        self.longest = self.longest.max(ticks);
    }

    pub(super) fn longest(&self) -> u64 {
        self.longest
    }
}

/// The wait that all but `most` of the acquisitions stay below, or are in the same bucket with. Zero if fewer waited.
pub(super) fn exceeded_by_at_most<'a>(most: u64, waits: impl Iterator<Item = &'a Waits>) -> u64 {
    let mut sums = [0_u64; BUCKETS];
    for waits in waits {
        sums.iter_mut().zip(waits.buckets.iter()).for_each(|(sum, count)| *sum += u64::from(*count));
    }
    let mut longer = 0;
    let of_the_last = sums.iter().rposition(|count| {
        longer += count;
        longer > most
    });
    of_the_last.map_or(0, lower_end)
}

fn bucket(ticks: u64) -> usize {
    let highest = ticks.max(1 << FINE).ilog2();
    let fine = (ticks >> (highest - FINE)) & ((1 << FINE) - 1);
    (highest as usize) << FINE | fine as usize
}

fn lower_end(bucket: usize) -> u64 {
    let (highest, fine) = (bucket >> FINE, bucket & ((1 << FINE) - 1));
    (1 << FINE | fine as u64) << (highest - FINE as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_an_eighth_wide_at_most() {
        for ticks in [8, 9, 15, 16, 100, 1_000, 12_345_678, u64::MAX] {
            let end = lower_end(bucket(ticks));
            assert!(end <= ticks && ticks - end <= ticks / 8, "{ticks}: {end}");
        }
    }

    #[test]
    fn one_of_a_hundred_waits_longer() {
        let (mut one, mut other) = (Waits::default(), Waits::default());
        (0..98).for_each(|_| one.add(1 << 10));
        one.add(1 << 20);
        other.add(1 << 30);
        let waits = [one, other];
        assert_eq!(exceeded_by_at_most(0, waits.iter()), 1 << 30);
        assert_eq!(exceeded_by_at_most(1, waits.iter()), 1 << 20);
        assert_eq!(exceeded_by_at_most(2, waits.iter()), 1 << 10);
        assert_eq!(exceeded_by_at_most(100, waits.iter()), 0, "all may have waited longer");
        assert_eq!(waits.iter().map(Waits::longest).max(), Some(1 << 30));
    }
}
