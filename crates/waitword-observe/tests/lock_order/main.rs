//! The order of locks: what is a potential deadlock, and for each rule one that is none.

#![cfg(feature = "json")]

#[path = "../common/mod.rs"]
mod common;
mod others;
mod tasks;

use std::mem;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use common::{address_of, in_one_line, masked, turn, until};
use waitword::{Condvar, Mutex, MutexGuard, RwLock};
use waitword_observe::{
    Finding, PotentialDeadlock, Report, check_lock_order, lock_order, name, report, snapshot,
};

/// What is found while this runs. No other test runs meanwhile, so it is of its locks. (Circles of the same places are found once.)
fn found_while(runs: impl FnOnce()) -> Vec<PotentialDeadlock> {
    let _turn = turn();
    check_lock_order();
    let before = lock_order().potential_deadlocks.len();
    runs();
    lock_order().potential_deadlocks.split_off(before)
}

/// What a thread does.
type Part<'a> = &'a (dyn Fn() + Sync);

/// Each in a thread of its own, which has its number for a name, one after the other.
fn one_after_the_other(parts: &[Part<'_>]) {
    for (number, part) in parts.iter().enumerate() {
        thread::scope(|scope| {
            thread::Builder::new().name(number.to_string()).spawn_scoped(scope, part).unwrap();
        });
    }
}

#[track_caller]
fn assert_found(count: usize, parts: &[Part<'_>]) {
    let found = found_while(|| one_after_the_other(parts));
    assert_eq!(found.len(), count, "{found:?}");
}

/// The text of the one that is found.
#[track_caller]
fn text_of(parts: &[Part<'_>]) -> String {
    let found = found_while(|| one_after_the_other(parts));
    let [found] = &found[..] else { panic!("{found:?}") };
    masked(&Finding::PotentialDeadlock(found.clone()).to_string())
}

fn is_queued(address: u64) -> bool {
    snapshot().locks.iter().any(|lock| lock.name.address.0 == address)
}

#[test]
fn two_threads_in_opposite_orders() {
    let (accounts, ledger) = (Mutex::new(0), Mutex::new(0));
    let _names = [name(&accounts, "accounts"), name(&ledger, "ledger")];
    let pay = || {
        let _accounts = accounts.lock(); // to pay
        let _ledger = ledger.lock(); // pays
    };
    let audit = || {
        let _ledger = ledger.lock(); // to audit
        let _accounts = accounts.lock(); // audits
    };
    let expected = "\
potential deadlock: 2 locks were taken in opposite orders
  thread \"1\"  took Mutex<i32> \"accounts\" at <audits>
              holding Mutex<i32> \"ledger\", taken at <to audit>
  thread \"0\"  took Mutex<i32> \"ledger\" at <pays>
              holding Mutex<i32> \"accounts\", taken at <to pay>";
    assert_eq!(text_of(&[&pay, &audit, &pay]), expected);
    // It is in reports too, as a fault, and survives JSON.
    let report = report();
    assert!(report.findings.iter().any(|found| masked(&found.to_string()) == expected), "{report}");
    assert!(
        report
            .findings
            .iter()
            .any(|found| matches!(found, Finding::PotentialDeadlock(_)) && found.is_fault())
    );
    assert_eq!(Report::from_json(&report.to_json()), Ok(report));
}

/// The locks are gone, and with them their edges; what was found stays. So it does if the locks were never named.
#[test]
fn what_was_found_outlives_the_locks() {
    let (a, b) = (Box::new(Mutex::new(0)), Box::new(Mutex::new(0)));
    let found = found_while(|| {
        one_after_the_other(&[&|| *a.lock() += *b.lock(), &|| *b.lock() += *a.lock()]);
        drop((a, b));
    });
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn a_circle_of_three() {
    let locks = [Mutex::new(0), Mutex::new(0), Mutex::new(0)];
    let takes = |first: usize| drop((locks[first].lock(), locks[(first + 1) % 3].lock()));
    assert_found(0, &[&|| takes(0), &|| takes(1)]);
    let text = text_of(&[&|| takes(2)]);
    let start = "potential deadlock: 3 locks were taken in orders that form a cycle\n";
    assert!(text.starts_with(start) && text.matches(" took Mutex at ").count() == 3, "{text}");
}

#[test]
fn the_same_order_and_one_thread_alone_make_no_alarm() {
    let (a, b) = (Mutex::new(0), Mutex::new(0));
    let one = || drop((a.lock(), b.lock()));
    assert_found(0, &[&one, &one]);
    let (a, b) = (Mutex::new(0), Mutex::new(0));
    let alone = || {
        drop((a.lock(), b.lock()));
        drop((b.lock(), a.lock()));
    };
    assert_found(0, &[&alone]);
    // Its twin: a second thread that runs the same makes the edges too.
    assert_found(1, &[&alone]);
}

#[test]
fn a_gate_makes_no_alarm_unless_it_lets_two_in() {
    let (gate, other_gate, a, b) = (RwLock::new(()), RwLock::new(()), Mutex::new(0), Mutex::new(0));
    let one = || drop((gate.write(), a.lock(), b.lock()));
    let other = || drop((gate.write(), b.lock(), a.lock()));
    assert_found(0, &[&one, &other]);
    // A writer and a reader exclude each other as well.
    assert_found(0, &[&|| drop((gate.read(), b.lock(), a.lock()))]);
    // Another gate is none, and neither is one that both read.
    assert_found(1, &[&|| drop((other_gate.write(), b.lock(), a.lock()))]);
    let found = found_while(|| one_after_the_other(&[&|| drop((gate.read(), a.lock(), b.lock()))]));
    assert!(!found.is_empty());
}

#[test]
fn readers_make_no_alarm_and_a_writer_does() {
    let (a, b) = (RwLock::new(0), Mutex::new(0));
    let reads_first = || {
        let _a = a.read(); // reads
        drop(b.lock()); // under a read
    };
    let reads_second = || drop((b.lock(), a.read()));
    let upgradable_second = || drop((b.lock(), a.upgradable_read()));
    assert_found(0, &[&reads_first, &reads_second, &upgradable_second]);
    let writes_second = || {
        let _b = b.lock(); // to write
        drop(a.write()); // writes
    };
    let expected = "\
potential deadlock: 2 locks were taken in opposite orders
  thread \"0\" #  took RwLock at # for writing at <writes>
                holding Mutex at #, taken at <to write>
  thread \"0\" #  took Mutex at # at <under a read>
                holding RwLock at # for reading, taken at <reads>";
    assert_eq!(in_one_line(&text_of(&[&writes_second])), in_one_line(expected));
}

#[test]
fn acquirers_that_give_up_make_no_alarm_and_hold_as_others_do() {
    let (a, b) = (Mutex::new(0), RwLock::new(0));
    let one = || drop((a.lock(), b.write()));
    let tries = || {
        let _b = b.write();
        drop(a.try_lock().unwrap());
        drop(a.lock_for(Duration::from_secs(60)).unwrap());
    };
    assert_found(0, &[&one, &tries]);
    assert_found(1, &[&|| drop((b.try_write().unwrap(), a.lock()))]);
}

/// A thread that was queued, and had a deadline.
#[test]
fn a_timed_wait_makes_no_alarm() {
    let (a, b) = (Mutex::new(0), Mutex::new(0));
    let found = found_while(|| {
        one_after_the_other(&[&|| drop((a.lock(), b.lock()))]);
        let held = a.lock();
        thread::scope(|scope| {
            scope.spawn(|| drop((b.lock(), a.lock_for(Duration::from_secs(60)).unwrap())));
            until(|| is_queued(address_of(&a)));
            drop(held);
        });
    });
    assert_eq!(found, []);
}

/// With `drop` between, and with a guard that was leaked in a lock that was never dropped.
#[test]
fn an_address_that_is_used_again_is_another_lock() {
    let a = Mutex::new(0);
    let mut slot = Box::new(Mutex::new(0));
    let address = address_of(&*slot);
    assert_found(0, &[&|| drop((a.lock(), slot.lock()))]);
    *slot = Mutex::new(1);
    assert_eq!(address, address_of(&*slot), "else there is nothing to test");
    assert_found(0, &[&|| drop((slot.lock(), a.lock()))]);
    // Its twin: the same lock.
    assert_found(1, &[&|| drop((a.lock(), slot.lock()))]);

    let a = Mutex::new(0);
    let leaks = || {
        drop((a.lock(), slot.lock()));
        mem::forget(slot.lock());
    };
    assert_found(0, &[&leaks]);
    mem::forget(mem::replace(&mut *slot, Mutex::new(2)));
    assert_found(0, &[&|| drop((slot.lock(), a.lock()))]);
}

#[test]
fn a_guard_that_was_sent_away_or_forgotten_makes_no_alarm() {
    let (a, b) = (Mutex::new(0), Mutex::new(0));
    let sends = || {
        let (sender, receiver) = mpsc::channel::<MutexGuard<'_, i32>>();
        let (done, is_done) = mpsc::channel::<()>();
        thread::scope(|scope| {
            scope.spawn(move || {
                let _guard = receiver.recv().unwrap();
                let _ = is_done.recv();
            });
            sender.send(a.lock()).unwrap();
            drop(b.lock());
            drop(done);
        });
    };
    assert_found(0, &[&sends, &|| drop((b.lock(), a.lock()))]);

    let (a, b) = (Mutex::new(0), Mutex::new(0));
    let forgets = || {
        mem::forget(a.lock());
        drop(b.lock());
    };
    assert_found(0, &[&|| drop((b.lock(), a.lock())), &forgets]);
}

#[test]
fn a_condition_variable_takes_its_mutex_again_under_what_is_held() {
    let (a, b, changed) = (Mutex::new(0), Mutex::new(false), Condvar::new());
    let found = found_while(|| {
        one_after_the_other(&[&|| drop((b.lock(), a.lock()))]);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut b = b.lock();
                let _a = a.try_lock().unwrap();
                changed.wait_while(&mut b, |is_changed| !*is_changed);
            });
            let mut b = loop {
                let b = b.lock();
                if a.is_locked() {
                    break b;
                }
            };
            *b = true;
            drop(b);
            changed.notify_one();
        });
    });
    let [found] = &found[..] else { panic!("{found:?}") };
    assert_eq!(found.members.len(), 2, "{found:?}");
}
