//! Workers that are terminated where the engine does not ask whether to go on: the others go on without them.

use std::io::{BufRead, BufReader};

use crate::program::{finish, limited, prepared, run};

/// What a worker runs for days: a search that compares 6 * 10^14 characters. `go` is called right before.
const SEARCH: &str = r#"
    const hay = "a".repeat(5e7), needle = "a".repeat(2.5e7) + "b";
    const search = (go) => { try { go(); hay.indexOf(needle); } finally { console.log("never"); } };
"#;

#[test]
fn what_a_worker_held_is_free_when_the_others_go_on_without_it() {
    let worker = format!(
        r#"{SEARCH}
        const {{ BroadcastChannel, locks, parentPort, Worker, workerData }} = require("worker_threads");
        const {{ port, word }} = workerData;
        port.on("message", () => {{}});
        new BroadcastChannel("group").onmessage = () => {{}};
        process.on("workerMessage", () => search(() => parentPort.postMessage("in")));
        Atomics.waitAsync(word, 0, 0).value.then(() => console.log("notified"));
        const below = `const {{ locks, parentPort, workerData: word }} = require("worker_threads");
          Atomics.waitAsync(word, 0, 0);
          locks.request("below", () => (parentPort.postMessage(0), new Promise(() => {{}})));`;
        new Worker(below, {{ eval: true, workerData: word }}).on("message", () => {{
          locks.request("lock", () => (parentPort.postMessage("ready"), new Promise(() => {{}})));
        }});"#
    );
    let script = format!(
        r#"
        const {{ locks, MessageChannel, postMessageToThread, Worker }} = require("worker_threads");
        const word = new Int32Array(new SharedArrayBuffer(4));
        const {{ port1, port2 }} = new MessageChannel();
        const worker = new Worker({worker:?}, {{ eval: true, workerData: {{ port: port2, word }}, transferList: [port2] }});
        const said = (what) => new Promise((resolve) => worker.on("message", (message) => message === what && resolve()));
        const [ready, isIn] = [said("ready"), said("in")];
        worker.on("exit", (code) => console.log("exit", code, worker.threadId));
        (async () => {{
          await ready;
          const closed = new Promise((resolve) => port1.on("close", resolve));
          const waited = Atomics.waitAsync(word, 0, 0).value;
          const mine = ["lock", "below"].map((name) => locks.request(name, () => name));
          const answer = postMessageToThread(worker.threadId, "search").catch(({{ code }}) => code);
          await isIn;
          console.log(await worker.terminate());
          console.log(Atomics.notify(word, 0, 1), await waited, Atomics.notify(word, 0));
          console.log(await Promise.all(mine), await answer, await closed);
          console.log((await locks.query()).held.length);
          // Numbers are not given again, and the program ends of itself.
          console.log(new Worker("", {{ eval: true }}).threadId);
        }})();"#
    );
    run("native_held", &script)
        .with_code(0)
        .printed(&[
            "exit 1 -1",
            "1",
            "1 ok 0",
            "[ 'lock', 'below' ] ERR_WORKER_MESSAGING_FAILED undefined",
            "0",
            "3",
        ])
        .quietly();
}

#[test]
fn a_program_exits_without_workers_that_do_not_end() {
    let worker = format!(r#"{SEARCH} search(() => require("worker_threads").parentPort.postMessage(0));"#);
    // Below a worker that does not end, too.
    let below = format!(
        r#"const {{ parentPort, Worker }} = require("worker_threads"); {SEARCH}
        new Worker({worker:?}, {{ eval: true }}).on("message", () => search(() => parentPort.postMessage(0)));"#
    );
    let script = |worker: &str, end: &str| {
        format!(
            r#"process.on("exit", (code) => console.log("exit", code));
            new (require("worker_threads").Worker)({worker:?}, {{ eval: true }}).on("message", () => {{ {end} }});"#
        )
    };
    for worker in [&worker, &below] {
        run("native_exit", &script(worker, "process.exit(7)")).with_code(7).printed(&["exit 7"]).quietly();
    }
    run("native_thrown", &script(&worker, "throw new Error('ours')"))
        .with_code(1)
        .printed(&["exit 1"])
        .complained(&["Error: ours"])
        .kept_from(&["worker"]);
    limited("native_timeout", &["--timeout", "0.5"], &script(&worker, "setInterval(() => {}, 1e6)"))
        .with_code(124)
        .complained(&["--timeout"]);
}

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
