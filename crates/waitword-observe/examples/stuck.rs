//! A program that is stuck in two ways, and prints a report about that.
//!
//! A thread waits for an event that is never notified. A task is signalled for a mutex, and is not polled: a
//! futurelock. (The lock is free all the same: the thread behind the task was served in its place.)
//!
//! `cargo run -p waitword-observe --example stuck`. With `--stay` it continues until its standard input ends, so that
//! `WAITWORD_OBSERVE=1,serve=/tmp/stuck.sock` has time to report.

use std::pin::pin;
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use waitword::{Event, Mutex};
use waitword_observe::{Finding, Report};

static ACCOUNTS: Mutex<Vec<u64>> = Mutex::new(Vec::new());
static LOADED: Event = Event::new();

fn main() {
    waitword_observe::init();
    // Even without WAITWORD_OBSERVE, because this program prints a report itself.
    waitword_observe::enable();
    waitword_observe::name(&ACCOUNTS, "accounts").forever();
    waitword_observe::name(&LOADED, "loaded").forever();

    let named = |name: &str| thread::Builder::new().name(name.into());
    let loader = named("loader").spawn(|| LOADED.wait()).expect("a thread");
    until(|report| report.snapshot.waiters() == 1);
    let held = ACCOUNTS.lock();
    let mut transfer = pin!(ACCOUNTS.lock_async());
    let polled_once = transfer.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled_once.is_pending());
    let audit = named("audit").spawn(|| drop(ACCOUNTS.lock())).expect("a thread");
    until(|report| report.snapshot.waiters() == 3);
    thread::sleep(Duration::from_millis(20)); // a critical section that others notice
    drop(held); // signals the task; 20 ms later it is skipped, and `audit` gets the lock
    audit.join().expect("no panic");

    if std::env::args().any(|argument| argument == "--stay") {
        println!("{}", std::process::id());
        let _ = std::io::read_to_string(std::io::stdin());
    } else {
        // A finding is a second old at least.
        let is_told = |report: &Report| report.findings.iter().any(Finding::is_fault);
        print!("{}", until(|report| report.findings.len() == 2 && is_told(report)));
    }
    LOADED.notify_all();
    loader.join().expect("no panic");
}

fn until(is_there: impl Fn(&Report) -> bool) -> Report {
    loop {
        let report = waitword_observe::report();
        if is_there(&report) {
            return report;
        }
        thread::sleep(Duration::from_millis(20));
    }
}
