//! A lock with an expiry, which ends by itself if its holder hangs or is cut off.
//!
//! The database's clock decides. The holder counts with its own clock, from before each renewal was sent: so it takes the lease for lost no later
//! than the database does, as long as both clocks run equally fast. The holder's stands still while its machine is suspended: then only what the
//! lease protects knows, by the fencing number.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_postgres::Row;
use waitword::OnceLock;

use crate::error::{Error, Lost};
use crate::session::{int8, text};
use crate::sessions::Sessions;

/// No term is longer.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How long a waiter sleeps at the longest before it asks again: the holder may release early.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// A lock that expires unless it is renewed, which a task does at each third of its term. For holders that may hang or be cut off, such as a leader
/// of many hours; it does not depend on a session, and outlives reconnecting.
///
/// Waiters ask again when it expires, or each second, in no order. Dropped, it is given back in the background.
#[must_use = "the lease is given back when it is dropped"]
pub struct Lease {
    state: Arc<State>,
    renewal: AbortHandle,
}

struct State {
    sessions: Arc<Sessions>,
    name: Arc<str>,
    fence: i64,
    term: Duration,
    /// Before the database's.
    expiry: Mutex<Instant>,
    lost: OnceLock<Lost>,
}

impl Lease {
    /// Takes it if it has expired. Otherwise, returns when it will.
    pub(crate) async fn take(
        sessions: &Arc<Sessions>,
        name: &Arc<str>,
        term: Duration,
    ) -> Result<Result<Self, Duration>, Error> {
        let (sent, term) = (Instant::now(), term.min(LONGEST));
        let params = vec![text(name), text(&sessions.config.process), int8(term.as_millis() as i64)];
        let (its_sessions, name) = (Arc::clone(sessions), Arc::clone(name));
        // Dropped, because nobody awaits it any more, the lease is given back.
        let taken = move |row: Row| {
            let Some(fence) = row.get::<_, Option<i64>>(0) else {
                return Err(Duration::from_millis(row.get::<_, i64>(1).unsigned_abs()));
            };
            let (sessions, name, expiry) =
                (Arc::clone(&its_sessions), Arc::clone(&name), Mutex::new(sent + term));
            let state = Arc::new(State { sessions, name, fence, term, expiry, lost: OnceLock::new() });
            let renewal = state.sessions.runtime.spawn(renew(Arc::clone(&state))).abort_handle();
            Ok(Self { state, renewal })
        };
        sessions.call("SELECT * FROM waitword.take_lease($1, $2, $3)", params, taken).await
    }

    /// Takes it, after it has expired.
    pub(crate) async fn wait(
        sessions: &Arc<Sessions>,
        name: &Arc<str>,
        term: Duration,
    ) -> Result<Self, Error> {
        loop {
            match Self::take(sessions, name, term).await? {
                Ok(lease) => return Ok(lease),
                Err(expires_in) => sleep(expires_in.min(ASK_AGAIN)).await,
            }
        }
    }

    /// The fencing number, larger than those of all leases and locks of this name before it.
    ///
    /// # Errors
    /// The lease was lost, or its time is up by this process's clock.
    pub fn fence(&self) -> Result<i64, Lost> {
        match self.state.lost.get() {
            Some(lost) => Err(lost.clone()),
            None if Instant::now() < self.state.expiry() => Ok(self.state.fence),
            None => Err(Lost::new(&self.state.name, "its time is up")),
        }
    }

    /// Waits until the lease is lost: it could not be renewed before its expiry.
    pub async fn lost(&self) -> Lost {
        self.state.lost.wait_async().await.clone()
    }

    /// Runs a section, and drops it as soon as the lease is lost.
    ///
    /// # Errors
    /// The lease was lost. The section may have done a part of its work.
    pub async fn run<F: Future>(&self, section: F) -> Result<F::Output, Lost> {
        tokio::select! {
            biased;
            lost = self.lost() => Err(lost),
            done = section => Ok(done),
        }
    }

    /// Gives it back, so that another need not wait for its expiry.
    ///
    /// # Errors
    /// It was lost before; or the database cannot be asked, and it expires by itself.
    ///
    /// # Cancellation
    /// Dropped, the future gives it back in the background.
    pub async fn release_async(self) -> Result<(), Error> {
        let fence = self.fence();
        // It would find that the lease has ended, and tell of a loss.
        self.renewal.abort();
        let state = Arc::clone(&self.state);
        // Its drop does the same in the background; twice is once.
        end(&state).await?;
        Ok(fence.map(drop)?)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.renewal.abort();
        let state = Arc::clone(&self.state);
        self.state.sessions.runtime.spawn(async move { end(&state).await });
    }
}

impl State {
    fn expiry(&self) -> Instant {
        *self.expiry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn end(state: &State) -> Result<(), Error> {
    let params = vec![text(&state.name), int8(state.fence)];
    state.sessions.call("SELECT waitword.end_lease($1, $2)", params, drop).await
}

/// Renews at each third of the term, and more often while the database does not answer.
async fn renew(state: Arc<State>) {
    const RENEW: &str = "SELECT waitword.renew_lease($1, $2, $3)";
    let params = [text(&state.name), int8(state.fence), int8(state.term.as_millis() as i64)];
    let why = loop {
        sleep(state.term / 3).await;
        let renewal = async {
            loop {
                let sent = Instant::now();
                // It needs no place: statements that have none yet come later.
                let renewed = async { state.sessions.current().await?.run(RENEW, &params).await };
                match renewed.await {
                    Ok(row) => break row.get::<_, bool>(0).then_some(sent + state.term),
                    Err(_) => sleep(state.term / 20).await,
                }
            }
        };
        match timeout_at(state.expiry(), renewal).await {
            Ok(Some(expiry)) => *state.expiry.lock().unwrap_or_else(PoisonError::into_inner) = expiry,
            Ok(None) => break "it had expired in the database",
            Err(_) => break "it could not be renewed in time",
        }
    };
    let lost = Lost::new(&state.name, why);
    // Nobody else sets it.
    let _ = state.lost.set(lost.clone());
    if let Some(told) = &state.sessions.config.on_lost {
        told(&lost);
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("name", &self.state.name)
            .field("fence", &self.state.fence)
            .field("is_lost", &self.fence().is_err())
            .finish_non_exhaustive()
    }
}
