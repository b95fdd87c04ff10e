//! The system's lock of one file, and the gate before it.
//!
//! The *gate* is an exclusive guard of the local lock, which this crate keeps while the process does not hold the system's lock: the gate is closed, and
//! threads and tasks that want the lock queue for the local lock. So all waiters wait in the local queue, which tolerates waiters that are dropped or not
//! polled. Opening the gate releases the local lock, and its head waiter acquires it.
//!
//! ```text
//!  system's lock   gate     users
//!  none            closed   0        nobody wants the lock, or the thread of this crate waits for it in the system
//!  held            open     1, n     a writer, or readers
//!  held            open     0        passed to the head of the local queue, until the tenure ends
//!  none            open     0        the system refused: each waiter passes the gate and returns the error
//! ```
//!
//! The last user closes the gate. A writer keeps its own guard as the gate. A reader releases its guard and attempts to acquire the exclusive one; if
//! that fails, another user has passed the gate already.

#[cfg(unix)]
use std::fs::Metadata;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use waitword::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

use crate::error::Error;
use crate::holders;

/// The pause of a process whose tenure has ended, so that other processes, which the release has woken, can run and acquire the system's lock.
const REST: Duration = Duration::from_millis(2);

/// The thread of this crate ends after so long without a waiter.
const LINGER: Duration = Duration::from_millis(100);

/// The mode in which a file is locked, or to be locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mode {
    None,
    Shared,
    Exclusive,
}

/// A user's guard of the local lock.
#[derive(Debug)]
pub(crate) enum Local {
    Shared(OwnedRwLockReadGuard<()>),
    Exclusive(OwnedRwLockWriteGuard<()>),
}

impl Local {
    /// Opens the gate for one user: the gate's guard becomes the user's.
    fn through(gate: OwnedRwLockWriteGuard<()>, mode: Mode) -> Self {
        match mode {
            Mode::Exclusive => Self::Exclusive(gate),
            _ => Self::Shared(OwnedRwLockWriteGuard::downgrade(gate)),
        }
    }

    fn mode(&self) -> Mode {
        if matches!(self, Self::Shared(_)) { Mode::Shared } else { Mode::Exclusive }
    }
}

/// The state that all handles of this process to one path share.
pub(crate) struct Path {
    pub(crate) path: PathBuf,
    process: u32,
    pub(crate) local: Arc<RwLock<()>>,
    state: Mutex<State>,
    /// Notified when the thread of this crate has to recheck the state.
    changed: Condvar,
    #[cfg(feature = "observe")]
    _shown: waitword_observe::Name,
}

struct State {
    file: Option<Arc<File>>,
    held: Mode,
    gate: Option<OwnedRwLockWriteGuard<()>>,
    users: usize,
    /// The number of waiters, for the shared and for the exclusive lock.
    wanted: [usize; 2],
    tenure: Duration,
    /// When the tenure ends.
    ends: Instant,
    /// The tenure has ended while this process had waiters, so the thread pauses before it requests the system's lock again.
    rests: bool,
    failed: Option<Error>,
    has_thread: bool,
    /// The thread is in the system call that waits for the lock.
    is_calling: bool,
}

/// Counts a waiter until it is dropped.
pub(crate) struct Wants(pub(crate) Arc<Path>, Mode);

impl Path {
    pub(crate) fn new(path: PathBuf) -> Self {
        let local = Arc::<RwLock<()>>::default();
        let state = State {
            file: None,
            held: Mode::None,
            gate: local.try_write_owned(),
            users: 0,
            wanted: [0; 2],
            tenure: Duration::ZERO,
            ends: Instant::now(),
            rests: false,
            failed: None,
            has_thread: false,
            is_calling: false,
        };
        Self {
            #[cfg(feature = "observe")]
            _shown: waitword_observe::name(&*local, format!("the file {}", path.display())),
            path,
            process: std::process::id(),
            local,
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// Locks the state. In a child process it is an error, because another thread of the parent may have held the lock during the fork.
    fn state(&self) -> Result<MutexGuard<'_, State>, Error> {
        match self.process == std::process::id() {
            true => Ok(self.state.lock().unwrap_or_else(PoisonError::into_inner)),
            false => Err(Error::Forked),
        }
    }

    /// Sets the tenure, and opens the file if it is not open, so that an error is reported when the handle is opened.
    pub(crate) fn open(&self, tenure: Duration) -> Result<(), Error> {
        let mut state = self.state()?;
        state.tenure = tenure;
        state.open(self).map(drop).map_err(|error| Error::io(&self.path, error))
    }

    pub(crate) fn holders(&self) -> Vec<u32> {
        std::fs::metadata(&self.path).map_or_else(|_| Vec::new(), |file| holders::of(&file))
    }

    /// Attempts to lock the file without waiting, neither in the local queue nor in the system.
    pub(crate) fn attempt(&self, mode: Mode) -> Result<Option<Local>, Error> {
        let mut state = self.state()?;
        if state.gate.is_some() && !state.is_calling && state.wanted == [0; 2] && !state.rests {
            if !state.try_system(self, mode).map_err(|error| Error::io(&self.path, error))? {
                return Ok(None);
            }
            state.users += 1;
            return Ok(state.gate.take().map(|gate| Local::through(gate, mode)));
        }
        let local = match mode {
            Mode::Exclusive => self.local.try_write_owned().map(Local::Exclusive),
            _ => self.local.try_read_owned().map(Local::Shared),
        };
        match local {
            Some(local) if state.held >= mode => {
                state.users += 1;
                return Ok(Some(local));
            }
            // An error of the system was for those who waited then.
            Some(local) => self.close(state, local),
            None => {}
        }
        Ok(None)
    }

    /// Called by a waiter that has acquired the local lock. Returns `None` and releases the local lock if the system's lock is not held in a sufficient
    /// mode. The caller then waits again.
    pub(crate) fn pass_gate(&self, local: Local) -> Result<Option<Local>, Error> {
        let mut state = self.state()?;
        if state.held >= local.mode() {
            state.users += 1;
            return Ok(Some(local));
        }
        // The local lock is released after that of the state, because its release calls a waker.
        if let Some(error) = state.failed.clone() {
            return Err(error);
        }
        self.close(state, local);
        Ok(None)
    }

    /// Releases the lock of a guard that is dropped.
    pub(crate) fn leave(&self, local: Local) {
        let Ok(mut state) = self.state() else {
            // In a child process: the parent's lock is not changed.
            std::mem::forget(local);
            return;
        };
        state.users -= 1;
        let is_wanted = state.wanted != [0; 2];
        let suffices = state.wanted[1] == 0 || state.held == Mode::Exclusive;
        let is_over = Instant::now() >= state.ends;
        // Pass the lock to a waiter. If that waiter has not run by the end of the tenure, the thread, which exists while anybody waits, releases the lock.
        if state.users > 0 || is_wanted && suffices && !is_over {
            drop(state);
            return drop(local);
        }
        state.rests = is_wanted && is_over;
        self.close(state, local);
    }

    /// Closes the gate with the last user's guard, and releases the system's lock. If the gate cannot be closed, another user is passing it, and will
    /// release the lock. Wakers do not run under the lock of the state.
    fn close<'a>(&'a self, mut state: MutexGuard<'a, State>, local: Local) {
        match local {
            Local::Exclusive(gate) => state.close(gate),
            Local::Shared(reader) => {
                drop(state);
                drop(reader);
                state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(gate) = self.local.try_write_owned().filter(|_| state.gate.is_none()) {
                    state.close(gate);
                }
            }
        }
        self.changed.notify_one();
    }

    /// Whether the path leads to the locked file.
    pub(crate) fn is_in_place(&self) -> Result<bool, Error> {
        let state = self.state()?;
        let Some(file) = &state.file else { return Ok(false) };
        is_at(file, &self.path).map_err(|error| Error::io(&self.path, error))
    }

    pub(crate) fn file(&self) -> Option<Arc<File>> {
        self.state().ok()?.file.clone()
    }

    /// Counts a waiter from now on, and starts the thread of this crate if it does not run.
    pub(crate) fn wants(self: &Arc<Self>, mode: Mode) -> Result<Wants, Error> {
        let mut state = self.state()?;
        if !state.has_thread {
            // It waits for the lock of the state.
            let path = Arc::clone(self);
            let thread = thread::Builder::new().name("waitword-file".into()).spawn(move || path.serve());
            thread.map_err(|error| Error::io(&self.path, error))?;
            state.has_thread = true;
        }
        state.wanted[usize::from(mode == Mode::Exclusive)] += 1;
        self.changed.notify_one();
        Ok(Wants(Arc::clone(self), mode))
    }

    /// The thread of this crate: waits for the system's lock while the process has waiters.
    fn serve(&self) {
        let Ok(mut state) = self.state() else { return };
        loop {
            let is_wanted = state.wanted != [0; 2];
            let now = Instant::now();
            if state.gate.is_some() && is_wanted {
                state = self.wait_in_system(state);
            } else if state.gate.is_none() && state.users == 0 && (!is_wanted || now >= state.ends) {
                // Passed to a waiter that has not run. If the gate cannot be closed, a waiter is passing it.
                match self.local.try_write_owned() {
                    Some(gate) => {
                        state.rests = is_wanted;
                        state.close(gate);
                    }
                    None => state = self.wait(state, REST),
                }
            } else if state.gate.is_none() {
                // Once the tenure is over, the last user closes the gate and notifies this thread.
                state = match state.ends.saturating_duration_since(now) {
                    Duration::ZERO => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                    left => self.wait(state, left),
                };
            } else {
                state = self.wait(state, LINGER);
                if state.gate.is_some() && state.wanted == [0; 2] {
                    state.has_thread = false;
                    return;
                }
            }
        }
    }

    fn wait<'a>(&'a self, state: MutexGuard<'a, State>, time: Duration) -> MutexGuard<'a, State> {
        self.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Waits for the system's lock, and opens the gate.
    fn wait_in_system<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let mode = if state.wanted[1] > 0 { Mode::Exclusive } else { Mode::Shared };
        let rests = std::mem::take(&mut state.rests);
        let opened = state.open(self);
        state.is_calling = true;
        drop(state);
        if rests {
            thread::sleep(REST);
        }
        let is_in_place = opened.and_then(|file| {
            match mode {
                Mode::Exclusive => file.lock()?,
                _ => file.lock_shared()?,
            }
            is_at(&file, &self.path)
        });
        state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_calling = false;
        match is_in_place {
            Ok(true) => state.begin(mode),
            // The path leads to another file. Closing this one unlocks it.
            Ok(false) => {
                state.file = None;
                return state;
            }
            Err(error) => {
                state.file = None;
                state.failed = Some(Error::io(&self.path, error));
            }
        }
        let gate = state.gate.take();
        drop(state);
        // Wakes the head of the queue.
        drop(gate);
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn open(&mut self, path: &Path) -> io::Result<Arc<File>> {
        if let Some(file) = &self.file {
            return Ok(Arc::clone(file));
        }
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path.path)?;
        Ok(Arc::clone(self.file.insert(Arc::new(file))))
    }

    /// Attempts to acquire the system's lock without waiting.
    fn try_system(&mut self, path: &Path, mode: Mode) -> io::Result<bool> {
        loop {
            let file = self.open(path)?;
            let locked = match mode {
                Mode::Exclusive => file.try_lock(),
                _ => file.try_lock_shared(),
            };
            match locked {
                Err(TryLockError::WouldBlock) => return Ok(false),
                Err(TryLockError::Error(error)) => return Err(error),
                Ok(()) if is_at(&file, &path.path)? => {
                    self.begin(mode);
                    return Ok(true);
                }
                Ok(()) => self.file = None,
            }
        }
    }

    /// Begins a tenure.
    fn begin(&mut self, mode: Mode) {
        self.held = mode;
        self.ends = Instant::now() + self.tenure;
    }

    /// Closes the gate, and releases the system's lock.
    fn close(&mut self, gate: OwnedRwLockWriteGuard<()>) {
        self.gate = Some(gate);
        self.failed = None;
        let was_held = std::mem::replace(&mut self.held, Mode::None) > Mode::None;
        if was_held && self.file.as_ref().is_some_and(|file| file.unlock().is_err()) {
            // The system unlocks the file when the last guard closes it.
            self.file = None;
        }
    }
}

impl Drop for Wants {
    fn drop(&mut self) {
        let Self(path, mode) = self;
        if let Ok(mut state) = path.state() {
            state.wanted[usize::from(*mode == Mode::Exclusive)] -= 1;
            if state.wanted == [0; 2] {
                state.rests = false;
                path.changed.notify_one();
            }
        }
    }
}

/// Whether the path leads to this file, by device and inode number.
#[cfg(unix)]
fn is_at(file: &File, path: &std::path::Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;

    let number = |file: Metadata| (file.dev(), file.ino());
    match std::fs::metadata(path) {
        Ok(there) => Ok(number(there) == number(file.metadata()?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Cannot be determined.
#[cfg(not(unix))]
fn is_at(_file: &File, _path: &std::path::Path) -> io::Result<bool> {
    Ok(true)
}
