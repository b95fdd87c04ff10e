//! Workers as threads of a process: one that is somewhere else when it is terminated, and what several print at once.

use std::io::{BufRead, BufReader};

use crate::program::{finish, prepared, run};

/// What its thread is in here is a write to a pipe that nobody reads, until the test does.
#[test]
fn a_thread_that_comes_back_finds_nobody_and_counts_until_then() {
    let worker = r#"
        const { BroadcastChannel, locks, parentPort, Worker, workerData } = require("worker_threads");
        const group = new BroadcastChannel("group");
        try {
          parentPort.postMessage("writes");
          console.log("x".repeat(1 << 20));
        } finally {
          for (const reach of [() => console.error("reached"), () => parentPort.postMessage("reached"), () => group.postMessage(0),
            () => locks.request("lock", () => new Promise(() => {})), () => new Worker("", { eval: true }),
            () => Atomics.waitAsync(workerData, 0, 0), () => Atomics.wait(workerData, 0, 0)]) {
            try { reach(); } finally { continue; }
          }
        }"#;
    let script = format!(
        r#"
        const {{ BroadcastChannel, locks, Worker }} = require("worker_threads");
        new BroadcastChannel("group").onmessage = () => console.error("reached");
        const word = new Int32Array(new SharedArrayBuffer(4));
        const worker = new Worker({worker:?}, {{ eval: true, workerData: word }});
        const fits = () => {{
          try {{
            return new Worker("", {{ eval: true }});
          }} catch ({{ code }}) {{
            return console.error(code);
          }}
        }};
        worker.on("message", async (message) => {{
          if (message !== "writes") console.error(message);
          console.error(await worker.terminate());
          if (fits()) console.error("a place was free");
          setInterval(() => {{
            if (!fits()) return;
            console.error(Atomics.notify(word, 0));
            locks.request("lock", {{ ifAvailable: true }}, (lock) => (console.error(lock.name), process.exit(3)));
          }}, 10);
        }});"#
    );
    let mut child =
        prepared("native_back", &["--max-workers", "1", "--timeout", "60"], &[("main.js", &script)], &[])
            .spawn()
            .unwrap();
    let mut complaints = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!([(); 2].map(|()| complaints.next().unwrap()), ["1", "ERR_WORKER_INIT_FAILED"]);
    // Reads what the worker writes.
    let ran = finish(child).with_code(3);
    assert_eq!(ran.stdout.len(), (1 << 20) + 1);
    assert_eq!(complaints.filter(|line| line != "ERR_WORKER_INIT_FAILED").collect::<Vec<_>>(), ["0", "lock"]);
}

#[test]
fn lines_of_several_workers_never_mix() {
    let ran = run(
        "whole_lines",
        &[],
        r#"
        const { Worker } = require("worker_threads");
        const source = `const { workerData } = require("worker_threads");
          for (let i = 0; i < 200; i++) console.log(workerData.repeat(300));`;
        for (const letter of "abcd") new Worker(source, { eval: true, workerData: letter });
        "#,
    )
    .with_code(0)
    .quietly();
    assert_eq!(ran.stdout.lines().count(), 800);
    for line in ran.stdout.lines() {
        assert_eq!(line.len(), 300, "{line}");
        assert!(line.bytes().all(|byte| byte == line.as_bytes()[0]), "{line}");
    }
}
