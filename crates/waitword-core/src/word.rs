//! What can be waited on: a word, and the table its waiters stand in.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering};
use crate::table::Table;

/// An atomic word of 32 or 64 bits.
///
/// Waiters are found by the word's address alone: views of different types on the same bytes share one queue.
pub trait Word: sealed::LoadBits + Send + Sync {
    /// What the word holds.
    type Value: Copy + Eq + fmt::Debug + Send + sealed::Bits;

    /// Loads the whole word, sequentially consistent.
    fn load(&self) -> Self::Value;

    /// Replaces `current` by `new`, sequentially consistent. The error is what the word holds instead.
    fn compare_exchange(&self, current: Self::Value, new: Self::Value) -> Result<(), Self::Value>;
}

/// A word of memory together with the [`Table`] that holds its waiters.
///
/// Everything that waits or notifies takes a location. `&AtomicI32` and its three siblings are locations in the
/// global table, `Arc<AtomicI32>` is one that a `'static` future can own, and [`Table::at`] makes one in a table
/// of your own.
///
/// # Safety
/// For as long as a value of the implementing type lives at one address, `word` returns a reference to the same
/// word and `table` one to the same table, and neither panics: the queue looks a waiter up again with what these
/// return, to unlink it before its memory goes. (For locations that own their word inline, such as `AtomicI32` itself, a pinned
/// future is what keeps the address.)
pub unsafe trait Location {
    /// The type of the word.
    type Word: Word;

    /// The word.
    fn word(&self) -> &Self::Word;

    /// The table in which waiters on this word are queued.
    fn table(&self) -> &Table;
}

/// The address under which the waiters of `at` are queued.
pub(crate) fn key<L: Location>(at: &L) -> usize {
    std::ptr::from_ref(at.word()).addr()
}

macro_rules! words {
    ($($atomic:ty => $value:ty),*) => {$(
        impl sealed::LoadBits for $atomic {
            #[inline]
            fn load_bits(&self) -> u64 {
                sealed::Bits::bits(Word::load(self))
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

        // SAFETY: a word is itself, and the table of the process outlives every word.
        unsafe impl Location for $atomic {
            type Word = Self;

            #[inline]
            fn word(&self) -> &Self {
                self
            }

            #[inline]
            fn table(&self) -> &Table {
                Table::global()
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
            /// A word that holds `value`, all of it.
            #[cfg(not(waitword_loom))]
            pub const fn new(value: $value) -> Self {
                Self($atomic::new(value))
            }

            /// A word that holds `value`, all of it.
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

        impl<const MASK: $value> sealed::LoadBits for $name<MASK> {
            #[inline]
            fn load_bits(&self) -> u64 {
                sealed::Bits::bits(Word::load(self))
            }
        }

        impl<const MASK: $value> Word for $name<MASK> {
            type Value = $value;

            #[inline]
            fn load(&self) -> $value {
                self.0.load(Ordering::SeqCst) & MASK
            }

            /// The bits in `MASK`; the others stay.
            fn compare_exchange(&self, current: $value, new: $value) -> Result<(), $value> {
                let change = |word| (word & MASK == current).then_some((word & !MASK) | (new & MASK));
                match self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, change) {
                    Ok(_) => Ok(()),
                    Err(word) => Err(word & MASK),
                }
            }
        }

        // SAFETY: a word is itself, and the table of the process outlives every word.
        unsafe impl<const MASK: $value> Location for $name<MASK> {
            type Word = Self;

            #[inline]
            fn word(&self) -> &Self {
                self
            }

            #[inline]
            fn table(&self) -> &Table {
                Table::global()
            }
        }
    };
}

masked! {
    /// A word of which waits compare only the bits in `MASK`.
    ///
    /// The state of a lock has bits that change with every acquisition, and others that say whether somebody waits. Whoever
    /// waits for the second kind to change should not have to look again because of the first.
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
    /// As [`Masked`], of 64 bits.
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

macro_rules! pointers {
    ($($pointer:ty),*) => {$(
        // SAFETY: the pointee does not move while the pointer lives, and is borrowed or shared, so what it
        // promises about itself holds here too.
        unsafe impl<L: Location + ?Sized> Location for $pointer {
            type Word = L::Word;

            #[inline]
            fn word(&self) -> &L::Word {
                (**self).word()
            }

            #[inline]
            fn table(&self) -> &Table {
                (**self).table()
            }
        }
    )*};
}

pointers!(&L, Arc<L>);

/// What a word of `L` holds when it is `value`, for comparisons that do not care which type it is.
#[inline]
pub(crate) fn bits<L: Location>(value: <L::Word as Word>::Value) -> u64 {
    sealed::Bits::bits(value)
}

pub(crate) mod sealed {
    /// A value as 64 bits, different for different values of the type.
    pub trait Bits {
        fn bits(self) -> u64;
    }

    pub trait LoadBits {
        /// The bits of the value, loaded sequentially consistent.
        fn load_bits(&self) -> u64;
    }
}
