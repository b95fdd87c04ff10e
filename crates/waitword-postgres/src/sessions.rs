//! The session of this process, and its replacement when it has ended.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::{Instant, sleep};
use tokio_postgres::Row;
use waitword::OnceLock;

use crate::config::Config;
use crate::error::Error;
use crate::session::{Param, Session};

/// The pauses between attempts to connect.
const SHORTEST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_secs(1);

/// What all locks and leases of a [`Cluster`](crate::Cluster) share.
pub(crate) struct Sessions {
    pub(crate) config: Arc<Config>,
    pub(crate) runtime: Handle,
    current: Mutex<Current>,
}

struct Current {
    /// The latest session, which may have ended.
    last: Arc<Session>,
    /// Receives the next session, or the reason why there is none. A task of its own connects, because a waiter may give up or not be polled.
    next: Arc<Next>,
}

type Next = OnceLock<Result<Arc<Session>, Error>>;

impl Sessions {
    pub(crate) async fn connect(config: Config) -> Result<Self, Error> {
        let (config, runtime) = (Arc::new(config), Handle::current());
        let last = Session::open(&config, &runtime, None).await?;
        let next = Arc::new(OnceLock::with_value(Ok(Arc::clone(&last))));
        Ok(Self { config, runtime, current: Mutex::new(Current { last, next }) })
    }

    /// Returns a session that has not ended, as far as is known. Waits for a new one if necessary.
    ///
    /// # Errors
    /// At once if the reason is permanent; otherwise after [`Config::reconnect_limit`].
    pub(crate) async fn current(&self) -> Result<Arc<Session>, Error> {
        let next = self.next();
        next.wait_async().await.clone()
    }

    /// The current session, the attempt to connect that is in progress, or a new attempt.
    fn next(&self) -> Arc<Next> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        match current.next.get() {
            None => return Arc::clone(&current.next),
            Some(Ok(session)) if session.why_ended().is_none() => return Arc::clone(&current.next),
            Some(Ok(session)) => current.last = Arc::clone(session),
            Some(Err(_)) => {}
        }
        current.next = Arc::default();
        let replaces = Replaces(Arc::clone(&current.next));
        self.runtime.spawn(replaces.run(
            Arc::clone(&self.config),
            self.runtime.clone(),
            Arc::clone(&current.last),
        ));
        Arc::clone(&current.next)
    }

    /// Panics if called in a task, which must not block. The message names the method to use `instead`.
    pub(crate) fn may_block(&self, instead: &str) {
        let is_task = catch_unwind(AssertUnwindSafe(|| self.runtime.block_on(async {}))).is_err();
        assert!(!is_task, "would block, and a task must not block its thread: use `{instead}` here");
    }

    /// Returns `Ok` after an error of `session` if a retry may succeed: the session has ended, or the database has lost this request alone.
    pub(crate) async fn retry(&self, session: &Session, error: Error) -> Result<(), Error> {
        if session.why_ended().is_none() && !matches!(error, Error::Lost(_)) {
            return Err(error);
        }
        // Limits the rate of new sessions if each ends right after it began.
        sleep(SHORTEST).await;
        Ok(())
    }

    /// Runs a statement that may run twice: it is repeated on the next session if this one ends. Returns the result of `made` for the answer.
    ///
    /// # Cancellation
    /// If the future is dropped before the statement has its permit, nothing is sent. Afterwards the statement runs to its end, and the result of
    /// `made` is dropped.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        statement: &'static str,
        params: Vec<Param>,
        made: impl Fn(Row) -> T + Clone + Send + 'static,
    ) -> Result<T, Error> {
        let params = Arc::new(params);
        loop {
            let session = self.current().await?;
            let permit = session.permit().await;
            let (runs, params, made) = (Arc::clone(&session), Arc::clone(&params), made.clone());
            let answer = self.runtime.spawn(async move {
                let answer = runs.run(statement, &params).await;
                drop(permit);
                answer.map(made)
            });
            // `Err`: the runtime is ending.
            match answer.await.unwrap_or(Err(Error::RuntimeEnded)) {
                Ok(made) => return Ok(made),
                Err(error) => self.retry(&session, error).await?,
            }
        }
    }
}

/// Replaces a session. Its drop informs the waiters too, because a runtime that ends drops its tasks.
struct Replaces(Arc<Next>);

impl Replaces {
    async fn run(self, config: Arc<Config>, runtime: Handle, last: Arc<Session>) {
        let start = Instant::now();
        let give_up = start + config.reconnect_limit;
        let mut pause = SHORTEST;
        let next = loop {
            match Session::open(&config, &runtime, Some(&last)).await {
                // The cell's other owners are the cluster and the waiters. Without them nobody needs a session.
                Err(error)
                    if error.may_pass()
                        && Instant::now() + pause <= give_up
                        && Arc::strong_count(&self.0) > 1 =>
                {
                    sleep(pause).await;
                }
                Err(Error::Unreachable(_, why)) => break Err(Error::Unreachable(start.elapsed(), why)),
                done => break done,
            }
            pause = LONGEST.min(2 * pause);
        };
        let _ = self.0.set(next);
    }
}

impl Drop for Replaces {
    fn drop(&mut self) {
        // `Err`: `run` has set the result already.
        let _ = self.0.set(Err(Error::RuntimeEnded));
    }
}
