//! The [`Location`]s: what names a word and the table of its waiters.

use std::sync::Arc;

use crate::queue::table::Table;
use crate::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64};
use crate::word::{Masked, Masked64, Word};

/// A word of memory together with the [`Table`] that holds its waiters.
///
/// All functions that wait or notify take a location. `&AtomicI32`, `&AtomicU32`, `&AtomicI64` and `&AtomicU64` are locations in the table
/// of the process, an `Arc` of these is one that a `'static` future can own, and [`Table::at`] returns one in a table of your own.
///
/// # Safety
/// For as long as a value of the implementing type lives at one address, `word` returns a reference to the same word and `table` one to the
/// same table, and neither panics: the queue looks a waiter up again with what these return, to unlink it before its memory is freed. (For
/// locations that own their word inline, such as `AtomicI32` itself, a pinned future is what keeps the address.)
pub unsafe trait Location {
    /// The type of the word.
    type Word: Word;

    /// The word.
    fn word(&self) -> &Self::Word;

    /// The table in which waiters on this word are queued.
    fn table(&self) -> &Table;
}

/// The type of the value of a location's word.
pub type Value<L> = <<L as Location>::Word as Word>::Value;

/// The address of the word: what its waiters are queued under.
#[inline(always)]
pub(crate) fn address<L: Location>(at: &L) -> usize {
    std::ptr::from_ref(at.word()).addr()
}

macro_rules! words_of_the_process {
    ($([$($parameters:tt)*] $word:ty),*) => {$(
        // SAFETY: a word is itself, and the table of the process outlives every word.
        unsafe impl<$($parameters)*> Location for $word {
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

words_of_the_process!([] AtomicI32, [] AtomicU32, [] AtomicI64, [] AtomicU64);
words_of_the_process!([const MASK: u32] Masked<MASK>, [const MASK: u64] Masked64<MASK>);

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

/// A word whose waiters are in a table of your own. Returned by [`Table::at`].
#[derive(Debug)]
pub struct At<'a, W> {
    word: &'a W,
    table: &'a Table,
}

impl Table {
    /// Returns the location of `word` in this table.
    ///
    /// A notifier finds the waiters of a word only if it uses the same table as they do.
    pub fn at<'a, W: Word>(&'a self, word: &'a W) -> At<'a, W> {
        At { word, table: self }
    }
}

impl<W> Clone for At<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for At<'_, W> {}

// SAFETY: both references are fixed for the life of the value.
unsafe impl<W: Word> Location for At<'_, W> {
    type Word = W;

    #[inline]
    fn word(&self) -> &W {
        self.word
    }

    #[inline]
    fn table(&self) -> &Table {
        self.table
    }
}
