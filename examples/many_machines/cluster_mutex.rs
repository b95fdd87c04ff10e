//! A lock for all processes that reach one PostgreSQL: its advisory lock, with a [`waitword::Mutex`] in front.
//!
//! The tasks and threads of a process queue on the local mutex. Its holder, and nobody else of the process, waits for the
//! database's lock. A release hands the lock on locally, without a word to the database, for as long as the *tenure* lasts and
//! somebody waits (lock cohorting: Dice, Marathe and Shavit, PPoPP 2012). The database grants its lock in the order of requests,
//! so processes take turns of one tenure each.
//!
//! ```text
//!  local mutex   tenure   what is the case
//!  free          none     nobody of this process has or wants the database's lock
//!  locked        none     one waiter of this process waits in the database's queue, or gives its lock back
//!  locked        some     a guard is out
//!  free          some     handed on to a local waiter that has not come yet
//! ```
//!
//! The last state must not last: the local waiter may be a future that is dropped, or that nobody polls. So each tenure has a task
//! that enqueues locally when the time is up, and gives the lock back.
//!
//! A database may take a session for dead while the holder works on. The holder is told as soon as the connection ends
//! ([`ClusterGuard::lost`], [`ClusterGuard::fence`], [`ClusterGuard::unlock`]); for the time between, each guard has a *fencing
//! number*, larger than all before it in all processes. What the lock protects has to refuse a number smaller than the last, from the first
//! access of a section on, be it a read.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio_postgres::Config;
use waitword::{Mutex, OnceLock, OwnedMutexGuard};

use crate::session::{self, BLOCK, Failed, Lost, Session};

/// One lock of the database, as one process sees it. Needs a session of its own: no PgBouncer that shares sessions out.
pub(crate) struct ClusterMutex {
    config: Config,
    key: i64,
    tenure: Duration,
    runtime: Handle,
    /// How many wait for `local`. Counts a moment longer than they wait, never shorter.
    waiting: AtomicUsize,
    local: Arc<Mutex<Local>>,
}

/// What the holder of the local mutex finds.
#[derive(Default)]
struct Local {
    session: Option<Session>,
    /// There while this process has the database's lock.
    tenure: Option<Tenure>,
}

struct Tenure {
    ends: Instant,
    /// Below `last`, which is the same for all guards of the tenure.
    fence: i64,
    last: i64,
}

impl ClusterMutex {
    /// The lock `key` of the database that `config` names. `tenure` is how long this process may keep it from others while its
    /// own waiters hand it on; a guard that is held for longer is not taken away.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with I/O and time.
    pub(crate) fn new(config: Config, key: i64, tenure: Duration) -> Arc<Self> {
        let (config, runtime) = (session::watched(config), Handle::current());
        Arc::new(Self { config, key, tenure, runtime, waiting: 0.into(), local: Arc::default() })
    }

    /// Blocks the thread. Not for tasks.
    pub(crate) fn lock(self: &Arc<Self>) -> Result<ClusterGuard, Failed> {
        let waiting = Waiting::new(self);
        let local = self.local.lock_owned();
        drop(waiting);
        self.runtime.block_on(self.enter(local))
    }

    /// # Cancellation
    ///
    /// To drop the future leaves the local queue, and the database's: its query is cancelled and its session ends.
    pub(crate) async fn lock_async(self: &Arc<Self>) -> Result<ClusterGuard, Failed> {
        let waiting = Waiting::new(self);
        let local = self.local.lock_owned_async().await;
        drop(waiting);
        self.enter(local).await
    }

    async fn enter(self: &Arc<Self>, mut local: OwnedMutexGuard<Local>) -> Result<ClusterGuard, Failed> {
        if local.session.as_ref().is_some_and(|session| session.lost.is_set()) {
            *local = Local::default();
        }
        if let Some(tenure) = &mut local.tenure {
            if tenure.goes_on() {
                tenure.fence += 1;
                return Ok(ClusterGuard::new(self, local));
            }
            // Nobody holds it, so a loss is told to nobody: a new session takes the lock.
            let _ = give_back(&mut local).await;
        }
        let session = match local.session.take() {
            Some(session) => session,
            None => Session::connect(&self.config, self.key).await?,
        };
        let (session, fence) = session.take_lock(&self.runtime).await?;
        let tenure = Tenure { ends: Instant::now() + self.tenure, fence, last: fence + BLOCK - 1 };
        self.runtime.spawn(Arc::clone(self).end_tenure(tenure.last));
        *local = Local { session: Some(session), tenure: Some(tenure) };
        Ok(ClusterGuard::new(self, local))
    }

    /// Gives the lock back when the time is up and the local waiter to whom it was handed on has not come.
    async fn end_tenure(self: Arc<Self>, last: i64) {
        tokio::time::sleep(self.tenure).await;
        let mut local = self.local.lock_owned_async().await;
        if local.tenure.as_ref().is_some_and(|tenure| tenure.last == last) {
            let _ = give_back(&mut local).await;
        }
    }

    /// Releases: to a local waiter, or to the database.
    async fn release(self: Arc<Self>, mut local: OwnedMutexGuard<Local>) -> Result<(), Lost> {
        let somebody_waits = self.waiting.load(Ordering::SeqCst) > 0;
        let goes_on = local.tenure.as_ref().is_some_and(Tenure::goes_on);
        match &local.session {
            Some(session) if somebody_waits && goes_on => session.check(),
            _ => give_back(&mut local).await,
        }
    }
}

impl Tenure {
    fn goes_on(&self) -> bool {
        self.fence < self.last && Instant::now() < self.ends
    }
}

/// Ends the tenure. If this future is dropped, the query is on its way all the same, before any other of this session.
async fn give_back(local: &mut Local) -> Result<(), Lost> {
    local.tenure = None;
    let Some(session) = &local.session else { return Err(Lost("there is no session".to_owned())) };
    let given_back = session.give_lock_back().await;
    if given_back.is_err() {
        local.session = None;
    }
    given_back
}

/// Counts one local waiter.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(mutex: &'a ClusterMutex) -> Self {
        mutex.waiting.fetch_add(1, Ordering::SeqCst);
        Self(&mutex.waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The lock is held, as far as this process knows.
#[must_use = "the lock is released at once"]
pub(crate) struct ClusterGuard {
    mutex: Arc<ClusterMutex>,
    /// Not there any more once it is released.
    local: Option<OwnedMutexGuard<Local>>,
    lost: Arc<OnceLock<String>>,
    fence: i64,
}

impl ClusterGuard {
    fn new(mutex: &Arc<ClusterMutex>, local: OwnedMutexGuard<Local>) -> Self {
        let lost = local.session.as_ref().map(|session| Arc::clone(&session.lost)).unwrap_or_default();
        let fence = local.tenure.as_ref().map_or(0, |tenure| tenure.fence);
        Self { mutex: Arc::clone(mutex), local: Some(local), lost, fence }
    }

    /// The fencing number, to be sent along with every access.
    pub(crate) fn fence(&self) -> Result<i64, Lost> {
        self.lost.get().map_or(Ok(self.fence), |why| Err(Lost(why.clone())))
    }

    /// Is ready when the connection is lost, and the lock with it.
    pub(crate) async fn lost(&self) -> Lost {
        Lost(self.lost.wait_async().await.clone())
    }

    /// Runs a section, in a task or blocked on by a thread, and drops it as soon as the lock is lost.
    pub(crate) async fn run<T>(&self, section: impl Future<Output = Result<T, Failed>>) -> Result<T, Failed> {
        tokio::select! {
            done = section => done,
            lost = self.lost() => Err(lost.into()),
        }
    }

    /// Blocks the thread. `Err` says that others may have been in this section, and that it must not count as done.
    pub(crate) fn unlock(mut self) -> Result<(), Lost> {
        let Some(local) = self.local.take() else { return Ok(()) };
        self.mutex.runtime.block_on(Arc::clone(&self.mutex).release(local))
    }

    /// As [`unlock`](Self::unlock), in a task.
    pub(crate) async fn unlock_async(mut self) -> Result<(), Lost> {
        let Some(local) = self.local.take() else { return Ok(()) };
        Arc::clone(&self.mutex).release(local).await
    }
}

impl Drop for ClusterGuard {
    /// Releases in the background. A loss has nobody to be told to but standard error.
    fn drop(&mut self) {
        let Some(local) = self.local.take() else { return };
        let release = Arc::clone(&self.mutex).release(local);
        self.mutex.runtime.spawn(async {
            if let Err(lost) = release.await {
                eprintln!("a guard was dropped, and {lost}");
            }
        });
    }
}
