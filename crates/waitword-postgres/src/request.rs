//! One request of this process for one lock, from before it is sent until it has ended. A granted request holds the lock.
//!
//! The request does not belong to the waiter that made it. A task sends it, and the holder of the local mutex waits for its outcome. The release is
//! sent after the answer to the request, so that the database never sees the two in another order. A request that has no permit yet is withdrawn
//! unsent.

use std::sync::Arc;

use tokio::task::JoinHandle;

use crate::error::Lost;
use crate::session::{Requested, Session, bool, int4, int8, text};

/// A request that may be granted. Dropping it releases it.
pub(crate) struct Request {
    pub(crate) session: Arc<Session>,
    pub(crate) requested: Arc<Requested>,
    /// The task that sends the request. It ends with the answer. `None` once the request is being released.
    sending: Option<JoinHandle<()>>,
}

impl Request {
    /// Enqueues the request in the database; or, unless `waits`, attempts to acquire the lock. The result is in [`Requested::outcome`].
    pub(crate) fn send(session: &Arc<Session>, name: &Arc<str>, waits: bool) -> Self {
        let requested = session.state.register(name);
        let sending = send(Arc::clone(session), Arc::clone(&requested), waits);
        let sending = Some(session.state.runtime.spawn(sending));
        Self { session: Arc::clone(session), requested, sending }
    }

    /// Removes the request from the database's queue, or releases the granted lock.
    ///
    /// # Cancellation
    /// The future must not be dropped, so it is awaited only in tasks.
    pub(crate) async fn release(mut self) -> Result<(), Lost> {
        match self.sending.take() {
            Some(sending) => release(&self.session, &self.requested, sending).await,
            None => Ok(()),
        }
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if let Some(sending) = self.sending.take() {
            let (session, requested) = (Arc::clone(&self.session), Arc::clone(&self.requested));
            let release = async move { release(&session, &requested, sending).await };
            self.session.state.runtime.spawn(release);
        }
    }
}

async fn send(session: Arc<Session>, requested: Arc<Requested>, waits: bool) {
    let permit = tokio::select! {
        biased;
        _ = requested.withdrawn.wait_async() => return,
        permit = session.permit() => permit,
    };
    let process = &session.state.config.process;
    let params =
        [int4(session.number), text(&requested.name), int8(requested.token), text(process), bool(waits)];
    let answer = session.run("SELECT waitword.request($1, $2, $3, $4, $5)", &params).await;
    drop(permit);
    match answer {
        Ok(row) => session.state.answered(&requested, row.get(0), waits),
        // The database refused the request, or the session has ended. There is nothing to release.
        Err(error) => session.state.refused(&requested, error),
    }
}

/// Only an answer of the database ends the request. Without an answer, the end of the session releases the lock and reports the loss.
async fn release(session: &Session, requested: &Requested, sending: JoinHandle<()>) -> Result<(), Lost> {
    // `Err`: withdrawn already.
    let _ = requested.withdrawn.set(());
    // `Err`: the runtime is ending, and the session with it.
    let _ = sending.await;
    if !session.state.begin_release(requested) {
        return requested.check();
    }
    let params = [int4(session.number), text(&requested.name), int8(requested.token)];
    match session.call("SELECT waitword.release($1, $2, $3)", &params).await {
        Ok(row) => session.state.released(requested, row.get(0)),
        Err(error) => {
            session.end(&error.to_string());
            Err(Lost::new(&requested.name, session.why_ended().unwrap_or_default()))
        }
    }
}
