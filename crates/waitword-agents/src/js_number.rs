//! Expected values, timeouts and counts, converted from the numbers of scripts.

use waitword_core::time::{Duration, Instant};

/// The value that a wait expects. Its variant is the type of the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Expected {
    /// A 32-bit word: an element of an Int32Array.
    I32(i32),
    /// A 64-bit word: an element of a BigInt64Array.
    I64(i64),
}

impl Expected {
    /// The size of the word in bytes.
    pub(crate) fn size(self) -> usize {
        match self {
            Self::I32(_) => size_of::<i32>(),
            Self::I64(_) => size_of::<i64>(),
        }
    }
}

/// The timeout of a wait: the standard's `t`, as DoWait computes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Timeout {
    /// The wait never times out.
    Never,
    /// The wait times out after this duration, never earlier.
    After(Duration),
}

impl Timeout {
    /// Converts milliseconds, after ToNumber (ECMA-262, DoWait). `NaN` and `+∞` never time out, and values that are not positive mean 0.
    /// Every other value counts, fractions and denormals included, and is never rounded down.
    ///
    /// ```
    /// use std::time::Duration;
    /// use waitword_agents::Timeout;
    ///
    /// assert_eq!(Timeout::from_millis(f64::NAN), Timeout::Never);
    /// assert_eq!(Timeout::from_millis(-1.0), Timeout::After(Duration::ZERO));
    /// // Positive, so this wait does not end at once.
    /// assert!(Timeout::from_millis(5e-324) > Timeout::After(Duration::ZERO));
    /// ```
    pub fn from_millis(milliseconds: f64) -> Self {
        if milliseconds.is_nan() || milliseconds == f64::INFINITY {
            return Self::Never;
        }
        if milliseconds <= 0.0 {
            return Self::After(Duration::ZERO);
        }
        // The product may have been rounded down; the next float above it is not below the exact product. The cast saturates at 584 years.
        Self::After(Duration::from_nanos((milliseconds * 1e6).next_up().ceil() as u64))
    }

    /// Returns whether the timeout is 0, so that the wait ends at once.
    pub fn is_zero(self) -> bool {
        self == Self::After(Duration::ZERO)
    }

    /// The duration; `None` if it never times out.
    pub(crate) fn duration(self) -> Option<Duration> {
        match self {
            Self::Never => None,
            Self::After(duration) => Some(duration),
        }
    }

    /// The deadline of a wait that begins now; `None` if it never times out, or the clock cannot represent the deadline.
    pub(crate) fn deadline(self) -> Option<Instant> {
        self.duration().and_then(|duration| Instant::now().checked_add(duration))
    }
}

impl PartialOrd for Timeout {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timeout {
    /// The shorter one is less.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        match (self, other) {
            (Self::After(this), Self::After(other)) => this.cmp(other),
            (this, other) => (*this == Self::Never).cmp(&(*other == Self::Never)),
        }
    }
}

/// Converts the count of a notify, after ToIntegerOrInfinity (ECMA-262, Atomics.notify). A negative count means 0.
///
/// ```
/// use waitword_agents::notify_count;
///
/// assert_eq!(notify_count(f64::INFINITY), usize::MAX);
/// assert_eq!(notify_count(-3.0), 0);
/// assert_eq!(notify_count(1.9), 1);
/// ```
pub fn notify_count(integer_or_infinity: f64) -> usize {
    // The cast truncates, saturates, and converts NaN to 0, as the standard requires.
    integer_or_infinity as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn point_06_timeouts() {
        let zero = Timeout::After(Duration::ZERO);
        for (milliseconds, timeout) in [
            (f64::NAN, Timeout::Never),
            (f64::INFINITY, Timeout::Never),
            (f64::NEG_INFINITY, zero),
            (-1.5, zero),
            (-0.0, zero),
            (0.0, zero),
        ] {
            assert_eq!(Timeout::from_millis(milliseconds), timeout, "{milliseconds}");
        }
        for milliseconds in [5e-324, 1e-300, 1e-7, 0.1, 1.0, 1.5, 1e3, 86_400_000.1, 1e12] {
            let Timeout::After(duration) = Timeout::from_millis(milliseconds) else {
                panic!("{milliseconds}")
            };
            assert!(!duration.is_zero());
            let nanoseconds = duration.as_nanos() as f64;
            assert!(nanoseconds >= milliseconds * 1e6, "{milliseconds} was cut");
            assert!(
                nanoseconds <= milliseconds * 1e6 * (1.0 + 1e-15) + 2.0,
                "{milliseconds} became {duration:?}"
            );
        }
        assert_eq!(Timeout::from_millis(f64::MAX), Timeout::After(Duration::from_nanos(u64::MAX)));
        assert!(Timeout::from_millis(f64::MAX) < Timeout::Never);
    }

    #[test]
    fn point_09_counts() {
        for (count, expected) in [
            (f64::NAN, 0),
            (-0.0, 0),
            (0.9, 0),
            (-5.0, 0),
            (f64::NEG_INFINITY, 0),
            (1.9, 1),
            (3.0, 3),
            // Saturates where addresses have 32 bits.
            (9_007_199_254_740_992.0, usize::try_from(1_u64 << 53).unwrap_or(usize::MAX)),
            (f64::INFINITY, usize::MAX),
            (f64::MAX, usize::MAX),
        ] {
            assert_eq!(notify_count(count), expected, "{count}");
        }
    }
}
