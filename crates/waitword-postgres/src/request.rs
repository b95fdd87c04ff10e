//! One request of a session for one lock, from before it is sent until it has ended; granted, it holds the lock.
//!
//! Whoever drops it takes it back, at whatever moment: statements of a session run in the order in which they were sent, so the release comes
//! after the request, and a release of what never arrived does nothing.

use std::sync::Arc;

use tokio::task::JoinHandle;
use tokio_postgres::types::Type;
use waitword::OnceLock;

use crate::error::{Error, Lost};
use crate::session::{Param, Session};

/// A request that may be granted.
pub(crate) struct Request {
    session: Arc<Session>,
    name: Arc<str>,
    token: i64,
    granted: Arc<OnceLock<i64>>,
    is_over: bool,
}

impl Request {
    /// Waits in the database's queue, or returns `None` instead of waiting. The number is the first of the fencing numbers of this hold.
    ///
    /// # Cancellation
    /// Dropped, the future leaves the queue, or gives back what was granted.
    pub(crate) async fn acquire(
        session: &Arc<Session>,
        name: &Arc<str>,
        waits: bool,
    ) -> Result<Option<(Self, i64)>, Error> {
        let token = session.token();
        let granted = session.state.register(token, name);
        let mut request =
            Self { session: Arc::clone(session), name: Arc::clone(name), token, granted, is_over: false };
        let process = &*session.state.config.process;
        let row = session
            .call(
                "SELECT waitword.request($1, $2, $3, $4, $5)",
                &[
                    (&session.number, Type::INT4),
                    (&&**name, Type::TEXT),
                    (&token, Type::INT8),
                    (&process, Type::TEXT),
                    (&waits, Type::BOOL),
                ],
            )
            .await
            .inspect_err(|_| {
                // The database refused it, or the session has ended: there is nothing to take back.
                request.is_over = true;
                session.state.forget(token);
            })?;
        match row.get(0) {
            Some(fence) => session.state.grant(token, fence),
            None if !waits => {
                request.is_over = true;
                session.state.forget(token);
                return Ok(None);
            }
            None => {}
        }
        // If the session has ended, no grant comes any more; one that came before is not to be used.
        tokio::select! {
            biased;
            why = session.ended() => Err(Error::Lost(Lost::new(name, why))),
            fence = request.granted.wait_async() => {
                let fence = *fence;
                Ok(Some((request, fence)))
            }
        }
    }

    /// `Err` once the session has ended, and the lock is lost.
    pub(crate) fn check(&self) -> Result<(), Lost> {
        self.session.why_ended().map_or(Ok(()), |why| Err(Lost::new(&self.name, why)))
    }

    /// The lock for which this is asked, and its session.
    pub(crate) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// Releases the lock in a task of its own, which goes on if the handle is dropped.
    pub(crate) fn release(mut self) -> JoinHandle<Result<(), Lost>> {
        self.end()
    }

    fn end(&mut self) -> JoinHandle<Result<(), Lost>> {
        self.is_over = true;
        let (session, name, token) = (Arc::clone(&self.session), Arc::clone(&self.name), self.token);
        self.session.state.runtime.spawn(release(session, name, token))
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if !self.is_over {
            drop(self.end());
        }
    }
}

/// Only an answer of the database lets the request go: if there is none, the end of the session releases the lock, and tells of it.
async fn release(session: Arc<Session>, name: Arc<str>, token: i64) -> Result<(), Lost> {
    let lock = &*name;
    let params: [Param<'_>; 3] = [(&session.number, Type::INT4), (&lock, Type::TEXT), (&token, Type::INT8)];
    match session.call("SELECT waitword.release($1, $2, $3)", &params).await {
        Ok(row) => {
            let was_granted = session.state.forget(token);
            if !was_granted || row.get(0) {
                return Ok(());
            }
            let lost = Lost::new(&name, "the database has no such holder");
            session.state.tell(lost.clone());
            Err(lost)
        }
        Err(error) => {
            session.end(&error.to_string());
            Err(Lost::new(&name, session.why_ended().unwrap_or_default()))
        }
    }
}
