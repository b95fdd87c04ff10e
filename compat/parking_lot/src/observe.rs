//! How a program that never calls waitword is observed: its first acquisition does what `WAITWORD_OBSERVE` says.

/// Called before each acquisition, the first among them: of a lock that is held already, nobody would know who holds it. Costs a load later.
#[inline]
pub(crate) fn observe() {
    waitword_observe::init();
    #[cfg(feature = "deadlock_detection")]
    crate::deadlock::record();
}
