//! Distributed mutexes and leases on PostgreSQL, for the threads and tasks of all processes that connect to one database.
//!
//! ```no_run
//! use waitword_postgres::{Cluster, Config, Error};
//!
//! # async fn run() -> Result<(), Error> {
//! let config: Config = "postgresql://app@db.example/shop".parse()?;
//! waitword_postgres::migrate(&config).await?; // once; or add `SCHEMA` to the program's own migrations
//! let cluster = Cluster::connect(config).await?;
//!
//! let stock = cluster.mutex("stock")?;
//! let guard = stock.lock_async().await?; // a thread: `stock.lock()?`
//! let fence = guard.fence()?;
//! // … BEGIN; SELECT waitword.check('stock', fence); SELECT and UPDATE the protected rows; COMMIT …
//! guard.unlock_async().await?; // `Err` if the lock was lost before the release
//! # Ok(())
//! # }
//! ```
//!
//! The methods are named as those of [`waitword::Mutex`]: a plain name blocks, `_async` returns a future, `try_` does not wait for a holder, `_for`
//! and `_until` limit the wait. Dropping a future leaves nothing locked.
//!
//! # Order
//! The tasks and threads of a process queue on a local `Mutex`. Only its head waiter has a request in the database, which grants requests in the
//! order in which it received them. A release passes the lock to the next local waiter without a statement, for at most one
//! [tenure](Config::tenure). If the head waiter gives up, the next local waiter adopts the request, with the process's position in the database's
//! queue. The request is withdrawn when the process has no waiter left.
//!
//! # What it costs
//! A process has one session. PostgreSQL's own advisory locks would need more: an advisory lock belongs to the session that waited for it, and a
//! session that waits for one lock can do nothing else. So the queue is a table. Each process holds one advisory lock, which shows that
//! it is alive.
//!
//! | operation | cost |
//! |---|---|
//! | acquire a free lock | one round trip |
//! | acquire a held lock | two messages: the request returns at once, and the grant arrives as a notification |
//! | release | one round trip; none if the lock passes to a local waiter |
//!
//! - The database writes each grant to its disk, so that no fencing number is granted twice.
//! - PostgreSQL serializes the `NOTIFY`s of a database. This limits handoffs between processes to some thousand per second, over all locks.
//! - A transaction that stays open for minutes, anywhere in the database, prevents the cleanup of old versions of the queue's rows,
//!   which slows the queue.
//! - Each process has at most one request per lock in the database, however many futures are polled and dropped.
//! - A session sends at most 16 statements at a time. A future that is dropped before its statement is sent sends nothing. Renewals of leases do
//!   not queue behind unsent statements.
//!
//! # When a lock is lost
//! A process loses all its locks when its session ends: the connection broke, an administrator terminated it, the server restarted, or the server
//! did not answer within the [limit](Config::answer_limit). A lock whose row an administrator deletes or changes by hand is lost too.
//!
//! - The holder is informed by [`ClusterGuard::lost`], [`ClusterGuard::fence`], the result of [`ClusterGuard::run`] and of [`ClusterGuard::unlock`],
//!   and [`Config::on_lost`]; of a deleted or changed row within one to two seconds.
//! - Waiters get no error. They enqueue again, with the next session or with a new row.
//! - If a process dies, other processes notice within a second.
//! - A process that hangs keeps its locks as long as its machine answers keepalives. Use a [`Lease`] for holders that may hang.
//!
//! # Fencing
//! A holder that was stopped for a minute between two instructions, and does not know of the loss yet, still believes that it holds the lock. So
//! the protected data has to refuse it. Each guard has a fencing number, larger than those of all guards before it. As the first statement of
//! *each* transaction that reads or writes the protected data, call [`ClusterGuard::check`] or [`Lease::check`], or in SQL
//!
//! ```sql
//! SELECT waitword.check('stock', 1048577);
//! ```
//!
//! It raises `WW001` if a larger number was checked before. It blocks checks with larger numbers until the transaction ends, so set
//! `idle_in_transaction_session_timeout` for holders that are cut off inside a transaction. Check reads too: otherwise an old holder could write
//! between a new holder's read and its write. After
//!
//! ```sql
//! SELECT waitword.protect('items', 'stock');
//! ```
//!
//! a write to the table in a transaction without a check raises `WW004`. Reads cannot be refused this way. The protected data may be in another
//! database, if that database has the [schema](SCHEMA).
//!
//! # Leases on a pool
//! [`Leases`] need no session. Their statements run on any connection of the program's own pool, also behind a pooler that shares sessions.
//!
//! # Limits
//! **Shared sessions.** A pooler must not share the session of a [`Cluster`] among clients, as PgBouncer does with `pool_mode =
//! transaction` or `statement`. [`Cluster::connect`] tests for this and returns [`Error::SharedSession`]: it opens a second connection for
//! a moment, and checks that this connection gets another server process than the session, and that the session keeps its own. A pooler can
//! pass this test by chance, while other clients are active, or because it refuses the second connection. In that case the error comes
//! later: when two clients use one server process, or one client's statements run in two. If that never happens and the process is killed,
//! its locks stay held until the pooler closes the server process.
//!
//! **Failover.** A replica that lags behind loses locks, and possibly fencing numbers. Use synchronous replication.
//!
//! **Versions.** The oldest supported version is PostgreSQL 14.
//!
//! **Features.** `tls` (on by default) for sessions with TLS; `deadpool` and `sqlx` for leases on pools of `deadpool-postgres` 0.14 and sqlx 0.8;
//! `observe` for names in the reports of `waitword-observe`.
//!
//! # Source files
//! - `cluster.rs`, `mutex.rs` and `guard.rs`: the interface of the locks.
//! - `cohort.rs`: the local queue; `request.rs`: the process's request in the database's queue.
//! - `session.rs`: the connection that carries requests; `sessions.rs`: replaces a session that ended; `schema.sql`: the database's side.
//! - `lease.rs`: a lock with an expiry; `leases.rs`: leases on a pool; `source.rs`: where a lease runs its statements; `pool.rs`: what a lease needs
//!   from a client.

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
/// The TLS library, whose `ClientConfig` is the argument of [`Config::tls`].
#[cfg(feature = "tls")]
pub use rustls;
/// The PostgreSQL client. A [`Config`] can be created from its `Config`, and errors contain its errors.
pub use tokio_postgres;

/// Compiles the programs of the guide.
#[cfg(all(doctest, feature = "deadpool"))]
#[doc = include_str!("../../../docs/many-machines.md")]
struct Guide;

/// Compiles the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
