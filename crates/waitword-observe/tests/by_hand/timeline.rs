//! Timelines made by hand or drawn: as JSON, read by the rules of what opens it, and as a picture.

use std::time::Duration;

use waitword_observe::{Actor, Address, LockKind, LockName, Trace, TraceEvent, TraceKind};

use crate::rules::{Slice, Timeline, check, read};
use crate::{task, thread};

fn lock(address: u64, name: &str) -> LockName {
    LockName {
        address: Address(address),
        kind: LockKind::Mutex,
        name: Some(name.into()),
        type_name: Some("Mutex<u8>".into()),
        place: None,
    }
}

fn event(nanos: u64, actor: &Actor, on: &Actor, lock: &LockName, kind: TraceKind) -> TraceEvent {
    let (actor, on, lock) = (actor.clone(), on.clone(), lock.clone());
    TraceEvent { at: Duration::from_nanos(nanos), actor, on, lock, kind, site: None }
}

/// `gc` holds two locks, one longer than the other without being inside of it, while a task waits for both in turn.
fn made() -> Trace {
    let (gc, task) = (thread(2, "gc"), task(1, None));
    let [cache, index] = [lock(0xa0, "cache"), lock(0xb0, "index")];
    let event = |micros: u64, actor, on, lock, kind| event(micros * 1_000, actor, on, lock, kind);
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

#[test]
fn slices_and_flows_pair_up() {
    let Timeline { lanes, slices, flows } = read(&made().to_chrome_json());
    let micros = |slice: &Slice| format!("{}..{}", slice.begin as f64 / 1e3, slice.end as f64 / 1e3);
    let mut shown: Vec<_> = slices
        .iter()
        .map(|slice| format!("{}: {} {}", lanes[&slice.lane], slice.name, micros(slice)))
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
    let task = task(1, None);
    let waits_of = |kind: LockKind| {
        let [mut waits, acquires] = [lock(0xa0, "waits"), lock(0xb0, "acquires")];
        waits.kind = kind;
        let event = |millis: u64, lock, kind| event(millis * 1_000_000, &task, &task, lock, kind);
        let events = vec![
            event(0, &waits, TraceKind::Waits),
            event(10, &acquires, TraceKind::Acquired),
            event(11, &acquires, TraceKind::Released { held: None }),
            event(1_000, &waits, TraceKind::Acquired),
            event(1_001, &waits, TraceKind::Released { held: None }),
        ];
        let trace = Trace { events, all: true, ..Trace::default() };
        let slices = read(&trace.to_chrome_json()).slices;
        let wait = slices.into_iter().find(|slice| slice.name.starts_with("wait for")).unwrap();
        wait.end - wait.begin
    };
    assert_eq!(waits_of(LockKind::Mutex), 1_000_000_000);
    assert_eq!(waits_of(LockKind::Condvar), 10_000_000);
}

/// Also of a lock of which nothing else is there.
#[test]
fn a_hold_that_goes_on_ends_with_the_trace() {
    let task = task(1, None);
    let [held, waits] = [lock(0xa0, "held"), lock(0xb0, "waits")];
    let event = |micros: u64, lock, kind| event(micros * 1_000, &task, &task, lock, kind);
    let events = vec![event(10, &held, TraceKind::Acquired), event(40, &waits, TraceKind::Waits)];
    let slices = read(&Trace { events, all: true, ..Trace::default() }.to_chrome_json()).slices;
    let [hold, _] = &slices[..] else { panic!("{slices:?}") };
    assert_eq!((&*hold.name, hold.begin, hold.end), ("Mutex<u8> \"held\"", 10_000, 40_000));
}

#[test]
fn a_picture_has_no_control_characters() {
    let mut trace = made();
    trace.events.iter_mut().for_each(|event| event.lock.name = Some("a\u{1b}[31mb\0".into()));
    let svg = trace.to_svg();
    assert!(svg.contains("[31mb") && !svg.contains(|c: char| c.is_control() && c != '\n'), "{svg}");
}

/// A trace of some threads that take, release, wait and wake, at times that no float of microseconds has.
fn drawn(seed: u64) -> Trace {
    let mut state = seed | 1;
    let mut below = |limit: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % limit
    };
    let actors: Vec<Actor> = (0..4).map(|id| thread(id, &format!("t{id} \"\\ ä"))).collect();
    let mut trace = Trace { program: Some("pool".into()), process: 7, all: true, ..Trace::default() };
    let mut at = 0;
    let mut waits: Vec<Option<u64>> = vec![None; actors.len()];
    let mut holds: Vec<Vec<u64>> = vec![Vec::new(); actors.len()];
    for _ in 0..400 {
        // Often at the same nanosecond, or at the next one.
        at += [0, 1, 2, 3, 57, 1_003, 999_983][below(7) as usize];
        let actor = below(4) as usize;
        let mut add = |at: u64, who: usize, on: usize, number: u64, kind: TraceKind| {
            let lock = lock(0x10 + number, &format!("l{number}"));
            trace.events.push(event(at, &actors[who], &actors[on], &lock, kind));
        };
        match (waits[actor], below(3)) {
            (Some(number), _) => {
                let other = (actor + 1) % actors.len();
                if below(2) == 0 {
                    let held = Some(Duration::from_nanos(below(5_000)));
                    add(at, other, other, number, TraceKind::Released { held });
                    add(at, actor, other, number, TraceKind::Signalled);
                }
                at += below(3);
                if below(4) == 0 {
                    add(at, actor, actor, number, TraceKind::GaveUp);
                } else {
                    add(at, actor, actor, number, TraceKind::Acquired);
                    holds[actor].push(number);
                }
                waits[actor] = None;
            }
            (None, 0) if !holds[actor].is_empty() => {
                let number = holds[actor].swap_remove(0);
                add(at, actor, actor, number, TraceKind::Released { held: None });
            }
            (None, _) => {
                let number = below(5);
                if !holds[actor].contains(&number) {
                    waits[actor] = Some(number);
                    add(at, actor, actor, number, TraceKind::Waits);
                }
            }
        }
    }
    trace
}

#[test]
fn drawn_traces_keep_the_rules_of_their_readers() {
    let mut arrows = 0;
    for seed in 0..200 {
        arrows += check(&drawn(seed * 7_919 + 3).to_chrome_json());
    }
    assert!(arrows > 1_000, "{arrows}");
    check(&Trace::default().to_chrome_json());
}
