//! What the locks, guards and futures of this crate have in common: each has one of waitword's inside.

/// The way to the lock inside a `repr(transparent)` one, borrowed or by a share in it, to acquire it. The first acquisition of the process does what
/// `WAITWORD_OBSERVE` says: of a lock that is held already, nobody would know who holds it.
macro_rules! inside {
    ([$($generic:tt)*] $Lock:ty => $Inner:ty) => {
        impl<$($generic)*> $Lock {
            #[inline]
            fn inside(&self) -> &$Inner {
                waitword_observe::init();
                &self.0
            }

            #[inline]
            fn shared(self: &std::sync::Arc<Self>) -> std::mem::ManuallyDrop<std::sync::Arc<$Inner>> {
                waitword_observe::init();
                let inside = std::sync::Arc::as_ptr(self) as *const $Inner;
                // SAFETY: the lock outside is `repr(transparent)`, so the one inside has its size, its alignment and its metadata, and lies at
                // the same address of the same allocation. Never dropped, this gives up no share: it uses that of `self`, while that is borrowed.
                std::mem::ManuallyDrop::new(unsafe { std::sync::Arc::from_raw(inside) })
            }
        }
    };
}

/// A guard around one of waitword's; with `mut`, one that writes; and a share in the lock, where that is shown.
macro_rules! guard {
    ($(#[$docs:meta])* $Guard:ident<$($life:lifetime,)? T>: $Inner:ty $(, $mut:ident)? $(; $source:ty)?) => {
        $(#[$docs])*
        #[clippy::has_significant_drop]
        pub struct $Guard<$($life,)? T: ?Sized>($Inner $(, $source)?);

        impl<$($life,)? T: ?Sized> std::ops::Deref for $Guard<$($life,)? T> {
            type Target = T;

            #[inline]
            fn deref(&self) -> &T {
                &self.0
            }
        }

        $crate::wrap::guard! { $($mut)? $Guard<$($life,)? T> }

        impl<$($life,)? T: ?Sized + std::fmt::Debug> std::fmt::Debug for $Guard<$($life,)? T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<$($life,)? T: ?Sized + std::fmt::Display> std::fmt::Display for $Guard<$($life,)? T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }
    };
    (mut $Guard:ident<$($life:lifetime,)? T>) => {
        impl<$($life,)? T: ?Sized> std::ops::DerefMut for $Guard<$($life,)? T> {
            #[inline]
            fn deref_mut(&mut self) -> &mut T {
                &mut self.0
            }
        }
    };
    ($Guard:ident<$($life:lifetime,)? T>) => {};
}

/// A future around one of waitword's, whose output `$make` wraps; `$text` is what it shows.
macro_rules! future {
    ($(#[$docs:meta])* $Future:ident [$($generic:tt)*] [$($arg:tt)*]: $Inner:ty => $Output:ty, $make:expr, $text:literal) => {
        pin_project_lite::pin_project! {
            $(#[$docs])*
            #[must_use = "nothing is acquired until this is awaited: add `.await`"]
            pub struct $Future $($generic)* {
                #[pin]
                inside: $Inner,
            }
        }

        impl $($generic)* std::future::Future for $Future $($arg)* {
            type Output = $Output;

            #[inline]
            fn poll(self: std::pin::Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> std::task::Poll<$Output> {
                self.project().inside.poll(cx).map($make)
            }
        }

        impl $($generic)* std::fmt::Debug for $Future $($arg)* {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($text)
            }
        }
    };
}

/// The three ways to acquire, by those of the lock inside: at once or not at all, as a future, and blocking the thread.
macro_rules! ways {
    (
        $self:ident: $Receiver:ty => $inside:ident, $what:literal;
        $try:ident by $try_inside:ident, $async:ident by $async_inside:ident -> $Future:ident<$($of:tt),+>,
        $blocking:ident by $blocking_inside:ident -> $Guard:ty = $make:expr
    ) => {
        #[doc = concat!($what, " if that can be done at once. Never waits.")]
        #[inline]
        #[track_caller]
        pub fn $try($self: $Receiver) -> Option<$Guard> {
            $self.$inside().$try_inside().map($make)
        }

        #[doc = concat!($what, ", waiting without blocking this thread. Cancel-safe; keeps its place in the queue between polls.")]
        #[inline]
        #[track_caller]
        pub fn $async($self: $Receiver) -> $Future<$($of),+> {
            $Future { inside: $self.$inside().$async_inside() }
        }

        #[doc = concat!($what, ", blocking this thread until then.")]
        #[inline]
        #[track_caller]
        pub fn $blocking($self: $Receiver) -> $Guard {
            $make($self.$inside().$blocking_inside())
        }
    };
}

/// What a lock does with its value without waiting; it is shown as a field `$value`, if `$try` gets it.
macro_rules! owns_its_value {
    ($Lock:ident, $try:ident as $value:literal) => {
        impl<T> $Lock<T> {
            /// One that is free.
            pub const fn new(value: T) -> Self {
                Self(waitword::$Lock::new(value))
            }

            /// The value.
            pub fn into_inner(self) -> T {
                self.0.into_inner()
            }
        }

        impl<T: ?Sized> $Lock<T> {
            /// The value, which nobody else reaches meanwhile.
            pub fn get_mut(&mut self) -> &mut T {
                self.0.get_mut()
            }
        }

        impl<T> From<T> for $Lock<T> {
            fn from(value: T) -> Self {
                Self::new(value)
            }
        }

        impl<T: ?Sized + std::fmt::Debug> std::fmt::Debug for $Lock<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut shown = f.debug_struct(stringify!($Lock));
                match self.0.$try() {
                    Some(guard) => shown.field($value, &&*guard),
                    None => shown.field($value, &format_args!("<locked>")),
                };
                shown.finish()
            }
        }
    };
}

pub(crate) use {future, guard, inside, owns_its_value, ways};
