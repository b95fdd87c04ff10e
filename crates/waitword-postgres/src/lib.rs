//! One lock over many machines: the threads and tasks of all processes that reach one PostgreSQL.
//!
//! ```no_run
//! use waitword_postgres::{Cluster, Config, Error};
//!
//! # async fn run() -> Result<(), Error> {
//! let config: Config = "postgresql://app@db.example/shop".parse()?;
//! waitword_postgres::migrate(&config).await?; // once; or the text `SCHEMA` among the program's own migrations
//! let cluster = Cluster::connect(config).await?;
//!
//! let stock = cluster.mutex("stock")?;
//! let guard = stock.lock_async().await?; // a thread: `stock.lock()?`
//! let fence = guard.fence()?;
//! // … BEGIN; SELECT waitword.check('stock', fence); SELECT and UPDATE what is protected; COMMIT …
//! guard.unlock_async().await?; // `Err`: the lock was lost meanwhile
//! # Ok(())
//! # }
//! ```
//!
//! The methods are those of [`waitword::Mutex`]: a plain name blocks, `_async` is a future, `try_` does not wait for a holder, `_for` and
//! `_until` give up. A future that is dropped leaves nothing locked.
//!
//! # Order
//! The tasks and threads of a process queue on a local `Mutex`; only its head waiter has a request in the database. The database grants
//! in the order of requests. A release hands the lock on to a local waiter without asking the database, for a
//! [tenure](Config::tenure) at the longest. If the head waiter gives up, the next local waiter adopts its request, with the position of the process in
//! the database's queue; the request is taken back when nobody of the process is left.
//!
//! # What it costs
//! A process has one session. An advisory lock of PostgreSQL belongs to the session that waited for it, and a session that waits for one key
//! can do nothing else; so the queue is a table instead, and an advisory lock only tells that a process lives. A request returns at once, and its
//! grant comes as a notification. A lock that is free costs a round trip, one that is held two messages, and a release a round trip. The database
//! writes each grant to its disk, so that no fencing number is granted twice. `NOTIFY` is one at a time for a database: some thousand
//! handoffs between processes per second, over all locks. A transaction that stays open for minutes anywhere in the database keeps the old
//! versions of the queue's rows from being cleaned up, which slows it.
//!
//! Of each process and lock, one request at a time is in the database, however many futures are polled and dropped. A session has 16 statements under way
//! at a time; a future that is dropped before its statement is sent sends nothing. Renewals of leases do not wait for those that are not sent yet.
//!
//! # When it is lost
//! The database takes the lock from a process whose session ended: the connection broke, an administrator ended it, the server restarted,
//! or did not answer for [some seconds](Config::answer_limit). The holder is told: [`ClusterGuard::lost`], [`ClusterGuard::fence`], the end of
//! [`ClusterGuard::run`], the result of [`ClusterGuard::unlock`], [`Config::on_lost`]. Waiters are not: they enqueue again with the next session.
//! A lock whose row an administrator deletes or changes by hand is lost, too; its holder is told within a second or two, and a waiter whose row is
//! gone enqueues again. If a process dies, others notice within a second. A process that hangs keeps its locks as long as its machine answers: [`Lease`] is for those.
//!
//! # Fencing
//! A holder that was stopped for a minute between two instructions, and has not been told yet, believes that it holds the lock. So
//! what is protected has to refuse it. Each guard has a number larger than those of all before it. Call [`ClusterGuard::check`]
//! or [`Lease::check`]; or, with that number,
//!
//! ```sql
//! SELECT waitword.check('stock', 1048577);
//! ```
//!
//! as the first statement of *each* transaction that reads or writes what the lock protects. It raises (`WW001`) if a larger number was there
//! before, and keeps those with larger numbers waiting until the transaction ends; set `idle_in_transaction_session_timeout` for holders that are
//! cut off in theirs. If only writes were checked, an old holder could still write between a new one's read and its write. Once
//!
//! ```sql
//! SELECT waitword.protect('items', 'stock');
//! ```
//!
//! was called for a table, a write to it without the check raises, too (`WW004`). Reads cannot be refused this way. What is protected may
//! be in another database, if that has the [schema](SCHEMA), too.
//!
//! # Leases on a pool
//! [`Leases`] need no session: their statements run on any connection of a pool of the program's own, also behind a pooler that shares sessions.
//!
//! # Where it ends
//! The sessions of a [`Cluster`] must not be shared (PgBouncer in pool mode `transaction` or `statement`): that is an [error](Error::SharedSession) of
//! [`Cluster::connect`]. It connects a second time for a moment, and sees whether that client is given the server process of the session; then whether
//! the session still has that process itself. What this does not notice: a pooler that gives both connections other server processes at this moment,
//! because others use it or because it refuses the second connection. Then it is an error as soon as two clients meet in one server process, or one in
//! two; if they never do, and the process is killed, its locks stay held until the pooler closes its server process. A failover to a replica that lags
//! behind forgets locks, and perhaps numbers: use synchronous replication. PostgreSQL 14 is the oldest.
//!
//! Where to read on: `cluster.rs` is the door; `mutex.rs` and `guard.rs` are what users call, `cohort.rs` the local queue and `request.rs` one
//! request of the process in the database's; `session.rs` carries it, `sessions.rs` replaces a lost one; `schema.sql` is the database's side;
//! `lease.rs` is the lock with an expiry, `leases.rs` takes it
//! on a pool, `source.rs` is where it asks, and `pool.rs` what it needs of a client.

#![forbid(unsafe_code)]
// docs.rs shows which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod cluster;
mod cohort;
mod config;
mod error;
mod guard;
mod lease;
mod leases;
mod mutex;
mod pool;
mod request;
mod session;
mod sessions;
mod source;

pub use cluster::{Cluster, Queued, SCHEMA, migrate};
pub use config::Config;
pub use error::{Error, Lost};
pub use guard::ClusterGuard;
pub use lease::Lease;
pub use leases::{LeaseAsync, Leases};
pub use mutex::ClusterMutex;
pub use pool::{Answer, Failure, Pool, Transaction, Value};
/// What [`Config::tls`] takes.
#[cfg(feature = "tls")]
pub use rustls;
/// What a [`Config`] can be made of, and what errors contain.
pub use tokio_postgres;

/// Compiles the programs of the guide.
#[cfg(all(doctest, feature = "deadpool"))]
#[doc = include_str!("../../../docs/many-machines.md")]
struct Guide;

/// Compiles the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
