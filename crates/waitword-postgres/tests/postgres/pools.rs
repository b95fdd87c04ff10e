//! Leases on pools of the program's own, behind PgBouncer in transaction mode, too.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{env, io, thread};

use tempfile::TempDir;
use waitword_postgres::tokio_postgres::{Client, NoTls};
use waitword_postgres::{Answer, Cluster, Error, Lease, Leases, Transaction, Value};

use crate::counter::{Counter, number};
use crate::leases::is_kept;
use crate::pooler::Pooler;
use crate::process::Process;
use crate::proxy::Proxy;
use crate::server::Database;
use crate::skip::skip;
use crate::worker::say;
use crate::{LIMIT, LONG, NAME, block_on, on_one_thread, until, with_database};

const TERM: Duration = Duration::from_millis(1500);

/// What leases are taken on.
enum Pool {
    Client(Arc<Client>),
    Deadpool(deadpool_postgres::Pool),
    #[cfg(feature = "sqlx")]
    Sqlx(sqlx::PgPool),
}

impl Pool {
    async fn client(address: &str) -> Self {
        Self::Client(Arc::new(Counter::connect(address).await.unwrap().client))
    }

    fn deadpool(address: &str, size: usize) -> Self {
        let manager = deadpool_postgres::Manager::new(address.parse().unwrap(), NoTls);
        Self::Deadpool(deadpool_postgres::Pool::builder(manager).max_size(size).build().unwrap())
    }

    #[cfg(feature = "sqlx")]
    fn sqlx(address: &str, size: u32) -> Self {
        use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgSslMode};
        let config: waitword_postgres::tokio_postgres::Config = address.parse().unwrap();
        let mut options = PgConnectOptions::new_without_pgpass()
            .ssl_mode(PgSslMode::Disable)
            .port(config.get_ports()[0])
            .username(config.get_user().unwrap())
            .database(config.get_dbname().unwrap());
        options = match &config.get_hosts()[0] {
            waitword_postgres::tokio_postgres::config::Host::Unix(folder) => options.socket(folder),
            _ => options.host("127.0.0.1"),
        };
        let pool = PgPoolOptions::new().max_connections(size).acquire_timeout(LIMIT);
        Self::Sqlx(pool.connect_lazy_with(options))
    }

    /// All kinds, with so many connections each, except the single one.
    async fn all(address: &str, size: u32) -> Vec<(&'static str, Self)> {
        vec![
            ("a client", Self::client(address).await),
            ("deadpool", Self::deadpool(address, size as usize)),
            #[cfg(feature = "sqlx")]
            ("sqlx", Self::sqlx(address, size)),
        ]
    }

    fn leases(&self) -> Leases {
        let leases = match self {
            Self::Client(client) => Leases::new(Arc::clone(client)),
            Self::Deadpool(pool) => Leases::new(pool.clone()),
            #[cfg(feature = "sqlx")]
            Self::Sqlx(pool) => Leases::new(pool.clone()),
        };
        leases.answer_limit(LIMIT)
    }

    fn ask<'a>(&'a self, question: &'a str, values: &'a [Value]) -> Answer<'a> {
        use waitword_postgres::Pool;
        match self {
            Self::Client(client) => client.ask(question, values),
            Self::Deadpool(pool) => pool.ask(question, values),
            #[cfg(feature = "sqlx")]
            Self::Sqlx(pool) => pool.ask(question, values),
        }
    }

    /// Adds 1 in a transaction that begins with the check, and logs it as the `n`th count of this lease.
    async fn count(&self, lease: &Lease, n: i64) -> Result<(), Error> {
        match self {
            // Its transactions need a client of their own.
            Self::Client(_) => unreachable!(),
            Self::Deadpool(pool) => {
                let mut client = pool.get().await.map_err(failed)?;
                let mut transaction = client.transaction().await.map_err(failed)?;
                lease.check(&mut transaction).await?;
                add_one(&mut transaction, lease, n).await?;
                transaction.commit().await.map_err(failed)
            }
            #[cfg(feature = "sqlx")]
            Self::Sqlx(pool) => {
                let mut transaction = pool.begin().await.map_err(failed)?;
                lease.check(&mut transaction).await?;
                add_one(&mut transaction, lease, n).await?;
                transaction.commit().await.map_err(failed)
            }
        }
    }

    async fn close(&self) {
        match self {
            Self::Client(_) => unreachable!(),
            Self::Deadpool(pool) => pool.close(),
            #[cfg(feature = "sqlx")]
            Self::Sqlx(pool) => pool.close().await,
        }
    }
}

fn failed(error: impl std::error::Error) -> Error {
    Error::Unreachable(Duration::ZERO, error.to_string())
}

/// By statements without names: PgBouncer of before 1.21 knows no others.
async fn add_one(transaction: &mut impl Transaction, lease: &Lease, n: i64) -> Result<(), Error> {
    const COUNT: &str = "WITH logged AS (INSERT INTO log VALUES ($1, $2, $3) RETURNING value)
         UPDATE counter SET value = logged.value FROM logged RETURNING counter.value";
    let read = transaction.ask(VALUE, &[]).await.map_err(failure)?;
    let fence = lease.fence()?;
    let logged = [Value::Int8(fence + n), Value::Int8(read + 1), Value::Int8(std::process::id().into())];
    let wrote = transaction.ask(COUNT, &logged).await.map_err(failure)?;
    assert_eq!(wrote, read + 1);
    Ok(())
}

fn failure(failure: waitword_postgres::Failure) -> Error {
    Error::Unreachable(Duration::ZERO, format!("{failure:?}"))
}

/// A database with the tables, and PgBouncer in front of it. A transaction that hangs ends by itself.
fn with_pooler(test: impl AsyncFnOnce(Database, Pooler, Counter)) {
    let Some(database) = Database::new() else { return };
    let Some(pooler) = Pooler::start(&database, "transaction") else { return };
    block_on(async {
        let counter = Counter::with_schema(&database).await;
        let limit = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET idle_in_transaction_session_timeout = ''2s''', current_database()); END $$";
        counter.client.batch_execute(limit).await.unwrap();
        test(database, pooler, counter).await;
    });
}

const VALUE: &str = "SELECT value FROM counter";
const HELD: &str = "SELECT count(*) FROM waitword.leases WHERE expires > clock_timestamp()";

#[test]
fn a_lease_is_of_one_holder_on_every_pool_and_behind_a_pooler() {
    with_pooler(async |database, pooler, counter| {
        let (direct, pooled) = (database.address(), database.address_at(pooler.port));
        let mut pools = Pool::all(&direct, 3).await;
        pools.extend(Pool::all(&pooled, 1).await);
        let other = Pool::deadpool(&pooled, 1);
        let there = other.leases();
        let mut counts = 0;
        for (kind, pool) in &pools {
            let here = pool.leases();
            let lease = here.lease_async(NAME, LONG).timeout(LIMIT).await.unwrap();
            let fence = lease.fence().unwrap();
            assert!(there.try_lease_async(NAME, LONG).await.unwrap().is_none(), "{kind}");
            let late = there.lease_async(NAME, LONG).timeout(Duration::from_millis(20)).await;
            assert!(matches!(late, Err(Error::TimedOut)), "{kind}: {late:?}");
            if !matches!(pool, Pool::Client(_)) {
                assert_eq!(
                    lease.run(pool.count(&lease, 0)).await.unwrap().map_err(|e| e.to_string()),
                    Ok(())
                );
                counts += 1;
            }
            // A waiter gets it when it is released, and has a larger number.
            let waiter = there.clone();
            let waiter = tokio::spawn(async move { waiter.lease_async(NAME, LONG).await.unwrap() });
            lease.release_async().await.unwrap();
            let next = waiter.await.unwrap();
            assert!(next.fence().unwrap() > fence, "{kind}");
            drop(next);
            // So does a drop; a future that is dropped leaves nothing held.
            until(async || here.try_lease_async(NAME, LONG).await.unwrap().is_some()).await;
            for micros in (0..40).map(|round| 200 * round) {
                drop(tokio::time::timeout(Duration::from_micros(micros), here.lease_async(NAME, LONG)).await);
            }
            until(async || there.try_lease_async(NAME, LONG).await.unwrap().is_some()).await;
            until(async || number(&counter.client, HELD).await.unwrap() == 0).await;
        }
        assert_eq!(counter.value().await, counts);
    });
}

#[test]
fn an_old_holder_is_refused_by_the_check_of_every_pool_and_of_a_lock() {
    with_pooler(async |database, pooler, counter| {
        let expire = "UPDATE waitword.leases SET expires = '-infinity'";
        let address = database.address_at(pooler.port);
        for (kind, pool) in Pool::all(&address, 1).await {
            if matches!(pool, Pool::Client(_)) {
                continue;
            }
            let there = Pool::deadpool(&address, 1);
            let old = pool.leases().lease_async(NAME, LONG).await.unwrap();
            counter.client.batch_execute(expire).await.unwrap();
            let new = there.leases().lease_async(NAME, LONG).await.unwrap();
            there.count(&new, 0).await.unwrap();
            // By its own clock it holds.
            assert!(old.fence().is_ok());
            let refused = pool.count(&old, 0).await;
            assert!(
                matches!(&refused, Err(Error::Lost(lost)) if lost.why().contains("too old")),
                "{kind}: {refused:?}"
            );
            // Of its own transaction nothing is left, and the other's number still counts.
            there.count(&new, 1).await.unwrap();
            new.release_async().await.unwrap();
        }
        let mut client = Counter::connect(&database.address()).await.unwrap().client;
        let cluster = Cluster::connect(database.config()).await.unwrap();
        let guard = cluster.mutex(NAME).unwrap().lock_async().await.unwrap();
        let mut transaction = client.transaction().await.unwrap();
        guard.check(&mut transaction).await.unwrap();
        transaction.batch_execute("UPDATE counter SET value = value").await.unwrap();
        transaction.commit().await.unwrap();
        counter.client.batch_execute("UPDATE waitword.fences SET fence = fence + (1 << 30)").await.unwrap();
        let mut transaction = client.transaction().await.unwrap();
        let refused = guard.check(&mut transaction).await;
        assert!(matches!(refused, Err(Error::Lost(_))), "{refused:?}");
    });
}

#[test]
fn a_lease_on_one_connection_behind_a_pooler_is_renewed() {
    let Some(database) = Database::new() else { return };
    let Some(pooler) = Pooler::start(&database, "transaction") else { return };
    on_one_thread(async {
        Counter::with_schema(&database).await;
        let address = database.address_at(pooler.port);
        let there = Pool::deadpool(&address, 1).leases();
        for (kind, pool) in Pool::all(&address, 1).await {
            let here = pool.leases();
            println!("{kind}");
            let took = async |term| (Instant::now(), here.lease_async(NAME, term).await.unwrap());
            is_kept(0, took, async |term| there.try_lease_async(NAME, term).await.unwrap().is_some()).await;
        }
    });
}

#[test]
fn nobody_waits_longer_than_a_term_and_a_poll() {
    with_database(async |database| {
        let client = Counter::with_schema(&database).await.client;
        let leases = Pool::deadpool(&database.address(), 1).leases();
        // A holder that was killed, and one that releases early while the waiter sleeps.
        for term in ["1500 ms", "1 hour"] {
            let mut waited = Vec::new();
            for _ in 0..5 {
                let take = format!(
                    "INSERT INTO waitword.leases VALUES ('counter', 0, 'gone', clock_timestamp(), clock_timestamp() + interval '{term}')
                     ON CONFLICT (name) DO UPDATE SET fence = 0, process = 'gone', expires = excluded.expires"
                );
                client.batch_execute(&take).await.unwrap();
                let waiter = leases.clone();
                let waiter = tokio::spawn(async move { waiter.lease_async(NAME, LONG).await.unwrap() });
                let in_ms = "SELECT (extract(epoch FROM expires) * 1000)::bigint FROM waitword.leases";
                let mut free = number(&client, in_ms).await.unwrap();
                if term == "1 hour" {
                    // Whether it has asked by then or not, it asks within a second.
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    free = number(&client, "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
                        .await
                        .unwrap();
                    client.batch_execute("UPDATE waitword.leases SET expires = '-infinity'").await.unwrap();
                }
                let lease = waiter.await.unwrap();
                let since = "SELECT (extract(epoch FROM since) * 1000)::bigint FROM waitword.leases";
                let late = number(&client, since).await.unwrap() - free;
                assert!(late >= 0, "it was granted {} ms early", -late);
                waited.push(late);
                lease.release_async().await.unwrap();
                if late <= 1200 {
                    break;
                }
            }
            // A slow machine is late in some, a waiter that sleeps for longer in all.
            assert!(waited.iter().min() <= Some(&1200), "{term}: {waited:?} ms");
        }
    });
}

#[test]
fn a_holder_on_a_pool_that_is_cut_off_knows_of_its_loss_when_another_is_granted_the_lease() {
    with_database(async |database| {
        Counter::with_schema(&database).await;
        let there = Pool::deadpool(&database.address(), 1).leases();
        let proxy = Proxy::start(&database, Duration::ZERO).await;
        for (kind, pool) in Pool::all(&database.address_at(proxy.port), 2).await {
            let lease = pool.leases().lease_async(NAME, TERM).await.unwrap();
            proxy.stall();
            let next = there.lease_async(NAME, LONG).await.unwrap();
            assert!(lease.fence().is_err(), "{kind}");
            assert!(lease.run(async { unreachable!("{kind}") }).await.is_err());
            lease.lost().await;
            drop(next);
            drop(lease);
            proxy.cut();
        }
    });
}

#[test]
fn a_connection_of_the_pool_that_hangs_costs_no_lease() {
    let Some(database) = Database::new() else { return };
    on_one_thread(async {
        Counter::with_schema(&database).await;
        let there = Pool::deadpool(&database.address(), 1).leases();
        let proxies = RefCell::new(Vec::new());
        // Of a third of the shortest term a new connection takes too much.
        let took = async |term| {
            let proxy = Proxy::start(&database, Duration::ZERO).await;
            let here = Pool::deadpool(&database.address_at(proxy.port), 1).leases();
            let lease = here.lease_async(NAME, term).await.unwrap();
            let start = Instant::now();
            proxy.stall_old_ones();
            // Two of its thirds are lost with the connection; in the third a new one is made.
            proxies.borrow_mut().push(proxy);
            (start, lease)
        };
        is_kept(1, took, async |term| there.try_lease_async(NAME, term).await.unwrap().is_some()).await;
    });
}

#[test]
fn a_holder_that_hung_is_not_polled_again() {
    let Some(database) = Database::new() else { return };
    on_one_thread(async {
        Counter::with_schema(&database).await;
        let lease = Pool::client(&database.address()).await.leases().lease_async(NAME, TERM).await.unwrap();
        let mut polls = 0;
        let section = std::future::poll_fn(|cx: &mut std::task::Context<'_>| {
            polls += 1;
            assert_eq!(polls, 1, "it is polled although its time is up");
            // Nothing else runs in this runtime meanwhile, so that nobody could tell it.
            thread::sleep(TERM);
            cx.waker().wake_by_ref();
            Poll::<()>::Pending
        });
        lease.run(section).await.unwrap_err();
        assert!(lease.release_async().await.is_err());
    });
}

/// A pool of the program's own, whose answer to a renewal comes with the end of the term.
struct Late {
    client: Arc<Client>,
    is_sent: Arc<AtomicBool>,
}

impl waitword_postgres::Pool for Late {
    fn ask<'a>(&'a self, statement: &'a str, values: &'a [Value]) -> Answer<'a> {
        if !statement.contains("renew_lease") {
            return self.client.ask(statement, values);
        }
        let mut is_second = false;
        Box::pin(std::future::poll_fn(move |_| {
            if std::mem::replace(&mut is_second, true) {
                return Poll::Ready(Ok(1));
            }
            self.is_sent.store(true, Ordering::SeqCst);
            // The limits of a renewal wake it.
            Poll::Pending
        }))
    }
}

#[test]
fn a_lease_that_was_told_as_lost_does_not_come_back() {
    let Some(database) = Database::new() else { return };
    on_one_thread(async {
        let client = Arc::new(Counter::with_schema(&database).await.client);
        let is_sent = Arc::new(AtomicBool::new(false));
        let leases = Leases::new(Late { client, is_sent: Arc::clone(&is_sent) });
        let lease = leases.lease_async(NAME, TERM).await.unwrap();
        until(async || is_sent.load(Ordering::SeqCst)).await;
        // Nothing else runs in this runtime meanwhile.
        while lease.fence().is_ok() {
            thread::sleep(Duration::from_millis(1));
        }
        // The renewal is answered, with what would be an expiry to come.
        for _ in 0..100 {
            tokio::time::sleep(Duration::from_millis(1)).await;
            lease.fence().unwrap_err();
        }
        lease.lost().await;
        assert!(lease.release_async().await.is_err());
    });
}

#[test]
fn each_question_gets_its_own_answer_though_a_pooler_shares_server_processes() {
    with_pooler(async |database, pooler, _| {
        for (kind, pool) in Pool::all(&database.address_at(pooler.port), 8).await {
            let pool = Arc::new(pool);
            let task = |number: i64| {
                let pool = Arc::clone(&pool);
                tokio::spawn(async move {
                    // Of the same parameter, so that no server would notice that one is taken for another.
                    let question = format!("SELECT $1 + {number}::bigint");
                    for n in 0..25 {
                        let answer =
                            pool.ask(&question, &[Value::Int8(n)]).await.map_err(|f| format!("{f:?}"));
                        assert_eq!(answer, Ok(n + number));
                    }
                })
            };
            for task in (0..16).map(task).collect::<Vec<_>>() {
                assert!(task.await.is_ok(), "{kind}");
            }
        }
    });
}

#[test]
fn bad_input_is_told_and_leaves_nothing_held() {
    with_pooler(async |database, pooler, counter| {
        let address = database.address_at(pooler.port);
        let years = Duration::from_secs(3 * 365 * 24 * 3600);
        let cluster = Cluster::connect(database.config()).await.unwrap();
        for (kind, pool) in Pool::all(&address, 1).await {
            let leases = pool.leases();
            for term in [Duration::ZERO, Duration::from_micros(999), years, Duration::MAX] {
                for refused in [leases.lease_async(NAME, term).await, cluster.lease_async(NAME, term).await] {
                    let error = refused.unwrap_err();
                    assert!(matches!(error, Error::Term(wrong) if wrong == term), "{kind}: {error}");
                    assert!(error.to_string().contains("30 days"), "{error}");
                }
                assert!(matches!(leases.try_lease_async(NAME, term).await, Err(Error::Term(_))));
            }
            for name in ["", "a\0b", &"n".repeat(256)] {
                assert!(matches!(leases.lease_async(name, LONG).await, Err(Error::Name(_))), "{kind}");
            }
            if !matches!(pool, Pool::Client(_)) {
                let lease = leases.lease_async(NAME, LONG).await.unwrap();
                pool.close().await;
                let error = leases.lease_async("other", LONG).await.unwrap_err();
                assert!(matches!(error, Error::PoolClosed(_)), "{kind}: {error}");
                assert!(error.to_string().contains("the pool is closed"), "{error}");
                assert!(matches!(lease.release_async().await, Err(Error::PoolClosed(_))), "{kind}");
                counter.client.batch_execute("DELETE FROM waitword.leases").await.unwrap();
            }
        }
        // The schema of a newer program, and of an older one.
        let leases = Pool::deadpool(&address, 1).leases();
        for (version, is_newer) in [(3, true), (1, false)] {
            let other = format!(
                "CREATE OR REPLACE FUNCTION waitword.version() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT {version}'"
            );
            counter.client.batch_execute(&other).await.unwrap();
            let error = leases.lease_async(NAME, LONG).await.unwrap_err();
            let is_told = if is_newer {
                matches!(error, Error::Outdated(_))
            } else {
                matches!(error, Error::Schema(_))
            };
            assert!(is_told, "{error}");
        }
        assert_eq!(number(&counter.client, HELD).await.unwrap(), 0);
        counter.client.batch_execute("DROP SCHEMA waitword CASCADE").await.unwrap();
        let error = leases.lease_async(NAME, LONG).await.unwrap_err();
        assert!(matches!(error, Error::Schema(_)) && error.to_string().contains("migrate"), "{error}");
        // Nobody is there, for as long as may be asked.
        let nobody = Pool::deadpool("host=127.0.0.1 port=1 user=me", 1).leases();
        let error =
            nobody.answer_limit(Duration::from_millis(200)).lease_async(NAME, LONG).await.unwrap_err();
        assert!(matches!(error, Error::Unreachable(..)), "{error}");
    });
}

/// How often a process counts in a section, each time with a number of its own.
const COUNTS: i64 = 5;

/// What a process does that counts with leases on a pool of one connection, until the attacks are over.
pub(crate) async fn work(address: &str) {
    let pool = Pool::deadpool(address, 1);
    let leases = pool.leases();
    let is_over = Arc::new(AtomicBool::new(false));
    let ends = Arc::clone(&is_over);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    say("ready");
    say(&format!("{now}"));
    thread::spawn(move || {
        while io::stdin().read_line(&mut String::new()).unwrap() > 0 {}
        ends.store(true, Ordering::SeqCst);
    });
    let (mut counted, mut lost) = (0, String::new());
    while !is_over.load(Ordering::SeqCst) {
        let Ok(lease) = leases.lease_async(NAME, TERM).await else { continue };
        let Ok(fence) = lease.fence() else { continue };
        let counts = async {
            let (mut done, mut n) = (0, 0);
            // The connection may have been cut, after a commit as well.
            while done < COUNTS {
                match pool.count(&lease, n).await {
                    Ok(()) => (counted, done) = (counted + 1, done + 1),
                    Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
                }
                n += 1;
            }
        };
        let ran = lease.run(counts).await;
        let released = lease.release_async().await;
        if ran.is_err() || matches!(released, Err(Error::Lost(_))) {
            lost.push_str(&format!(" {fence}"));
        }
        // Waiters are in no order: whoever asks at once is the first.
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    say(&format!("{counted} counted, lost:{lost}."));
}

/// The wall clock of a process, an hour off.
const CLOCK: &str = "
    #define _GNU_SOURCE
    #include <sys/syscall.h>
    #include <time.h>
    #include <unistd.h>
    int clock_gettime(clockid_t clock, struct timespec *time) {
        int failed = syscall(SYS_clock_gettime, clock, time);
        if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += OFF;
        return failed;
    }";

/// The library for `LD_PRELOAD`. `None` where there is no C compiler.
fn clock(folder: &Path, off: i64) -> Option<PathBuf> {
    let (source, library) = (folder.join("clock.c"), folder.join(format!("clock{off}.so")));
    fs::write(&source, CLOCK).unwrap();
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", &format!("-DOFF=({off})"), "-o"]).arg(&library).arg(&source);
    let is_built = cc.status().is_ok_and(|status| status.success());
    if !is_built {
        skip(
            "a wall clock that is an hour off",
            "there is no C compiler here; to get it: apt-get install gcc",
        );
    }
    is_built.then_some(library)
}

#[test]
fn three_processes_behind_a_pooler_lose_no_count_and_are_told_of_each_loss() {
    with_pooler(async |database, pooler, counter| {
        let folder = TempDir::new().unwrap();
        let address = database.address_at(pooler.port);
        let start = |off: i64| {
            let mut command = Command::new(env::current_exe().unwrap());
            let library = clock(folder.path(), off).filter(|_| off != 0);
            if let Some(library) = &library {
                command.env("LD_PRELOAD", library);
            }
            let mut process = Process::start_with(command, &address, "leased", 0);
            let (its, ours) = (process.line().parse::<i64>().unwrap(), SystemTime::now());
            let is_off = its - ours.duration_since(UNIX_EPOCH).unwrap().as_secs() as i64;
            assert!(library.is_none() || (is_off - off).abs() < 600, "its clock is {is_off} s off");
            process
        };
        let mut processes = [0, 3600, -3600].map(start);
        let client = &counter.client;
        // Killed while it holds: another is granted the lease.
        let number_of = processes[0].number();
        let killed = format!(
            "SELECT coalesce(max(fence), 0) FROM waitword.leases WHERE process LIKE '% {number_of}' AND expires > clock_timestamp()"
        );
        until(async || number(client, &killed).await.unwrap() > 0).await;
        processes[0].kill();
        let last = number(client, "SELECT fence FROM waitword.leases").await.unwrap();
        until(async || number(client, "SELECT fence FROM waitword.leases").await.unwrap() > last).await;
        // Each is stopped in its section, until another has counted. It has logged its first count, so it knows of its lease, and not all of
        // them, so it does not release the lease.
        let mut losses = Vec::new();
        for stopped in [1, 2] {
            let number_of = processes[stopped].number();
            let held = format!(
                "SELECT coalesce(max(fence), 0) FROM waitword.leases lease
                 WHERE process LIKE '% {number_of}' AND expires > clock_timestamp() AND (SELECT count(*) FROM log
                     WHERE log.fence BETWEEN lease.fence AND lease.fence + 1048575) BETWEEN 1 AND {}",
                COUNTS - 1
            );
            let fence = loop {
                until(async || number(client, &held).await.unwrap() > 0).await;
                processes[stopped].signal("STOP");
                match number(client, &held).await.unwrap() {
                    0 => processes[stopped].signal("CONT"),
                    fence => break fence,
                }
            };
            let counted = format!("SELECT count(*) FROM log WHERE fence > {}", fence + (1 << 20) - 1);
            until(async || number(client, &counted).await.unwrap() > 0).await;
            processes[stopped].signal("CONT");
            losses.push(format!(" {fence}"));
            // All connections of all processes are cut, some while a lease is held.
            for _ in 0..5 {
                let before = number(client, VALUE).await.unwrap();
                let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid()";
                number(client, cut).await.unwrap();
                until(async || number(client, VALUE).await.unwrap() > before).await;
            }
        }
        let [_, one, two] = &mut processes;
        let said = [one, two].map(|process| {
            process.attacks_are_over();
            let said = process.line();
            process.ends_well();
            said
        });
        for (said, loss) in said.iter().zip(losses) {
            assert!(
                said.contains(&format!("{loss} ")) || said.contains(&format!("{loss}.")),
                "{said}: not{loss}"
            );
        }
        println!("{said:?}: the value is {}", counter.value().await);
    });
}
