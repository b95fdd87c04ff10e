//! Deadlocks of real locks, threads and tasks. The members stay stuck until the program ends, as they would.

use std::panic::Location;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use waitword::{Mutex, RwLock};
use waitword_observe::{Finding, Report, report};

/// The first cycle whose text contains `name`. There is one soon: the members only have to get to their waits.
fn cycle_with(name: &str) -> String {
    loop {
        let Report { findings, .. } = report();
        let cycles = findings.iter().filter(|finding| matches!(finding, Finding::Cycle(_)));
        match cycles.map(ToString::to_string).find(|text| text.contains(name)) {
            Some(text) => return masked(&text),
            None => thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Times are `#`, and runs of spaces one: columns depend on the times.
fn masked(text: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    let lines = text.lines().map(|line| {
        words.clear();
        words.extend(line.split_whitespace());
        for at in 1..words.len() {
            let is_unit =
                matches!(words[at].trim_matches(|c: char| !c.is_alphanumeric()), "us" | "ms" | "s" | "min");
            if is_unit && words[at - 1].chars().all(|c| c.is_ascii_digit() || c == '.') {
                words[at - 1] = "#";
                words[at] = if words[at].ends_with(',') { "t," } else { "t" };
            }
        }
        words.join(" ")
    });
    let lines: Vec<String> = lines.collect();
    lines.join("\n")
}

#[track_caller]
fn here() -> String {
    let line = Location::caller().line();
    format!("…/waitword-observe/tests/deadlocks.rs:{line}")
}

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) {
    thread::Builder::new().name(name.into()).spawn(run).unwrap();
}

#[test]
fn two_threads_and_two_mutexes() {
    waitword_observe::enable();
    let (accounts, ledger) = (leak(Mutex::new(0)), leak(Mutex::new('a')));
    waitword_observe::name(accounts, "abba accounts").forever();
    waitword_observe::name(ledger, "abba ledger").forever();
    let (sender, receiver) = mpsc::channel();
    let (first, second) = (mpsc::channel(), mpsc::channel());
    let sites = sender.clone();
    spawn("alpha", move || {
        let (_ledger, at) = (ledger.lock(), here());
        first.0.send(()).unwrap();
        second.1.recv().unwrap();
        sites.send(("alpha", at, line!() + 1)).unwrap();
        let _accounts = accounts.lock();
    });
    spawn("beta", move || {
        let (_accounts, at) = (accounts.lock(), here());
        second.0.send(()).unwrap();
        first.1.recv().unwrap();
        sender.send(("beta", at, line!() + 1)).unwrap();
        let _ledger = ledger.lock();
    });
    let mut sites = [receiver.recv().unwrap(), receiver.recv().unwrap()];
    sites.sort();
    let [(_, alpha_took, alpha_waits), (_, beta_took, beta_waits)] = sites;
    let file = "…/waitword-observe/tests/deadlocks.rs";
    println!("{}", cycle_with("abba ledger"));
    let cycle = cycle_with("abba ledger");
    for line in [
        "deadlock: 2 members, since # t".to_owned(),
        format!("thread \"alpha\" waits # t for Mutex<i32> \"abba accounts\" at {file}:{alpha_waits}"),
        format!("holds # t Mutex<char> \"abba ledger\", taken at {alpha_took}"),
        format!("thread \"beta\" waits # t for Mutex<char> \"abba ledger\" at {file}:{beta_waits}"),
        format!("holds # t Mutex<i32> \"abba accounts\", taken at {beta_took}"),
    ] {
        assert!(cycle.contains(&line), "{line}\nis not in\n{cycle}");
    }
    let _ = RwLock::new(());
}
