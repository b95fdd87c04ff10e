//! The threads and tasks of this process that want one lock: a local queue in front of the database's.
//!
//! Whoever holds the local mutex has the *turn*, and acts for the process: it makes the one request that the process has in the database, and waits
//! for its outcome. The request stays in the local mutex: if the waiter gives up, the next local waiter adopts the request, with its position in the
//! database's queue. Granted, it is a *tenure*: a release hands the lock on locally, without a word to the database, for as long as the tenure lasts and
//! somebody waits (lock cohorting: Dice, Marathe and Shavit, PPoPP 2012). Then the database grants it to the next process.
//!
//! ```text
//!  local mutex   in it              what is the case
//!  free          nothing            nobody of this process has or wants the database's lock
//!  locked        nothing            a waiter is about to request it; or it is being given back
//!  locked        a request          a waiter waits in the database's queue
//!  locked        a tenure           a guard is out
//!  free          either             left to a local waiter that has not come yet
//! ```
//!
//! The last state must not last, because that waiter may be a future that is dropped, or that nobody polls. If it was the last waiter, its drop gives back
//! what was left. The drop and the end of a turn that leaves something may run at the same time; one of the two sees the other:
//!
//! ```text
//!  the end of a turn             the drop of the last waiter
//!  unlocks the mutex             counts itself out
//!  (A) fence                     (A) fence
//!  nobody waits? give back       mutex free, something in it? give back
//! ```
//!
//! For a waiter that nobody polls, the first turn that leaves something starts a task, which enqueues locally when the tenure is over, and gives the
//! lock back.

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

/// How long a lock that was granted to nobody is kept for the next local waiter, at least.
const ADOPTION: Duration = Duration::from_millis(10);

/// One lock, as this process sees it.
pub(crate) struct Cohort {
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) name: Arc<str>,
    /// How many wait for `local`. Counts a moment longer than they wait, never shorter.
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
    /// The task that gives it back when the tenure is over.
    timer: Option<AbortHandle>,
}

/// A hold of the database's lock.
struct Tenure {
    ends: Instant,
    /// Of the last guard.
    fence: i64,
    /// The last number that the database granted.
    last: i64,
}

/// The local mutex is locked by this, which ends the turn when it is dropped.
pub(crate) struct Turn {
    pub(crate) cohort: Arc<Cohort>,
    /// `None` once the turn has ended.
    local: Option<OwnedMutexGuard<Local>>,
}

/// What a guard consists of: the turn, the request that was granted, and the guard's number.
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

    /// The turn of whoever has locked `local`.
    pub(crate) fn turn(self: &Arc<Self>, local: OwnedMutexGuard<Local>) -> Turn {
        Turn { cohort: Arc::clone(self), local: Some(local) }
    }

    fn somebody_waits(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// Gives back what was left to a waiter that is gone. If the mutex is locked, the turn that has it sees to it.
    fn nobody_waits(&self) {
        let left = self.local.try_lock_owned();
        if let Some(left) = left.filter(|left| left.is_some()) {
            self.sessions.runtime.spawn(give_back(left));
        }
    }

    /// Gives the lock back when its tenure is over, if the local waiter to whom it was left has not come. The request may still have to be granted.
    async fn end(self: Arc<Self>, requested: Arc<Requested>, ends: Option<Instant>) {
        if !matches!(requested.outcome.wait_async().await, Ok(Some(_))) {
            return;
        }
        let ends = ends.unwrap_or_else(|| Instant::now() + self.sessions.config.tenure.max(ADOPTION));
        tokio::time::sleep_until(ends.into()).await;
        let mut local = self.local.lock_owned_async().await;
        let is_same = |hold: &&mut Hold| Arc::ptr_eq(&hold.request.requested, &requested);
        if let Some(hold) = local.as_mut().filter(is_same) {
            // This task is not to end itself.
            hold.timer = None;
            drop(give_back(local).await);
        }
    }
}

impl Turn {
    /// Acquires the database's lock, unless the tenure goes on. `None` if it would have to wait, and does not.
    ///
    /// # Cancellation
    /// Dropped, the future ends the turn.
    pub(crate) async fn enter(mut self, waits: bool) -> Result<Option<Held>, Error> {
        if let Some(over) = self.local.take_if(|local| local.as_ref().is_some_and(|hold| !hold.goes_on())) {
            // No guard has it, so a loss is reported to nobody.
            let given_back = self.cohort.sessions.runtime.spawn(give_back(over)).await;
            let (local, _) = given_back.map_err(|_| Error::RuntimeEnded)?;
            self.local = Some(local);
        }
        let is_adopted = |hold: &Hold| !hold.request.requested.outcome.is_set();
        if !waits && self.local().as_ref().is_some_and(is_adopted) {
            // The process waits in the database's queue.
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
                // An attempt that was dropped had asked.
                Ok(None) => *self.local() = None,
                Err(error) => {
                    *self.local() = None;
                    self.cohort.sessions.retry(&session, error).await?;
                }
            }
        }
    }

    /// The request of the process, or a new one.
    async fn request(&mut self, waits: bool) -> Result<(Arc<Session>, Arc<Requested>), Error> {
        if self.local().is_none() {
            let session = self.cohort.sessions.current().await?;
            let request = Request::send(&session, &self.cohort.name, waits);
            *self.local() = Some(Hold { request, tenure: None, timer: None });
        }
        let Request { session, requested, .. } = &self.local().as_ref().expect("made just now").request;
        Ok((Arc::clone(session), Arc::clone(requested)))
    }

    /// The next guard of the tenure, which begins with its first guard.
    fn held(mut self, requested: Arc<Requested>, first: i64) -> Held {
        let ends = Instant::now() + self.cohort.sessions.config.tenure;
        let hold = self.local().as_mut().expect("it was granted");
        let begins = || Tenure { ends, fence: first - 1, last: first.saturating_add(NUMBERS - 1) };
        let tenure = hold.tenure.get_or_insert_with(begins);
        tenure.fence += 1;
        let fence = tenure.fence;
        Held { turn: self, requested, fence }
    }

    /// Leaves the lock, or the request for it, to a local waiter. If there is none, or the tenure is over, a task gives it back.
    pub(crate) fn end(&mut self) -> Option<GivingBack> {
        let mut local = self.local.take()?;
        let hold = local.as_mut()?;
        if !self.cohort.somebody_waits() || !hold.goes_on() {
            return Some(self.cohort.sessions.runtime.spawn(give_back(local)));
        }
        if hold.timer.is_none() {
            let ends = hold.tenure.as_ref().map(|tenure| tenure.ends);
            let end = Arc::clone(&self.cohort).end(Arc::clone(&hold.request.requested), ends);
            hold.timer = Some(self.cohort.sessions.runtime.spawn(end).abort_handle());
        }
        drop(local);
        fence(Ordering::SeqCst); // (A)
        if !self.cohort.somebody_waits() {
            self.cohort.nobody_waits();
        }
        None
    }

    /// Not after its end.
    fn local(&mut self) -> &mut Local {
        self.local.as_mut().expect("the turn has not ended")
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // `on_lost` is told of a loss.
        drop(self.end());
    }
}

impl Hold {
    /// Whether the next local waiter may take it.
    fn goes_on(&self) -> bool {
        let is_over = |tenure: &Tenure| tenure.fence >= tenure.last || Instant::now() >= tenure.ends;
        !self.tenure.as_ref().is_some_and(is_over) && self.request.requested.check().is_ok()
    }
}

/// The local mutex comes back with the result, unlocked if nobody wants it.
pub(crate) type GivingBack = JoinHandle<(OwnedMutexGuard<Local>, Result<(), Lost>)>;

/// Ends the request. The mutex stays locked until the database has answered, so that the process has one request at a time. Runs as a task: it must not
/// be dropped.
async fn give_back(mut local: OwnedMutexGuard<Local>) -> (OwnedMutexGuard<Local>, Result<(), Lost>) {
    let Some(Hold { request, timer, .. }) = local.take() else { return (local, Ok(())) };
    if let Some(timer) = timer {
        timer.abort();
    }
    let released = request.release().await;
    (local, released)
}

/// Counts one local waiter.
pub(crate) struct Waiting<'a>(&'a Cohort);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.0.waiting.fetch_sub(1, Ordering::SeqCst) == 1 {
            fence(Ordering::SeqCst); // (A)
            self.0.nobody_waits();
        }
    }
}
