//! The session of this process, and a new one in the place of one that ended.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::{Instant, sleep};
use tokio_postgres::Row;
use waitword::Mutex;

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
    /// Whoever finds that it ended replaces it; the others wait for the mutex meanwhile.
    current: Mutex<Arc<Session>>,
}

impl Sessions {
    pub(crate) async fn connect(config: Config) -> Result<Self, Error> {
        let (config, runtime) = (Arc::new(config), Handle::current());
        let current = Mutex::new(Session::open(&config, &runtime, None).await?);
        Ok(Self { config, runtime, current })
    }

    /// The session, as far as is known.
    ///
    /// # Errors
    /// At once, if the reason is not one that passes; otherwise after the configured time.
    pub(crate) async fn current(&self) -> Result<Arc<Session>, Error> {
        let mut current = self.current.lock_async().await;
        if current.why_ended().is_none() {
            return Ok(Arc::clone(&current));
        }
        let give_up = Instant::now() + self.config.reconnect_limit;
        let mut pause = SHORTEST;
        loop {
            match Session::open(&self.config, &self.runtime, Some(current.number)).await {
                Ok(session) => {
                    *current = Arc::clone(&session);
                    return Ok(session);
                }
                Err(error) if !error.may_pass() || Instant::now() + pause > give_up => return Err(error),
                Err(_) => sleep(pause).await,
            }
            pause = LONGEST.min(2 * pause);
        }
    }

    /// After an error of `session`: `Ok` if it ended, and the next one may do better.
    pub(crate) async fn retry(&self, session: &Session, error: Error) -> Result<(), Error> {
        if session.why_ended().is_none() {
            return Err(error);
        }
        // Sessions that live for moments only must not be made as fast as can be.
        sleep(SHORTEST).await;
        Ok(())
    }

    /// Runs a statement that may run twice: again with the next session, if this one ends.
    pub(crate) async fn call(&self, statement: &str, params: &[Param<'_>]) -> Result<Row, Error> {
        loop {
            let session = self.current().await?;
            match session.call(statement, params).await {
                Ok(row) => return Ok(row),
                Err(error) => self.retry(&session, error).await?,
            }
        }
    }
}
