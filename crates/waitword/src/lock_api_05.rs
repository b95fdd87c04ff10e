//! The raw traits of `lock_api` 0.5, which parking_lot 0.13 is built on. Needs Rust 1.95, as that version does; the rest of this crate does not.
//!
//! The locks are those of the feature `lock_api`, whose traits are of version 0.4. A [`Condvar`](crate::Condvar) takes the guards of this
//! [`Mutex`], from threads and from tasks, in place of the `Condvar` of `lock_api`, which is for threads alone.
//!
//! The guard state is `GuardSend`, which is empty: any thread may release.
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

/// A mutex of `lock_api` on [`RawMutex`].
pub type Mutex<T> = ::lock_api_05::Mutex<RawMutex, T>;

/// A readers-writer lock of `lock_api` on [`RawRwLock`].
pub type RwLock<T> = ::lock_api_05::RwLock<RawRwLock, T>;
