//! Timelines: by hand and of this process, as JSON for Perfetto and as a picture.

use std::collections::{HashMap, HashSet};
use std::future::Future as _;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use waitword::{Condvar, Event, Mutex};
use waitword_core::{notify_one, wait_async};
use waitword_observe::{
    Actor, Address, Lock, LockKind, LockName, Trace, TraceEvent, TraceKind, snapshot, traced,
};

fn lock(address: u64, name: &str) -> LockName {
    let type_name = Some("Mutex<u8>".into());
    LockName {
        address: Address(address),
        kind: LockKind::Mutex,
        name: Some(name.into()),
        type_name,
        place: None,
    }
}

/// `gc` holds two locks, one longer than the other without being inside of it, while a task waits for both in turn.
fn made() -> Trace {
    let gc = Actor::Thread { id: 2, name: Some("gc".into()) };
    let task = Actor::Task { number: 1, name: None };
    let [cache, index] = [lock(0xa0, "cache"), lock(0xb0, "index")];
    let event = |micros, actor: &Actor, on: &Actor, lock: &LockName, kind| TraceEvent {
        at: Duration::from_micros(micros),
        actor: actor.clone(),
        on: on.clone(),
        lock: lock.clone(),
        kind,
        site: None,
    };
    let released = |held: Option<u64>| TraceKind::Released { held: held.map(Duration::from_micros) };
    let events = vec![
        event(10, &task, &task, &cache, TraceKind::Waits),
        event(40, &gc, &gc, &cache, released(Some(40))),
        event(41, &task, &gc, &cache, TraceKind::Signalled),
        event(50, &task, &task, &cache, TraceKind::Acquired),
        event(55, &task, &task, &index, TraceKind::Waits),
        event(60, &task, &task, &cache, released(None)),
        event(90, &gc, &gc, &index, released(Some(70))),
        event(91, &task, &gc, &index, TraceKind::Signalled),
        event(95, &task, &task, &index, TraceKind::GaveUp),
    ];
    Trace { program: Some("pool".into()), process: 7, events, all: false, dropped: 3 }
}

#[derive(Debug)]
struct Slice {
    lane: u64,
    name: String,
    begin: f64,
    end: f64,
}

/// The lanes by number, the slices, and the flows as pairs of slices.
type Parsed = (HashMap<u64, String>, Vec<Slice>, Vec<(usize, usize)>);

fn parsed(json: &str) -> Parsed {
    let all: Value = serde_json::from_str(json).unwrap();
    let events = all["traceEvents"].as_array().unwrap();
    let of = |phase: &'static str| events.iter().filter(move |event| event["ph"] == phase);
    let lanes = of("M").filter(|event| event["name"] == "thread_name");
    let lanes = lanes
        .map(|event| (event["tid"].as_u64().unwrap(), event["args"]["name"].as_str().unwrap().to_owned()))
        .collect();
    let slices: Vec<_> = of("X")
        .map(|event| {
            let begin = event["ts"].as_f64().unwrap();
            // Whole nanoseconds, which the sum of two floats is not.
            let end = ((begin + event["dur"].as_f64().unwrap()) * 1000.0).round() / 1000.0;
            let name = event["name"].as_str().unwrap().to_owned();
            Slice { lane: event["tid"].as_u64().unwrap(), name, begin, end }
        })
        .collect();
    // The innermost slice that is open then, as viewers bind flows.
    let at = |event: &Value| {
        let (lane, time) = (event["tid"].as_u64().unwrap(), event["ts"].as_f64().unwrap());
        let is_open = |slice: &Slice| slice.lane == lane && slice.begin <= time && time <= slice.end;
        let open = slices.iter().enumerate().filter(|(_, slice)| is_open(slice));
        open.max_by(|one, other| one.1.begin.total_cmp(&other.1.begin)).expect("a flow is bound to a slice").0
    };
    let ends: HashMap<u64, &Value> = of("f").map(|event| (event["id"].as_u64().unwrap(), event)).collect();
    assert_eq!(of("s").count(), ends.len());
    let flows = of("s").map(|event| (at(event), at(ends[&event["id"].as_u64().unwrap()]))).collect();
    (lanes, slices, flows)
}

/// Viewers draw slices of a lane that overlap only if one lies inside of the other.
fn assert_nested(slices: &[Slice]) {
    for (at, one) in slices.iter().enumerate() {
        for other in &slices[at + 1..] {
            let apart = one.end <= other.begin || other.end <= one.begin;
            let inside = one.begin <= other.begin && other.end <= one.end
                || other.begin <= one.begin && one.end <= other.end;
            assert!(one.lane != other.lane || apart || inside, "{one:?} {other:?}");
        }
    }
}

#[test]
fn slices_and_flows_pair_up() {
    let (lanes, slices, flows) = parsed(&made().to_chrome_json());
    let mut shown: Vec<_> = slices
        .iter()
        .map(|slice| format!("{}: {} {}..{}", lanes[&slice.lane], slice.name, slice.begin, slice.end))
        .collect();
    shown.sort();
    let expected = [
        "task 1: Mutex<u8> \"cache\" 50..60",
        "task 1: wait for Mutex<u8> \"cache\" 10..50",
        "task 1: wait for Mutex<u8> \"index\" 55..95",
        "thread \"gc\": Mutex<u8> \"cache\" 0..40",
        "thread \"gc\": Mutex<u8> \"index\" 20..90",
    ];
    assert_eq!(shown, expected);
    assert_nested(&slices);
    // That of the wait that was given up is none.
    let named: Vec<_> = flows.iter().map(|(from, to)| [&slices[*from].name, &slices[*to].name]).collect();
    assert_eq!(named, [["Mutex<u8> \"cache\"", "wait for Mutex<u8> \"cache\""]]);
}

#[test]
fn a_trace_is_read_back() {
    let trace = made();
    assert_eq!(Trace::from_json(&trace.to_json()), Ok(trace));
    for other in ["", "{}", "{\"format\":\"waitword-report\",\"schema\":1}"] {
        assert!(Trace::from_json(other).is_err(), "{other}");
    }
}

#[test]
fn the_picture_has_the_slices_and_the_arrow() {
    let svg = made().to_svg();
    let count = |part: &str| svg.matches(part).count();
    assert_eq!((count("<title>"), count("class=\"arrow\"")), (5, 1), "{svg}");
    for part in ["thread &quot;gc&quot;", "task 1", "waits for Mutex&lt;u8&gt; &quot;index&quot;, 40 us"] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    assert!(Trace::default().to_svg().ends_with("</svg>\n"));
}

/// A task may wait for one lock, and take another meanwhile; and from the queue of a condition variable it is moved to that of a mutex.
#[test]
fn a_wait_ends_with_its_own_lock() {
    let task = Actor::Task { number: 1, name: None };
    let waits_of = |kind: LockKind| {
        let [mut waits, acquires] = [lock(0xa0, "waits"), lock(0xb0, "acquires")];
        waits.kind = kind;
        let event = |millis, lock: &LockName, kind| TraceEvent {
            at: Duration::from_millis(millis),
            actor: task.clone(),
            on: task.clone(),
            lock: lock.clone(),
            kind,
            site: None,
        };
        let events = vec![
            event(0, &waits, TraceKind::Waits),
            event(10, &acquires, TraceKind::Acquired),
            event(11, &acquires, TraceKind::Released { held: None }),
            event(1_000, &waits, TraceKind::Acquired),
            event(1_001, &waits, TraceKind::Released { held: None }),
        ];
        let trace = Trace { events, all: true, ..Trace::default() };
        let (_, slices, _) = parsed(&trace.to_chrome_json());
        let wait = slices.into_iter().find(|slice| slice.name.starts_with("wait for")).unwrap();
        wait.end - wait.begin
    };
    assert_eq!(waits_of(LockKind::Mutex), 1_000_000.0);
    assert_eq!(waits_of(LockKind::Condvar), 10_000.0);
}

struct Nothing;

impl Wake for Nothing {
    fn wake(self: Arc<Self>) {}
}

/// Nobody has waited for it before.
#[test]
fn the_mutex_that_a_notified_waiter_was_moved_to_is_known_as_one() {
    let waker = Waker::from(Arc::new(Nothing));
    let mut cx = Context::from_waker(&waker);
    let (mutex, changed) = (Mutex::new([0_u8; 64]), Condvar::new());
    let tracing = traced(true);
    let mut waiting = pin!(changed.wait_async(mutex.lock()));
    assert!(waiting.as_mut().poll(&mut cx).is_pending());
    let guard = mutex.lock();
    assert_eq!(changed.notify_one(), 1);
    drop(guard);
    assert!(waiting.as_mut().poll(&mut cx).is_ready());
    let start = std::ptr::from_ref(&mutex).addr() as u64;
    let events = tracing.finish().events;
    let of_it = |event: &&TraceEvent| (start..start + 64).contains(&event.lock.address.0);
    let kinds: Vec<LockKind> = events.iter().filter(of_it).map(|event| event.lock.kind).collect();
    assert!(!kinds.is_empty() && kinds.iter().all(|kind| *kind == LockKind::Mutex), "{kinds:?}");
}

#[test]
fn a_picture_has_no_control_characters() {
    let mut trace = made();
    trace.events.iter_mut().for_each(|event| event.lock.name = Some("a\u{1b}[31mb\0".into()));
    let svg = trace.to_svg();
    assert!(svg.contains("[31mb") && !svg.contains(|c: char| c.is_control() && c != '\n'), "{svg}");
}

#[test]
fn threads_and_tasks_of_this_process() {
    waitword_observe::enable();
    waitword_observe::trace_start();
    let (mutex, event) = (Mutex::new(0), Event::new());
    let (queue, changed) = (Mutex::new(false), Condvar::new());
    let _names = [
        waitword_observe::name(&mutex, "accounts"),
        waitword_observe::name(&event, "loaded"),
        waitword_observe::name(&changed, "changed"),
    ];
    let held = mutex.lock();
    let waker = Waker::from(Arc::new(Nothing));
    let mut cx = Context::from_waker(&waker);
    let mut first = pin!(mutex.lock_async());
    assert!(first.as_mut().poll(&mut cx).is_pending());
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
        // Lock by lock: other tests of this process wait, too, and some of these wait for the queue's mutex first.
        let all_wait = || {
            let seen = snapshot().locks;
            let waiters = |name: &str| {
                let of = |lock: &&Lock| lock.name.name.as_deref() == Some(name);
                seen.iter().find(of).map_or(0, |lock| lock.waiters.len())
            };
            (waiters("accounts"), waiters("loaded"), waiters("changed")) == (3, 1, 4)
        };
        while !all_wait() {
            thread::yield_now();
        }
        event.notify_all();
        *queue.lock() = true;
        changed.notify_all();
        drop(held);
        while first.as_mut().poll(&mut cx).is_pending() {
            thread::yield_now();
        }
    });
    let trace = waitword_observe::trace_stop().unwrap();
    assert_eq!(waitword_observe::trace_stop(), None);
    let (lanes, slices, flows) = parsed(&trace.to_chrome_json());
    assert_nested(&slices);
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
    const ROUNDS: usize = 1_000;
    let word = AtomicU32::new(0);
    let tracing = traced(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..ROUNDS {
                let mut waiting = pin!(wait_async(&word, 0));
                while waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
                    std::hint::spin_loop();
                }
            }
        });
        (0..ROUNDS).for_each(|_| while notify_one(&word) == 0 {});
    });
    let trace = tracing.finish();
    let ours = |event: &&TraceEvent| event.lock.address.0 == std::ptr::from_ref(&word).addr() as u64;
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
