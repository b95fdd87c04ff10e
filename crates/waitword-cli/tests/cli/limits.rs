//! `--timeout`, `--memory-limit`, `--max-waits`.

use crate::program::{Ran, run_with, waitword};

fn limited(test: &str, flags: &[&str], script: &str) -> Ran {
    run_with(test, flags, &[("main.js", script)], &[])
}

/// What is said when the process had to be ended because the program did not.
const FROM_OUTSIDE: &str = "cannot interrupt";

#[test]
fn timeout_ends_a_program_wherever_it_is() {
    let places = [
        "for (;;);",
        "for (;;) try { for (;;); } catch {} finally { continue; }",
        "(function again() { Promise.resolve().then(again); })();",
        "(async () => { for (;;) await 1; })();",
        "setInterval(() => {}, 1);",
        "(function again() { setImmediate(again); })();",
        "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1e9);",
        "/^(a+)+$/.test('a'.repeat(50) + 'b');",
        "Error.prepareStackTrace = () => { for (;;); }; new Error();",
        "console.log({ get [Symbol.toStringTag]() { for (;;); } });",
        "new Proxy({}, { get() { for (;;); } }).x;",
        "const { port1, port2 } = new MessageChannel(); port1.onmessage = () => port2.postMessage(0); port2.postMessage(0);
         setInterval(() => {}, 1e6);",
        "process.on('exit', () => { for (;;); });",
    ];
    for place in places {
        limited("timeout_main", &["--timeout", "0.2", "--main-can-block"], place)
            .with_code(124)
            .complained(&["--timeout is up: give it more, or"])
            .kept_from(&[FROM_OUTSIDE]);
        let worker = format!(
            "const {{ Worker }} = require('worker_threads'); new Worker({place:?}, {{ eval: true }});",
        );
        limited("timeout_worker", &["--timeout", "0.2"], &worker)
            .with_code(124)
            .complained(&["--timeout"])
            .kept_from(&[FROM_OUTSIDE]);
    }
}

#[test]
fn timeout_tells_what_still_waited() {
    limited(
        "timeout_waits",
        &["--timeout", "0.3"],
        r#"
        const { Worker } = require("worker_threads");
        const word = new Int32Array(new SharedArrayBuffer(4));
        Atomics.waitAsync(word, 0, 0);
        const source = 'Atomics.wait(require("worker_threads").workerData, 0, 0)';
        new Worker(source, { eval: true, workerData: word });
        setInterval(() => {}, 1000);
        "#,
    )
    .with_code(124)
    .complained(&["main: Atomics.waitAsync on byte 0", "main.js:4:", "worker 1: Atomics.wait on byte 0"]);
}

/// What the engine does in one go is ended from outside: a search that compares 6 * 10^14 characters, for days.
#[test]
fn timeout_ends_what_the_engine_does_not_interrupt() {
    let search = r#""a".repeat(5e7).indexOf("a".repeat(2.5e7) + "b")"#;
    limited("timeout_native", &["--timeout", "0.2"], search)
        .with_code(124)
        .complained(&["--timeout", FROM_OUTSIDE]);
}

#[test]
fn a_program_that_ends_in_time_does_not_notice_the_timeout() {
    limited("timeout_unused", &["--timeout", "1e9"], "console.log(1); process.exitCode = 3;")
        .with_code(3)
        .printed(&["1"])
        .quietly();
}

/// The engine throws null when there is no memory even for an error.
const IS_OUT_OF_MEMORY: &str = r#"
    const isOutOfMemory = (thrown) => thrown === null || thrown instanceof Error && /out of memory|string too long/.test(thrown.message);
"#;

#[test]
fn memory_beyond_the_limit_is_an_error_of_that_agent_alone() {
    let greedy = [
        "const all = []; for (;;) all.push(new Array(1000).fill({}));",
        "let s = 'x'; for (;;) s += s;",
        "const all = []; for (;;) all.push(new ArrayBuffer(1 << 20));",
        "const all = new Map(); for (let i = 0; ; i++) all.set(i, { i });",
        "const word = new Int32Array(new SharedArrayBuffer(4)); for (;;) Atomics.waitAsync(word, 0, 0);",
    ];
    for script in greedy {
        limited("memory_main", &["--memory-limit", "16M"], script).with_code(1).complained(&["main"]);
        let caught = format!(
            "{IS_OUT_OF_MEMORY} let told; try {{ (() => {{ {script} }})(); }} catch (error) {{ told = error; }}
             console.log(isOutOfMemory(told));"
        );
        // Waits that were queued stay, so there memory is still full when the error is caught.
        if !script.contains("waitAsync") {
            limited("memory_caught", &["--memory-limit", "16M"], &caught).with_code(0).printed(&["true"]);
        }
        let worker = format!(
            r#"{IS_OUT_OF_MEMORY} const {{ Worker }} = require("worker_threads");
            const worker = new Worker({script:?}, {{ eval: true }});
            worker.on("error", (error) => console.log(isOutOfMemory(error)));
            worker.on("exit", (code) => console.log(code, [1, 2].map(String)));"#
        );
        limited("memory_worker", &["--memory-limit", "16M"], &worker)
            .with_code(0)
            .printed(&["true", "1 [ '1', '2' ]"])
            .quietly();
    }
    limited("memory_help", &["--memory-limit", "16m"], greedy[0])
        .with_code(1)
        .complained(&["out of memory", "help: give each agent more with --memory-limit"]);
}

#[test]
fn waits_beyond_the_limit_are_a_range_error_and_those_within_it_stay() {
    limited(
        "max_waits",
        &["--max-waits", "3"],
        r#"
        const { Worker } = require("worker_threads");
        const word = new Int32Array(new SharedArrayBuffer(4));
        const wait = (expected, timeout) => Atomics.waitAsync(word, 0, expected, timeout);
        const seen = [];
        for (let i = 0; i < 3; i++) wait(0).value.then((outcome) => seen.push(outcome));
        for (const timeout of [undefined, 10]) {
          try {
            wait(0, timeout);
          } catch (error) {
            console.log(error.name, error.message);
          }
        }
        // What does not wait needs no place.
        console.log(wait(1).value, wait(0, 0).value);
        // Each agent has its own.
        const source = `const { workerData: word } = require("worker_threads");
          for (let i = 0; i < 3; i++) Atomics.waitAsync(word, 0, 0);`;
        const worker = new Worker(source, { eval: true, workerData: word }).on("exit", (code) => console.log("exit", code));
        Promise.resolve().then(() => {
          console.log(Atomics.notify(word, 0, 1), wait(0).async);
          Promise.resolve().then(() => console.log(seen));
          Atomics.notify(word, 0);
        });
        setTimeout(() => { worker.terminate(); Atomics.notify(word, 0); }, 5);
        "#,
    )
    .with_code(0)
    .complained(&[]);
    limited(
        "max_waits_uncaught",
        &["--max-waits", "2"],
        "const word = new Int32Array(new SharedArrayBuffer(4)); for (;;) Atomics.waitAsync(word, 0, 0);",
    )
    .with_code(1)
    .complained(&["RangeError: 2 waits of this agent are pending", "help: the limit is that of --max-waits"]);
}

#[test]
fn limits_that_make_no_sense_are_usage_errors() {
    for flags in [
        ["--timeout", "0"],
        ["--timeout", "-1"],
        ["--timeout", "soon"],
        ["--timeout", "NaN"],
        ["--memory-limit", "0"],
        ["--memory-limit", "12X"],
        ["--memory-limit", "99999999999G"],
        ["--max-waits", "-1"],
    ] {
        let output = waitword().arg("run").args(flags).arg("a.js").output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {output:?}");
    }
}
