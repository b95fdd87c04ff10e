//! The timeline's JSON, read by the rules of what opens it: Perfetto's trace processor and Firefox's profiler.

#[path = "common/chrome_format.rs"]
mod rules;

use std::time::Duration;

use waitword_observe::{Actor, Address, LockKind, LockName, Trace, TraceEvent, TraceKind};

/// A trace of some threads that take, release, wait and wake, at times that no float of microseconds has.
fn drawn(seed: u64) -> Trace {
    let mut state = seed | 1;
    let mut below = |limit: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % limit
    };
    let actors: Vec<Actor> =
        (0..4).map(|id| Actor::Thread { id, name: Some(format!("t{id} \"\\ ä")) }).collect();
    let lock = |number: u64| LockName {
        address: Address(0x10 + number),
        kind: LockKind::Mutex,
        name: Some(format!("l{number}")),
        type_name: None,
        place: None,
    };
    let mut trace = Trace { program: Some("pool".into()), process: 7, all: true, ..Trace::default() };
    let mut at = 0;
    let mut waits: Vec<Option<u64>> = vec![None; actors.len()];
    let mut holds: Vec<Vec<u64>> = vec![Vec::new(); actors.len()];
    for _ in 0..400 {
        // Often at the same nanosecond, or at the next one.
        at += [0, 1, 2, 3, 57, 1_003, 999_983][below(7) as usize];
        let actor = below(4) as usize;
        let mut add = |who: usize, on: usize, number: u64, kind: TraceKind| {
            trace.events.push(TraceEvent {
                at: Duration::from_nanos(at),
                actor: actors[who].clone(),
                on: actors[on].clone(),
                lock: lock(number),
                kind,
                site: None,
            });
        };
        match (waits[actor], below(3)) {
            (Some(number), _) => {
                let other = (actor + 1) % actors.len();
                if below(2) == 0 {
                    add(
                        other,
                        other,
                        number,
                        TraceKind::Released { held: Some(Duration::from_nanos(below(5_000))) },
                    );
                    add(actor, other, number, TraceKind::Signalled);
                }
                at += below(3);
                let mut add_late = |kind| {
                    trace.events.push(TraceEvent {
                        at: Duration::from_nanos(at),
                        actor: actors[actor].clone(),
                        on: actors[actor].clone(),
                        lock: lock(number),
                        kind,
                        site: None,
                    });
                };
                if below(4) == 0 {
                    add_late(TraceKind::GaveUp);
                } else {
                    add_late(TraceKind::Acquired);
                    holds[actor].push(number);
                }
                waits[actor] = None;
            }
            (None, 0) if !holds[actor].is_empty() => {
                let number = holds[actor].swap_remove(0);
                add(actor, actor, number, TraceKind::Released { held: None });
            }
            (None, _) => {
                let number = below(5);
                if !holds[actor].contains(&number) {
                    waits[actor] = Some(number);
                    add(actor, actor, number, TraceKind::Waits);
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
        arrows += rules::check(&drawn(seed * 7_919 + 3).to_chrome_json());
    }
    assert!(arrows > 1_000, "{arrows}");
    rules::check(&Trace::default().to_chrome_json());
}

#[test]
fn a_trace_of_this_process_keeps_the_rules_of_its_readers() {
    use std::thread;
    use waitword::Mutex;

    waitword_observe::enable();
    let tracing = waitword_observe::traced(true);
    let locks: [Mutex<u32>; 3] = Default::default();
    thread::scope(|scope| {
        for first in 0..3 {
            let locks = &locks;
            scope.spawn(move || {
                for turn in 0..200 {
                    let [one, other] = [first.min((first + turn) % 3), first.max((first + turn) % 3)];
                    let mut held = locks[one].lock();
                    *held += if one == other { 1 } else { *locks[other].lock() };
                }
            });
        }
    });
    rules::check(&tracing.finish().to_chrome_json());
}
