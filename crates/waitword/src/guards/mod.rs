//! The guards of `Mutex` and `RwLock`: one set of macros for all of them, which lets the folders of the two locks say only how they differ.
//! `whole.rs` has the guards of the whole value, `mapped.rs` those of a part; here is what a lock does with its value without waiting.
//!
//! # Invariants
//! The unsafe code of the guards, here and in `mutex/` and `rwlock/`, rests on these:
//!
//! 1. There is a guard, of whatever kind, only for as long as the raw lock is held in its mode on its behalf. Each acquisition makes one
//!    guard; a function that makes another guard from a guard forgets the first. The drop of a guard releases the lock, once.
//! 2. So a guard that gives mutable access (a mutex's, a writer's) is the only one. The value is changed only through it, or by an
//!    exclusive owner of the lock (`&mut`, or by value), and then there is no guard.
//! 3. The value stays where it is while there is a guard, because the guard borrows the lock or has an `Arc` of it.
//! 4. A guard that is covariant in the value gives no way to write: neither through itself nor through the lock, which it does
//!    not give access to.

pub(crate) mod mapped;
pub(crate) mod whole;

/// What a lock does with its value without waiting. `$name` is what the documentation calls the lock, `$lock` the method of the examples.
macro_rules! owns_its_value {
    ($Lock:ident over $Raw:ident, $name:literal, $lock:literal) => {
        /// Unwind-safe, because [`Poison`](crate::Poison) reports a panic to the next holder.
        impl<T: ?Sized> std::panic::RefUnwindSafe for $Lock<$crate::poison::Poison<T>> {}

        impl<T: ?Sized> $crate::handle::HasRaw for $Lock<T> {
            type Raw = $Raw;

            #[inline]
            fn raw(&self) -> &$Raw {
                &self.raw
            }

            /// No code is left without the feature `observe`.
            #[inline(always)]
            fn will_wait(&self) {
                if cfg!(feature = "observe") {
                    let lock_type = const { &$crate::holders::LockType::new::<T>(stringify!($Lock)) };
                    $crate::holders::note_lock_type(self.raw.held_at(), lock_type);
                }
            }
        }

        mod new {
            use super::{$Lock, $Raw, UnsafeCell};

            impl<T> $Lock<T> {
                $crate::sync::const_fn! {
                    #[doc = concat!("Creates a ", $name, " around `value`, which nobody holds.")]
                    ///
                    /// ```
                    #[doc = concat!("use waitword::", stringify!($Lock), ";")]
                    ///
                    #[doc = concat!("static NAMES: ", stringify!($Lock), "<Vec<&str>> = ", stringify!($Lock), "::new(Vec::new());")]
                    #[doc = concat!("NAMES.", $lock, "().push(\"Ada\");")]
                    /// ```
                    #[doc(alias = "const_new")]
                    pub const fn new(value: T) -> Self {
                        Self { raw: $Raw::new(), value: UnsafeCell::new(value) }
                    }
                }
            }
        }

        impl<T> $Lock<T> {
            #[doc = concat!("Consumes the ", $name, " and returns the value. Never waits, because no other holder can exist.")]
            pub fn into_inner(self) -> T {
                self.value.into_inner()
            }
        }

        impl<T: ?Sized> $Lock<T> {
            /// Returns a mutable reference to the value. Never waits, because the `&mut self` excludes all holders.
            ///
            /// ```
            #[doc = concat!("let mut lock = waitword::", stringify!($Lock), "::new(1);")]
            /// *lock.get_mut() += 1;
            /// assert_eq!(lock.into_inner(), 2);
            /// ```
            pub fn get_mut(&mut self) -> &mut T {
                self.value.get_mut()
            }

            #[doc = concat!("Returns a raw pointer to the value. It is valid until the ", $name, " is moved or dropped.")]
            ///
            /// A write through the pointer must not coincide with any other access to the value, nor a read with a write: hold a guard, for
            /// instance.
            ///
            /// ```
            #[doc = concat!("let lock = waitword::", stringify!($Lock), "::new(1);")]
            #[doc = concat!("let guard = lock.", $lock, "();")]
            /// // SAFETY: the guard is held, and not used during this access.
            /// unsafe { *lock.data_ptr() += 1 };
            /// assert_eq!(*guard, 2);
            /// ```
            #[inline]
            pub const fn data_ptr(&self) -> *mut T {
                self.value.get()
            }
        }

        impl<T> From<T> for $Lock<T> {
            fn from(value: T) -> Self {
                Self::new(value)
            }
        }
    };
}

pub(crate) use owns_its_value;
