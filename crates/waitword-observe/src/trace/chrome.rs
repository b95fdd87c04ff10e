//! Chrome's trace format. Times are microseconds.
//!
//! Its readers, and what they need beyond the format:
//! - Perfetto (`importers/json` in its trace processor) multiplies fractions by 1,000 and then truncates, so a time or a duration may come
//!   out a nanosecond shorter. A flow belongs to the innermost slice of its thread that is open at its time; `bp: "e"` says so for its end.
//!   It reads no `displayTimeUnit`; versions before April 2022 took all times for that unit, so there is none.
//! - Firefox's profiler (`profile-logic/import/chrome`) wants a `name` in each event, shows slices as markers, and of their `args` only the
//!   `detail`. It shows no flows.

use serde::Serialize;
use serde_json::{Value, json};

use super::timeline::{End, Slice, Timeline, What};
use crate::json::plain;
use crate::model::Trace;

#[derive(Serialize)]
struct Chrome {
    #[serde(rename = "traceEvents")]
    events: Vec<Value>,
    #[serde(rename = "otherData")]
    other: Value,
}

pub(super) fn written(timeline: &Timeline, trace: &Trace) -> String {
    let process = trace.process;
    let mut events = vec![json!({
        "ph": "M", "name": "process_name", "pid": process, "tid": 0,
        "args": {"name": trace.program.as_deref().unwrap_or("waitword")},
    })];
    // In the format, threads of a process have numbers of their own; so each row gets one.
    for (who, rows) in timeline.lanes.iter().zip(timeline.rows.windows(2)) {
        for tid in rows[0] + 1..=rows[1] {
            events.push(json!({"ph": "M", "name": "thread_name", "pid": process, "tid": tid, "args": {"name": who.to_string()}}));
            events.push(json!({"ph": "M", "name": "thread_sort_index", "pid": process, "tid": tid, "args": {"sort_index": tid}}));
        }
    }
    let tid = |slice: &Slice| slice.row + 1;
    for slice in &timeline.slices {
        let mut args = json!({"lock": slice.lock.to_string(), "address": slice.lock.address});
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
        let detail: Vec<&str> = ["site", "ended"].iter().filter_map(|part| args[part].as_str()).collect();
        args["detail"] = json!(detail.join(", "));
        let (category, verb) = match slice.what {
            What::Wait(_) => ("wait", "wait for "),
            What::Hold => ("hold", ""),
            What::Notify => ("notify", "notify "),
        };
        events.push(json!({
            "ph": "X", "cat": category, "name": format!("{verb}{}", slice.lock), "pid": process, "tid": tid(slice),
            "ts": nanos(slice.begin.as_nanos()), "dur": nanos((slice.end - slice.begin).as_nanos()), "args": args,
        }));
    }
    for (id, arrow) in timeline.arrows.iter().enumerate() {
        let [from, to] = arrow.map(|at| &timeline.slices[at]);
        let end = last_moment(to);
        let start = last_moment(from).min(end).max(from.begin.as_nanos());
        if start > end {
            // In a trace that is not of this crate, the waiter may have run before it was signalled. An arrow does not lead back.
            continue;
        }
        let flow = |phase: &str, slice: &Slice, time: u128| {
            json!({
                "ph": phase, "cat": "wakes", "name": "wakes", "id": id, "bp": "e", "pid": process, "tid": tid(slice), "ts": nanos(time),
            })
        };
        events.push(flow("s", from, start));
        events.push(flow("f", to, end));
    }
    let other = json!({"dropped_events": trace.dropped, "all_acquisitions": trace.all});
    plain(&Chrome { events, other })
}

/// A time before the end of the slice, even if the slice comes out shorter by a nanosecond at its beginning and one in its duration.
fn last_moment(slice: &Slice) -> u128 {
    slice.end.as_nanos().saturating_sub(3).max(slice.begin.as_nanos())
}

/// Microseconds, to the nanosecond.
fn nanos(nanos: u128) -> Value {
    json!(nanos as f64 / 1_000.0)
}
