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
//! Where this thread must not block ([`forbid_blocking`](crate::forbid_blocking)), a call that would have to wait aborts the process
//! instead of panicking, except for an upgrade: these traits do not distinguish such a call from one that locks again for an existing guard
//! ([`RawMutex`], [`RawRwLock`]).

pub use crate::raw_traits::mutex::RawMutex;
pub use crate::raw_traits::rwlock::RawRwLock;

/// A mutex of `lock_api` on [`RawMutex`].
pub type Mutex<T> = ::lock_api::Mutex<RawMutex, T>;

/// A readers-writer lock of `lock_api` on [`RawRwLock`].
pub type RwLock<T> = ::lock_api::RwLock<RawRwLock, T>;
