//! A lock with an expiry, which ends by itself if its holder hangs or is cut off.
//!
//! The database's clock decides when a lease has expired. The holder counts with its own monotonic clock, from before each request was sent, and a
//! fiftieth of the term less. So it takes the lease for lost before the database can grant it to another, if
//!
//! - the holder's clock is slower than the database's by less than 2 in 100. No wall clock of the holder is read, so it may be hours off;
//! - the database's clock is not set forward, and does not fail over to one that is ahead;
//! - the holder's machine is not suspended, because its clock stands still then. A process that is stopped (`SIGSTOP`, a long page fault) has a
//!   clock that goes on: the first `fence`, `check` or poll of `run` after it finds that the time is up.
//!
//! ```text
//!  holder      sent ──────────────────────────────── lost
//!  database          granted or renewed ────────────────── expired, may be granted to another
//! ```
//!
//! A holder can be stopped between its look at the clock and what it does next. Only the fencing number refuses that.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout_at};
use waitword::OnceLock;

use crate::config::random;
use crate::error::{Error, Lost};
use crate::pool::{self, Transaction, Value};
use crate::session::VERSION;
use crate::source::Source;

/// The terms that there are.
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How long a waiter sleeps at the longest before it asks again: the holder may release early.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// The fencing number; or, negative, in how many milliseconds it expires. If the schema is of another version, `open` raises, and begins nothing.
const TAKE: &str = "SELECT CASE WHEN waitword.version() = $4 THEN
    (SELECT coalesce(granted, -expires_in) FROM waitword.take_lease($1, $2, $3)) ELSE waitword.open($4::integer) END";

/// A lock that expires unless it is renewed, which a task does at each third of its term. For holders that may hang or be cut off, such as a leader
/// of many hours; it does not depend on a session, and outlives reconnecting.
///
/// Waiters ask again when it expires, or each second, in no order. Dropped, it is given back in the background.
#[must_use = "the lease is given back when it is dropped"]
pub struct Lease {
    state: Arc<State>,
    renewal: AbortHandle,
    is_ended: bool,
}

struct State {
    source: Source,
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
        source: &Source,
        name: &Arc<str>,
        term: Duration,
    ) -> Result<Result<Self, Duration>, Error> {
        if !(SHORTEST..=LONGEST).contains(&term) {
            return Err(Error::Term(term));
        }
        // What the database counts.
        let term = Duration::from_millis(term.as_millis() as u64);
        let mut values = vec![Value::Text(name.to_string()), Value::Text(source.process.to_string())];
        values.extend([Value::Int8(term.as_millis() as i64), Value::Int8(VERSION.into())]);
        let (its_source, its_name) = (source.clone(), Arc::clone(name));
        // Dropped, because nobody awaits it any more, the lease is given back.
        let taken = move |sent: Instant, answer: i64| {
            if answer <= 0 {
                return Err(Duration::from_millis(answer.unsigned_abs()));
            }
            let (source, name) = (its_source.clone(), Arc::clone(&its_name));
            let (expiry, lost) = (Mutex::new(sent + counted(term)), OnceLock::new());
            let state = Arc::new(State { source, name, fence: answer, term, expiry, lost });
            let renewal = state.source.runtime.spawn(renew(Arc::clone(&state))).abort_handle();
            Ok(Self { state, renewal, is_ended: false })
        };
        source.call(TAKE, values, taken).await
    }

    /// Takes it, after it has expired.
    pub(crate) async fn wait(source: &Source, name: &Arc<str>, term: Duration) -> Result<Self, Error> {
        loop {
            match Self::take(source, name, term).await? {
                Ok(lease) => return Ok(lease),
                Err(expires_in) => sleep(expires_in.min(ASK_AGAIN)).await,
            }
        }
    }

    /// The name of the lease, with its namespace: what `waitword.check` is called with.
    pub fn name(&self) -> &str {
        &self.state.name
    }

    /// The fencing number, larger than those of all leases and locks of this name before it.
    ///
    /// # Errors
    /// The lease was lost, or its time is up by this process's clock.
    pub fn fence(&self) -> Result<i64, Lost> {
        self.state.check().map(|()| self.state.fence)
    }

    /// Shows the number to the database, as the first statement of a transaction that reads or writes what the lease protects: `waitword.check`
    /// ([how](crate#fencing)).
    ///
    /// # Errors
    /// [`Error::Lost`] if the lease was lost, or if a larger number was shown before: roll back. Or what the database says.
    pub async fn check(&self, transaction: &mut (impl Transaction + ?Sized)) -> Result<(), Error> {
        pool::check(self.name(), self.fence()?, transaction).await
    }

    /// Waits until the lease is lost: it could not be renewed before its expiry.
    pub async fn lost(&self) -> Lost {
        self.state.lost.wait_async().await.clone()
    }

    /// Runs a section, and drops it as soon as the lease is lost. It is not polled once the time is up.
    ///
    /// # Errors
    /// The lease was lost. The section may have done a part of its work.
    pub async fn run<F: Future>(&self, section: F) -> Result<F::Output, Lost> {
        let (mut lost, mut section) = (pin!(self.lost()), pin!(section));
        poll_fn(|cx| {
            // A process that was stopped may come here before the task that renews.
            self.state.check()?;
            if let Poll::Ready(lost) = lost.as_mut().poll(cx) {
                return Poll::Ready(Err(lost));
            }
            section.as_mut().poll(cx).map(Ok)
        })
        .await
    }

    /// Gives it back, so that another need not wait for its expiry.
    ///
    /// # Errors
    /// It was lost before; or the database cannot be asked, and it expires by itself.
    ///
    /// # Cancellation
    /// Dropped, the future gives it back in the background.
    pub async fn release_async(mut self) -> Result<(), Error> {
        let fence = self.fence();
        // It would find that the lease has ended, and tell of a loss.
        self.renewal.abort();
        let state = Arc::clone(&self.state);
        let ended = end(&state).await;
        // Until then, its drop does the same in the background; twice is once.
        self.is_ended = ended.is_ok();
        // Of a loss its user must know; of a failure to end it, less.
        fence?;
        ended
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.renewal.abort();
        if self.is_ended {
            return;
        }
        let state = Arc::clone(&self.state);
        self.state.source.runtime.spawn(async move { end(&state).await });
    }
}

impl State {
    fn expiry(&self) -> Instant {
        *self.expiry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whoever sees first that the time is up tells of the loss: no renewal takes it back.
    fn check(&self) -> Result<(), Lost> {
        if self.lost.get().is_none() && Instant::now() >= self.expiry() {
            self.lose("it was not renewed in time");
        }
        self.lost.get().map_or(Ok(()), |lost| Err(lost.clone()))
    }

    fn lose(&self, why: &str) {
        let lost = Lost::new(&self.name, why);
        if self.lost.set(lost.clone()).is_ok()
            && let Some(told) = self.source.on_lost.clone()
        {
            self.source.runtime.spawn(async move { told(&lost) });
        }
    }
}

/// How much of a term its holder counts on: no clock of two runs exactly as fast as the other.
fn counted(term: Duration) -> Duration {
    term - term / 50
}

async fn end(state: &State) -> Result<(), Error> {
    const END: &str = "SELECT 0::bigint FROM waitword.end_lease($1, $2)";
    let values = vec![Value::Text(state.name.to_string()), Value::Int8(state.fence)];
    state.source.call(END, values, |_, _| ()).await
}

/// Renews at each third of the term, or up to a twelfth earlier, so that many leases are not renewed at once; and more often while the database does not
/// answer.
async fn renew(state: Arc<State>) {
    const RENEW: &str = "SELECT waitword.renew_lease($1, $2, $3)::integer::bigint";
    let mut values = vec![Value::Text(state.name.to_string()), Value::Int8(state.fence)];
    values.push(Value::Int8(state.term.as_millis() as i64));
    let third = state.term / 3;
    loop {
        sleep(third - third.mul_f64((random() % 256) as f64 / 1024.0)).await;
        let renewal = async {
            loop {
                match state.source.renew(RENEW, &values, third).await {
                    Ok(renewed) => break renewed,
                    Err(_) => sleep(state.term / 20).await,
                }
            }
        };
        let renewed = timeout_at(state.expiry(), renewal).await;
        // An answer that came too late does not give the lease back.
        if state.check().is_err() {
            return;
        }
        match renewed {
            Ok((sent, 1)) => {
                *state.expiry.lock().unwrap_or_else(PoisonError::into_inner) = sent + counted(state.term);
            }
            _ => return state.lose("it had expired in the database"),
        }
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
