//! Whether a type has a trait, for tables that the compiler checks.

macro_rules! is {
    ($Type:ty: $Trait:path) => {{
        struct Is<T: ?Sized>(std::marker::PhantomData<T>);
        #[allow(dead_code, reason = "the other answer is the one")]
        trait Otherwise {
            const YES: bool = false;
        }
        impl<T: ?Sized> Otherwise for Is<T> {}
        #[allow(dead_code, reason = "the other answer is the one")]
        impl<T: ?Sized + $Trait> Is<T> {
            // Of two constants of one name, that of the type goes before that of the trait.
            const YES: bool = true;
        }
        <Is<$Type>>::YES
    }};
}
pub(crate) use is;

/// Which of the types may go to another thread, be shared, and be moved when they are pinned: `Send`, `Sync`, `Unpin`.
#[allow(unused_macros, reason = "one crate has tables of its own")]
macro_rules! auto_traits {
    ($($send:ident $sync:ident $unpin:ident => $($Type:ty),+;)+) => {
        const _: () = {
            const YES: bool = true;
            const NO: bool = false;
            $($(
                assert!($crate::is::is!($Type: Send) == $send, concat!(stringify!($Type), ": Send"));
                assert!($crate::is::is!($Type: Sync) == $sync, concat!(stringify!($Type), ": Sync"));
                assert!($crate::is::is!($Type: Unpin) == $unpin, concat!(stringify!($Type), ": Unpin"));
            )+)+
        };
    };
}
#[allow(unused_imports, reason = "as above")]
pub(crate) use auto_traits;
