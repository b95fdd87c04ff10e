//! What a guard keeps of the record of its hold.

/// A record that a guard keeps.
#[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
#[derive(Clone, Copy, Debug)]
pub struct Recorded(pub(super) &'static super::record::Record);

/// There are no records.
#[cfg(not(all(feature = "observe", not(any(waitword_loom, waitword_shuttle)))))]
#[derive(Clone, Copy, Debug)]
pub struct Recorded;

/// What a guard keeps: its record, if it has one. Empty without the feature `observe`.
#[derive(Clone, Copy, Debug, Default)]
pub struct HoldId(
    #[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))] pub(super) Option<Recorded>,
);

impl HoldId {
    /// Of an acquisition without a record.
    pub const NONE: Self = Self(
        #[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
        None,
    );
}

impl From<Recorded> for HoldId {
    #[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
    #[inline(always)]
    fn from(recorded: Recorded) -> Self {
        Self(Some(recorded))
    }

    #[cfg(not(all(feature = "observe", not(any(waitword_loom, waitword_shuttle)))))]
    fn from(_recorded: Recorded) -> Self {
        Self()
    }
}
