//! The types of the futures, for storing one in a struct or naming its type.
//!
//! The page of each type names the methods that return it. All futures are cancel-safe, work with any executor and allocate nothing.
//! They have two type parameters: `P` is a reference to the lock, or an `Arc` of it in a future that borrows nothing; `D` is [`Until`] in
//! a future with a deadline. `mutex.lock_owned_async().timeout(d)` is a `MutexLock<Arc<Mutex<T>>, Until>`.
//!
//! ```
//! use std::pin::Pin;
//! use std::sync::Arc;
//! use waitword::Mutex;
//! use waitword::future::MutexLock;
//!
//! /// Keeps its position in the queue between polls.
//! struct Connection {
//!     locking: Pin<Box<MutexLock<Arc<Mutex<u32>>>>>,
//! }
//!
//! # smol::block_on(async {
//! let mutex = Arc::new(Mutex::new(1));
//! let connection = Connection { locking: Box::pin(mutex.lock_owned_async()) };
//! assert_eq!(*connection.locking.await, 1);
//! # });
//! ```

pub use crate::async_lock::LockAsync;
pub use crate::barrier::BarrierWait;
pub use crate::condvar::futures::{CondvarWait, CondvarWaitWhile};
pub use crate::deadline::{Deadline, NoDeadline, Until};
pub use crate::event::waits::EventWait;
pub use crate::mutex::guard::MutexLock;
pub use crate::once::OnceWait;
pub use crate::rwlock::guard::{RwLockRead, RwLockUpgradableRead, RwLockWrite};
pub use crate::rwlock::upgrade::RwLockUpgrade;
pub use crate::semaphore::futures::SemaphoreAcquire;
pub use crate::wait_group::WaitGroupWait;
