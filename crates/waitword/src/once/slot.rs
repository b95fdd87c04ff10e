//! The value and the word that says whether it is there: which accesses are allowed when.
//!
//! S1. The value is initialised if and only if the word says that it is set.
//! S2. While it is not set, only the holder of the turn reaches the value; there is at most one turn.
//! S3. Once it is set, the value is only read, until an owner has exclusive access to the slot (`&mut`).
//!
//! A slot's word is changed by `raw.rs` alone, through turns that are made for this slot alone: the fields are private,
//! and a [`Turn`] borrows the slot from which it comes. How the two lie in memory is in `tagged.rs`.

use std::future::poll_fn;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::task::Poll;

use waitword_core::observe::{Caller, WaitsFor};

use crate::condition::Condition;
use crate::holders::LockType;
use crate::once::raw::RawTurn;
use crate::once::tagged::Tagged;
use crate::sync::atomic::AtomicU32;
use crate::sync::const_fn;

pub(crate) struct Slot<T> {
    cell: Tagged<T>,
}

// SAFETY: one thread may move a value into a shared slot, and another take it out or drop it (`Send`); all may have
// references to it at once (`Sync`), by S2 and S3 never while it is written.
unsafe impl<T: Send + Sync> Sync for Slot<T> {}

impl<T: RefUnwindSafe + UnwindSafe> RefUnwindSafe for Slot<T> {}
impl<T: UnwindSafe> UnwindSafe for Slot<T> {}

impl<T> Slot<T> {
    const_fn! {
        pub(crate) const fn new() -> Self {
            Self { cell: Tagged::new() }
        }
    }

    const_fn! {
        pub(crate) const fn set_to(value: T) -> Self {
            Self { cell: Tagged::set_to(value) }
        }
    }

    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        if !self.cell.raw().is_set() {
            return None;
        }
        // SAFETY: initialised (S1), which the acquiring load makes visible, and only read while `self` is shared (S3).
        Some(unsafe { self.cell.get() })
    }

    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        self.cell.as_mut()
    }

    pub(crate) fn take(&mut self) -> Option<T> {
        self.cell.take()
    }

    pub(crate) fn waiters(&self) -> usize {
        self.cell.raw().waiters()
    }

    /// The turn to set the value, if it is free at this moment.
    pub(crate) fn try_turn(&self) -> Option<Turn<'_, T>> {
        self.cell.raw().try_turn().map(|raw| Turn { slot: self, raw })
    }

    /// The value of a cell that was found to be set.
    fn value(&self) -> &T {
        self.get().expect("a set cell stays set while it is shared")
    }
}

/// The right to set the value of a slot. Dropping it frees the turn for the next initialiser.
pub(crate) struct Turn<'a, T> {
    slot: &'a Slot<T>,
    raw: RawTurn<'a>,
}

impl<'a, T> Turn<'a, T> {
    /// A thread is about to run an initialiser.
    pub(crate) fn runs_in_thread(self, caller: Caller) -> Self {
        self.raw.runs(caller, None);
        self
    }

    /// The task of the caller is about to run an initialiser.
    pub(crate) async fn runs_in_task(self, caller: Caller) -> Self {
        poll_fn(|cx| {
            self.raw.runs(caller, Some(cx.waker()));
            Poll::Ready(())
        })
        .await;
        self
    }

    pub(crate) fn fill(self, value: T) -> &'a T {
        let slot = self.slot;
        // SAFETY: this is the slot's turn, so no other thread reaches the value (S2); and there is no value yet (S1) that this
        // would overwrite without dropping it.
        unsafe { slot.cell.write(value) };
        self.raw.complete();
        slot.value()
    }
}

/// A waiter for the turn, or for the value.
pub(crate) struct SlotTurn<'a, T>(pub(crate) &'a Slot<T>);

impl<'a, T> Condition for SlotTurn<'a, T> {
    type At = &'a AtomicU32;
    type Output = Result<&'a T, Turn<'a, T>>;

    const WAITS_FOR: WaitsFor = WaitsFor::OnceLock;

    fn lock_type(&self) -> Option<&'static LockType> {
        Some(const { &LockType::new::<T>("OnceLock") })
    }

    fn at(&self) -> &'a AtomicU32 {
        self.0.cell.raw().at()
    }

    fn check(&mut self) -> Result<Self::Output, u32> {
        let slot = self.0;
        Ok(match slot.cell.raw().turn_or_value()? {
            Some(raw) => Err(Turn { slot, raw }),
            None => Ok(slot.value()),
        })
    }

    fn excludes_others(output: &Self::Output) -> bool {
        output.is_err()
    }
}

/// A waiter for the value.
pub(crate) struct SlotValue<'a, T>(pub(crate) &'a Slot<T>);

impl<'a, T> Condition for SlotValue<'a, T> {
    type At = &'a AtomicU32;
    type Output = &'a T;

    const WAITS_FOR: WaitsFor = WaitsFor::OnceLock;

    fn lock_type(&self) -> Option<&'static LockType> {
        Some(const { &LockType::new::<T>("OnceLock") })
    }

    fn at(&self) -> &'a AtomicU32 {
        self.0.cell.raw().at()
    }

    fn check(&mut self) -> Result<&'a T, u32> {
        self.0.cell.raw().value()?;
        Ok(self.0.value())
    }
}
