//! The threads and tasks of this process that wait for one lock: a local queue in front of the database's queue.
//!
//! The holder of the local mutex has the *turn* and acts for the process: it makes the process's one request in the database and waits for its outcome.
//! The request is stored in the local mutex. If the waiter gives up, the next local waiter adopts the request, with its position in the database's
//! queue. When the request is granted, a *tenure* begins: a release passes the lock to the next local waiter without a statement, until the tenure is
//! over or no local waiter is left. Then the database grants the lock to the next process. This is lock cohorting (Dice, Marathe and Shavit, PPoPP
//! 2012).
//!
//! ```text
//!  local mutex   content            state
//!  free          nothing            this process neither holds nor requests the database's lock
//!  locked        nothing            a waiter is about to request the lock, or the lock is being released
//!  locked        a request          a waiter waits in the database's queue
//!  locked        a tenure           a guard holds the lock
//!  free          either             passed to a local waiter that has not run yet
//! ```
//!
//! The last state must not persist, because that waiter may be a future that is dropped or never polled.
//!
//! If the future is dropped and was the last local waiter, its drop releases the request or the lock. That drop and the end of a turn may run at the same
//! time. At least one of the two sees the other:
//!
//! ```text
//!  the end of a turn             the drop of the last waiter
//!  unlocks the mutex             decrements the number of waiters
//!  (A) fence                     (A) fence
//!  no waiters? release           mutex free, content? release
//! ```
//!
//! If the future is never polled, a task acts instead. The first turn that ends in this state spawns it. When the tenure is over, the task enqueues
//! locally and releases the lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::time::{Duration, Instant};

use tokio::task::{AbortHandle, JoinHandle};
use waitword::{Mutex, OwnedMutexGuard};

use crate::error::{Error, Lost};
use crate::request::Request;
use crate::session::{Requested, Session};
use crate::sessions::Sessions;

/// How many fencing numbers the database grants with the lock.
const NUMBERS: i64 = 1 << 20;

/// The minimum time for which a lock that was granted to an abandoned request is kept for the next local waiter.
const ADOPTION: Duration = Duration::from_millis(10);

/// One lock of the database, in this process.
pub(crate) struct Cohort {
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) name: Arc<str>,
    /// The number of waiters for `local`. A waiter is counted before it enqueues, and until after it has acquired `local` or has given up.
    waiting: AtomicUsize,
    pub(crate) local: Arc<Mutex<Local>>,
    #[cfg(feature = "observe")]
    _shown: waitword_observe::Name,
}

/// The request of this process, if there is one.
pub(crate) type Local = Option<Hold>;

/// The request of this process, and its tenure from its first guard on.
pub(crate) struct Hold {
    request: Request,
    tenure: Option<Tenure>,
    /// The task that releases the lock when the tenure is over.
    timer: Option<AbortHandle>,
}

/// A hold of the database's lock.
struct Tenure {
    ends: Instant,
    /// The fencing number of the latest guard.
    fence: i64,
    /// The last fencing number that the database granted for this tenure.
    last: i64,
}

/// Holds the local mutex. Dropping it ends the turn.
pub(crate) struct Turn {
    pub(crate) cohort: Arc<Cohort>,
    /// `None` once the turn has ended.
    local: Option<OwnedMutexGuard<Local>>,
}

/// The parts of a guard: the turn, the granted request, and the fencing number.
pub(crate) struct Held {
    pub(crate) turn: Turn,
    pub(crate) requested: Arc<Requested>,
    pub(crate) fence: i64,
}

impl Cohort {
    pub(crate) fn new(sessions: &Arc<Sessions>, name: Arc<str>) -> Self {
        let local = Arc::<Mutex<Local>>::default();
        Self {
            #[cfg(feature = "observe")]
            _shown: waitword_observe::name(&*local, format!("{name} of PostgreSQL")),
            sessions: Arc::clone(sessions),
            name,
            waiting: 0.into(),
            local,
        }
    }

    /// Counts a local waiter until it is dropped.
    pub(crate) fn waiting(&self) -> Waiting<'_> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        Waiting(self)
    }

    /// Creates the turn of the caller, which has locked `local`.
    pub(crate) fn turn(self: &Arc<Self>, local: OwnedMutexGuard<Local>) -> Turn {
        Turn { cohort: Arc::clone(self), local: Some(local) }
    }

    fn has_waiters(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// Releases a request or a tenure that was passed to a waiter that is gone. If the mutex is locked, the end of that turn does so.
    fn release_left(&self) {
        let left = self.local.try_lock_owned();
        if let Some(left) = left.filter(|left| left.is_some()) {
            self.sessions.runtime.spawn(give_back(left));
        }
    }

    /// Releases the lock when its tenure is over, unless the local waiter to which it was passed has run. First waits for the grant, if the request is not
    /// granted yet.
    async fn end(self: Arc<Self>, requested: Arc<Requested>, ends: Option<Instant>) {
        if !matches!(requested.outcome.wait_async().await, Ok(Some(_))) {
            return;
        }
        let ends = ends.unwrap_or_else(|| Instant::now() + self.sessions.config.tenure.max(ADOPTION));
        tokio::time::sleep_until(ends.into()).await;
        let mut local = self.local.lock_owned_async().await;
        let is_same = |hold: &&mut Hold| Arc::ptr_eq(&hold.request.requested, &requested);
        if let Some(hold) = local.as_mut().filter(is_same) {
            // Otherwise `give_back` would abort this task.
            hold.timer = None;
            drop(give_back(local).await);
        }
    }
}

impl Turn {
    /// Acquires the database's lock, unless the tenure continues. Returns `None` if it would have to wait for a holder and `waits` is false.
    ///
    /// # Cancellation
    /// Dropping the future ends the turn.
    pub(crate) async fn enter(mut self, waits: bool) -> Result<Option<Held>, Error> {
        if let Some(over) = self.local.take_if(|local| local.as_ref().is_some_and(|hold| !hold.continues())) {
            // No guard holds the lock, so a loss is not reported.
            let given_back = self.cohort.sessions.runtime.spawn(give_back(over)).await;
            let (local, _) = given_back.map_err(|_| Error::RuntimeEnded)?;
            self.local = Some(local);
        }
        let is_adopted = |hold: &Hold| !hold.request.requested.outcome.is_set();
        if !waits && self.local().as_ref().is_some_and(is_adopted) {
            // The process waits in the database's queue already.
            return Ok(None);
        }
        loop {
            let (session, requested) = self.request(waits).await?;
            let granted = match requested.outcome.wait_async().await {
                Ok(granted) => requested.check().map(|()| *granted).map_err(Error::from),
                Err(error) => Err(error.clone()),
            };
            match granted {
                Ok(Some(first)) => return Ok(Some(self.held(requested, first))),
                Ok(None) if !waits => {
                    *self.local() = None;
                    return Ok(None);
                }
                // The adopted request was that of a dropped attempt, which did not wait.
                Ok(None) => *self.local() = None,
                Err(error) => {
                    *self.local() = None;
                    self.cohort.sessions.retry(&session, error).await?;
                }
            }
        }
    }

    /// Returns the session and the request of the process. Sends a new request if there is none.
    async fn request(&mut self, waits: bool) -> Result<(Arc<Session>, Arc<Requested>), Error> {
        if self.local().is_none() {
            let session = self.cohort.sessions.current().await?;
            let request = Request::send(&session, &self.cohort.name, waits);
            *self.local() = Some(Hold { request, tenure: None, timer: None });
        }
        let Request { session, requested, .. } = &self.local().as_ref().expect("made just now").request;
        Ok((Arc::clone(session), Arc::clone(requested)))
    }

    /// Creates the next guard of the tenure. The first one begins the tenure.
    fn held(mut self, requested: Arc<Requested>, first: i64) -> Held {
        let ends = Instant::now() + self.cohort.sessions.config.tenure;
        let hold = self.local().as_mut().expect("it was granted");
        let begins = || Tenure { ends, fence: first - 1, last: first.saturating_add(NUMBERS - 1) };
        let tenure = hold.tenure.get_or_insert_with(begins);
        tenure.fence += 1;
        let fence = tenure.fence;
        Held { turn: self, requested, fence }
    }

    /// Ends the turn. Passes the lock, or the request for it, to the next local waiter. If there is none, or the tenure is over, a task releases it.
    pub(crate) fn end(&mut self) -> Option<GivingBack> {
        let mut local = self.local.take()?;
        let hold = local.as_mut()?;
        if !self.cohort.has_waiters() || !hold.continues() {
            return Some(self.cohort.sessions.runtime.spawn(give_back(local)));
        }
        if hold.timer.is_none() {
            let ends = hold.tenure.as_ref().map(|tenure| tenure.ends);
            let end = Arc::clone(&self.cohort).end(Arc::clone(&hold.request.requested), ends);
            hold.timer = Some(self.cohort.sessions.runtime.spawn(end).abort_handle());
        }
        drop(local);
        fence(Ordering::SeqCst); // (A)
        if !self.cohort.has_waiters() {
            self.cohort.release_left();
        }
        None
    }

    /// # Panics
    /// If the turn has ended.
    fn local(&mut self) -> &mut Local {
        self.local.as_mut().expect("the turn has not ended")
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // A loss is reported by `on_lost`.
        drop(self.end());
    }
}

impl Hold {
    /// Whether the next local waiter may use this request or tenure.
    fn continues(&self) -> bool {
        let is_over = |tenure: &Tenure| tenure.fence >= tenure.last || Instant::now() >= tenure.ends;
        !self.tenure.as_ref().is_some_and(is_over) && self.request.requested.check().is_ok()
    }
}

/// A release in progress. Its result includes the guard of the local mutex, which is unlocked when that is dropped.
pub(crate) type GivingBack = JoinHandle<(OwnedMutexGuard<Local>, Result<(), Lost>)>;

/// Ends the request. The mutex stays locked until the database has answered, so that the process has one request at a time. Must run as a task, because
/// the future must not be dropped.
async fn give_back(mut local: OwnedMutexGuard<Local>) -> (OwnedMutexGuard<Local>, Result<(), Lost>) {
    let Some(Hold { request, timer, .. }) = local.take() else { return (local, Ok(())) };
    if let Some(timer) = timer {
        timer.abort();
    }
    let released = request.release().await;
    (local, released)
}

/// Counts one local waiter until it is dropped.
pub(crate) struct Waiting<'a>(&'a Cohort);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.0.waiting.fetch_sub(1, Ordering::SeqCst) == 1 {
            fence(Ordering::SeqCst); // (A)
            self.0.release_left();
        }
    }
}
