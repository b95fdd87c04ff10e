//! The order of locks: what is a potential deadlock, and for each rule one that is none. All in one process, so each test looks at its
//! own locks.

use std::mem;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use waitword::{Mutex, RwLock};
use waitword_observe::{LockOrder, check_lock_order, name};

#[path = "common/found_order.rs"]
mod found_order;

use found_order::{address, found_in, one_after_the_other};

/// What was found of these locks alone.
#[track_caller]
fn found(locks: &[u64]) -> LockOrder {
    found_in(include_str!("lock_order.rs"), std::panic::Location::caller().line() as usize, locks)
}

fn at(line: u32) -> String {
    format!("…/tests/lock_order.rs:{line}")
}

#[track_caller]
fn assert_none(locks: &[u64]) {
    let order = found(locks);
    assert!(order.potential_deadlocks.is_empty(), "{order}");
}

#[test]
fn two_threads_in_opposite_orders() {
    let (accounts, ledger) = (Mutex::new(0), Mutex::new(0));
    let _names = [name(&accounts, "accounts"), name(&ledger, "ledger")];
    let line = line!();
    let pay = || {
        let _accounts = accounts.lock(); // + 2
        let _ledger = ledger.lock(); // + 3
    };
    let audit = || {
        let _ledger = ledger.lock(); // + 6
        let _accounts = accounts.lock(); // + 7
    };
    one_after_the_other(&[("pay", &pay), ("audit", &audit), ("pay", &pay)]);
    let order = found(&[address(&accounts), address(&ledger)]);
    let [took_accounts, took_ledger, first, second] =
        [at(line + 7), at(line + 3), at(line + 6), at(line + 2)];
    assert_eq!(
        order.to_string(),
        format!(
            "potential deadlock: 2 locks were taken in opposite orders\n  \
               thread \"audit\"  took Mutex<i32> \"accounts\" at {took_accounts}\n                  \
                               holding Mutex<i32> \"ledger\", taken at {first}\n  \
               thread \"pay\"    took Mutex<i32> \"ledger\" at {took_ledger}\n                  \
                               holding Mutex<i32> \"accounts\", taken at {second}\n"
        )
    );
    // It is in reports too, as a fault, and survives JSON.
    let report = waitword_observe::report();
    assert!(report.to_string().contains(order.to_string().trim_end()), "{report}");
    assert_eq!(waitword_observe::Report::from_json(&report.to_json()), Ok(report));
}

/// The locks are gone, and with them their edges; what was found stays. So it does if the locks were never named.
#[test]
fn what_was_found_outlives_the_locks() {
    let (a, b) = (Box::new(Mutex::new(0)), Box::new(Mutex::new(0)));
    let locks = [address(&*a), address(&*b)];
    let one = || *a.lock() += *b.lock();
    let other = || *b.lock() += *a.lock();
    one_after_the_other(&[("one", &one), ("other", &other)]);
    drop((a, b));
    assert_eq!(found(&locks).potential_deadlocks.len(), 1);
}

#[test]
fn a_circle_of_three() {
    let locks = [Mutex::new(0), Mutex::new(0), Mutex::new(0)];
    let takes = |first: usize| {
        let _held = locks[first].lock();
        let _next = locks[(first + 1) % 3].lock();
    };
    one_after_the_other(&[("0", &|| takes(0)), ("1", &|| takes(1))]);
    let all = locks.each_ref().map(address);
    assert_none(&all);
    one_after_the_other(&[("2", &|| takes(2))]);
    let order = found(&all);
    let text = order.to_string();
    assert!(
        text.starts_with("potential deadlock: 3 locks were taken in orders that form a circle\n"),
        "{text}"
    );
    assert_eq!(order.potential_deadlocks[0].members.len(), 3);
}

#[test]
fn the_same_order_and_one_thread_alone_make_no_alarm() {
    let (a, b) = (Mutex::new(0), Mutex::new(0));
    let one = || drop((a.lock(), b.lock()));
    one_after_the_other(&[("one", &one), ("other", &one)]);
    assert_none(&[address(&a), address(&b)]);
    let (a, b) = (Mutex::new(0), Mutex::new(0));
    let alone = || {
        drop((a.lock(), b.lock()));
        drop((b.lock(), a.lock()));
    };
    one_after_the_other(&[("alone", &alone)]);
    assert_none(&[address(&a), address(&b)]);
    // Its twin: a second thread that runs the same makes the edges too.
    one_after_the_other(&[("second", &alone)]);
    assert_eq!(found(&[address(&a), address(&b)]).potential_deadlocks.len(), 1);
}

#[test]
fn a_gate_makes_no_alarm_unless_it_lets_two_in() {
    let (gate, other_gate, a, b) = (RwLock::new(()), RwLock::new(()), Mutex::new(0), Mutex::new(0));
    let locks = [address(&a), address(&b)];
    let one = || {
        let _gate = gate.write();
        drop((a.lock(), b.lock()));
    };
    let other = || {
        let _gate = gate.write();
        drop((b.lock(), a.lock()));
    };
    one_after_the_other(&[("one", &one), ("other", &other)]);
    assert_none(&locks);
    // A writer and a reader exclude each other as well.
    let reads = || {
        let _gate = gate.read();
        drop((b.lock(), a.lock()));
    };
    one_after_the_other(&[("reads", &reads)]);
    assert_none(&locks);
    // Another gate is none, and neither is one that both read.
    let under_another = || {
        let _gate = other_gate.write();
        drop((b.lock(), a.lock()));
    };
    one_after_the_other(&[("another", &under_another)]);
    assert_eq!(found(&locks).potential_deadlocks.len(), 1);
    let reads_too = || {
        let _gate = gate.read();
        drop((a.lock(), b.lock()));
    };
    one_after_the_other(&[("too", &reads_too)]);
    let after = found(&locks);
    assert!(after.potential_deadlocks.len() > 1, "{after}");
}

#[test]
fn readers_make_no_alarm_and_a_writer_does() {
    let (a, b) = (RwLock::new(0), Mutex::new(0));
    let locks = [address(&a), address(&b)];
    let reads_line = line!();
    let reads_first = || {
        let _a = a.read(); // + 2
        drop(b.lock()); // + 3
    };
    let reads_second = || {
        let _b = b.lock();
        drop(a.read());
    };
    let upgradable_second = || {
        let _b = b.lock();
        drop(a.upgradable_read());
    };
    one_after_the_other(&[
        ("first", &reads_first),
        ("second", &reads_second),
        ("upgradable", &upgradable_second),
    ]);
    assert_none(&locks);
    let line = line!();
    let writes_second = || {
        let _b = b.lock(); // + 2
        drop(a.write()); // + 3
    };
    one_after_the_other(&[("writes", &writes_second)]);
    let order = found(&locks);
    let text = order.to_string();
    let (a, b) = (address(&a), address(&b));
    let [took, held] = [at(line + 3), at(line + 2)];
    let [read, then] = [at(reads_line + 2), at(reads_line + 3)];
    assert_eq!(
        text,
        format!(
            "potential deadlock: 2 locks were taken in opposite orders\n  \
               thread \"writes\"  took RwLock at {a:#x} for writing at {took}\n                   \
                                holding Mutex at {b:#x}, taken at {held}\n  \
               thread \"first\"   took Mutex at {b:#x} at {then}\n                   \
                                holding RwLock at {a:#x} for reading, taken at {read}\n"
        )
    );
}

#[test]
fn acquirers_that_give_up_make_no_alarm_and_hold_as_others_do() {
    let (a, b) = (Mutex::new(0), RwLock::new(0));
    let locks = [address(&a), address(&b)];
    let one = || drop((a.lock(), b.write()));
    let tries = || {
        let _b = b.write();
        drop(a.try_lock().unwrap());
        drop(a.lock_for(Duration::from_secs(60)).unwrap());
    };
    one_after_the_other(&[("one", &one), ("tries", &tries)]);
    assert_none(&locks);
    let holds = || {
        let _b = b.try_write().unwrap();
        drop(a.lock());
    };
    one_after_the_other(&[("holds", &holds)]);
    assert_eq!(found(&locks).potential_deadlocks.len(), 1);
}

/// A thread that was queued, and had a deadline.
#[test]
fn a_timed_wait_makes_no_alarm() {
    let (a, b) = (Mutex::new(0), Mutex::new(0));
    let one = || drop((a.lock(), b.lock()));
    one_after_the_other(&[("one", &one)]);
    let held = a.lock();
    thread::scope(|scope| {
        let waits = || {
            let _b = b.lock();
            drop(a.lock_for(Duration::from_secs(60)).unwrap());
        };
        scope.spawn(waits);
        let waiting =
            || waitword_observe::snapshot().locks.iter().any(|lock| lock.name.address.0 == address(&a));
        while !waiting() {
            thread::yield_now();
        }
        drop(held);
    });
    assert_none(&[address(&a), address(&b)]);
}

/// With `drop` between, and with a guard that was leaked in a lock that was never dropped.
#[test]
fn an_address_that_is_used_again_is_another_lock() {
    let a = Mutex::new(0);
    let mut slot = Box::new(Mutex::new(0));
    let locks = [address(&a), address(&*slot)];
    one_after_the_other(&[("one", &|| drop((a.lock(), slot.lock())))]);
    *slot = Mutex::new(1);
    assert_eq!(locks[1], address(&*slot), "else there is nothing to test");
    one_after_the_other(&[("other", &|| drop((slot.lock(), a.lock())))]);
    assert_none(&locks);
    // Its twin: the same lock.
    one_after_the_other(&[("one", &|| drop((a.lock(), slot.lock())))]);
    assert_eq!(found(&locks).potential_deadlocks.len(), 1);

    let a = Mutex::new(0);
    let locks = [address(&a), address(&*slot)];
    let leaks = || {
        drop((a.lock(), slot.lock()));
        mem::forget(slot.lock());
    };
    one_after_the_other(&[("leaks", &leaks)]);
    mem::forget(mem::replace(&mut *slot, Mutex::new(2)));
    one_after_the_other(&[("other", &|| drop((slot.lock(), a.lock())))]);
    assert_none(&locks);
}

#[test]
fn a_guard_that_was_sent_away_or_forgotten_makes_no_alarm() {
    let (a, b) = (Mutex::new(0), Mutex::new(0));
    let locks = [address(&a), address(&b)];
    let sends = || {
        let (sender, receiver) = mpsc::channel();
        let (done, is_done) = mpsc::channel::<()>();
        thread::scope(|scope| {
            scope.spawn(move || {
                let guard = receiver.recv().unwrap();
                let _ = is_done.recv();
                drop::<waitword::MutexGuard<'_, i32>>(guard);
            });
            sender.send(a.lock()).unwrap();
            drop(b.lock());
            drop(done);
        });
    };
    one_after_the_other(&[("sends", &sends), ("other", &|| drop((b.lock(), a.lock())))]);
    assert_none(&locks);

    let (a, b) = (Mutex::new(0), Mutex::new(0));
    let locks = [address(&a), address(&b)];
    let forgets = || {
        mem::forget(a.lock());
        drop(b.lock());
    };
    one_after_the_other(&[("other", &|| drop((b.lock(), a.lock()))), ("forgets", &forgets)]);
    assert_none(&locks);
}

#[test]
fn a_condition_variable_takes_its_mutex_again_under_what_is_held() {
    let (a, b, changed) = (Mutex::new(0), Mutex::new(false), waitword::Condvar::new());
    let locks = [address(&a), address(&b)];
    let one = || drop((b.lock(), a.lock()));
    one_after_the_other(&[("one", &one)]);
    check_lock_order();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut b = b.lock();
            let _a = a.try_lock().unwrap();
            while !*b {
                changed.wait(&mut b);
            }
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
    let order = found(&locks);
    let wants: Vec<_> = order.potential_deadlocks.iter().flat_map(|found| &found.members).collect();
    assert_eq!(order.potential_deadlocks.len(), 1, "{order}");
    assert_eq!(wants.len(), 2, "{order}");
}
