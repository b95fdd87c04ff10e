//! Which public type may go to another thread, be shared, or be moved: checked by the compiler, `!` included.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicI64};

use waitword_core::*;

/// Fails to compile unless the type has the traits, and lacks those with a `no`.
macro_rules! table {
    ($($type:ty: $send:tt $sync:tt $unpin:tt;)*) => {$(
        table!(@ $type, Send, $send);
        table!(@ $type, Sync, $sync);
        table!(@ $type, Unpin, $unpin);
    )*};
    (@ $type:ty, $trait:ident, yes) => {
        const _: fn() = || {
            fn has<T: ?Sized + $trait>() {}
            has::<$type>();
        };
    };
    // Two impls apply if the type has the trait, and then `_` cannot be inferred.
    (@ $type:ty, $trait:ident, no) => {
        const _: fn() = || {
            trait Lacks<A> {
                fn it() {}
            }
            impl<T: ?Sized> Lacks<()> for T {}
            #[allow(dead_code)]
            struct Has;
            impl<T: ?Sized + $trait> Lacks<Has> for T {}
            <$type as Lacks<_>>::it();
        };
    };
}

table! {
    //                                     Send Sync Unpin
    Table:                                 yes  yes  yes;
    At<'static, AtomicI32>:                yes  yes  yes;
    WaitAsync<&'static AtomicI32>:         yes  yes  no;
    WaitAsync<Arc<AtomicI64>>:             yes  yes  no;
    WaitAsync<Bound<Cell<()>>>:            yes  no   no;
    WaitAsync<Bound<Rc<()>>>:              no   no   no;
    WaitAsyncUntil<&'static AtomicI32>:    yes  yes  no;
    WaitAsyncUntil<Bound<Cell<()>>>:       yes  no   no;
    WaitAsyncUntil<Bound<Rc<()>>>:         no   no   no;
    Alarm:                                 yes  yes  no;
    Inbox:                                 yes  yes  yes;
    InboxWait<&'static AtomicI32>:         yes  no   no;
    InboxWait<Bound<Rc<()>>>:              no   no   no;
    Interrupt:                             yes  yes  yes;
    Parker:                                no   no   yes;
    ForbidBlocking:                        no   no   yes;
    Outcome:                               yes  yes  yes;
    Interrupted:                           yes  yes  yes;
    Cancelled:                             yes  yes  yes;
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

/// A waiter takes 64 bytes, and the future no others beside the location.
#[test]
fn a_wait_is_72_bytes() {
    assert!(size_of::<WaitAsync<&AtomicI32>>() <= 72 && size_of::<WaitAsync<&AtomicI64>>() <= 72);
}
