//! `waitword run --observe` and `--trace`, where a socket, a signal or a file is looked at. Reports are in `tests/scripts/observe`.

use crate::program::run_with;
#[cfg(unix)]
use crate::program::{ended, prepared, waitword};

/// What readers of a timeline need.
#[path = "../../../waitword-observe/tests/common/chrome_format.rs"]
mod chrome_format;

/// A lock of scripts in a file of its own, as programs have one.
const LOCK: (&str, &str) = ("lock.js", include_str!("../scripts/observe/support/lock.js"));

/// The lanes and slices of a timeline: without their times, in order, each once.
fn slices_of(trace: &serde_json::Value) -> std::collections::BTreeSet<String> {
    let events = trace["traceEvents"].as_array().unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or("-").to_owned();
    let lane = |tid: &serde_json::Value| {
        let names = |event: &&serde_json::Value| event["name"] == "thread_name" && event["tid"] == *tid;
        text(&events.iter().find(names).expect("a lane")["args"]["name"])
    };
    let slices = events.iter().filter(|event| event["ph"] == "X");
    slices
        .map(|event| {
            let args = &event["args"];
            let [lane, name] = [lane(&event["tid"]), text(&event["name"])];
            format!("{lane}: {name} at {}, ended: {}", text(&args["site"]), text(&args["ended"]))
        })
        .collect()
}

/// A ball between two agents, and a lock that a third has taken before the trace begins.
#[cfg(unix)]
#[test]
fn a_trace_through_the_socket_has_agents_and_lines() {
    let main = include_str!("programs/served_trace.js");
    let holds = include_str!("programs/served_trace_holds.js");
    let ping = include_str!("programs/served_trace_ping.js");
    let files = [("main.js", main), ("holds.js", holds), ("ping.js", ping)];
    let mut program = prepared("observe_served_trace", &["--timeout", "600"], &files, &[]);
    let folder = program.get_current_dir().unwrap().to_owned();
    let socket = folder.join("s");
    program.env("WAITWORD_OBSERVE", "serve=s").stderr(std::process::Stdio::null());
    let mut program = program.spawn().unwrap();
    while !socket.exists() {
        assert!(program.try_wait().unwrap().is_none(), "it has ended");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let json = folder.join("trace.json");
    let expected = [
        "main: wait for word at block 1 +0 at main.js:8:29, ended: notified",
        "main: word at block 1 +8 at main.js:3:25, ended: -",
        "worker 1: wait for word at block 1 +8 at holds.js:2:14, ended: not yet",
        "worker 2: wait for word at block 1 +0 at ping.js:5:16, ended: notified",
        "worker 2: wait for word at block 1 +12 at ping.js:6:16, ended: gave up",
    ];
    // Until the workers have begun, and the trace has seen each of the slices from its beginning to its end. Who connects and asks too
    // late for a trace gets a report.
    let mut found = std::collections::BTreeSet::new();
    for _ in 0..30 {
        let mut trace = waitword();
        trace.arg("trace").arg(&socket).args(["--seconds", "0.5", "--all", "-o"]).arg(&json);
        if ended(&mut trace).code != Some(0) {
            continue;
        }
        let text = std::fs::read_to_string(&json).unwrap();
        chrome_format::check(&text);
        found = slices_of(&serde_json::from_str(&text).unwrap());
        // Cut off by the trace's ends, a mark of a notify, or a wait for a word that had changed already.
        let is_steady = |slice: &String| {
            slice.contains("+8")
                || !(slice.ends_with("not yet")
                    || slice.contains(": notify ")
                    || slice.contains("+0") && slice.ends_with("gave up"))
        };
        found.retain(is_steady);
        if found.len() >= expected.len() {
            break;
        }
    }
    program.kill().unwrap();
    program.wait().unwrap();
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

#[test]
fn a_timeline_shows_waits_holds_and_who_woke_whom() {
    let main = include_str!("programs/timeline.js");
    // It notifies as the last thing before it waits for the lock, which main then gives it.
    let worker = include_str!("programs/timeline_worker.js");
    let files = [("main.js", main), ("worker.js", worker), LOCK];
    run_with("observe_trace", &["--trace", "trace.json"], &files, &[]).with_code(0).quietly();
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("observe_trace/trace.json");
    let text = std::fs::read_to_string(path).unwrap();
    assert!(chrome_format::check(&text) > 0);
    let trace: serde_json::Value = serde_json::from_str(&text).unwrap();
    let slices = slices_of(&trace);
    for [slice, word] in
        [["main: wait for word at block", "+4"], ["main: word at block", "+0"], ["worker 1: ", "+0"]]
    {
        let is_it = |each: &&String| each.starts_with(slice) && each.contains(&format!("{word} at "));
        assert!(slices.iter().any(|each| is_it(&each)), "no {slice} {word} in {slices:#?}");
    }
    let events = trace["traceEvents"].as_array().unwrap();
    let arrows = |end: &str| events.iter().filter(|event| event["ph"] == end).count();
    assert!(arrows("s") > 0 && arrows("s") == arrows("f"), "{trace:#}");
}

/// A worker waits for its script at the standard input, and gets it when the report has been read.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_prints_a_report_and_the_program_goes_on() {
    use std::io::{BufRead, BufReader, Write};

    let main = r#"const words = new Int32Array(new SharedArrayBuffer(4));
new (require("worker_threads").Worker)("/dev/stdin", { workerData: words });
Atomics.waitAsync(words, 0, 0).value.then((outcome) => console.log(outcome));
console.log("waiting");
"#;
    let mut command = prepared("observe_sigusr1", &["--observe"], &[("main.js", main)], &[]);
    let mut program = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(program.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "waiting\n");
    // SAFETY: a signal to a child that nobody has waited for, so the number is its own.
    assert_eq!(unsafe { libc::kill(program.id() as i32, libc::SIGUSR1) }, 0);
    let mut errors = BufReader::new(program.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(errors.any(|line| line.contains("  main  main.js:3:")), "no report");
    let script = b"require('worker_threads').workerData.forEach((_, i, words) => Atomics.notify(words, i))";
    program.stdin.take().unwrap().write_all(script).unwrap();
    let rest: Vec<String> = out.lines().map(Result::unwrap).collect();
    assert_eq!(rest, ["ok"]);
    assert_eq!(program.wait().unwrap().code(), Some(0));
}
