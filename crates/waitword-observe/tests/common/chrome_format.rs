//! What readers of Chrome's trace format need. Perfetto: `src/trace_processor/importers/json` of its repository; Firefox's profiler:
//! `src/profile-logic/import/chrome.ts`.

use std::collections::BTreeMap;

use serde_json::Value;

/// Nanoseconds as Perfetto reads them: a fraction of microseconds times 1,000, cut off.
fn nanos(value: &Value, what: &str, event: &Value) -> i64 {
    let micros = value.as_f64().unwrap_or_else(|| panic!("no {what}: {event}"));
    assert!(micros.is_finite() && micros >= 0.0, "{what}: {event}");
    (micros.trunc() as i64) * 1_000 + (micros.fract() * 1_000.0) as i64
}

#[allow(dead_code, reason = "as in `Timeline`")]
#[derive(Debug)]
pub(crate) struct Slice {
    pub(crate) lane: u64,
    pub(crate) name: String,
    pub(crate) begin: i64,
    pub(crate) end: i64,
}

/// What readers show: lanes by number, slices, and flows as pairs of slices.
#[allow(dead_code, reason = "not each test program looks at all of it")]
#[derive(Debug)]
pub(crate) struct Timeline {
    pub(crate) lanes: BTreeMap<u64, String>,
    pub(crate) slices: Vec<Slice>,
    pub(crate) flows: Vec<(usize, usize)>,
}

/// Checks all events, and returns how many flows there are.
#[allow(dead_code, reason = "as in `Timeline`")]
pub(crate) fn check(json: &str) -> usize {
    read(json).flows.len()
}

/// Checks all events, and returns what they show.
pub(crate) fn read(json: &str) -> Timeline {
    let trace: Value = serde_json::from_str(json).unwrap();
    // Old versions of Perfetto would take all times for that unit.
    assert_eq!(trace.get("displayTimeUnit"), None);
    let events = trace["traceEvents"].as_array().expect("an array");
    let (mut slices, mut lanes) = (Vec::new(), BTreeMap::new());
    let mut ends: BTreeMap<u64, Vec<&Value>> = BTreeMap::new();
    for event in events {
        let name = event["name"].as_str().unwrap_or_else(|| panic!("Firefox refuses the file: {event}"));
        let (_pid, tid) = (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
        assert!(u32::try_from(tid).is_ok());
        match event["ph"].as_str().unwrap() {
            "M" => {
                if name == "thread_name" {
                    let lane = event["args"]["name"].as_str().unwrap();
                    assert!(!lane.is_empty());
                    assert_eq!(lanes.insert(tid, lane.to_owned()), None, "two names: {event}");
                }
            }
            "X" => {
                // These mean something else to Firefox's profiler.
                assert!(!["Profile", "ProfileChunk", "CpuProfile", "Screenshot"].contains(&name));
                assert!(event["cat"].is_string() && event["args"]["detail"].is_string(), "{event}");
                let begin = nanos(&event["ts"], "ts", event);
                let dur = nanos(&event["dur"], "dur", event);
                assert!(dur > 0, "too short to be seen: {event}");
                slices.push(Slice { lane: tid, name: name.to_owned(), begin, end: begin + dur });
            }
            "s" | "f" => ends.entry(event["id"].as_u64().unwrap()).or_default().push(event),
            other => panic!("unknown to readers: {other}"),
        }
    }
    // A stack for each lane, as readers have: the longer one of two that begin together is below.
    slices.sort_by_key(|slice: &Slice| (slice.lane, slice.begin, -slice.end));
    for slices in slices.chunk_by(|one, other| one.lane == other.lane) {
        assert!(lanes.contains_key(&slices[0].lane), "thread {} has no name", slices[0].lane);
        let mut open: Vec<i64> = Vec::new();
        for slice in slices {
            // Both ends may have been cut off, by a nanosecond of the beginning and one of the duration.
            open.retain(|end| *end > slice.begin + 2);
            assert!(open.last().is_none_or(|end| slice.end <= *end + 2), "overlap in thread {}", slice.lane);
            open.push(slice.end);
        }
    }
    let flow = |(id, ends): (u64, Vec<&Value>)| {
        let [from, to] = ends[..] else { panic!("flow {id} has {} ends", ends.len()) };
        assert_eq!((from["ph"].as_str(), to["ph"].as_str()), (Some("s"), Some("f")));
        assert!(
            from["cat"] == to["cat"] && from["name"] == to["name"],
            "other flows have that id: {from} {to}"
        );
        assert_eq!(to["bp"], "e", "it would go to the next slice: {to}");
        let [(begun, one), (ended, other)] = [from, to].map(|event| {
            let (at, lane) = (nanos(&event["ts"], "ts", event), event["tid"].as_u64().unwrap());
            let is_open = |slice: &Slice| slice.lane == lane && slice.begin <= at && at < slice.end;
            // The innermost slice that is open then.
            let begun = slices.partition_point(|slice| (slice.lane, slice.begin) <= (lane, at));
            let slice = slices[..begun].iter().rposition(is_open);
            (at, slice.unwrap_or_else(|| panic!("bound to no slice: {event}")))
        });
        assert!(begun <= ended, "{from} {to}");
        (one, other)
    };
    let flows = ends.into_iter().map(flow).collect();
    Timeline { lanes, slices, flows }
}
