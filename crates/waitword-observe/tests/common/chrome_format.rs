//! What readers of Chrome's trace format need. Perfetto: `src/trace_processor/importers/json` of its repository; Firefox's profiler:
//! `src/profile-logic/import/chrome.ts`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Nanoseconds as Perfetto reads them: a fraction of microseconds times 1,000, cut off.
fn nanos(value: &Value, what: &str, event: &Value) -> i64 {
    let micros = value.as_f64().unwrap_or_else(|| panic!("no {what}: {event}"));
    assert!(micros.is_finite() && micros >= 0.0, "{what}: {event}");
    (micros.trunc() as i64) * 1_000 + (micros.fract() * 1_000.0) as i64
}

struct Slice {
    begin: i64,
    end: i64,
}

/// Checks all events, and returns how many flows there are.
pub(crate) fn check(json: &str) -> usize {
    let trace: Value = serde_json::from_str(json).unwrap();
    // Old versions of Perfetto would take all times for that unit.
    assert_eq!(trace.get("displayTimeUnit"), None);
    let events = trace["traceEvents"].as_array().expect("an array");
    let (mut slices, mut named) = (BTreeMap::<u64, Vec<Slice>>::new(), BTreeSet::new());
    let mut flows: BTreeMap<u64, Vec<&Value>> = BTreeMap::new();
    for event in events {
        let name = event["name"].as_str().unwrap_or_else(|| panic!("Firefox refuses the file: {event}"));
        let (_pid, tid) = (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
        assert!(u32::try_from(tid).is_ok());
        match event["ph"].as_str().unwrap() {
            "M" => {
                if name == "thread_name" {
                    assert!(!event["args"]["name"].as_str().unwrap().is_empty());
                    assert!(named.insert(tid), "two names: {event}");
                }
            }
            "X" => {
                // These mean something else to Firefox's profiler.
                assert!(!["Profile", "ProfileChunk", "CpuProfile", "Screenshot"].contains(&name));
                assert!(event["cat"].is_string() && event["args"]["detail"].is_string(), "{event}");
                let begin = nanos(&event["ts"], "ts", event);
                let dur = nanos(&event["dur"], "dur", event);
                assert!(dur > 0, "too short to be seen: {event}");
                slices.entry(tid).or_default().push(Slice { begin, end: begin + dur });
            }
            "s" | "f" => flows.entry(event["id"].as_u64().unwrap()).or_default().push(event),
            other => panic!("unknown to readers: {other}"),
        }
    }
    for (tid, slices) in &mut slices {
        assert!(named.contains(tid), "thread {tid} has no name");
        // A stack, as readers have: the longer one of two that begin together is below.
        slices.sort_by_key(|slice| (slice.begin, -slice.end));
        let mut open: Vec<i64> = Vec::new();
        for slice in slices {
            // Both ends may have been cut off, by a nanosecond of the beginning and one of the duration.
            open.retain(|end| *end > slice.begin + 2);
            assert!(open.last().is_none_or(|end| slice.end <= *end + 2), "overlap in thread {tid}");
            open.push(slice.end);
        }
    }
    for (id, ends) in &flows {
        let [from, to] = ends[..] else { panic!("flow {id} has {} ends", ends.len()) };
        assert_eq!((from["ph"].as_str(), to["ph"].as_str()), (Some("s"), Some("f")));
        assert!(
            from["cat"] == to["cat"] && from["name"] == to["name"],
            "other flows have that id: {from} {to}"
        );
        assert_eq!(to["bp"], "e", "it would go to the next slice: {to}");
        let [begun, ended] = [from, to].map(|event| {
            let at = nanos(&event["ts"], "ts", event);
            let is_open = |slice: &Slice| slice.begin <= at && at < slice.end;
            let of_thread = slices.get(&event["tid"].as_u64().unwrap());
            assert!(of_thread.is_some_and(|slices| slices.iter().any(is_open)), "bound to no slice: {event}");
            at
        });
        assert!(begun <= ended, "{from} {to}");
    }
    flows.len()
}
