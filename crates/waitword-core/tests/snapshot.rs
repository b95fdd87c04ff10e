//! What a snapshot sees of the waiters of a table.

mod common;

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Wake, Waker};
use std::thread;
use std::time::Instant;

use common::{Probe, poll, queued, queued_with, until};
use waitword_core::observe::{Actor, Origin, WaiterSeen, WaiterState, WaitsFor, start_clock};
use waitword_core::{
    Inbox, InboxWait, Interrupt, Table, notify_all, notify_many, notify_one, requeue_while_equal, signal_one,
    wait, wait_async_from, wait_interruptible,
};

fn address(word: &AtomicU32) -> usize {
    std::ptr::from_ref(word).addr()
}

fn of<'a>(seen: &'a [WaiterSeen], word: &AtomicU32) -> Vec<&'a WaiterSeen> {
    seen.iter().filter(|waiter| waiter.word == address(word)).collect()
}

#[test]
fn threads_tasks_and_agents_are_seen_in_their_order_with_their_sites() {
    let (table, word) = (Table::new(), AtomicU32::new(0));
    let inbox = Inbox::new(|| {});
    let mut agents = pin!(InboxWait::new(&inbox, table.at(&word), 7));
    assert!(agents.as_mut().enqueue(0));
    let line = line!() + 1;
    let _task = queued(table.at(&word), 0);
    thread::scope(|scope| {
        let named = |name: &str| thread::Builder::new().name(name.into());
        named("alpha").spawn_scoped(scope, || wait(table.at(&word), 0)).unwrap();
        until(|| table.waiters(&word) == 3);
        let interrupted = || {
            let interrupt = Interrupt::for_current_thread();
            wait_interruptible(table.at(&word), 0, None, &interrupt)
        };
        named("beta").spawn_scoped(scope, interrupted).unwrap();
        until(|| table.waiters(&word) == 4);

        let seen = table.snapshot();
        notify_all(table.at(&word));
        assert_eq!(seen.len(), 4);
        assert_eq!(seen.iter().map(|waiter| waiter.position).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert!(seen.iter().all(|waiter| waiter.state == WaiterState::Queued));
        assert!(seen.iter().all(|waiter| waiter.waits_for == WaitsFor::Word));
        assert!(matches!(seen[0].actor, Actor::Agent(agent) if agent == inbox.identity()));
        assert_eq!(seen[0].site.map(|site| site.line()), None);
        assert_eq!(seen.iter().map(|waiter| waiter.token).collect::<Vec<_>>(), [Some(7), None, None, None]);
        assert!(matches!(seen[1].actor, Actor::Task(_)));
        assert_eq!(seen[1].site.map(|site| (site.file(), site.line())), Some((file!(), line)));
        for (waiter, name) in seen[2..].iter().zip(["alpha", "beta"]) {
            assert!(
                matches!(&waiter.actor, Actor::Thread(thread) if thread.name() == Some(name)),
                "{waiter:?}"
            );
            assert_eq!(waiter.site.map(|site| site.file()), Some(file!()));
        }
    });
    assert!(table.snapshot().iter().all(|waiter| matches!(waiter.actor, Actor::Task(_))));
}

#[test]
fn a_task_that_was_signalled_and_is_not_polled_is_told() {
    let (table, word) = (Table::new(), AtomicU32::new(0));
    let probe = Probe::new();
    let waker = probe.waker();
    let mut waits = [&waker, Waker::noop()].map(|waker| queued_with(table.at(&word), 0, waker));
    let states = || table.snapshot().iter().map(|waiter| waiter.state).collect::<Vec<_>>();
    assert_eq!(signal_one(table.at(&word)), 2);
    assert_eq!(states(), [WaiterState::Signalled, WaiterState::Queued]);
    table.signal_stalled();
    assert_eq!(states(), [WaiterState::Overdue, WaiterState::Queued]);
    // Its waker is gone, and yet it is known who it is.
    assert!(matches!(table.snapshot()[0].actor, Actor::Task(task) if task == waker.data().addr()));
    table.signal_stalled();
    assert_eq!(states(), [WaiterState::Skipped, WaiterState::Signalled]);
    assert!(poll(waits[0].as_mut()).is_pending());
    assert_eq!(states()[0], WaiterState::Queued);
}

/// Whatever state the watchdog has put it in meanwhile.
#[test]
fn a_waiter_that_has_run_since_it_was_signalled_is_not_one_that_was_seen_so() {
    let (table, word) = (Table::new(), AtomicU32::new(0));
    let mut task = queued(table.at(&word), 0);
    let seen = || {
        let seen = table.snapshot();
        (seen[0].state, seen[0].was_seen_so)
    };
    for _ in 0..2 {
        assert_eq!(seen(), (WaiterState::Queued, false));
        assert_eq!(signal_one(table.at(&word)), 1);
        assert_eq!(seen(), (WaiterState::Signalled, false), "the first to see it");
        assert_eq!(seen(), (WaiterState::Signalled, true));
        assert_eq!(signal_one(table.at(&word)), 0, "it is signalled");
        assert!(poll(task.as_mut()).is_pending());
        assert_eq!(signal_one(table.at(&word)), 1, "it has a waker again");
        assert_eq!(seen(), (WaiterState::Signalled, false), "it ran in between");
        assert!(poll(task.as_mut()).is_pending());
    }
    // A pass looks at it, and finds that no waker is there.
    assert_eq!(signal_one(table.at(&word)), 1);
    let _behind = queued(table.at(&word), 0);
    assert_eq!(seen(), (WaiterState::Signalled, false));
    for state in [WaiterState::Overdue, WaiterState::Skipped, WaiterState::Skipped] {
        table.signal_stalled();
        assert_eq!(seen(), (state, true));
    }
}

#[test]
fn moved_waiters_are_seen_where_they_are() {
    let (table, words) = (Table::new(), [AtomicU32::new(0), AtomicU32::new(0)]);
    let origin = Origin::here(WaitsFor::Word).timed(true);
    let _waits = [(); 3].map(|()| {
        let mut wait = Box::pin(wait_async_from(origin, table.at(&words[0]), 0));
        assert!(poll(wait.as_mut()).is_pending());
        wait
    });
    assert_eq!(requeue_while_equal(table.at(&words[0]), 0, address(&words[1]), 2), Ok(2));
    let seen = table.snapshot();
    let timed = |word| of(&seen, word).iter().map(|waiter| waiter.timed).collect::<Vec<_>>();
    // A waiter that was moved was notified: its deadline ends no wait there.
    assert_eq!((timed(&words[0]), timed(&words[1])), (vec![Some(true)], vec![Some(false); 2]));
}

#[test]
fn many_waiters_of_few_words_and_few_of_many() {
    for words in [1, 100, 10_000] {
        let (table, waiters) = (Table::new(), 10_000);
        let words = (0..words).map(|_| AtomicU32::new(0)).collect::<Vec<_>>();
        let wait = |index: usize| queued(table.at(&words[index % words.len()]), 0);
        let _waits = (0..waiters).map(wait).collect::<Vec<_>>();
        let seen = table.snapshot();
        assert_eq!(seen.len(), waiters);
        let mut of_word = BTreeMap::<usize, usize>::new();
        for waiter in seen {
            let count = of_word.entry(waiter.word).or_default();
            assert_eq!(waiter.position, *count, "the order of the queue");
            *count += 1;
        }
        assert_eq!(of_word.len(), words.len());
    }
}

/// Waiters that come and go in front, behind and between; words that come and go, so that the buckets grow and shrink.
#[test]
fn a_waiter_that_stays_is_seen_exactly_once() {
    let (table, over) = (Table::with_shards(1), AtomicBool::new(false));
    let words = (0..64).map(|_| AtomicU32::new(0)).collect::<Vec<_>>();
    thread::scope(|scope| {
        for seed in 0..3_u64 {
            let (table, words, over) = (&table, &words, &over);
            scope.spawn(move || {
                let mut turn = seed;
                while !over.load(Ordering::Relaxed) {
                    turn =
                        turn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let word = |shift: u32| &words[(turn >> shift) as usize % words.len()];
                    let mut waits = (0..40).map(|index| queued(table.at(word(index)), 0)).collect::<Vec<_>>();
                    // Those that stay wait on words of their own; here everything may happen.
                    notify_one(table.at(word(7)));
                    notify_many(table.at(word(9)), 3);
                    let _ = requeue_while_equal(table.at(word(11)), 0, address(word(13)), 5);
                    waits.truncate((turn % 40) as usize);
                    notify_all(table.at(word(17)));
                }
            });
        }
        let own = (0..50).map(|_| AtomicU32::new(0)).collect::<Vec<_>>();
        let stay = |index: usize| queued(table.at(&own[index % own.len()]), 0);
        let _waits = (0..300).map(stay).collect::<Vec<_>>();
        let wrong = (0..300).find_map(|_| {
            let seen = table.snapshot();
            let positions = |word| of(&seen, word).iter().map(|waiter| waiter.position).collect::<Vec<_>>();
            own.iter().map(positions).find(|positions| *positions != [0, 1, 2, 3, 4, 5])
        });
        // First: the scope waits for the threads.
        over.store(true, Ordering::Relaxed);
        assert_eq!(wrong, None);
    });
}

#[test]
fn since_when_is_known_once_the_clock_runs() {
    let (table, word) = (Table::new(), AtomicU32::new(0));
    let start = Instant::now();
    start_clock();
    let _task = queued(table.at(&word), 0);
    let since = table.snapshot()[0].since.expect("the clock runs");
    assert!(start <= since && since <= Instant::now());
}

#[test]
fn a_snapshot_from_inside_a_waker_returns() {
    struct Snapshots(Table, AtomicU32, AtomicBool);
    impl Wake for Snapshots {
        fn wake(self: Arc<Self>) {
            self.2.store(self.0.snapshot().is_empty(), Ordering::SeqCst);
        }
    }
    let shared = Arc::new(Snapshots(Table::new(), AtomicU32::new(0), AtomicBool::new(false)));
    let _task = queued_with(shared.0.at(&shared.1), 0, &Waker::from(Arc::clone(&shared)));
    assert_eq!(notify_one(shared.0.at(&shared.1)), 1);
    assert!(shared.2.load(Ordering::SeqCst), "the waiter that is woken has left its queue");
}
