//! A file lock that threads and tasks of many processes wait for.
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
//!     Err(Error::TimedOut { .. }) => println!("somebody has it"),
//!     other => drop(other?),
//! }
//! # drop(guard);
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! # Order
//! The threads and tasks of a process wait in one FIFO queue for each file, which is a [`waitword::RwLock`]. In front of the system's lock waits one thread of this
//! crate at most, for all of them. A future that is dropped or not polled costs nothing and keeps no lock: when the system grants the lock, the head
//! of the queue gets it, whoever that is by then.
//!
//! A release hands the lock on to the next waiter of the process, without asking the system, for a tenure of 100 ms at most
//! ([`Options::tenure`]). Then the process releases the system's lock and rests for a moment, so that a busy process does not starve the
//! others. Between processes the system has no order.
//!
//! # The system's lock
//! It is [`File::lock`](std::fs::File::lock): `flock` on Unix, `LockFileEx` on Windows. It is advisory on Unix: who opens the file without locking is not
//! stopped. It ends with the process, however that ends.
//!
//! | | |
//! |---|---|
//! | **the file is deleted or replaced** | A waiter that gets the lock of a file that is no longer at the path locks the one that is there, which it makes if there is none. So nobody acquires a lock in the void. A *holder* keeps what it has: [`FileGuard::is_in_place`] says so. On Windows, files that are open are not looked at again. |
//! | **NFS** | Linux locks the file on the server, by its byte-range locks; with the mount option `local_lock=flock` or `nolock`, on this machine only. Other network file systems: as their `flock`. |
//! | **fork** | The child shares the open file with its parent, so its handle is of no use: its methods return [`Error::Forked`], and its guards release nothing. It opens the path anew. A child that keeps the file open keeps the lock of a parent that *dies*, as long as it runs or until it calls `exec`. |
//! | **several handles** | All handles of a process that lead to one path share one queue. Paths that are links to one file do not; the system excludes them from each other. |
//!
//! # Who holds it
//! [`FileMutex::holders`], and the error of a timeout, name the processes, where the system tells: on Linux by `/proc/locks`, which does not know the processes of
//! other machines and shows those of other containers as 0.
#![forbid(unsafe_code)]

mod error;
mod guard;
mod holders;
mod mutex;
mod system;

pub use error::Error;
pub use guard::FileGuard;
pub use mutex::{FileMutex, Locking, Options};
