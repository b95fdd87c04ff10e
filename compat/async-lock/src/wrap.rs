//! Macros for the locks, guards and futures of this crate. Each wraps one of waitword's.

/// Defines how an acquisition reaches the inner lock of a `repr(transparent)` lock: borrowed, or as an `Arc`. The first acquisition of the process
/// evaluates `WAITWORD_OBSERVE`, because the holder of a lock that is already held could not be found out.
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
                // SAFETY: the outer lock is `repr(transparent)`, so the inner lock has the same size, alignment and metadata, and the same address
                // in the same allocation. This `Arc` is a copy of `self`, which is borrowed. It is never dropped, so the reference count stays
                // right.
                std::mem::ManuallyDrop::new(unsafe { std::sync::Arc::from_raw(inside) })
            }
        }
    };
}

/// Defines a guard around one of waitword's. With `mut` it gives mutable access. With a type at the end, its second field shows the `Arc` of the lock.
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

/// Defines a future around one of waitword's. `$make` wraps the output, and `$text` is the `Debug` text.
macro_rules! future {
    ($(#[$docs:meta])* $Future:ident [$($generic:tt)*] [$($arg:tt)*]: $Inner:ty => $Output:ty, $make:expr, $text:literal) => {
        pin_project_lite::pin_project! {
            $(#[$docs])*
            #[must_use = "nothing is acquired until this is awaited: add `.await`, or use the `_blocking` method in a thread"]
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

/// Defines three methods that acquire, each with its documentation: without waiting, as a future, and blocking the thread. They call those of the
/// inner lock.
macro_rules! ways {
    (
        $self:ident: $Receiver:ty => $inside:ident;
        $(#[$try_docs:meta])*
        $try:ident by $try_inside:ident,
        $(#[$async_docs:meta])*
        $async:ident by $async_inside:ident -> $Future:ident<$($of:tt),+>,
        $(#[$blocking_docs:meta])*
        $blocking:ident by $blocking_inside:ident -> $Guard:ty = $make:expr
    ) => {
        $(#[$try_docs])*
        #[inline]
        #[track_caller]
        pub fn $try($self: $Receiver) -> Option<$Guard> {
            $self.$inside().$try_inside().map($make)
        }

        $(#[$async_docs])*
        ///
        /// # Cancellation
        /// The future is cancel-safe, and keeps its position in the queue between polls.
        #[inline]
        #[track_caller]
        pub fn $async($self: $Receiver) -> $Future<$($of),+> {
            $Future { inside: $self.$inside().$async_inside() }
        }

        $(#[$blocking_docs])*
        ///
        /// # Panics
        /// If the call would block, and blocking is forbidden on this thread (`waitword::forbid_blocking`).
        #[inline]
        #[track_caller]
        pub fn $blocking($self: $Receiver) -> $Guard {
            $make($self.$inside().$blocking_inside())
        }
    };
}

/// Defines the methods and traits of a lock that need its value and never wait. `Debug` shows the value as the field `$value`, if `$try` acquires
/// the lock.
macro_rules! owns_its_value {
    ($Lock:ident, $try:ident as $value:literal) => {
        impl<T> $Lock<T> {
            /// Creates an unlocked lock around `value`.
            pub const fn new(value: T) -> Self {
                Self(waitword::$Lock::new(value))
            }

            /// Consumes the lock, and returns the value.
            pub fn into_inner(self) -> T {
                self.0.into_inner()
            }
        }

        impl<T: ?Sized> $Lock<T> {
            /// Returns a mutable reference to the value. Never waits, because the lock is borrowed exclusively.
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
