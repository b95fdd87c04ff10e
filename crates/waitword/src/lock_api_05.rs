//! The raw traits of `lock_api` 0.5, on which parking_lot 0.13 is built. Needs Rust 1.95, like `lock_api` 0.5; the rest of this crate does not.
//!
//! The locks are those of the feature `lock_api`, whose traits are of version 0.4. A [`Condvar`](crate::Condvar) accepts the guards of this
//! [`Mutex`] from threads and from tasks. It replaces the `Condvar` of `lock_api`, which is for threads only.
//!
//! The guard state is `GuardSend`, which is empty, because any thread may release the lock.
//!
//! ```
//! use waitword::lock_api_05::RwLock;
//!
//! static NAMES: RwLock<Vec<&str>> = RwLock::new(Vec::new());
//! NAMES.write().push("Ada");
//! // The lock stays held without its guard, and another thread releases it.
//! std::mem::forget(NAMES.read());
//! std::thread::spawn(|| unsafe { NAMES.force_unlock_read(Default::default()) }).join().unwrap();
//! assert!(!NAMES.is_locked());
//! ```

pub use crate::raw_traits::mutex::RawMutex;
pub use crate::raw_traits::rwlock::RawRwLock;

/// The mutex of `lock_api` with this [`RawMutex`].
pub type Mutex<T> = ::lock_api_05::Mutex<RawMutex, T>;

/// The readers-writer lock of `lock_api` with this [`RawRwLock`].
pub type RwLock<T> = ::lock_api_05::RwLock<RawRwLock, T>;
