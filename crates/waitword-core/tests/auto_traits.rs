//! Which public types are `Send`, `Sync` and `Unpin`, and which are not: checked by the compiler.

#[path = "common/is.rs"]
mod is;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicI64};

use waitword_core::*;

is::auto_traits! {
    // Send, Sync, Unpin
    YES YES YES => Table, At<'static, AtomicI32>, Inbox, Interrupt, Outcome, Interrupted, Cancelled;
    YES YES NO => WaitAsync<&'static AtomicI32>, WaitAsync<Arc<AtomicI64>>, WaitAsync<&'static AtomicI32, Until>, Alarm;
    YES NO  NO => WaitAsync<Bound<Cell<()>>>, WaitAsync<Bound<Cell<()>>, Until>, InboxWait<&'static AtomicI32>;
    NO  NO  NO => WaitAsync<Bound<Rc<()>>>, WaitAsync<Bound<Rc<()>>, Until>, InboxWait<Bound<Rc<()>>>;
    NO  NO  YES => Parker, ForbidBlocking, AllowBlocking;
}

/// A location that is tied to as few threads as its tag.
struct Bound<T> {
    word: AtomicI32,
    _tag: T,
}

// SAFETY: the word is a field, and the global table lives for ever.
unsafe impl<T> Location for Bound<T> {
    type Word = AtomicI32;

    fn word(&self) -> &AtomicI32 {
        &self.word
    }

    fn table(&self) -> &Table {
        Table::global()
    }
}

#[test]
fn a_location_of_ones_own() {
    let at = Bound { word: AtomicI32::new(1), _tag: Rc::new(()) };
    assert_eq!(wait(&at, 0), Outcome::NotEqual);
    assert_eq!(notify_all(&at), 0);
}

/// A waiter takes 72 bytes, including one word that only a fork needs. The future adds only the location.
#[test]
fn a_wait_is_80_bytes() {
    assert!(size_of::<WaitAsync<&AtomicI32>>() <= 80 && size_of::<WaitAsync<&AtomicI64>>() <= 80);
}
