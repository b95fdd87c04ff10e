//! The timeline: what happened, in order, on which thread, to whom. Threads of one test take the rings that those of another have left.

use std::pin::pin;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Barrier};
use std::task::Waker;
use std::thread;

use waitword_core::observe::{Origin, WaiterKind, WaitsFor};
use waitword_core::{Outcome, charge_release, notify_all, notify_one, signal_one, wait, wait_async_from};
use waitword_observe::internals::{Event, Release, acquired, note_release, released};
use waitword_observe::{TraceKind, traced};

use crate::common::{address_of, poll, turn, until};

fn at(word: &AtomicU32) -> usize {
    address_of(word) as usize
}

fn of(word: &AtomicU32, events: &[Event]) -> Vec<Event> {
    events.iter().filter(|event| event.word == at(word)).cloned().collect()
}

#[test]
fn a_task_that_is_signalled_and_acquires() {
    let _turn = turn();
    let word = AtomicU32::new(0);
    let tracing = traced(false);
    let mut task = pin!(wait_async_from(Origin::here(WaitsFor::Mutex), &word, 0));
    let line = line!() - 1;
    assert!(poll(task.as_mut(), Waker::noop()).is_pending());
    let address = at(&word);
    note_release(address, Release { task: Some(7), ..Release::default() });
    charge_release(&word, address);
    assert_eq!(signal_one(&word), 1);
    let _ = task.as_mut().cancel_acquired();
    let traced = tracing.events();
    let events = of(&word, &traced.events);
    let kinds: Vec<_> = events.iter().map(|event| event.kind).collect();
    let released = TraceKind::Released { held: None };
    assert_eq!(kinds, [TraceKind::Waits, released, TraceKind::Signalled, TraceKind::Acquired]);
    let (task, who) = (Some(WaiterKind::Task), Waker::noop().data().addr());
    let whose: Vec<_> = events.iter().map(|event| (event.who, event.identity)).collect();
    assert_eq!(whose, [(task, who), (task, 7), (None, who), (None, who)]);
    assert_eq!(events[0].waits_for, Some(WaitsFor::Mutex));
    assert_eq!(events[0].site.map(|site| site.line()), Some(line));
    assert!(
        events.iter().all(|event| event.thread.id() == thread::current().id() && event.at >= traced.start)
    );
    assert!(events.is_sorted_by_key(|event| event.at));
}

#[test]
fn a_thread_that_is_notified_and_a_task_that_gives_up() {
    let _turn = turn();
    let [word, other] = [0, 0].map(AtomicU32::new);
    let tracing = traced(false);
    let waiting = thread::scope(|scope| {
        let waiting = thread::Builder::new().name("waits".into());
        let waiting = waiting.spawn_scoped(scope, || wait(&word, 0)).unwrap();
        let id = waiting.thread().id();
        until(|| notify_one(&word) != 0);
        assert_eq!(waiting.join().unwrap(), Outcome::Notified);
        id
    });
    {
        let mut task = pin!(wait_async_from(Origin::here(WaitsFor::Event), &other, 0));
        assert!(poll(task.as_mut(), Waker::noop()).is_pending());
    }
    assert_eq!(notify_all(&other), 0);
    let events = tracing.events().events;
    // A waiter that spins may write its end before the notifier has written that it notified.
    let mut of_word = of(&word, &events);
    of_word.sort_by_key(|event| event.kind == TraceKind::Ended);
    let [waits, notified, ended] = &of_word[..] else { panic!("{events:?}") };
    let of = |event: &Event| (event.kind, event.who, event.identity);
    assert_eq!(of(waits), (TraceKind::Waits, Some(WaiterKind::Thread), waits.identity));
    assert_eq!(of(notified), (TraceKind::Notified, None, waits.identity));
    assert_eq!(of(ended), (TraceKind::Ended, None, waits.identity));
    let threads = [waits.thread.id(), ended.thread.id(), notified.thread.id()];
    assert_eq!(threads, [waiting, waiting, thread::current().id()]);
    assert_eq!(waits.thread.name(), Some("waits"));
    let kinds: Vec<_> = self::of(&other, &events).iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [TraceKind::Waits, TraceKind::GaveUp]);
}

/// A ring has 4,096 events of one thread.
#[test]
fn the_oldest_are_dropped_and_counted() {
    let _turn = turn();
    let word = AtomicU32::new(0);
    let address = at(&word);
    let tracing = traced(true);
    thread::scope(|scope| {
        let writes = || (0..5_000).for_each(|task| acquired(address, Some(task), None));
        scope.spawn(writes).join().unwrap();
    });
    let traced = tracing.events();
    let tasks: Vec<_> = of(&word, &traced.events).iter().map(|event| event.identity).collect();
    assert!(
        tasks == (5_000 - 4_096..5_000).collect::<Vec<_>>(),
        "{:?}",
        (tasks.first(), tasks.last(), tasks.len())
    );
    assert!(traced.dropped >= 5_000 - 4_096, "{}", traced.dropped);
}

#[test]
fn threads_that_end_give_their_rings_to_others() {
    let _turn = turn();
    let word = AtomicU32::new(0);
    let address = at(&word);
    let tracing = traced(true);
    // More than there are rings, one after the other: of each there is an event, under its own name.
    for number in 0..300 {
        let writes = move || released(address, &Release::default());
        thread::Builder::new().name(number.to_string()).spawn(writes).unwrap().join().unwrap();
    }
    let traced = tracing.events();
    let names: Vec<_> = of(&word, &traced.events)
        .iter()
        .map(|event| event.thread.name().unwrap().parse::<usize>().unwrap())
        .collect();
    assert_eq!(names, (0..300).collect::<Vec<_>>());
}

#[test]
fn threads_without_a_ring_are_counted() {
    let _turn = turn();
    let word = AtomicU32::new(0);
    let address = at(&word);
    let tracing = traced(true);
    let (written, end) = (Arc::new(Barrier::new(301)), Arc::new(Barrier::new(301)));
    let threads: Vec<_> = (0..300)
        .map(|_| {
            let (written, end) = (written.clone(), end.clone());
            thread::spawn(move || {
                acquired(address, None, None);
                written.wait();
                end.wait();
            })
        })
        .collect();
    written.wait();
    let traced = tracing.events();
    end.wait();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let there = of(&word, &traced.events).len() as u64;
    assert!(there <= 256 && there + traced.dropped >= 300, "{there} {}", traced.dropped);
}
