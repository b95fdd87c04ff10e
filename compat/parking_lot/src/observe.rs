//! Starts observation in a program that never calls waitword: the first acquisition evaluates `WAITWORD_OBSERVE`.

/// Called before each acquisition, including the first, because the holder of a lock that is already held could not be found out. After the
/// first call it costs one load.
#[inline]
pub(crate) fn observe() {
    waitword_observe::init();
    #[cfg(feature = "deadlock_detection")]
    crate::deadlock::record();
}
