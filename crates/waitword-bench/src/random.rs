//! Numbers that look random and are the same in every run.

/// SplitMix64, from a seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((u128::from(mixed ^ (mixed >> 31)) * limit as u128) >> 64) as usize
    }

    /// All numbers below `limit` in random order.
    pub(crate) fn order(&mut self, limit: usize) -> Vec<usize> {
        let mut order = (0..limit).collect::<Vec<_>>();
        for last in (1..limit).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }
}
