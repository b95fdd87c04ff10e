//! The raw traits of `lock_api` 0.4: its guards, and the libraries built on them, work with these locks.
//!
//! `lock_api` has no traits for tasks, so tasks use [`crate::Mutex`] and [`crate::RwLock`]. But a [`Condvar`](crate::Condvar)
//! takes the guards of this [`Mutex`], too, from threads and from tasks:
//!
//! ```
//! use waitword::Condvar;
//! use waitword::lock_api::Mutex;
//!
//! let (ready, changed) = (Mutex::new(false), Condvar::new());
//! std::thread::scope(|scope| {
//!     scope.spawn(|| {
//!         *ready.lock() = true;
//!         changed.notify_one();
//!     });
//!     let mut ready = ready.lock();
//!     changed.wait_while(&mut ready, |ready| !*ready);
//!     assert!(*ready);
//! });
//! ```
//!
//! Where this thread must not block ([`forbid_blocking`](crate::forbid_blocking)), what would have to wait ends the process instead of
//! panicking, but for an upgrade: these traits do not tell it from a guard that has to have its lock again ([`RawMutex`], [`RawRwLock`]).

pub use crate::raw_traits::mutex::RawMutex;
pub use crate::raw_traits::rwlock::RawRwLock;

/// A mutex of `lock_api` on [`RawMutex`].
pub type Mutex<T> = ::lock_api::Mutex<RawMutex, T>;

/// A readers-writer lock of `lock_api` on [`RawRwLock`].
pub type RwLock<T> = ::lock_api::RwLock<RawRwLock, T>;
