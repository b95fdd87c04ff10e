//! A file lock for the threads and tasks of several processes.
//!
//! ```
//! use std::time::Duration;
//! use waitword_file::{Error, FileMutex};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("cache.lock");
//! # smol::block_on(async {
//! let lock = FileMutex::open(path)?;
//!
//! let guard = lock.lock()?; // a thread
//! drop(guard);
//! let guard = lock.lock_async().await?; // a task
//! match lock.lock_async().timeout(Duration::from_millis(10)).await {
//!     Err(Error::TimedOut { .. }) => println!("still locked"),
//!     other => drop(other?),
//! }
//! # drop(guard);
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! # Order
//! The threads and tasks of a process wait in one FIFO queue per file, which is a [`waitword::RwLock`]. For each file, at most one thread
//! of this crate waits for the system's lock, on behalf of all of them. When the system grants the lock, the head of the queue at that
//! moment acquires it. So a future that is dropped costs nothing and leaves nothing locked. One that is not polled is skipped, as at any
//! lock of `waitword`.
//!
//! A release passes the lock to the next waiter of the process without unlocking the file, for a tenure of at most 100 ms ([`Options::tenure`]). Then
//! the process releases the system's lock and pauses for a moment, so that a busy process does not starve the others. Between processes, the system
//! guarantees no order.
//!
//! # The system's lock
//! It is [`File::lock`](std::fs::File::lock): `flock` on Unix, `LockFileEx` on Windows. On Unix it is advisory: it does not stop a program that accesses
//! the file without locking it. The system releases the lock when the process ends, for whatever reason.
//!
//! | case | behaviour |
//! |---|---|
//! | **the file is deleted or replaced** | A waiter whose file is no longer at the path locks the file that is there now, and creates it if there is none. So no waiter acquires the lock of a deleted file. A *holder* keeps the lock of the old file; [`FileGuard::is_in_place`] returns `false` then. On Windows, none of this is detected. |
//! | **NFS** | Linux locks the file on the server, by a byte-range lock. With the mount option `local_lock=flock` or `nolock`, the lock applies to this machine only. On other network file systems, the lock applies as far as their `flock` does. |
//! | **`fork`** | The child shares the open file with its parent, so it cannot use its handle: methods return [`Error::Forked`], and guards release nothing. Open the path again in the child. If the parent *dies*, a child that has the file open keeps the parent's lock until the child ends or calls `exec`. |
//! | **several handles** | All handles of a process to one path share one queue. Handles to different links to one file have separate queues. The system's lock excludes them from each other. |
//!
//! # Holders
//! [`FileMutex::holders`] and the error of a timeout name the processes that hold the lock, if the system reports them. Linux does, in `/proc/locks`:
//! processes on other machines are missing, and those of other containers appear as 0.
#![forbid(unsafe_code)]

mod error;
mod guard;
mod holders;
mod mutex;
mod system;

pub use error::Error;
pub use guard::FileGuard;
pub use mutex::{FileMutex, Locking, Options};
