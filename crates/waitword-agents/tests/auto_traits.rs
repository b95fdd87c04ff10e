//! Which public type may go to another thread or be shared: checked by the compiler, `!` included.

use std::sync::atomic::{AtomicI32, AtomicI64};

use waitword_agents::*;

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
    //                        Send Sync Unpin
    Agent:                    no   no   yes;
    AgentHandle:              yes  yes  yes;
    AgentId:                  yes  yes  yes;
    SharedBlock:              yes  yes  yes;
    GrowthWatch:              yes  no   yes;
    BlockWord<AtomicI32>:     yes  yes  yes;
    BlockWord<AtomicI64>:     yes  yes  yes;
    AsyncWait:                yes  yes  yes;
    Expected:                 yes  yes  yes;
    Timeout:                  yes  yes  yes;
    Settled:                  yes  yes  yes;
    PendingWait:              yes  yes  yes;
    WaitId:                   yes  yes  yes;
    BlockError:               yes  yes  yes;
    GrowError:                yes  yes  yes;
    WordError:                yes  yes  yes;
    WaitError:                yes  yes  yes;
    LinearMemory<'static>:    yes  yes  yes;
    Trap:                     yes  yes  yes;
}

/// What scripts wait in outlives every borrow of it.
#[test]
fn waits_on_words_of_a_block_are_static() {
    fn has<T: Send + 'static>(_: T) {}
    let word = SharedBlock::new(4).unwrap().i32(0).unwrap();
    has(waitword_core::wait_async(word, 0));
}
