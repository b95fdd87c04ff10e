//! The lock of a file, and the methods that acquire it.

use std::collections::BTreeMap;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::io;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use waitword::word::Parker;
use waitword::{LockError, may_block};

use crate::error::Error;
use crate::guard::FileGuard;
use crate::system::{Local, Mode, Path};

/// A readers-writer lock on a file. The threads and tasks of this process wait in one queue; other processes wait in the operating system.
///
/// The value is a handle. Clones, and all handles of a process to one path, share one queue. The file is created if it is missing. It is never
/// deleted, truncated or written.
///
/// | | exclusive | shared |
/// |---|---|---|
/// | blocks the thread | [`lock`](Self::lock) | [`lock_shared`](Self::lock_shared) |
/// | never waits | [`try_lock`](Self::try_lock) | [`try_lock_shared`](Self::try_lock_shared) |
/// | a future | [`lock_async`](Self::lock_async) | [`lock_shared_async`](Self::lock_shared_async) |
/// | a future with a timeout | `lock_async().timeout(d)` | `lock_shared_async().timeout(d)` |
/// | blocks, with a timeout | [`lock_for`](Self::lock_for) | [`lock_shared_for`](Self::lock_shared_for) |
#[derive(Clone)]
pub struct FileMutex(Arc<Path>);

/// Options to open a [`FileMutex`] with.
#[derive(Clone, Debug)]
pub struct Options {
    tenure: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { tenure: Duration::from_millis(100) }
    }
}

impl Options {
    /// Sets for how long this process passes the lock among its own waiters before it releases the lock to other processes. The default is 100 ms. With
    /// zero, the release of the last holder always unlocks the file, so that other processes can lock it. The latest setting applies to all handles to the
    /// path.
    pub fn tenure(self, tenure: Duration) -> Self {
        Self { tenure }
    }

    /// Opens the file with these options. The file is created if it is missing. Does not lock it.
    ///
    /// # Errors
    /// As [`FileMutex::open`].
    pub fn open(&self, path: impl AsRef<std::path::Path>) -> Result<FileMutex, Error> {
        let path = path.as_ref();
        let file = shared(place(path).map_err(|error| Error::io(path, error))?);
        file.open(self.tenure)?;
        Ok(FileMutex(file))
    }
}

/// The path, with the links among its folders resolved.
fn place(path: &std::path::Path) -> io::Result<PathBuf> {
    // Opening a directory is "Access denied" on Windows.
    let (Some(folder), Some(name), false) = (path.parent(), path.file_name(), path.is_dir()) else {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
    };
    let folder = if folder.as_os_str().is_empty() { std::path::Path::new(".") } else { folder };
    Ok(folder.canonicalize()?.join(name))
}

/// The state of the path in this process, which all handles share.
fn shared(place: PathBuf) -> Arc<Path> {
    // The key includes the process id, so that a child does not use its parent's state.
    static PATHS: Mutex<BTreeMap<(u32, PathBuf), Weak<Path>>> = Mutex::new(BTreeMap::new());
    let mut paths = PATHS.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (std::process::id(), place);
    if let Some(path) = paths.get(&key).and_then(Weak::upgrade) {
        return path;
    }
    paths.retain(|_, path| path.strong_count() > 0);
    let path = Arc::new(Path::new(key.1.clone()));
    paths.insert(key, Arc::downgrade(&path));
    path
}

impl FileMutex {
    /// Opens the file. The file is created if it is missing. Does not lock it.
    ///
    /// # Errors
    /// [`Error::Io`] if the folder is missing, is not writable or is full, or if the path is a directory.
    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self, Error> {
        Options::default().open(path)
    }

    /// Acquires the exclusive lock, blocking the current thread until it is available.
    ///
    /// # Errors
    /// - [`Error::Io`] if the system cannot lock the file.
    /// - [`Error::BlockingForbidden`] if the lock is held and this thread must not block ([`waitword::forbid_blocking`]).
    /// - [`Error::Forked`] in a child of the process that opened the file.
    pub fn lock(&self) -> Result<FileGuard, Error> {
        self.block(Mode::Exclusive, None)
    }

    /// Acquires the shared lock, blocking the current thread until it is available.
    ///
    /// # Errors
    /// As [`lock`](Self::lock).
    pub fn lock_shared(&self) -> Result<FileGuard, Error> {
        self.block(Mode::Shared, None)
    }

    /// Attempts to acquire the exclusive lock, blocking the current thread for at most `timeout`.
    ///
    /// # Errors
    /// - [`Error::TimedOut`] after `timeout`, never earlier.
    /// - As [`lock`](Self::lock).
    pub fn lock_for(&self, timeout: Duration) -> Result<FileGuard, Error> {
        self.block(Mode::Exclusive, Instant::now().checked_add(timeout))
    }

    /// Attempts to acquire the shared lock, blocking the current thread for at most `timeout`.
    ///
    /// # Errors
    /// As [`lock_for`](Self::lock_for).
    pub fn lock_shared_for(&self, timeout: Duration) -> Result<FileGuard, Error> {
        self.block(Mode::Shared, Instant::now().checked_add(timeout))
    }

    /// Attempts to acquire the exclusive lock without waiting. Returns `None` if this process or another holds the lock.
    ///
    /// # Errors
    /// - [`Error::Io`] if the system cannot lock the file.
    /// - [`Error::Forked`] in a child of the process that opened the file.
    pub fn try_lock(&self) -> Result<Option<FileGuard>, Error> {
        self.attempt(Mode::Exclusive)
    }

    /// Attempts to acquire the shared lock without waiting. Returns `None` if this process or another holds the exclusive lock.
    ///
    /// # Errors
    /// As [`try_lock`](Self::try_lock).
    pub fn try_lock_shared(&self) -> Result<Option<FileGuard>, Error> {
        self.attempt(Mode::Shared)
    }

    /// Acquires the exclusive lock without blocking the current thread.
    ///
    /// # Errors
    /// As [`lock`](Self::lock), without [`Error::BlockingForbidden`].
    ///
    /// # Cancellation
    /// The future does nothing before its first poll. Dropping it, at any time, removes it from the queue and leaves nothing locked.
    pub fn lock_async(&self) -> Locking {
        Locking { path: Arc::clone(&self.0), mode: Mode::Exclusive, deadline: None }
    }

    /// Acquires the shared lock without blocking the current thread.
    ///
    /// # Errors
    /// As [`lock_async`](Self::lock_async).
    ///
    /// # Cancellation
    /// As [`lock_async`](Self::lock_async).
    pub fn lock_shared_async(&self) -> Locking {
        Locking { path: Arc::clone(&self.0), mode: Mode::Shared, deadline: None }
    }

    /// Returns the ids of the processes that hold the lock at this moment, including this one, in ascending order, as far as the system reports
    /// them: on Linux only.
    pub fn holders(&self) -> Vec<u32> {
        self.0.holders()
    }

    /// Returns the absolute path of the file.
    pub fn path(&self) -> &std::path::Path {
        &self.0.path
    }

    fn attempt(&self, mode: Mode) -> Result<Option<FileGuard>, Error> {
        self.0.attempt(mode)?.map(|local| FileGuard::new(&self.0, local)).transpose()
    }

    fn block(&self, mode: Mode, deadline: Option<Instant>) -> Result<FileGuard, Error> {
        match self.attempt(mode)? {
            Some(guard) => Ok(guard),
            None if !may_block() => Err(Error::BlockingForbidden),
            None => block_on(Locking { path: Arc::clone(&self.0), mode, deadline }.wait()),
        }
    }
}

impl fmt::Debug for FileMutex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FileMutex").field(&self.path()).finish()
    }
}

/// The acquisition of a [`FileMutex`], to be awaited, with or without a timeout.
#[derive(Clone)]
#[must_use = "nothing is locked until this is awaited: add `.await`, or call the method without `_async` in a thread"]
pub struct Locking {
    path: Arc<Path>,
    mode: Mode,
    deadline: Option<Instant>,
}

impl Locking {
    /// Limits the wait to `timeout`, counted from this call. The future then returns [`Error::TimedOut`].
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { deadline: Instant::now().checked_add(timeout), ..self }
    }

    /// Limits the wait to `deadline`. The future then returns [`Error::TimedOut`].
    pub fn deadline(self, deadline: Instant) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    async fn acquire(self) -> Result<FileGuard, Error> {
        match self.path.attempt(self.mode)? {
            Some(local) => FileGuard::new(&self.path, local),
            None => self.wait().await,
        }
    }

    async fn wait(self) -> Result<FileGuard, Error> {
        let _wants = self.path.wants(self.mode)?;
        loop {
            let local = self.local().await?;
            if let Some(local) = self.path.pass_gate(local)? {
                return FileGuard::new(&self.path, local);
            }
        }
    }

    /// Waits in the local queue.
    async fn local(&self) -> Result<Local, Error> {
        let (path, lock) = (&self.path, &self.path.local);
        let local = match (self.mode, self.deadline) {
            (Mode::Exclusive, None) => return Ok(Local::Exclusive(lock.write_owned_async().await)),
            (_, None) => return Ok(Local::Shared(lock.read_owned_async().await)),
            (Mode::Exclusive, Some(at)) => lock.write_owned_async().deadline(at).await.map(Local::Exclusive),
            (_, Some(at)) => lock.read_owned_async().deadline(at).await.map(Local::Shared),
        };
        local.map_err(|error| match error {
            LockError::TimedOut => Error::TimedOut { path: path.path.clone(), holders: path.holders() },
            LockError::BlockingForbidden => Error::BlockingForbidden,
        })
    }
}

impl IntoFuture for Locking {
    type Output = Result<FileGuard, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.acquire())
    }
}

impl fmt::Debug for Locking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locking").field("path", &self.path.path).field("deadline", &self.deadline).finish()
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let parker = Parker::current();
    loop {
        match future.as_mut().poll(&mut Context::from_waker(parker.waker())) {
            Poll::Ready(output) => return output,
            Poll::Pending => parker.park(),
        }
    }
}
