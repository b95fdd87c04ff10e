//! The guards of `Mutex` and `RwLock`: one set of macros for all of them, which lets the folders of the two locks say only how they differ.
//! `whole.rs` has the guards of the whole value, `mapped.rs` those of a part, `value.rs` what a lock does with its value without waiting.
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
pub(crate) mod value;
pub(crate) mod whole;
