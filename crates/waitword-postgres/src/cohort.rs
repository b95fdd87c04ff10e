//! The threads and tasks of this process that want one lock: a local queue in front of the database's.
//!
//! Whoever holds the local mutex, and nobody else of the process, has a request in the database. A release hands the lock on locally, without a
//! word to the database, for as long as the *tenure* lasts and somebody waits (lock cohorting: Dice, Marathe and Shavit, PPoPP 2012). Then the
//! database grants it to the next process.
//!
//! ```text
//!  local mutex   tenure   what is the case
//!  free          none     nobody of this process has or wants the database's lock
//!  locked        none     one waiter of this process waits in the database's queue, or gives its lock back
//!  locked        some     a guard is out
//!  free          some     handed on to a local waiter that has not come yet
//! ```
//!
//! The last state must not last: the local waiter may be a future that is dropped, or that nobody polls. So the first handoff of a tenure starts a
//! task that enqueues locally when the time is up, and gives the lock back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use tokio::task::AbortHandle;
use waitword::{Mutex, OwnedMutexGuard};

use crate::error::{Error, Lost};
use crate::request::Request;
use crate::session::Session;
use crate::sessions::Sessions;

/// How many fencing numbers the database grants with the lock.
const NUMBERS: i64 = 1 << 20;

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

/// There while this process holds the database's lock.
pub(crate) type Local = Option<Tenure>;

/// A hold of the database's lock.
pub(crate) struct Tenure {
    request: Request,
    ends: Instant,
    /// Below `last`, which is the same for all guards of the tenure.
    fence: i64,
    last: i64,
    /// The task that ends it.
    timer: Option<AbortHandle>,
}

/// What a guard consists of: the local mutex is locked, and the tenure is there.
pub(crate) struct Held {
    pub(crate) local: OwnedMutexGuard<Local>,
    pub(crate) session: Arc<Session>,
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
        Waiting(&self.waiting)
    }

    /// Acquires the database's lock, unless the tenure goes on. `None` if it would have to wait, and does not.
    ///
    /// # Cancellation
    /// Dropped, the future leaves both queues.
    pub(crate) async fn enter(
        &self,
        mut local: OwnedMutexGuard<Local>,
        waits: bool,
    ) -> Result<Option<Held>, Error> {
        if local.as_ref().is_some_and(|tenure| !tenure.goes_on()) {
            // Nobody holds it, so a loss is told to nobody.
            let _ = give_back(&mut local).await;
        }
        if let Some(tenure) = &mut *local {
            tenure.fence += 1;
            let (session, fence) = (Arc::clone(tenure.request.session()), tenure.fence);
            return Ok(Some(Held { local, session, fence }));
        }
        let (session, granted) = loop {
            let session = self.sessions.current().await?;
            match Request::acquire(&session, &self.name, waits).await {
                Ok(granted) => break (session, granted),
                // Its place in the queue went with the session.
                Err(error) => self.sessions.retry(&session, error).await?,
            }
        };
        let Some((request, fence)) = granted else { return Ok(None) };
        let ends = Instant::now() + self.sessions.config.tenure;
        *local = Some(Tenure { request, ends, fence, last: fence.saturating_add(NUMBERS - 1), timer: None });
        Ok(Some(Held { local, session, fence }))
    }

    /// Releases: to a local waiter, or to the database.
    pub(crate) async fn release(self: Arc<Self>, mut local: OwnedMutexGuard<Local>) -> Result<(), Lost> {
        let somebody_waits = self.waiting.load(Ordering::SeqCst) > 0;
        match &mut *local {
            Some(tenure) if somebody_waits && tenure.goes_on() => {
                if tenure.timer.is_none() {
                    let end = Arc::clone(&self).end(tenure.ends, tenure.last);
                    tenure.timer = Some(self.sessions.runtime.spawn(end).abort_handle());
                }
                Ok(())
            }
            _ => give_back(&mut local).await,
        }
    }

    /// Gives the lock back when the time is up and the local waiter to whom it was handed on has not come.
    async fn end(self: Arc<Self>, time: Instant, last: i64) {
        tokio::time::sleep_until(time.into()).await;
        let mut local = self.local.lock_owned_async().await;
        if let Some(tenure) = local.as_mut().filter(|tenure| tenure.last == last) {
            // This task is not to end itself.
            tenure.timer = None;
            let _ = give_back(&mut local).await;
        }
    }
}

impl Tenure {
    fn goes_on(&self) -> bool {
        self.fence < self.last && Instant::now() < self.ends && self.request.check().is_ok()
    }
}

/// Ends the tenure, also if this future is dropped.
async fn give_back(local: &mut Local) -> Result<(), Lost> {
    let Some(tenure) = local.take() else { return Ok(()) };
    if let Some(timer) = &tenure.timer {
        timer.abort();
    }
    let lost = tenure.request.check();
    // The task ends without a result if the runtime does.
    let released = tenure.request.release().await.unwrap_or(Ok(()));
    lost.and(released)
}

/// Counts one local waiter.
pub(crate) struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
