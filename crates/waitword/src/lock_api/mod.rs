//! The raw traits of `lock_api` 0.4, so that its guards, and what others have built on them, can be had with these locks.
//!
//! What `lock_api` has no traits for is missing there: tasks. Whoever has some uses [`crate::Mutex`] and [`crate::RwLock`].
//!
//! ```
//! use waitword::lock_api::Mutex;
//!
//! static NAMES: Mutex<Vec<&str>> = Mutex::new(Vec::new());
//! NAMES.lock().push("Ada");
//! ```

mod mutex;
mod rwlock;

pub use mutex::RawMutex;
pub use rwlock::RawRwLock;

/// A mutex of `lock_api` on [`RawMutex`].
pub type Mutex<T> = ::lock_api::Mutex<RawMutex, T>;

/// A readers-writer lock of `lock_api` on [`RawRwLock`].
pub type RwLock<T> = ::lock_api::RwLock<RawRwLock, T>;
