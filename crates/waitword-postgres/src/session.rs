//! One connection to PostgreSQL, which carries all requests and all locks of a process.
//!
//! No statement on it waits for a lock: a request enqueues and returns, and a grant comes as a notification. So one session is enough, whatever
//! the number of locks and waiters; but what ends it ends all locks of the process. It ends if the connection does, if nothing comes from the
//! database for too long while it owes an answer, and if the server process is not its own. A statement per second sees to it that this is noticed.
//!
//! ```text
//!  a request              token in `requests`   `granted`
//!  sent, or enqueued      yes                   empty
//!  holds the lock         yes                   its fencing number
//!  ended                  no
//! ```
//!
//! The end of the session takes all requests out, and tells `on_lost` of each that held. A grant that comes after that finds no token.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::sleep;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, Connection, Row, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;
use waitword::OnceLock;

use crate::config::{Config, random};
use crate::error::{Error, Lost, chain, ends_session, is_interrupted};

type Stream = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// A value of a statement, with its type: so the server need not be asked for that.
pub(crate) type Param<'a> = (&'a (dyn ToSql + Sync), Type);

/// The version of `schema.sql`.
const VERSION: i32 = 1;

/// How often a session asks whether a holder has ended that it waits for, and finds out whether it lives itself.
const WATCH: Duration = Duration::from_secs(1);

/// What the functions of the schema need. A server that waits for a statement looks after a machine that vanished, if it is told to.
const SETTINGS: &str = "
    SET default_transaction_isolation = 'read committed'; SET idle_session_timeout = 0; SET lock_timeout = 0;
    SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 5; SET tcp_user_timeout = 10000;
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

/// Begins a session. Its server process has this name and no other has had it, nor will have it: numbers of processes come again.
const BEGIN: &str = "SELECT waitword.open($1), pid || ' ' || extract(epoch FROM backend_start)
    FROM pg_stat_activity WHERE pid = pg_backend_pid()";

/// A session that failed may live on in the server, if only the way to it is cut. A pooler may have lent its server process to another since:
/// the advisory lock shows that it has not. The number alone would not do: other databases of the server have it, too.
const END_PREVIOUS: &str = "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND classid = 2002876276 AND objid = $1 AND objsubid = 2 AND mode = 'ExclusiveLock' AND granted
    AND pid || ' ' || extract(epoch FROM backend_start) = $2";

/// In how many parts the limit of an answer is waited for.
const PARTS: u32 = 8;

/// See the header of this file.
pub(crate) struct Session {
    /// Below all others.
    pub(crate) number: i32,
    /// The server's process, by its number and start.
    process: String,
    client: Client,
    pub(crate) state: Arc<State>,
    connection: Connected,
}

/// What the task of the connection shares.
pub(crate) struct State {
    /// Why the session ended.
    ended: OnceLock<Arc<str>>,
    /// How many answers and grants came.
    heard: AtomicU64,
    requests: Mutex<HashMap<i64, Requested>>,
    pub(crate) config: Arc<Config>,
    pub(crate) runtime: Handle,
}

struct Requested {
    name: Arc<str>,
    granted: Arc<OnceLock<i64>>,
}

impl Session {
    /// Connects, and begins a session in place of `previous`.
    pub(crate) async fn open(
        config: &Arc<Config>,
        runtime: &Handle,
        previous: Option<&Self>,
    ) -> Result<Arc<Self>, Error> {
        let of = |error| Error::of(error, config.connect_limit());
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
            client.batch_execute(SETTINGS).await.map_err(of)?;
            let begun = client.query_typed_one(BEGIN, &[(&VERSION, Type::INT4)]).await.map_err(of)?;
            let (number, process) = (begun.get(0), begun.get(1));
            if let Some(previous) = previous {
                let (number, process) = (i64::from(previous.number), &previous.process);
                // A role without the right to leaves it to the server to notice.
                let _ =
                    client.query_typed(END_PREVIOUS, &[(&number, Type::INT8), (process, Type::TEXT)]).await;
            }
            Ok(Arc::new(Self { number, process, client, state, connection }))
        };
        let session = config.at_first_host(open).await?;
        runtime.spawn(watch(Arc::downgrade(&session)));
        Ok(session)
    }

    /// Runs a statement that returns a row. One that was cancelled, or was in the way of another, runs again.
    ///
    /// The session ends if nothing comes for the limit. An answer to another statement counts: this one may queue behind it. The limit is waited for
    /// in parts: a future that is polled late, or a process that was stopped, has missed one of them, and finds the answer before the next.
    pub(crate) async fn call(&self, statement: &str, params: &[Param<'_>]) -> Result<Row, Error> {
        let limit = self.state.config.answer_limit;
        loop {
            let mut answer = pin!(self.client.query_typed_one(statement, params));
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
                    self.end(&format!("the database did not answer within {limit:?}"));
                    return Err(Error::Unreachable(limit, "it did not answer".to_owned()));
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
                return Err(Error::of(failed, limit));
            }
        }
    }

    /// A name for the next request. Any role can send what looks like a grant, so that none must be able to guess it.
    pub(crate) fn token(&self) -> i64 {
        random().cast_signed()
    }

    /// Ends the session, and all that it holds is lost.
    pub(crate) fn end(&self, why: &str) {
        self.state.end(why);
        self.connection.0.abort();
    }

    /// Waits for the end of the session.
    pub(crate) async fn ended(&self) -> Arc<str> {
        Arc::clone(self.state.ended.wait_async().await)
    }

    /// Why the session ended, if it did.
    pub(crate) fn why_ended(&self) -> Option<Arc<str>> {
        self.state.ended.get().cloned()
    }
}

impl State {
    /// No foreign code runs while this is locked, so nothing panics.
    fn requests(&self) -> MutexGuard<'_, HashMap<i64, Requested>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a request known, before it is sent. Returns where its fencing number appears.
    pub(crate) fn register(&self, token: i64, name: &Arc<str>) -> Arc<OnceLock<i64>> {
        let granted = Arc::new(OnceLock::new());
        let requested = Requested { name: Arc::clone(name), granted: Arc::clone(&granted) };
        self.requests().insert(token, requested);
        granted
    }

    fn hear(&self) {
        self.heard.fetch_add(1, Ordering::Relaxed);
    }

    /// The request holds the lock.
    pub(crate) fn grant(&self, token: i64, fence: i64) {
        if let Some(requested) = self.requests().get(&token) {
            // The database grants once.
            let _ = requested.granted.set(fence);
        }
    }

    /// The request has ended. Returns whether it held the lock.
    pub(crate) fn forget(&self, token: i64) -> bool {
        self.requests().remove(&token).is_some_and(|requested| requested.granted.is_set())
    }

    /// The first who says why is right.
    fn end(&self, why: &str) {
        let why: Arc<str> = why.into();
        if self.ended.set(Arc::clone(&why)).is_err() {
            return;
        }
        let requests = std::mem::take(&mut *self.requests());
        for held in requests.into_values().filter(|requested| requested.granted.is_set()) {
            self.tell(Lost::new(&held.name, Arc::clone(&why)));
        }
    }

    /// Tells the user's function, in a task of its own: its panic ends there.
    pub(crate) fn tell(&self, lost: Lost) {
        if let Some(told) = self.config.on_lost.clone() {
            self.runtime.spawn(async move { told(&lost) });
        }
    }
}

/// Drives the connection and receives grants. Dropped, be it with its runtime, it ends the session.
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

/// Passes on the locks that this session waits for and whose holders have ended; and notices the end of its own. Ends with it.
async fn watch(session: Weak<Session>) {
    loop {
        sleep(WATCH).await;
        let Some(session) = session.upgrade().filter(|session| session.why_ended().is_none()) else { return };
        if let Err(error) = session.call("SELECT waitword.watch($1)", &[(&session.number, Type::INT4)]).await
        {
            session.end(&error.to_string());
        }
    }
}

/// Closes the connection when it is dropped.
pub(crate) struct Connected(pub(crate) AbortHandle);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.abort();
    }
}
