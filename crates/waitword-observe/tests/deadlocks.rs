//! Real locks, threads and tasks that are stuck: the whole report of a process of its own, with times masked. A process ends with its
//! threads stuck, as they are for ever.
//!
//! In what is expected, `<mark>` is the line of this file that ends with `// mark`.

use std::process::{Command, Output, exit};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Builder;
use waitword::{AsyncLock, Condvar, Event, Mutex, OnceLock, RwLock, Semaphore};
use waitword_observe::{Finding, Report, abort_on_deadlock, enable, name, on_deadlock, report};

const SCENARIO: &str = "WAITWORD_TEST_SCENARIO";

/// Runs in the process of a scenario.
#[test]
#[ignore = "started by the others, in a process of its own"]
fn scenario() {
    let Ok(scenario) = std::env::var(SCENARIO) else { return };
    enable();
    let (scenario, is_json) = match scenario.strip_suffix(" json") {
        Some(scenario) => (scenario, true),
        None => (&*scenario, false),
    };
    let is_expected: fn(&Report) -> bool = match scenario {
        "abba" => abba(),
        "task" => abba_with_a_task(),
        "types" => types(),
        "twins" => twins(),
        "twice" => twice(),
        "held" => held(),
        "executor" => executor(),
        "reads" => reads(),
        "initialisers" => initialisers(),
        "upgrade" => upgrade(),
        "permits" => permits(),
        "notify" => lost_notify(),
        "async lock" => async_lock(),
        "owned" => owned(),
        "sent" => sent(),
        "futurelock" => futurelock(),
        "calls" => calls(abba),
        "aborts" => aborts(),
        "prints" => prints(),
        other => panic!("{other}"),
    };
    let start = Instant::now();
    loop {
        let report = report();
        assert!(start.elapsed() < Duration::from_secs(60), "not so:\n{report}");
        if is_expected(&report) {
            match is_json {
                true => println!("<<<{}>>>", report.to_json()),
                false => println!("<<<{report}>>>"),
            }
            exit(0);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn has_cycle(report: &Report) -> bool {
    report.findings.iter().any(|finding| matches!(finding, Finding::Cycle(_)))
}

/// What the process of that scenario printed, and how it ended.
fn output_of(scenario: &str) -> Output {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "scenario", "--ignored", "--nocapture"]).env(SCENARIO, scenario);
    child.output().unwrap()
}

/// The report of that scenario.
fn shown(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, from) = text.split_once("<<<").unwrap_or_else(|| panic!("{text}\n{output:?}"));
    from.split_once(">>>").unwrap().0.to_owned()
}

/// The report of that scenario, masked.
fn report_of(scenario: &str) -> String {
    masked(&shown(&output_of(scenario)))
}

/// Times, addresses, numbers of processes and of threads without a name are `#`, runs of white space are one space, and lines are marks.
/// Tasks are numbered as they come in the text: their own numbers depend on which of them an earlier snapshot saw.
fn masked(report: &str) -> String {
    let source: Vec<&str> = include_str!("deadlocks.rs").lines().collect();
    let (mut words, mut tasks): (Vec<String>, Vec<&str>) = (Vec::new(), Vec::new());
    for word in report.split_whitespace() {
        let core = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '…');
        let last = words.last().cloned().unwrap_or_default();
        let number = |word: &str| word.trim_start_matches('(').parse::<f64>().is_ok();
        if let Some((_, line)) = core.split_once("deadlocks.rs:") {
            let line = source[line.parse::<usize>().unwrap() - 1];
            let mark = line.split_once("// ").unwrap_or_else(|| panic!("no mark: {line}")).1;
            words.push(word.replace(core, &format!("<{mark}>")));
        } else if core.starts_with("0x") {
            words.push(word.replace(core, "#"));
        } else if matches!(core, "us" | "ms" | "s") && number(&last) {
            words.pop();
            words.push("#".to_owned() + word.trim_start_matches(char::is_alphabetic));
        } else if last == "(process" {
            words.push(word.replace(core, "#"));
        } else if last == "task" && number(core) {
            let task = tasks.iter().position(|task| *task == core).unwrap_or_else(|| {
                tasks.push(core);
                tasks.len() - 1
            });
            words.push(word.replace(core, &(task + 1).to_string()));
        } else {
            words.push(word.to_owned());
        }
    }
    let program = words[1].clone();
    words.join(" ").replace(&program, "deadlocks")
}

fn expect(scenario: &str, expected: &str) {
    let expected = expected.split_whitespace().collect::<Vec<_>>().join(" ");
    let report = report_of(scenario);
    assert!(report == expected, "\n{report}\ninstead of\n{expected}");
}

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn named<T>(value: T, text: &str) -> &'static Mutex<T> {
    let mutex = leak(Mutex::new(value));
    name(mutex, text).forever();
    mutex
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) {
    thread::Builder::new().name(name.into()).spawn(run).unwrap();
}

/// Two locks, each held by one of two threads, that arrive at the second one together.
fn abba() -> fn(&Report) -> bool {
    let (accounts, ledger) = (named(0, "accounts"), named('a', "ledger"));
    let meet = Arc::new(Barrier::new(2));
    let other = Arc::clone(&meet);
    spawn("alpha", move || {
        let _ledger = ledger.lock(); // alpha took
        other.wait();
        let _accounts = accounts.lock(); // alpha waits
    });
    // The younger wait is the first in the report.
    spawn("beta", move || {
        let _accounts = accounts.lock(); // beta took
        meet.wait();
        until_waiting("alpha");
        let _ledger = ledger.lock(); // beta waits
    });
    has_cycle
}

fn until_waiting(thread: &str) {
    let waits = || {
        waitword::observe::snapshot().iter().any(|waiter| match &waiter.actor {
            waitword::observe::Actor::Thread(waiting) => waiting.name() == Some(thread),
            _ => false,
        })
    };
    while !waits() {
        thread::yield_now();
    }
}

#[test]
fn two_threads_that_each_hold_what_the_other_wants() {
    expect(
        "abba",
        r#"waitword: deadlocks (process #): 2 waiters at 2 locks
        deadlock: 2 members, since #
          thread "beta"   waits # for Mutex<char> "ledger" at <beta waits>
                          holds # Mutex<i32> "accounts", taken at <beta took>
          thread "alpha"  waits # for Mutex<i32> "accounts" at <alpha waits>
                          holds # Mutex<char> "ledger", taken at <alpha took>
        Mutex<i32> "accounts" at #: 1 waiter
          # held by thread "beta", taken at <beta took>
          # thread "alpha" <alpha waits>
        Mutex<char> "ledger" at #: 1 waiter
          # held by thread "alpha", taken at <alpha took>
          # thread "beta" <beta waits>"#,
    );
}

mod db {
    pub(super) struct Pool;
}

/// Nobody has named these.
fn types() -> fn(&Report) -> bool {
    let (pools, pool, cell) =
        (leak(RwLock::new(vec![db::Pool])), leak(Mutex::new(db::Pool)), leak(OnceLock::new()));
    let meet = Arc::new(Barrier::new(2));
    let other = Arc::clone(&meet);
    spawn("alpha", move || {
        let _pools = pools.read(); // alpha reads
        other.wait();
        let _pool = pool.lock(); // alpha locks
    });
    spawn("beta", move || {
        let init = || {
            let _pool = pool.lock(); // beta locks
            meet.wait();
            until_waiting("alpha");
            let _pools = pools.write(); // beta writes
            db::Pool
        };
        cell.get_or_init(init); // beta makes
    });
    spawn("gamma", move || {
        until_waiting("beta");
        cell.wait(); // gamma waits
    });
    |report| has_cycle(report) && report.snapshot.waiters() == 3
}

#[test]
fn types_are_said_that_nobody_named() {
    expect(
        "types",
        r#"waitword: deadlocks (process #): 3 waiters at 3 locks
        deadlock: 2 members, since #
          thread "beta" waits # for RwLock<Vec<db::Pool>> at <beta writes>
                        holds # Mutex<db::Pool>, taken at <beta locks>
          thread "alpha" waits # for Mutex<db::Pool> at <alpha locks>
                         holds # RwLock<Vec<db::Pool>>, taken at <alpha reads>
        Mutex<db::Pool> at #: 1 waiter
          # held by thread "beta", taken at <beta locks>
          # thread "alpha" <alpha locks>
        RwLock<Vec<db::Pool>> at #: 1 waiter
          # held by thread "alpha", taken at <alpha reads>
          # thread "beta" <beta writes>, to write
        OnceLock<db::Pool> at #: 1 waiter
          # held by thread "beta", taken at <beta makes>
          # thread "gamma" <gamma waits>"#,
    );
    let json = shown(&output_of("types json"));
    for name in [
        "Mutex<deadlocks::db::Pool>",
        "RwLock<alloc::vec::Vec<deadlocks::db::Pool>>",
        "OnceLock<deadlocks::db::Pool>",
    ] {
        assert!(json.contains(&format!(r#""type_name":"{name}""#)), "{name} is not in {json}");
    }
}

/// Two locks of one type.
fn twins() -> fn(&Report) -> bool {
    let (one, other) = (leak(Mutex::new(0_u8)), leak(Mutex::new(0_u8)));
    let meet = Arc::new(Barrier::new(2));
    let met = Arc::clone(&meet);
    spawn("alpha", move || {
        let _one = one.lock(); // alpha took one
        met.wait();
        let _other = other.lock(); // alpha waits for other
    });
    spawn("beta", move || {
        let _other = other.lock(); // beta took other
        meet.wait();
        until_waiting("alpha");
        let _one = one.lock(); // beta waits for one
    });
    has_cycle
}

#[test]
fn two_locks_of_one_type_are_told_apart_by_their_addresses() {
    expect(
        "twins",
        r#"waitword: deadlocks (process #): 2 waiters at 2 locks
        deadlock: 2 members, since #
          thread "beta" waits # for Mutex<u8> at # at <beta waits for one>
                        holds # Mutex<u8> at #, taken at <beta took other>
          thread "alpha" waits # for Mutex<u8> at # at <alpha waits for other>
                         holds # Mutex<u8> at #, taken at <alpha took one>
        Mutex<u8> at #: 1 waiter
          # held by thread "beta", taken at <beta took other>
          # thread "alpha" <alpha waits for other>
        Mutex<u8> at #: 1 waiter
          # held by thread "alpha", taken at <alpha took one>
          # thread "beta" <beta waits for one>"#,
    );
}

/// A program that is called when it is stuck, and ends by itself.
fn calls(stuck: fn() -> fn(&Report) -> bool) -> fn(&Report) -> bool {
    stuck();
    let called = on_deadlock(|cycle| {
        println!("<<<{} members, certain: {}>>>", cycle.members.len(), cycle.is_certain());
        exit(0);
    });
    called.unwrap();
    |_| false
}

#[test]
fn the_program_is_called_when_a_deadlock_is_found() {
    let output = output_of("calls");
    assert_eq!((shown(&output).as_str(), output.status.code()), ("2 members, certain: true", Some(0)));
}

/// A program that is aborted when it is stuck.
fn aborts() -> fn(&Report) -> bool {
    abba();
    abort_on_deadlock().unwrap();
    |_| false
}

#[test]
fn a_deadlock_aborts_where_that_was_asked_for() {
    let output = output_of("aborts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("waitword: deadlock: 2 members") && errors.contains("Mutex<char> \"ledger\""),
        "{errors}"
    );
    assert!(!output.status.success() && !errors.contains("not so"), "{output:?}");
}

/// A program that is not: one of the members is a task, which may await something else too.
fn prints() -> fn(&Report) -> bool {
    abort_on_deadlock().unwrap();
    calls(abba_with_a_task)
}

#[test]
fn a_cycle_that_may_end_is_printed_and_aborts_nothing() {
    let output = output_of("prints");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("waitword: cycle: 2 members"), "{errors}");
    assert_eq!((shown(&output).as_str(), output.status.code()), ("2 members, certain: false", Some(0)));
}

/// As [`abba`], with a task for one of the threads.
fn abba_with_a_task() -> fn(&Report) -> bool {
    let (accounts, ledger) = (named(0, "accounts"), named('a', "ledger"));
    let meet = Arc::new(Barrier::new(2));
    let other = Arc::clone(&meet);
    spawn("runtime", move || {
        let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let task = runtime.spawn(async move {
            let _ledger = ledger.lock_async().await; // task took
            other.wait();
            let _accounts = accounts.lock_async().await; // task waits
        });
        runtime.block_on(task).unwrap();
    });
    spawn("beta", move || {
        let _accounts = accounts.lock(); // beta took it
        meet.wait();
        while waitword::observe::snapshot().is_empty() {
            thread::yield_now();
        }
        let _ledger = ledger.lock(); // beta waits for it
    });
    has_cycle
}

#[test]
fn a_thread_and_a_task() {
    expect(
        "task",
        r#"waitword: deadlocks (process #): 2 waiters at 2 locks
        cycle: 2 members, since #
          thread "beta"  waits # for Mutex<char> "ledger" at <beta waits for it>
                         holds # Mutex<i32> "accounts", taken at <beta took it>
          task 1         waits # for Mutex<i32> "accounts" at <task waits>
                         holds # Mutex<char> "ledger", taken at <task took>
        deadlock unless task 1 has another way on (select!), or task 1 is not the one that took the lock (identify tells)
        Mutex<i32> "accounts" at #: 1 waiter
          # held by thread "beta", taken at <beta took it>
          # task 1 <task waits>
        Mutex<char> "ledger" at #: 1 waiter
          # held by task 1, taken at <task took>
          # thread "beta" <beta waits for it>"#,
    );
}

fn twice() -> fn(&Report) -> bool {
    let mutex = named((), "once");
    spawn("main", move || {
        let _guard = mutex.lock(); // took once
        let _guard = mutex.lock(); // took twice
    });
    has_cycle
}

#[test]
fn a_lock_taken_twice() {
    expect(
        "twice",
        r#"waitword: deadlocks (process #): 1 waiter at 1 lock
        deadlock: 1 member, since #
          thread "main" waits # for Mutex<()> "once" at <took twice>
                        holds # Mutex<()> "once", taken at <took once>
        Mutex<()> "once" at #: 1 waiter
          # held by thread "main", taken at <took once>
          # thread "main" <took twice>"#,
    );
}

/// A task keeps a guard while it is not polled, and another waits.
fn held() -> fn(&Report) -> bool {
    let db = named(0, "db");
    spawn("runtime", move || {
        let runtime = Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let keeper = tokio::spawn(async move {
                let _guard = db.lock_async().await; // keeper took
                std::future::pending::<()>().await;
            });
            while !db.is_locked() {
                tokio::task::yield_now().await;
            }
            let waiter = tokio::spawn(async move { *db.lock_async().await }); // waiter waits
            let _ = (keeper.await, waiter.await);
        });
    });
    |report| report.snapshot.waiters() == 1 && report.findings.len() == 1
}

#[test]
fn a_guard_of_a_task_that_is_not_polled() {
    expect(
        "held",
        r#"waitword: deadlocks (process #): 1 waiter at 1 lock
        long wait: 1 for Mutex<i32> "db" at <waiter waits>, longest #
        Mutex<i32> "db" at #: 1 waiter
          # held by task 1, taken at <keeper took>
          # task 2 <waiter waits>"#,
    );
}

/// A task blocks its runtime's only thread for a lock that another task of it holds.
fn executor() -> fn(&Report) -> bool {
    let state = named(0, "state");
    spawn("main", move || {
        let runtime = Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            tokio::spawn(async move {
                let _guard = state.lock_async().await; // task holds
                tokio::task::yield_now().await;
            });
            while !state.is_locked() {
                tokio::task::yield_now().await;
            }
            let _guard = state.lock(); // blocks
        });
    });
    has_cycle
}

#[test]
fn a_thread_that_has_to_poll_the_task_it_waits_for() {
    expect(
        "executor",
        r#"waitword: deadlocks (process #): 1 waiter at 1 lock
        executor blocked: thread "main" waits # at <blocks> for Mutex<i32> "state", held by task 1
          (<task holds>), which this thread has to poll; use lock_async or forbid_blocking
        Mutex<i32> "state" at #: 1 waiter
          # held by task 1, taken at <task holds>
          # thread "main" <blocks>"#,
    );
}

/// A thread reads twice, and a writer waits between.
fn reads() -> fn(&Report) -> bool {
    let routes = leak(RwLock::new(0));
    name(routes, "routes").forever();
    spawn("r", move || {
        let _read = routes.read(); // r reads
        until_waiting("w");
        // Until the barging window closes.
        loop {
            drop(routes.read()); // r reads again
        }
    });
    spawn("w", move || {
        while !routes.is_locked() {
            thread::yield_now();
        }
        *routes.write() = 1; // w writes
    });
    has_cycle
}

#[test]
fn a_read_within_a_read_behind_a_writer() {
    expect(
        "reads",
        r#"waitword: deadlocks (process #): 2 waiters at 1 lock
        deadlock: thread "r" waits # for a read of RwLock<i32> "routes" at <r reads again> behind thread "w" (<w writes>),
          which waits for the read that thread "r" took at <r reads>; use try_read_recursive
        RwLock<i32> "routes" at #: 2 waiters
          # held by thread "r", taken at <r reads>
          # thread "w" <w writes>, to write
          # thread "r" <r reads again>, to read"#,
    );
}

/// Two initialisers that need each other's value.
fn initialisers() -> fn(&Report) -> bool {
    let cells: [&'static OnceLock<i32>; 2] = [leak(OnceLock::new()), leak(OnceLock::new())];
    name(cells[0], "first").forever();
    name(cells[1], "second").forever();
    let meet = Arc::new(Barrier::new(2));
    let other = Arc::clone(&meet);
    spawn("one", move || {
        let init = || {
            other.wait();
            *cells[1].get_or_init(|| 1) // one waits
        };
        cells[0].get_or_init(init); // one runs
    });
    spawn("two", move || {
        let init = || {
            meet.wait();
            until_waiting("one");
            *cells[0].get_or_init(|| 1) // two waits
        };
        cells[1].get_or_init(init); // two runs
    });
    has_cycle
}

#[test]
fn two_initialisers_that_wait_for_each_other() {
    let report = report_of("initialisers");
    for line in [
        r#"deadlock: 2 members, since #"#,
        r#"thread "two" waits # for OnceLock<i32> "first" at <two waits> holds # OnceLock<i32> "second", taken at <two runs>"#,
        r#"thread "one" waits # for OnceLock<i32> "second" at <one waits> holds # OnceLock<i32> "first", taken at <one runs>"#,
    ] {
        assert!(report.contains(line), "{line}\nis not in\n{report}");
    }
}

/// An upgrade waits for a reader that waits for the same thread.
fn upgrade() -> fn(&Report) -> bool {
    let (routes, other) = (leak(RwLock::new(0)), named(0, "other"));
    name(routes, "routes").forever();
    let meet = Arc::new(Barrier::new(2));
    let met = Arc::clone(&meet);
    spawn("u", move || {
        let _other = other.lock(); // u took
        let read = routes.upgradable_read(); // u reads
        met.wait();
        let _write = waitword::RwLockUpgradableReadGuard::upgrade(read); // u upgrades
    });
    spawn("r", move || {
        let _read = routes.read(); // reads
        meet.wait();
        until_waiting("u");
        let _other = other.lock(); // r waits
    });
    has_cycle
}

#[test]
fn an_upgrade_behind_a_reader() {
    let report = report_of("upgrade");
    for line in [
        r#"deadlock: 2 members, since #"#,
        r#"thread "r" waits # for Mutex<i32> "other" at <r waits> holds # RwLock<i32> "routes", taken at <reads>"#,
        r#"thread "u" waits # for RwLock<i32> "routes" at <u upgrades> holds # Mutex<i32> "other", taken at <u took>"#,
    ] {
        assert!(report.contains(line), "{line}\nis not in\n{report}");
    }
}

/// Of eight permits, six are forgotten and two are kept.
fn permits() -> fn(&Report) -> bool {
    let pool = leak(Semaphore::new(8));
    name(pool, "pool").forever();
    spawn("leaks", move || {
        for _ in 0..6 {
            pool.acquire().unwrap().forget(); // forgets
        }
        let _kept = pool.acquire_many(2).unwrap(); // keeps
        thread::park();
    });
    spawn("waits", move || {
        while pool.available_permits() > 0 {
            thread::yield_now();
        }
        let _permit = pool.acquire(); // waits
    });
    |report| report.snapshot.waiters() == 1
}

#[test]
fn permits_that_were_forgotten() {
    let report = report_of("permits");
    let expected = r#"Semaphore "pool" at #: 1 waiter # 6 permits forgotten, taken at <forgets> # 2 permits, taken at <keeps> # thread "waits" <waits>"#;
    assert!(report.contains(expected), "{expected}\nis not in\n{report}");
}

/// A notify comes before the wait, and another object is never notified.
fn lost_notify() -> fn(&Report) -> bool {
    static LOADED: Event = Event::new();
    let (queue, changed) = (leak(Mutex::new(0)), leak(Condvar::new()));
    let producer = thread::Builder::new().name("producer".into());
    let producer = producer.spawn(move || {
        *queue.lock() += 1;
        changed.notify_one(); // notifies
    });
    producer.unwrap().join().unwrap();
    spawn("worker", move || {
        changed.wait(&mut queue.lock()); // waits for work
    });
    spawn("loader", move || {
        until_waiting("worker");
        LOADED.wait(); // waits to be loaded
    });
    |report| report.findings.len() == 2
}

/// The shape of Oxide's RFD 609: `select!` has polled a future that waits for a lock, goes on in another branch, and keeps the future.
/// (Its lock is not stuck: who is behind it is served.)
fn futurelock() -> fn(&Report) -> bool {
    // Which of its rows are long enough to be shown depends on the machine.
    waitword_core::observe::stop_blame();
    let (db, reply) = (named(0_u64, "db"), leak(Event::new()));
    name(reply, "reply").forever();
    let held = db.lock();
    spawn("runtime", move || {
        let runtime = Builder::new_current_thread().build().unwrap();
        let task = runtime.spawn(async move {
            let mut write = std::pin::pin!(db.lock_async()); // write waits
            tokio::select! {
                biased;
                _ = &mut write => {}
                () = async {} => reply.wait_async().await, // reply waits
            }
        });
        runtime.block_on(task).unwrap();
    });
    while report().snapshot.waiters() < 2 {
        thread::yield_now();
    }
    let audit = thread::spawn(move || drop(db.lock()));
    while report().snapshot.waiters() < 3 {
        thread::yield_now();
    }
    drop(held);
    audit.join().unwrap();
    // Each is a second old at least.
    |report| report.findings.len() == 2
}

#[test]
fn a_notify_that_found_nobody_and_one_that_never_came() {
    expect(
        "notify",
        r#"waitword: deadlocks (process #): 2 waiters at 2 locks
        Event at #: 1 waits, longest # (<waits to be loaded>);
          nobody has notified it since observation began, # ago
        Condvar at #: 1 waits, longest # (<waits for work>);
          last notified by thread "producer" at <notifies>, # ago, found nobody
        Condvar at #: 1 waiter
          # last notified by thread "producer" at <notifies>, found nobody
          # thread "worker" <waits for work>
        Event at #: 1 waiter
          # thread "loader" <waits to be loaded>"#,
    );
}

/// As [`abba`], with a lock that has no guard.
fn async_lock() -> fn(&Report) -> bool {
    static GATE: AsyncLock = AsyncLock::new();
    let ledger = named('a', "ledger");
    let meet = Arc::new(Barrier::new(2));
    let other = Arc::clone(&meet);
    spawn("alpha", move || {
        GATE.lock(); // alpha took the gate
        other.wait();
        let _ledger = ledger.lock(); // alpha waits for the ledger
    });
    spawn("beta", move || {
        let _ledger = ledger.lock(); // beta took the ledger
        meet.wait();
        until_waiting("alpha");
        GATE.lock(); // beta waits for the gate
    });
    has_cycle
}

#[test]
fn an_async_lock_may_be_unlocked_by_another() {
    expect(
        "async lock",
        r#"waitword: deadlocks (process #): 2 waiters at 2 locks
        cycle: 2 members, since #
          thread "beta"  waits # for AsyncLock at # at <beta waits for the gate>
                         holds # Mutex<char> "ledger", taken at <beta took the ledger>
          thread "alpha" waits # for Mutex<char> "ledger" at <alpha waits for the ledger>
                         acquired AsyncLock at # # ago at <alpha took the gate>
        deadlock unless another unlocks what thread "alpha" acquired
        Mutex<char> "ledger" at #: 1 waiter
          # held by thread "beta", taken at <beta took the ledger>
          # thread "alpha" <alpha waits for the ledger>
        AsyncLock at #: 1 waiter
          # acquired by thread "alpha", taken at <alpha took the gate>
          # thread "beta" <beta waits for the gate>"#,
    );
}

/// As [`abba`], with guards that are made to be sent.
fn owned() -> fn(&Report) -> bool {
    let (accounts, ledger) = (leak(Arc::new(Mutex::new(0))), leak(Arc::new(RwLock::new('a'))));
    let meet = Arc::new(Barrier::new(2));
    let other = Arc::clone(&meet);
    spawn("alpha", move || {
        let _ledger = ledger.write_owned(); // alpha owns
        other.wait();
        let _accounts = accounts.lock(); // alpha waits for the other
    });
    spawn("beta", move || {
        let accounts = accounts.lock_owned(); // beta owns
        let _part = waitword::OwnedMutexGuard::map(accounts, |accounts| accounts);
        meet.wait();
        until_waiting("alpha");
        let _ledger = ledger.read(); // beta waits for the other
    });
    has_cycle
}

#[test]
fn owned_guards_are_made_to_be_sent() {
    expect(
        "owned",
        r#"waitword: deadlocks (process #): 2 waiters at 2 locks
        cycle: 2 members, since #
          thread "beta"  waits # for RwLock<char> at <beta waits for the other>
                         acquired Mutex<i32> # ago at <beta owns>
          thread "alpha" waits # for Mutex<i32> at <alpha waits for the other>
                         acquired RwLock<char> # ago at <alpha owns>
        deadlock unless the guard acquired by thread "beta" is elsewhere, or the guard acquired by thread "alpha" is elsewhere
        Mutex<i32> at #: 1 waiter
          # acquired by thread "beta", taken at <beta owns>
          # thread "alpha" <alpha waits for the other>
        RwLock<char> at #: 1 waiter
          # acquired by thread "alpha", taken at <alpha owns>
          # thread "beta" <beta waits for the other>, to read"#,
    );
}

/// As [`abba`], after a guard of the same line was released by another thread: it was kept over an `await` by a task that moved.
fn sent() -> fn(&Report) -> bool {
    let (accounts, ledger) = (named(0, "accounts"), named('a', "ledger"));
    let meet = Arc::new(Barrier::new(2));
    let other = Arc::clone(&meet);
    let take = || accounts.lock(); // takes, and is sent
    let mut task = Box::pin(async move {
        let _accounts = take();
        std::future::pending::<()>().await;
    });
    let first = thread::spawn(move || {
        let waker = std::task::Waker::noop();
        assert!(task.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
        task
    });
    drop(first.join().unwrap());
    spawn("alpha", move || {
        let _ledger = ledger.lock(); // alpha keeps
        other.wait();
        let _accounts = accounts.lock(); // alpha waits once more
    });
    spawn("beta", move || {
        let _accounts = take();
        meet.wait();
        until_waiting("alpha");
        let _ledger = ledger.lock(); // beta waits once more
    });
    has_cycle
}

#[test]
fn a_line_whose_guards_were_sent_before_makes_no_certain_deadlock() {
    expect(
        "sent",
        r#"waitword: deadlocks (process #): 2 waiters at 2 locks
        cycle: 2 members, since #
          thread "beta"  waits # for Mutex<char> "ledger" at <beta waits once more>
                         acquired Mutex<i32> "accounts" # ago at <takes, and is sent>
          thread "alpha" waits # for Mutex<i32> "accounts" at <alpha waits once more>
                         holds # Mutex<char> "ledger", taken at <alpha keeps>
        deadlock unless the guard acquired by thread "beta" is elsewhere
        Mutex<i32> "accounts" at #: 1 waiter
          # acquired by thread "beta", taken at <takes, and is sent>
          # thread "alpha" <alpha waits once more>
        Mutex<char> "ledger" at #: 1 waiter
          # held by thread "alpha", taken at <alpha keeps>
          # thread "beta" <beta waits once more>"#,
    );
}

#[test]
fn a_future_that_its_task_does_not_poll_while_it_awaits_another() {
    expect(
        "futurelock",
        r#"waitword: deadlocks (process #): 2 waiters at 2 locks
        Event "reply": 1 waits, longest # (<reply waits>); nobody has notified it since
            observation began, # ago
        never polled (futurelock): task 1 waits # for Mutex<u64> "db" at <write waits>; it was signalled, did not run and was skipped; 0
          behind it
        Mutex<u64> "db" at #: 1 waiter
          # task 1 <write waits>, signalled, has not run, skipped
        Event "reply" at #: 1 waiter
          # task 1 <reply waits>"#,
    );
}
