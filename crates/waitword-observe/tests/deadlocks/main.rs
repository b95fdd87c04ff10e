//! Real locks, threads and tasks that are stuck: the whole report of a process of its own, with times masked. A process ends with its
//! threads stuck, as they are for ever.
//!
//! In what is expected (`tests/golden`), `<mark>` is the line of the test that ends with `// mark`.

#![cfg(feature = "json")]

#[path = "../common/mod.rs"]
mod common;
mod guards;
mod tasks;
mod threads;

use std::any::type_name;
use std::env;
use std::process::{Command, Output, exit};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use common::{assert_golden, leak, masked, until_waiting};
use waitword::Mutex;
use waitword_observe::{Finding, Report, abort_on_deadlock, enable, init, name, on_deadlock, report};

/// Set in the process that is stuck.
const IS_STUCK: &str = "WAITWORD_TEST_IS_STUCK";

/// Whether a report is as it has to be once the program is stuck.
type Stuck = fn(&Report) -> bool;

/// The path of the calling test: a closure is named after the test that it stands in.
fn test_of<P>() -> &'static str {
    type_name::<P>().split_once("::").unwrap().1.trim_end_matches("::{{closure}}")
}

/// What a process printed in which `program` runs, and how it ended: the calling test once more.
fn output_of<P: FnOnce() -> Stuck>(program: P) -> Output {
    if env::var_os(IS_STUCK).is_some() {
        run(program);
    }
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", test_of::<P>(), "--nocapture"]);
    // Nothing happens without `init`.
    child.env(IS_STUCK, "1").env("WAITWORD_OBSERVE", "1");
    child.output().unwrap()
}

/// Waits until the report is as expected, prints it as text and as JSON, and ends.
fn run(program: impl FnOnce() -> Stuck) -> ! {
    enable();
    let is_expected = program();
    let start = Instant::now();
    loop {
        let mut report = report();
        // On a busy machine a signalled thread may run late, and that is charged.
        report.blame.clear();
        // So it is with the waits of a cycle: after a second they are long as well.
        if has_cycle(&report) {
            report.findings.retain(|finding| !matches!(finding, Finding::LongWait(_)));
        }
        assert!(start.elapsed() < Duration::from_secs(60), "not so:\n{report}");
        if is_expected(&report) {
            println!("<<<{report}>>>{}", report.to_json());
            exit(0);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// What the process printed between marks, and behind them.
fn shown(output: &Output) -> [String; 2] {
    let text = String::from_utf8_lossy(&output.stdout);
    let (_, from) = text.split_once("<<<").unwrap_or_else(|| panic!("{text}\n{output:?}"));
    let (shown, rest) = from.split_once(">>>").unwrap();
    [shown.to_owned(), rest.to_owned()]
}

/// Asserts that the report is the golden one of the calling test. Returns it as JSON.
#[track_caller]
fn expect<P: FnOnce() -> Stuck>(program: P) -> String {
    let [text, json] = shown(&output_of(program));
    let text = masked(&text);
    let (start, report) = text.split_once(" (process #): ").unwrap();
    assert!(start.starts_with("waitword: deadlocks"), "{start}");
    assert_golden(test_of::<P>().rsplit("::").next().unwrap(), report);
    json
}

fn has_cycle(report: &Report) -> bool {
    report.findings.iter().any(|finding| matches!(finding, Finding::Cycle(_)))
}

fn named<T>(value: T, text: &str) -> &'static Mutex<T> {
    let mutex = leak(Mutex::new(value));
    name(mutex, text).forever();
    mutex
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) {
    thread::Builder::new().name(name.into()).spawn(run).unwrap();
}

/// Two threads that meet before they wait for each other. Beta, whose wait is the younger one, comes first in the report.
fn meet(
    alpha: impl FnOnce(&dyn Fn()) + Send + 'static,
    beta: impl FnOnce(&dyn Fn()) + Send + 'static,
) -> Stuck {
    let barrier = Arc::new(Barrier::new(2));
    let other = Arc::clone(&barrier);
    spawn("alpha", move || {
        alpha(&|| {
            other.wait();
        });
    });
    spawn("beta", move || {
        beta(&|| {
            barrier.wait();
            until_waiting("alpha");
        });
    });
    has_cycle
}

/// As [`meet`]: what alpha takes and what it waits for, then the same of beta.
fn cross<A, B, C, D>(
    alpha_takes: impl FnOnce() -> A + Send + 'static,
    alpha_waits: impl FnOnce() -> B + Send + 'static,
    beta_takes: impl FnOnce() -> C + Send + 'static,
    beta_waits: impl FnOnce() -> D + Send + 'static,
) -> Stuck {
    let alpha = |meets: &dyn Fn()| {
        let _held = alpha_takes();
        meets();
        alpha_waits();
    };
    let beta = |meets: &dyn Fn()| {
        let _held = beta_takes();
        meets();
        beta_waits();
    };
    meet(alpha, beta)
}

fn crossed_mutexes() -> Stuck {
    let (accounts, ledger) = (named(0, "accounts"), named('a', "ledger"));
    cross(|| ledger.lock(), || accounts.lock(), || accounts.lock(), || ledger.lock())
}

/// The program is called when it is stuck, and ends by itself.
fn ends_when_called() {
    let called = on_deadlock(|cycle| {
        println!("<<<{} members, certain: {}>>>", cycle.members.len(), cycle.is_certain());
        exit(0);
    });
    called.unwrap();
}

#[test]
fn the_program_is_called_when_a_deadlock_is_found() {
    let output = output_of(|| {
        crossed_mutexes();
        ends_when_called();
        |_| false
    });
    assert_eq!((&*shown(&output)[0], output.status.code()), ("2 members, certain: true", Some(0)));
}

#[test]
fn a_deadlock_aborts_where_that_was_asked_for() {
    let output = output_of(|| {
        init();
        crossed_mutexes();
        abort_on_deadlock().unwrap();
        |_| false
    });
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("deadlock: 2 members") && errors.contains("Mutex<char> \"ledger\""), "{errors}");
    assert_eq!(errors.matches("deadlock: 2 members").count(), 1, "{errors}");
    assert!(errors.contains("a false alarm if a borrowed guard was sent to another thread"), "{errors}");
    assert!(!output.status.success() && !errors.contains("not so"), "{output:?}");
}

/// The program is told alone: one of the members is a task, which may await something else too.
#[test]
fn a_cycle_that_may_end_is_told_and_neither_printed_nor_a_reason_to_abort() {
    let output = output_of(|| {
        abort_on_deadlock().unwrap();
        ends_when_called();
        tasks::crossed_with_a_task();
        |_| false
    });
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!errors.contains("waitword:") && !errors.contains("cycle"), "{errors}");
    assert_eq!((&*shown(&output)[0], output.status.code()), ("2 members, certain: false", Some(0)));
}
