//! Chrome's trace format. Times are microseconds.

use serde::Serialize;
use serde_json::{Value, json};

use super::events::Trace;
use super::timeline::{End, Slice, Timeline, What};
use crate::text::{actor, lock};

#[derive(Serialize)]
struct Chrome {
    #[serde(rename = "traceEvents")]
    events: Vec<Value>,
    #[serde(rename = "displayTimeUnit")]
    unit: &'static str,
    #[serde(rename = "otherData")]
    other: Value,
}

pub(super) fn written(timeline: &Timeline, trace: &Trace) -> String {
    let process = trace.process;
    let rows = timeline.rows();
    // Threads of a process have numbers of their own in the format; so have rows here.
    let first_of: Vec<usize> = rows
        .iter()
        .scan(1, |next, rows| {
            let first = *next;
            *next += rows;
            Some(first)
        })
        .collect();
    let mut events = vec![json!({
        "ph": "M", "name": "process_name", "pid": process, "tid": 0,
        "args": {"name": trace.program.as_deref().unwrap_or("waitword")},
    })];
    for (lane, who) in timeline.lanes.iter().enumerate() {
        for row in 0..rows[lane] {
            let tid = first_of[lane] + row;
            events.push(json!({"ph": "M", "name": "thread_name", "pid": process, "tid": tid, "args": {"name": actor(who)}}));
            events.push(json!({"ph": "M", "name": "thread_sort_index", "pid": process, "tid": tid, "args": {"sort_index": tid}}));
        }
    }
    let tid = |slice: &Slice| first_of[slice.lane] + slice.row;
    for slice in &timeline.slices {
        let mut args = json!({"lock": lock(&slice.lock), "address": slice.lock.address});
        if let Some(site) = &slice.site {
            args["site"] = json!(site.to_string());
        }
        if let What::Wait(end) = slice.what {
            args["ended"] = json!(match end {
                End::Acquired => "acquired",
                End::Notified => "notified",
                End::GaveUp => "gave up",
                End::Open => "not yet",
            });
        }
        let (category, verb) = match slice.what {
            What::Wait(_) => ("wait", "wait for "),
            What::Hold => ("hold", ""),
            What::Notify => ("notify", "notify "),
        };
        events.push(json!({
            "ph": "X", "cat": category, "name": format!("{verb}{}", lock(&slice.lock)), "pid": process, "tid": tid(slice),
            "ts": nanos(slice.begin.as_nanos()), "dur": nanos((slice.end - slice.begin).as_nanos()), "args": args,
        }));
    }
    for (id, arrow) in timeline.arrows.iter().enumerate() {
        let [from, to] = [arrow.from, arrow.to].map(|at| &timeline.slices[at]);
        // A flow belongs to the slice that is open at its time: a nanosecond before its end.
        let start = from.end.as_nanos() - 1;
        let end = (to.end.as_nanos() - 1).max(start);
        let flow = |phase: &str, slice: &Slice, time: u128| {
            json!({
                "ph": phase, "cat": "wakes", "name": "wakes", "id": id, "bp": "e", "pid": process, "tid": tid(slice), "ts": nanos(time),
            })
        };
        events.push(flow("s", from, start));
        events.push(flow("f", to, end));
    }
    let other = json!({"dropped_events": trace.dropped, "all_acquisitions": trace.all});
    let chrome = Chrome { events, unit: "ns", other };
    serde_json::to_string(&chrome).unwrap_or_else(|error| unreachable!("plain data: {error}"))
}

/// Microseconds, to the nanosecond.
fn nanos(nanos: u128) -> Value {
    json!(nanos as f64 / 1_000.0)
}
