//! A lock with an expiry, which ends by itself if its holder hangs or is cut off.
//!
//! The database's clock decides when a lease has expired. The holder measures with its own monotonic clock, starting before each request is sent, and
//! regards the lease as lost after 49/50 of the term. So the holder considers the lease lost before the database can grant it to another, provided that
//!
//! - the holder's clock is less than 2% slower than the database's. The holder's wall clock is not read, so it may be hours off;
//! - the database's clock is not set forward, and a failover does not lead to a clock that is ahead;
//! - the holder's machine is not suspended, because its clock stops then. The clock of a process that is stopped (`SIGSTOP`, a long page fault)
//!   continues: the first `fence`, `check` or poll of `run` afterwards finds the lease expired.
//!
//! ```text
//!  holder      sent ──────────────────────────────── lost
//!  database          granted or renewed ────────────────── expired, may be granted to another
//! ```
//!
//! A holder can be stopped between reading the clock and its next action. Only the fencing number refuses that action.

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

/// The range of terms.
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The longest time that a waiter sleeps between two attempts, because the holder may release before the expiry.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// Returns the fencing number; or, negative, the milliseconds until the lease expires. If the schema has another version, `open` raises and has no
/// effect.
const TAKE: &str = "SELECT CASE WHEN waitword.version() = $4 THEN
    (SELECT coalesce(granted, -expires_in) FROM waitword.take_lease($1, $2, $3)) ELSE waitword.open($4::integer) END";

/// A lock that expires unless it is renewed. A background task renews it when about a third of its term has passed. Use a lease for holders
/// that may hang or be cut off, such as a leader for many hours. Its validity does not depend on a session: it survives reconnections.
///
/// Dropping the lease releases it in the background.
///
/// # Fairness
/// None. Waiters retry when the lease expires, and at least once per second, in no order. A release wakes none of them, so a holder that
/// acquires the lease again at once may keep the others out.
#[must_use = "dropping the lease releases it"]
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
    /// The expiry by this process's clock, which is before that by the database's.
    expiry: Mutex<Instant>,
    lost: OnceLock<Lost>,
}

impl Lease {
    /// Acquires the lease if it has expired. Otherwise returns the time until it expires.
    pub(crate) async fn take(
        source: &Source,
        name: &Arc<str>,
        term: Duration,
    ) -> Result<Result<Self, Duration>, Error> {
        if !(SHORTEST..=LONGEST).contains(&term) {
            return Err(Error::Term(term));
        }
        // The database counts whole milliseconds.
        let term = Duration::from_millis(term.as_millis() as u64);
        let mut values = vec![Value::Text(name.to_string()), Value::Text(source.process.to_string())];
        values.extend([Value::Int8(term.as_millis() as i64), Value::Int8(VERSION.into())]);
        let (its_source, its_name) = (source.clone(), Arc::clone(name));
        // If the caller was cancelled, the lease is dropped, which releases it.
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

    /// Acquires the lease, retrying until it has expired.
    pub(crate) async fn wait(source: &Source, name: &Arc<str>, term: Duration) -> Result<Self, Error> {
        loop {
            match Self::take(source, name, term).await? {
                Ok(lease) => return Ok(lease),
                Err(expires_in) => sleep(expires_in.min(ASK_AGAIN)).await,
            }
        }
    }

    /// Returns the name of the lease, with its namespace: the first argument of `waitword.check`.
    pub fn name(&self) -> &str {
        &self.state.name
    }

    /// Returns the fencing number, which is larger than those of all earlier leases and locks of this name.
    ///
    /// # Errors
    /// [`Lost`] if the lease was lost, or has expired by this process's clock.
    pub fn fence(&self) -> Result<i64, Lost> {
        self.state.check().map(|()| self.state.fence)
    }

    /// Checks the fencing number in the database, by `waitword.check`. Must be the first statement of each transaction that reads or writes the
    /// protected data ([why](crate#fencing)).
    ///
    /// # Errors
    /// - [`Error::Lost`] if the lease was lost, or if a larger number was checked before. Roll the transaction back.
    /// - Another [`Error`] if the statement failed.
    pub async fn check(&self, transaction: &mut (impl Transaction + ?Sized)) -> Result<(), Error> {
        pool::check(self.name(), self.fence()?, transaction).await
    }

    /// Waits until the lease is lost, because it could not be renewed before its expiry.
    ///
    /// # Cancellation
    /// Dropping the future has no effect. It can be created again.
    pub async fn lost(&self) -> Lost {
        self.state.lost.wait_async().await.clone()
    }

    /// Runs the future `section`, and drops it as soon as the lease is lost. The section is not polled after the expiry.
    ///
    /// # Errors
    /// [`Lost`] if the lease was lost. The section may have done part of its work.
    ///
    /// # Cancellation
    /// Dropping the future drops the section. The lease stays held.
    pub async fn run<F: Future>(&self, section: F) -> Result<F::Output, Lost> {
        let (mut lost, mut section) = (pin!(self.lost()), pin!(section));
        poll_fn(|cx| {
            // In a process that was stopped, this may run before the renewal task does.
            self.state.check()?;
            if let Poll::Ready(lost) = lost.as_mut().poll(cx) {
                return Poll::Ready(Err(lost));
            }
            section.as_mut().poll(cx).map(Ok)
        })
        .await
    }

    /// Releases the lease, so that other processes need not wait for its expiry. Waits for the database's answer.
    ///
    /// # Errors
    /// - [`Error::Lost`] if the lease was lost before.
    /// - Another [`Error`] if the database could not be reached. The lease then expires by itself.
    ///
    /// # Cancellation
    /// Dropping the future releases the lease in the background.
    pub async fn release_async(mut self) -> Result<(), Error> {
        let fence = self.fence();
        // Otherwise the renewal task would find that the lease has ended, and report a loss.
        self.renewal.abort();
        let state = Arc::clone(&self.state);
        let ended = end(&state).await;
        // If that failed or is cancelled, the drop ends it in the background. Ending it twice is harmless.
        self.is_ended = ended.is_ok();
        // A loss takes precedence over a failure to end the lease.
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

    /// Returns `Err` if the lease is lost. The first caller after the expiry reports the loss. A later renewal does not revoke it.
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

/// The part of a term that its holder counts on, because no two clocks run at exactly the same rate.
fn counted(term: Duration) -> Duration {
    term - term / 50
}

async fn end(state: &State) -> Result<(), Error> {
    const END: &str = "SELECT 0::bigint FROM waitword.end_lease($1, $2)";
    let values = vec![Value::Text(state.name.to_string()), Value::Int8(state.fence)];
    state.source.call(END, values, |_, _| ()).await
}

/// Renews at each third of the term, or up to a twelfth of the term earlier, so that many leases are not renewed at once. Retries more often while the
/// database does not answer.
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
        // A renewal whose answer arrived after the expiry does not count.
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
