//! `--timeout`, `--max-waits`, and what the limits may be.

use crate::program::{are_usage_errors, limited, run};

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
        "Error.prepareStackTrace = () => { for (;;); }; new Error().stack;",
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
    let source = r#"
        const { Worker } = require("worker_threads");
        const word = new Int32Array(new SharedArrayBuffer(4));
        Atomics.waitAsync(word, 0, 0);
        const source = 'Atomics.wait(require("worker_threads").workerData, 0, 0)';
        new Worker(source, { eval: true, workerData: word });
        setInterval(() => {}, 1000);
        "#;
    // On a slow machine the worker may not have begun when the time is up.
    for time in ["0.3", "3", "30"] {
        let ran = limited("timeout_waits", &["--timeout", time], source);
        if time == "30" || ran.stderr.contains("worker 1") {
            ran.with_code(124).complained(&[
                "main: Atomics.waitAsync on byte 0",
                "main.js:4:",
                "worker 1: Atomics.wait on byte 0",
            ]);
            return;
        }
    }
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

/// What ends a script is made by the host, but it asks the script how to show its stack.
#[test]
fn no_stack_hook_runs_in_a_script_that_is_being_ended() {
    run(
        "hook_ended",
        r#"
        const { Worker } = require("worker_threads");
        const ran = new Int32Array(new SharedArrayBuffer(4));
        const worker = new Worker(`
          const ran = require("worker_threads").workerData;
          Error.prepareStackTrace = () => Atomics.add(ran, 0, 1);
          process.exit(5);
        `, { eval: true, workerData: ran });
        worker.on("exit", (code) => console.log(code, ran[0]));
        "#,
    )
    .with_code(0)
    .printed(&["5 0"])
    .quietly();
}

#[test]
fn waits_beyond_the_limit_are_a_range_error_and_those_within_it_stay() {
    const FULL: &str =
        "RangeError: 3 waits of this agent are pending, and no more may be: notify some, or raise the limit";
    limited(
        "max_waits",
        &["--max-waits", "3"],
        r#"
        const { Worker } = require("worker_threads");
        const word = new Int32Array(new SharedArrayBuffer(4));
        const wait = (expected, timeout) => Atomics.waitAsync(word, 0, expected, timeout);
        const refused = (timeout) => {
          try {
            return wait(0, timeout).async;
          } catch (error) {
            return `${error.name}: ${error.message}`;
          }
        };
        const seen = [];
        for (let i = 0; i < 3; i++) wait(0).value.then((outcome) => seen.push(outcome));
        console.log(refused());
        console.log(refused(10));
        // What does not wait needs no place.
        console.log(wait(1).value, wait(0, 0).value);
        // A place is free again as soon as its wait has ended.
        console.log(Atomics.notify(word, 0, 1), wait(0).async, typeof refused());
        // Each agent has its own.
        const source = `const { parentPort, workerData: word } = require("worker_threads");
          for (let i = 0; i < 3; i++) Atomics.waitAsync(word, 0, 0);
          parentPort.postMessage("queued");`;
        const worker = new Worker(source, { eval: true, workerData: word });
        worker.on("message", async () => console.log(await worker.terminate(), Atomics.notify(word, 0)));
        process.on("exit", () => console.log(...seen));
        "#,
    )
    .with_code(0)
    .printed(&[FULL, FULL, "not-equal timed-out", "1 true string", "1 3", "ok ok ok"])
    .quietly();
    limited(
        "max_waits_uncaught",
        &["--max-waits", "2"],
        "const word = new Int32Array(new SharedArrayBuffer(4)); for (;;) Atomics.waitAsync(word, 0, 0);",
    )
    .with_code(1)
    .complained(&["RangeError: 2 waits of this agent are pending", "help: the limit is that of --max-waits"]);
}

/// What the engine passes on a stack: so many, whatever asks for it.
#[test]
fn arguments_beyond_what_the_engine_passes_are_a_range_error() {
    limited(
        "arguments",
        &[],
        r#"
        const items = new Array(65_536).fill(1);
        const calls = [() => Math.max(...items), () => Math.max.apply(null, items), () => [].push(...items),
          () => Reflect.construct(Array, items), () => String.fromCharCode(...items)];
        for (const call of calls) {
          try {
            console.log(call());
          } catch ({ name, message }) {
            console.log(name, message);
          }
        }
        items.pop();
        console.log(Math.max(...items), [...items, ...items].length);
        "#,
    )
    .with_code(0)
    .printed(&[
        "RangeError too many arguments in function call (only 65535 allowed)",
        "RangeError too many arguments in function call (only 65535 allowed)",
        "RangeError too many arguments in function call (only 65535 allowed)",
        "RangeError too many arguments in function call (only 65535 allowed)",
        "RangeError too many arguments in function call (only 65535 allowed)",
        "1 131070",
    ])
    .quietly();
}

#[test]
fn limits_that_make_no_sense_are_usage_errors() {
    are_usage_errors(&[
        "--timeout=0",
        "--timeout=-1",
        "--timeout=soon",
        "--timeout=NaN",
        "--timeout=1e30",
        "--memory-limit=0",
        "--memory-limit=12X",
        "--memory-limit=99999999999G",
        "--max-waits=-1",
    ]);
}
