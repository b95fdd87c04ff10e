//! The session of this process, and a new one in the place of one that ended.

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

/// What all locks of a [`Cluster`](crate::Cluster) share.
pub(crate) struct Sessions {
    pub(crate) config: Arc<Config>,
    pub(crate) runtime: Handle,
    current: Mutex<Current>,
}

struct Current {
    /// The last session that there was.
    last: Arc<Session>,
    /// Where the next one appears, or why there is none. A task of its own makes it, and not one of those who wait for it: they may give up, or not be
    /// polled.
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

    /// The session, as far as is known.
    ///
    /// # Errors
    /// At once, if the reason is not one that passes; otherwise after the configured time.
    pub(crate) async fn current(&self) -> Result<Arc<Session>, Error> {
        let next = self.next();
        next.wait_async().await.clone()
    }

    /// The session, or the attempt to connect that goes on, or a new one.
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

    /// Panics in a task, before it is blocked, and says what to use `instead`.
    pub(crate) fn may_block(&self, instead: &str) {
        let is_task = catch_unwind(AssertUnwindSafe(|| self.runtime.block_on(async {}))).is_err();
        assert!(!is_task, "a task must not block its thread: use {instead} here");
    }

    /// After an error of `session`: `Ok` if it ended, and the next one may do better, or if the database has lost the request alone.
    pub(crate) async fn retry(&self, session: &Session, error: Error) -> Result<(), Error> {
        if session.why_ended().is_none() && !matches!(error, Error::Lost(_)) {
            return Err(error);
        }
        // Sessions that live for moments only must not be made as fast as can be.
        sleep(SHORTEST).await;
        Ok(())
    }

    /// Runs a statement that may run twice: again with the next session, if this one ends. Returns what `made` makes of the answer.
    ///
    /// # Cancellation
    /// Dropped before the statement has its place, the future sends nothing. Afterwards the statement runs, and what was made is dropped.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        statement: &'static str,
        params: Vec<Param>,
        made: impl Fn(Row) -> T + Clone + Send + 'static,
    ) -> Result<T, Error> {
        let params = Arc::new(params);
        loop {
            let session = self.current().await?;
            let place = session.place().await;
            let (runs, params, made) = (Arc::clone(&session), Arc::clone(&params), made.clone());
            let answer = self.runtime.spawn(async move {
                let answer = runs.run(statement, &params).await;
                drop(place);
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

/// Replaces a session. Those who wait are told in any case: a runtime that ends drops its tasks.
struct Replaces(Arc<Next>);

impl Replaces {
    async fn run(self, config: Arc<Config>, runtime: Handle, last: Arc<Session>) {
        let start = Instant::now();
        let give_up = start + config.reconnect_limit;
        let mut pause = SHORTEST;
        let next = loop {
            match Session::open(&config, &runtime, Some(&last)).await {
                // The cell's other owner is the cluster: without it nobody wants a session.
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
        // `Err`: it was told how it went.
        let _ = self.0.set(Err(Error::RuntimeEnded));
    }
}
