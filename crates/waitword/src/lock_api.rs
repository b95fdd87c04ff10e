//! The raw traits of `lock_api` 0.4, so that its guards, and libraries built on them, work with these locks.
//!
//! `lock_api` has no traits for tasks, so tasks use [`crate::Mutex`] and [`crate::RwLock`]. But a [`Condvar`](crate::Condvar)
//! accepts the guards of this [`Mutex`] from threads and from tasks:
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
//! On a thread that must not block ([`forbid_blocking`](crate::forbid_blocking)), a call that would have to wait aborts the process instead of
//! panicking, except for an upgrade. The reason is that these traits do not distinguish such a call from one that locks again for an existing
//! guard ([`RawMutex`], [`RawRwLock`]).

pub use crate::raw_traits::mutex::RawMutex;
pub use crate::raw_traits::rwlock::RawRwLock;

/// The mutex of `lock_api` with this [`RawMutex`].
pub type Mutex<T> = ::lock_api::Mutex<RawMutex, T>;

/// The readers-writer lock of `lock_api` with this [`RawRwLock`].
pub type RwLock<T> = ::lock_api::RwLock<RawRwLock, T>;
