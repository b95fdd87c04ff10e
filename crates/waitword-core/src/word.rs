//! The atomic words that can be waited on, and how a wait compares them.

use std::fmt;
use std::ops::Deref;

use crate::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering};

/// An atomic word of 32 or 64 bits.
///
/// Waiters are found by the word's address alone: views of different types on the same bytes share one queue.
pub trait Word: sealed::Sealed + Send + Sync {
    /// The type of the word's value.
    type Value: Copy + Eq + fmt::Debug + Send + sealed::Bits;

    /// Loads the word's value, sequentially consistent.
    fn load(&self) -> Self::Value;

    /// Replaces `current` by `new`, sequentially consistent.
    ///
    /// # Errors
    /// The word's value, if that is not `current`.
    fn compare_exchange(&self, current: Self::Value, new: Self::Value) -> Result<(), Self::Value>;
}

macro_rules! words {
    ($($atomic:ty => $value:ty),*) => {$(
        impl sealed::Sealed for $atomic {
            #[inline]
            fn load_bits(&self) -> u64 {
                bits::<Self>(self.load(Ordering::SeqCst))
            }
        }

        impl sealed::Bits for $value {
            #[inline]
            fn bits(self) -> u64 {
                self as u64
            }
        }

        impl Word for $atomic {
            type Value = $value;

            #[inline]
            fn load(&self) -> $value {
                <$atomic>::load(self, Ordering::SeqCst)
            }

            #[inline]
            fn compare_exchange(&self, current: $value, new: $value) -> Result<(), $value> {
                <$atomic>::compare_exchange(self, current, new, Ordering::SeqCst, Ordering::SeqCst).map(drop)
            }
        }
    )*};
}

words!(AtomicI32 => i32, AtomicU32 => u32, AtomicI64 => i64, AtomicU64 => u64);

macro_rules! masked {
    ($(#[$doc:meta])* $name:ident: $atomic:ident => $value:ident) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        #[repr(transparent)]
        pub struct $name<const MASK: $value>($atomic);

        impl<const MASK: $value> $name<MASK> {
            /// Creates a word that holds `value`, including the bits outside of `MASK`.
            #[cfg(not(waitword_loom))]
            pub const fn new(value: $value) -> Self {
                Self($atomic::new(value))
            }

            /// Creates a word that holds `value`, including the bits outside of `MASK`.
            #[cfg(waitword_loom)]
            pub fn new(value: $value) -> Self {
                Self($atomic::new(value))
            }
        }

        impl<const MASK: $value> Deref for $name<MASK> {
            type Target = $atomic;

            #[inline]
            fn deref(&self) -> &$atomic {
                &self.0
            }
        }

        impl<const MASK: $value> sealed::Sealed for $name<MASK> {
            #[inline]
            fn load_bits(&self) -> u64 {
                bits::<Self>(Word::load(self))
            }
        }

        impl<const MASK: $value> Word for $name<MASK> {
            type Value = $value;

            #[inline]
            fn load(&self) -> $value {
                self.0.load(Ordering::SeqCst) & MASK
            }

            /// Replaces the bits in `MASK`, and leaves the others as they are.
            fn compare_exchange(&self, current: $value, new: $value) -> Result<(), $value> {
                let change = |word| (word & MASK == current).then_some((word & !MASK) | (new & MASK));
                match self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, change) {
                    Ok(_) => Ok(()),
                    Err(word) => Err(word & MASK),
                }
            }
        }
    };
}

masked! {
    /// A word of which waits compare only the bits in `MASK`.
    ///
    /// In the state of a lock, some bits change with every acquisition, and others tell whether there are waiters. A waiter that waits for
    /// the latter to change should not have to recheck whenever the former do.
    ///
    /// ```
    /// use std::sync::atomic::Ordering;
    /// use waitword_core::{Masked, Outcome, wait};
    ///
    /// static WORD: Masked<0xF0> = Masked::new(0x12);
    /// WORD.store(0x27, Ordering::Relaxed);
    /// assert_eq!(wait(&WORD, 0x10), Outcome::NotEqual);
    /// assert_eq!(waitword_core::Word::load(&WORD), 0x20);
    /// ```
    Masked: AtomicU32 => u32
}

masked! {
    /// A word of 64 bits of which waits compare only the bits in `MASK`. See [`Masked`].
    ///
    /// ```
    /// use waitword_core::{Masked64, Outcome, wait};
    ///
    /// static WORD: Masked64<0b111> = Masked64::new(u64::MAX - 1);
    /// assert_eq!(wait(&WORD, 0b111), Outcome::NotEqual);
    /// assert_eq!(waitword_core::Word::load(&WORD), 0b110);
    /// ```
    Masked64: AtomicU64 => u64
}

/// `value` as 64 bits, for comparisons that do not depend on the type of the word.
#[inline]
pub(crate) fn bits<W: Word>(value: W::Value) -> u64 {
    sealed::Bits::bits(value)
}

/// A word of any type. The code that enqueues is compiled once for all of them.
pub(crate) type AnyWord<'a> = dyn sealed::Sealed + 'a;

mod sealed {
    /// Sealed: the queue relies on the implementations above.
    pub trait Sealed {
        /// Loads what a wait compares, sequentially consistent, as [`Bits`].
        fn load_bits(&self) -> u64;
    }

    /// A value as 64 bits, different for different values of the type.
    pub trait Bits {
        fn bits(self) -> u64;
    }
}
