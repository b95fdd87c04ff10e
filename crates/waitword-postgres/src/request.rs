//! One request of this process for one lock, from before it is sent until it has ended; granted, it holds the lock.
//!
//! It does not belong to the waiter for whom it is made: a task sends it, and whoever has the local mutex waits for its outcome. The release follows the
//! answer to the request, so that the database never sees the two in another order; a request that has no place yet is withdrawn unsent.

use std::sync::Arc;

use tokio::task::JoinHandle;

use crate::error::Lost;
use crate::session::{Requested, Session, bool, int4, int8, text};

/// A request that may be granted. Dropped, it is released.
pub(crate) struct Request {
    pub(crate) session: Arc<Session>,
    pub(crate) requested: Arc<Requested>,
    /// Ends with the answer. `None` once it is being released.
    sending: Option<JoinHandle<()>>,
}

impl Request {
    /// Enqueues in the database, or asks for the lock as it is now if it does not wait. [`Requested::outcome`] says what came of it.
    pub(crate) fn send(session: &Arc<Session>, name: &Arc<str>, waits: bool) -> Self {
        let requested = session.state.register(name);
        let sending = send(Arc::clone(session), Arc::clone(&requested), waits);
        let sending = Some(session.state.runtime.spawn(sending));
        Self { session: Arc::clone(session), requested, sending }
    }

    /// Leaves the database's queue, or gives back what was granted.
    ///
    /// # Cancellation
    /// Must not be dropped: it is for tasks.
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
    let place = tokio::select! {
        biased;
        _ = requested.withdrawn.wait_async() => return,
        place = session.place() => place,
    };
    let process = &session.state.config.process;
    let params =
        [int4(session.number), text(&requested.name), int8(requested.token), text(process), bool(waits)];
    let answer = session.run("SELECT waitword.request($1, $2, $3, $4, $5)", &params).await;
    drop(place);
    match answer {
        Ok(row) => session.state.answered(&requested, row.get(0), waits),
        // The database refused it, or the session has ended: there is nothing to take back.
        Err(error) => session.state.refused(&requested, error),
    }
}

/// Only an answer of the database ends the request: without one, the end of the session releases the lock, and reports the loss.
async fn release(session: &Session, requested: &Requested, sending: JoinHandle<()>) -> Result<(), Lost> {
    // The first one does it.
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
