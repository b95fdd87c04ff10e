//! One connection to PostgreSQL, which carries all requests and all locks of a process.
//!
//! No statement waits for a lock: a request enqueues and returns, and its grant arrives as a notification. So one session is enough for any number of
//! locks and waiters. But when the session ends, the process loses all its locks. The session ends
//!
//! - if the connection ends,
//! - if the database owes an answer and sends nothing for [`Config::answer_limit`],
//! - if the server process is not the session's own.
//!
//! A statement each second makes sure that this is noticed.
//!
//! The server runs one statement after the other. So a session sends only [`MAX_SENT`] at a time; the others wait for a permit. A waiter that gives
//! up removes its unsent statement, and the renewal of a lease, which needs no permit, follows a few statements at most.
//!
//! ```text
//!  a request              in `requests`             `outcome`       `lost`
//!  not answered yet       yes                       empty           empty
//!  waits                  yes, in the database      empty           empty
//!  holds the lock         yes, in the database      Ok(a number)    empty
//!  is being released      yes                       any of these    empty
//!  refused, or the lock was held and it does not wait
//!                         no                        Err, Ok(None)   empty
//!  lost                   no                        Err if it had waited, and `lost` if it had held
//! ```
//!
//! A request is lost at the end of the session, or when the database does not have it any more. If it held the lock, `on_lost` is called. A grant
//! that arrives after the loss finds no token.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::sleep;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, Connection, Row, Socket};
use waitword::{OnceLock, OwnedSemaphorePermit, Semaphore};

use crate::config::{Config, Connector, random};
use crate::error::{Error, Lost, chain, ends_session, is_interrupted};

type Stream = <Connector as MakeTlsConnect<Socket>>::Stream;

/// A value of a statement, with its type, so that the client need not ask the server for the type.
pub(crate) type Param = (Box<dyn ToSql + Sync + Send>, Type);

/// The version of `schema.sql`.
pub(crate) const VERSION: i32 = 2;

/// The maximum number of statements that are sent and not answered: enough for a round trip of some milliseconds, and few enough not to delay the
/// renewals that follow them.
const MAX_SENT: usize = 16;

/// The reason of a loss if the database does not have the request any more while its session is alive.
const GONE: &str = "the row of the lock was deleted or changed";

/// The interval at which a session checks whether holders that it waits for have ended, and whether it is alive itself.
const WATCH: Duration = Duration::from_secs(1);

/// The settings that the functions of the schema need, whatever the role, the database and the server have set. The keepalive settings make the server
/// notice a client whose machine vanished while it waits for a statement. (`transaction_timeout` exists since PostgreSQL 17.)
pub(crate) const SETTINGS: &str = "
    SET statement_timeout = 0; SET lock_timeout = 0; SET idle_session_timeout = 0; SET idle_in_transaction_session_timeout = 0;
    SELECT set_config(name, '0', false) FROM pg_catalog.pg_settings WHERE name = 'transaction_timeout';
    SET default_transaction_isolation = 'read committed'; SET default_transaction_read_only = off; SET search_path = pg_catalog;
    SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 5; SET tcp_user_timeout = 10000;
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

/// A statement that waits for a locked row is cancelled after this time and sent again. Other statements of the session run in between, and their
/// answers show that the database is alive.
const ROW_LIMIT: Duration = Duration::from_millis(250);

/// Begins a session. Also returns a unique name of its server process: the process id and the start time, because process ids recur.
const BEGIN: &str = "SELECT waitword.open($1), pid || ' ' || extract(epoch FROM backend_start)
    FROM pg_stat_activity WHERE pid = pg_backend_pid()";

/// Terminates the previous session, which may still be alive in the server if only its connection was cut. The advisory lock shows that a pooler has
/// not given its server process to another client since. The session number alone would not do, because other databases of the server use the same
/// numbers.
const END_PREVIOUS: &str = "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND classid = 2002876276 AND objid = $1 AND objsubid = 2 AND mode = 'ExclusiveLock' AND granted
    AND pid || ' ' || extract(epoch FROM backend_start) = $2";

/// Whether the server process is that of the session with this number. A pooler that assigns server processes per transaction gives the session's idle
/// one to the next client, or gives the session another one.
const MEETS: &str = "SELECT current_setting('waitword.session', true) IS NOT DISTINCT FROM $1";

/// The number of parts in which the limit of an answer is waited for.
const PARTS: u32 = 8;

/// See the header of this file.
pub(crate) struct Session {
    /// The number that `waitword.open` returned.
    pub(crate) number: i32,
    /// The server process: its id and start time.
    process: String,
    client: Client,
    pub(crate) state: Arc<State>,
    permits: Arc<Semaphore>,
    connection: Connected,
}

/// What the session shares with the task that drives its connection.
pub(crate) struct State {
    /// Why the session ended.
    ended: OnceLock<Arc<str>>,
    /// The number of answers and grants received.
    heard: AtomicU64,
    requests: Mutex<HashMap<i64, Entry>>,
    pub(crate) config: Arc<Config>,
    pub(crate) runtime: Handle,
}

struct Entry {
    requested: Arc<Requested>,
    /// The request is in the database, and is not being released.
    is_in_database: bool,
}

/// The state of a request.
pub(crate) struct Requested {
    pub(crate) name: Arc<str>,
    /// Identifies the request in its session. Random, because any role can send a notification that looks like a grant.
    pub(crate) token: i64,
    /// The first fencing number of the hold. `None`: the lock is held by another, and the request does not wait.
    pub(crate) outcome: OnceLock<Result<Option<i64>, Error>>,
    /// Set when a request that held the lock has lost it.
    pub(crate) lost: OnceLock<Lost>,
    /// Set to keep a request that has no permit yet from being sent.
    pub(crate) withdrawn: OnceLock<()>,
}

impl Requested {
    /// `Err` once the lock is lost.
    pub(crate) fn check(&self) -> Result<(), Lost> {
        self.lost.get().map_or(Ok(()), |lost| Err(lost.clone()))
    }

    fn is_granted(&self) -> bool {
        matches!(self.outcome.get(), Some(Ok(Some(_))))
    }
}

impl Session {
    /// Connects, and begins a session in place of `previous`.
    pub(crate) async fn open(
        config: &Arc<Config>,
        runtime: &Handle,
        previous: Option<&Self>,
    ) -> Result<Arc<Self>, Error> {
        let start = Instant::now();
        let of = |error| Error::of(error, start);
        let open = |host: tokio_postgres::Config| async move {
            let (client, connection) = host.connect(config.connector()).await.map_err(of)?;
            let state = Arc::new(State {
                ended: OnceLock::new(),
                heard: AtomicU64::new(0),
                requests: Mutex::default(),
                config: Arc::clone(config),
                runtime: runtime.clone(),
            });
            let task = runtime.spawn(listen(connection, Arc::clone(&state)));
            let connection = Connected(task.abort_handle());
            let row_limit = ROW_LIMIT.min(config.answer_limit / 4).as_millis().max(1);
            client.batch_execute(SETTINGS).await.map_err(of)?;
            client.batch_execute(&format!("SET lock_timeout = {row_limit}")).await.map_err(of)?;
            let begun = client.query_typed_one(BEGIN, &[(&VERSION, Type::INT4)]).await.map_err(of)?;
            let (number, process): (i32, _) = (begun.get(0), begun.get(1));
            if previous.is_none()
                && (meets(&host, config, number).await || !is_in(&client, number).await.map_err(of)?)
            {
                return Err(Error::SharedSession);
            }
            if let Some(previous) = previous {
                let (number, process) = (i64::from(previous.number), &previous.process);
                // If the role may not terminate it, the server has to notice by itself.
                let _ =
                    client.query_typed(END_PREVIOUS, &[(&number, Type::INT8), (process, Type::TEXT)]).await;
            }
            let permits = Arc::new(Semaphore::new(MAX_SENT));
            Ok(Arc::new(Self { number, process, client, state, permits, connection }))
        };
        let session = config.at_first_host(open).await?;
        runtime.spawn(watch(Arc::downgrade(&session)));
        Ok(session)
    }

    /// Waits until a statement may be sent. Keep the permit until its answer arrives.
    pub(crate) async fn permit(&self) -> OwnedSemaphorePermit {
        self.permits.acquire_owned_async().await.expect("nobody closes it")
    }

    /// Runs a statement that returns a row. Runs it again if it was cancelled or conflicted with another.
    ///
    /// # Cancellation
    /// The future must not be dropped, because its permit would be released before the answer arrives. So it is awaited only in tasks.
    pub(crate) async fn call(&self, statement: &str, params: &[Param]) -> Result<Row, Error> {
        let _permit = self.permit().await;
        self.run(statement, params).await
    }

    /// As [`call`](Self::call), without a permit.
    ///
    /// Ends the session if nothing arrives within the limit. An answer to another statement counts, because this one may queue behind it. The limit is
    /// waited for in parts: a future that is polled late, or a process that was stopped, misses only one part, and finds the answer before the next.
    pub(crate) async fn run(&self, statement: &str, params: &[Param]) -> Result<Row, Error> {
        let start = Instant::now();
        let params: Vec<_> =
            params.iter().map(|(value, of)| (&**value as &(dyn ToSql + Sync), of.clone())).collect();
        let limit = self.state.config.answer_limit;
        loop {
            let mut answer = pin!(self.client.query_typed_one(statement, &params));
            let (mut heard, mut silent) = (self.state.heard.load(Ordering::Relaxed), 0);
            let answer = loop {
                tokio::select! {
                    biased;
                    answer = &mut answer => break answer,
                    () = sleep(limit / PARTS) => {}
                }
                let now = self.state.heard.load(Ordering::Relaxed);
                silent = if now == heard { silent + 1 } else { 0 };
                heard = now;
                if silent == PARTS {
                    let why = format!("the database did not answer within {limit:?}");
                    self.end(&why);
                    return Err(Error::Unreachable(start.elapsed(), why));
                }
            };
            self.state.hear();
            let failed = match answer {
                Ok(row) => return Ok(row),
                Err(failed) => failed,
            };
            if ends_session(&failed) {
                self.end(&chain(&failed));
            }
            if !is_interrupted(&failed) {
                return Err(Error::of(failed, start));
            }
        }
    }

    /// Ends the session. All locks that it holds are lost.
    pub(crate) fn end(&self, why: &str) {
        self.state.end(why);
        self.connection.0.abort();
    }

    /// The reason why the session ended, or `None` if it is alive.
    pub(crate) fn why_ended(&self) -> Option<Arc<str>> {
        self.state.ended.get().cloned()
    }
}

impl State {
    /// No foreign code runs while this is locked, so nothing panics.
    fn requests(&self) -> MutexGuard<'_, HashMap<i64, Entry>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a request before it is sent. If the session has ended, the request is lost.
    pub(crate) fn register(&self, name: &Arc<str>) -> Arc<Requested> {
        let requested = Arc::new(Requested {
            name: Arc::clone(name),
            token: random().cast_signed(),
            outcome: OnceLock::new(),
            lost: OnceLock::new(),
            withdrawn: OnceLock::new(),
        });
        let mut requests = self.requests();
        // `end` sets this before it takes the requests out.
        let ended = self.ended.get();
        if ended.is_none() {
            let entry = Entry { requested: Arc::clone(&requested), is_in_database: false };
            requests.insert(requested.token, entry);
        }
        drop(requests);
        if let Some(why) = ended {
            self.lose(&requested, why);
        }
        requested
    }

    fn hear(&self) {
        self.heard.fetch_add(1, Ordering::Relaxed);
    }

    /// Records the answer to a request: the fencing number, or `None`.
    pub(crate) fn answered(&self, requested: &Requested, fence: Option<i64>, waits: bool) {
        let mut requests = self.requests();
        // `None`: the session has ended since.
        let Some(entry) = requests.get_mut(&requested.token) else { return };
        if fence.is_some() || waits {
            entry.is_in_database = true;
        } else {
            requests.remove(&requested.token);
        }
        drop(requests);
        if fence.is_some() || !waits {
            // `Err`: lost meanwhile. The database grants once.
            let _ = requested.outcome.set(Ok(fence));
        }
    }

    /// Records that the database granted a waiting request.
    fn grant(&self, token: i64, fence: i64) {
        let requested = self.requests().get(&token).map(|entry| Arc::clone(&entry.requested));
        if let Some(requested) = requested {
            let _ = requested.outcome.set(Ok(Some(fence)));
        }
    }

    /// Records that the database refused the request.
    pub(crate) fn refused(&self, requested: &Requested, error: Error) {
        self.requests().remove(&requested.token);
        // `Err`: the session has ended.
        let _ = requested.outcome.set(Err(error));
    }

    /// Returns whether the request is in the database, so that a release must be sent.
    pub(crate) fn begin_release(&self, requested: &Requested) -> bool {
        let mut requests = self.requests();
        let is_there = requests.get_mut(&requested.token);
        let is_there = is_there.is_some_and(|entry| std::mem::take(&mut entry.is_in_database));
        if !is_there {
            requests.remove(&requested.token);
        }
        is_there
    }

    /// Records the answer to the release: whether the request `held` the lock in the database.
    pub(crate) fn released(&self, requested: &Requested, held: bool) -> Result<(), Lost> {
        let is_known = self.requests().remove(&requested.token).is_some();
        if is_known && requested.is_granted() && !held {
            self.lose(requested, GONE);
        }
        requested.check()
    }

    /// The names and tokens of the requests that are in the database.
    fn in_database(&self) -> (Vec<String>, Vec<i64>) {
        let requests = self.requests();
        let there = requests.values().filter(|entry| entry.is_in_database);
        there.map(|entry| (entry.requested.name.to_string(), entry.requested.token)).unzip()
    }

    /// Records that the database does not have this request any more.
    fn gone(&self, token: i64) {
        let mut requests = self.requests();
        // Otherwise it has been released meanwhile.
        let is_there = requests.get(&token).is_some_and(|entry| entry.is_in_database);
        let lost = is_there.then(|| requests.remove(&token)).flatten();
        drop(requests);
        if let Some(entry) = lost {
            self.lose(&entry.requested, GONE);
        }
    }

    /// Ends the session. The first reason counts.
    fn end(&self, why: &str) {
        if self.ended.set(why.into()).is_ok() {
            let requests = std::mem::take(&mut *self.requests());
            for entry in requests.into_values() {
                self.lose(&entry.requested, why);
            }
        }
    }

    /// Ends a request with a loss. A waiting request will be made again. If it held the lock, the loss is reported.
    fn lose(&self, requested: &Requested, why: &str) {
        let lost = Lost::new(&requested.name, why);
        let _ = requested.outcome.set(Err(lost.clone().into()));
        if requested.is_granted() && requested.lost.set(lost.clone()).is_ok() {
            self.tell(lost);
        }
    }

    /// Calls the user's function in a task of its own, where its panic ends.
    fn tell(&self, lost: Lost) {
        if let Some(told) = self.config.on_lost.clone() {
            self.runtime.spawn(async move { told(&lost) });
        }
    }
}

/// Drives the connection and receives grants. If the task is dropped, for example with its runtime, the session ends.
async fn listen(mut connection: Connection<Socket, Stream>, state: Arc<State>) {
    struct Ends(Arc<State>);
    impl Drop for Ends {
        fn drop(&mut self) {
            self.0.end("its task was dropped");
        }
    }
    let ends = Ends(state);
    let state = &ends.0;
    loop {
        match poll_fn(|cx| connection.poll_message(cx)).await {
            Some(Ok(AsyncMessage::Notification(granted))) => {
                state.hear();
                let numbers = granted.payload().split_once(' ');
                let numbers =
                    numbers.and_then(|(token, fence)| Some((token.parse().ok()?, fence.parse().ok()?)));
                if let Some((token, fence)) = numbers {
                    state.grant(token, fence);
                }
            }
            Some(Ok(_)) => {}
            Some(Err(error)) => return state.end(&chain(&error)),
            None => return state.end("its connection was closed"),
        }
    }
}

/// Each second: grants those locks that this session waits for and nobody holds any more, and finds the requests that the database has lost. The task
/// ends with the session.
async fn watch(session: Weak<Session>) {
    loop {
        sleep(WATCH).await;
        let Some(session) = session.upgrade().filter(|session| session.why_ended().is_none()) else { return };
        let (names, tokens) = session.state.in_database();
        let params = [
            int4(session.number),
            (Box::new(names) as Box<_>, Type::TEXT_ARRAY),
            (Box::new(tokens) as Box<_>, Type::INT8_ARRAY),
        ];
        match session.run("SELECT waitword.watch($1, $2, $3)", &params).await {
            Ok(row) => row.get::<_, Vec<i64>>(0).into_iter().for_each(|token| session.state.gone(token)),
            Err(error) => session.end(&error.to_string()),
        }
    }
}

/// Whether another client gets the session's server process. If that client cannot connect, returns `false`.
async fn meets(host: &tokio_postgres::Config, config: &Config, number: i32) -> bool {
    let Ok((client, connection)) = host.connect(config.connector()).await else { return false };
    let _connection = Connected(tokio::spawn(connection).abort_handle());
    is_in(&client, number).await.unwrap_or(false)
}

/// Whether the client's server process is that of the session with this number.
async fn is_in(client: &Client, number: i32) -> Result<bool, tokio_postgres::Error> {
    let row = client.query_typed_one(MEETS, &[(&number.to_string(), Type::TEXT)]).await?;
    Ok(row.get(0))
}

pub(crate) fn text(value: &str) -> Param {
    (Box::new(value.to_owned()), Type::TEXT)
}

pub(crate) fn int4(value: i32) -> Param {
    (Box::new(value), Type::INT4)
}

pub(crate) fn int8(value: i64) -> Param {
    (Box::new(value), Type::INT8)
}

pub(crate) fn bool(value: bool) -> Param {
    (Box::new(value), Type::BOOL)
}

/// The task of a connection. Dropping it closes the connection.
pub(crate) struct Connected(pub(crate) AbortHandle);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.abort();
    }
}
