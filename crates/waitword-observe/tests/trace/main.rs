//! Timelines of this process: the events of waits, and the JSON that is made of them, by the rules of what opens it.

#![cfg(feature = "json")]

#[path = "../common/mod.rs"]
mod common;
mod rings;
#[path = "../common/chrome_format.rs"]
mod rules;

use std::collections::HashSet;
use std::pin::pin;
use std::sync::atomic::AtomicU32;
use std::task::Waker;
use std::thread;

use common::{address_of, is_within, observed, poll, turn, until, waker};
use rules::{Timeline, read};
use waitword::{Condvar, Event, Mutex};
use waitword_core::{notify_one, wait_async};
use waitword_observe::{
    Lock, LockKind, TraceEvent, TraceKind, name, snapshot, trace_start, trace_stop, traced,
};

/// Nobody has waited for it before.
#[test]
fn the_mutex_that_a_notified_waiter_was_moved_to_is_known_as_one() {
    let _turn = turn();
    let waker = waker();
    let (mutex, changed) = (Mutex::new([0_u8; 64]), Condvar::new());
    let tracing = traced(true);
    let mut waiting = pin!(changed.wait_async(mutex.lock()));
    assert!(poll(waiting.as_mut(), &waker).is_pending());
    let guard = mutex.lock();
    assert_eq!(changed.notify_all(), 1);
    drop(guard);
    assert!(poll(waiting.as_mut(), &waker).is_ready());
    let events = tracing.finish().events;
    let of_it = |event: &&TraceEvent| is_within(event.lock.address.0, &mutex);
    let kinds: Vec<LockKind> = events.iter().filter(of_it).map(|event| event.lock.kind).collect();
    assert!(!kinds.is_empty() && kinds.iter().all(|kind| *kind == LockKind::Mutex), "{kinds:?}");
}

#[test]
fn threads_and_tasks_of_this_process() {
    let _turn = observed();
    trace_start();
    let (mutex, event) = (Mutex::new(0), Event::new());
    let (queue, changed) = (Mutex::new(false), Condvar::new());
    let _names = [name(&mutex, "accounts"), name(&event, "loaded"), name(&changed, "changed")];
    let held = mutex.lock();
    let waker = waker();
    let mut first = pin!(mutex.lock_async());
    assert!(poll(first.as_mut(), &waker).is_pending());
    thread::scope(|scope| {
        let named = |name: &str| thread::Builder::new().name(name.into());
        named("blocks").spawn_scoped(scope, || *mutex.lock() += 1).unwrap();
        named("polls")
            .spawn_scoped(scope, || smol::block_on(async { *mutex.lock_async().await += 1 }))
            .unwrap();
        named("loads").spawn_scoped(scope, || event.wait()).unwrap();
        for name in ["first", "second", "third"] {
            let waits = || changed.wait_while(&mut queue.lock(), |is_full| !*is_full);
            named(name).spawn_scoped(scope, waits).unwrap();
        }
        let waits = || drop(smol::block_on(changed.wait_while_async(queue.lock(), |is_full| !*is_full)));
        named("polls, too").spawn_scoped(scope, waits).unwrap();
        // Lock by lock: some of these wait for the queue's mutex first.
        let all_wait = || {
            let seen = snapshot().locks;
            let waiters = |name: &str| {
                let of = |lock: &&Lock| lock.name.name.as_deref() == Some(name);
                seen.iter().find(of).map_or(0, |lock| lock.waiters.len())
            };
            (waiters("accounts"), waiters("loaded"), waiters("changed")) == (3, 1, 4)
        };
        until(all_wait);
        event.notify_all();
        *queue.lock() = true;
        changed.notify_all();
        drop(held);
        until(|| poll(first.as_mut(), &waker).is_ready());
    });
    let trace = trace_stop().unwrap();
    assert_eq!(trace_stop(), None);
    let Timeline { lanes, slices, flows } = read(&trace.to_chrome_json());
    let waits: Vec<_> = slices
        .iter()
        .filter(|slice| slice.name.starts_with("wait for"))
        .map(|slice| (lanes[&slice.lane].as_str(), slice.name.as_str()))
        .collect();
    for (lane, name) in [
        ("thread \"blocks\"", "wait for Mutex<i32> \"accounts\""),
        ("thread \"loads\"", "wait for Event \"loaded\""),
        ("thread \"first\"", "wait for Condvar \"changed\""),
        ("thread \"third\"", "wait for Condvar \"changed\""),
    ] {
        assert!(waits.contains(&(lane, name)), "{waits:?}");
    }
    assert!(waits.iter().any(|(lane, _)| lane.starts_with("task ")), "{waits:?}");
    assert!(trace.events.iter().all(|event| event.kind != TraceKind::GaveUp), "{:?}", trace.events);
    // A waiter that still runs when it is queued, or is polled for another reason, may take a free mutex unasked: a signal is an offer. But
    // `first` sleeps at the head when `accounts` is released. A waiter that was signalled has an arrow.
    let is_ended_by_another = |name: &str| name.ends_with("\"accounts\"") || name.ends_with("\"loaded\"");
    let ended = flows.iter().filter(|(_, to)| is_ended_by_another(&slices[*to].name)).count();
    let waited = waits.iter().filter(|(_, name)| is_ended_by_another(name)).count();
    let is_signal = |event: &&TraceEvent| {
        matches!(event.kind, TraceKind::Signalled | TraceKind::Notified)
            && matches!(event.lock.name.as_deref(), Some("accounts" | "loaded"))
    };
    let signalled: HashSet<_> =
        trace.events.iter().filter(is_signal).map(|event| (&event.actor, event.lock.address)).collect();
    assert!(!signalled.is_empty());
    assert_eq!((ended, waited), (signalled.len(), 4), "{waits:?} {flows:?} {:?}", trace.events);
    assert!(flows.len() <= waits.len());
    for (from, to) in flows {
        assert!(slices[from].end <= slices[to].end && slices[to].name.starts_with("wait for"), "{slices:?}");
    }
}

/// Notifies reach a waiter that spins before the notifier has returned.
#[test]
fn a_waiter_that_runs_at_once_was_woken_before() {
    let _turn = turn();
    const ROUNDS: usize = 1_000;
    let word = AtomicU32::new(0);
    let tracing = traced(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..ROUNDS {
                let mut waiting = pin!(wait_async(&word, 0));
                while poll(waiting.as_mut(), Waker::noop()).is_pending() {
                    std::hint::spin_loop();
                }
            }
        });
        (0..ROUNDS).for_each(|_| while notify_one(&word) == 0 {});
    });
    let trace = tracing.finish();
    let ours = |event: &&TraceEvent| event.lock.address.0 == address_of(&word);
    // A clock may be coarse.
    let [begun, notified, ended] = [TraceKind::Waits, TraceKind::Notified, TraceKind::Ended].map(|kind| {
        let of_it = trace.events.iter().filter(ours).filter(|event| event.kind == kind);
        of_it.map(|event| event.at).collect::<Vec<_>>()
    });
    assert_eq!([begun.len(), notified.len(), ended.len()], [ROUNDS; 3]);
    for at in 0..ROUNDS {
        assert!(begun[at] <= notified[at] && notified[at] <= ended[at], "{at}: {trace:?}");
    }
}
