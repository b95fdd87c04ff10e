//! Waits of whole programs: which agents may block, what keeps a program alive, and how one ends that can go no further.

use crate::program::{run, run_files, run_with};

#[test]
fn the_main_agent_cannot_block_and_workers_can() {
    run(
        "cannot_block",
        r#"
        const { Worker } = require("worker_threads");
        const word = new Int32Array(new SharedArrayBuffer(4));
        try { Atomics.wait(word, 0, 0); } catch (error) { console.log(error.name); }
        const source = `
          const { workerData } = require("worker_threads");
          console.log(Atomics.wait(workerData, 0, 1), Atomics.wait(workerData, 0, 0, 0));
        `;
        new Worker(source, { eval: true, workerData: word });
        "#,
    )
    .with_code(0)
    .printed(&["TypeError", "not-equal timed-out"])
    .quietly();
}

#[test]
fn main_can_block_with_the_flag() {
    let script = r#"console.log(Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1));"#;
    run_with("main_can_block", &["--main-can-block"], &[("main.js", script)], &[])
        .with_code(0)
        .printed(&["timed-out"])
        .quietly();
}

#[test]
fn notify_wakes_a_blocked_worker_and_an_awaiting_main_agent() {
    run(
        "ping_pong",
        r#"
        const { Worker, isMainThread, workerData: words } = require("worker_threads");
        const [PING, PONG, ROUNDS] = [0, 1, 100];
        if (isMainThread) {
          const words = new Int32Array(new SharedArrayBuffer(8));
          new Worker(__filename, { workerData: words });
          (async () => {
            for (let round = 1; round <= ROUNDS; round++) {
              Atomics.store(words, PING, round);
              Atomics.notify(words, PING);
              while (Atomics.load(words, PONG) < round) await Atomics.waitAsync(words, PONG, round - 1).value;
            }
            console.log("main", words[PONG]);
          })();
        } else {
          for (let round = 1; round <= ROUNDS; round++) {
            while (Atomics.load(words, PING) < round) Atomics.wait(words, PING, round - 1);
            Atomics.store(words, PONG, round);
            Atomics.notify(words, PONG);
          }
        }
        "#,
    )
    .with_code(0)
    .printed(&["main 100"])
    .quietly();
}

#[test]
fn wait_async_with_a_timeout_keeps_the_program_alive() {
    run(
        "timeout_keeps_alive",
        r#"
        const word = new Int32Array(new SharedArrayBuffer(4));
        Atomics.waitAsync(word, 0, 0, 5).value.then((outcome) => console.log(outcome));
        "#,
    )
    .with_code(0)
    .printed(&["timed-out"])
    .quietly();
}

#[test]
fn wait_async_that_no_agent_can_notify_is_abandoned_with_its_place() {
    run(
        "abandoned",
        r#"const words = new Int32Array(new SharedArrayBuffer(8));
Atomics.waitAsync(words, 1, 0).value.then(() => console.log("never"));
process.on("exit", (code) => console.log("exit", code));
"#,
    )
    .with_code(0)
    .printed(&["exit 0"])
    .complained(&["main: Atomics.waitAsync on byte 4 of SharedArrayBuffer 1", "main.js:2:"]);
}

#[test]
fn a_module_that_awaits_for_ever_exits_with_13() {
    let script = "await Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0).value;";
    run_files("unsettled_await", &[("main.mjs", script)])
        .with_code(13)
        .complained(&["main.mjs:1:", "the main module still awaits"]);
    run_files("unsettled_promise", &[("main.mjs", "await new Promise(() => {});")])
        .with_code(13)
        .complained(&["the main module still awaits"]);
}

#[test]
fn a_waiting_worker_is_kept_while_the_main_agent_could_notify_it() {
    run(
        "kept_by_main",
        r#"
        const { Worker, isMainThread, workerData: word } = require("worker_threads");
        if (isMainThread) {
          const word = new Int32Array(new SharedArrayBuffer(4));
          const worker = new Worker(__filename, { workerData: word });
          // Only this timer keeps the program going while the worker waits.
          const timer = setInterval(() => {
            if (Atomics.notify(word, 0) === 1) clearInterval(timer);
          }, 1);
        } else {
          Atomics.waitAsync(word, 0, 0).value.then((outcome) => console.log(outcome));
        }
        "#,
    )
    .with_code(0)
    .printed(&["ok"])
    .quietly();
}

#[test]
fn the_end_of_an_abandoned_worker_is_an_event_that_may_notify_others() {
    // Kept by its worker, or like that one only by a wait: then too the worker goes first.
    for kept in ["worker", "worker.unref()"] {
        let script = format!(
            r#"
            const {{ Worker, isMainThread, workerData: words }} = require("worker_threads");
            if (isMainThread) {{
              const words = new Int32Array(new SharedArrayBuffer(8));
              Atomics.waitAsync(words, 0, 0).value.then((outcome) => console.log("main", outcome));
              const worker = new Worker(__filename, {{ workerData: words }});
              worker.on("exit", (code) => console.log("exit", code, Atomics.notify(words, 0), Atomics.notify(words, 1)));
              {kept};
            }} else {{
              Atomics.waitAsync(words, 1, 0);
            }}
            "#
        );
        run("exit_notifies", &script).with_code(0).printed(&["exit 0 1 0", "main ok"]);
    }
}

#[test]
fn deadlock_of_all_agents_is_found_and_reported() {
    run(
        "deadlock",
        r#"const { Worker, isMainThread, workerData: words } = require("worker_threads");
if (isMainThread) {
  const words = new Int32Array(new SharedArrayBuffer(8));
  for (const index of [0, 1]) new Worker(__filename, { workerData: words, argv: [index] });
} else {
  Atomics.wait(words, Number(process.argv[2]), 0);
}
"#,
    )
    .with_code(1)
    .printed(&[])
    .complained(&[
        "deadlock",
        "worker 1: Atomics.wait on byte 0",
        "worker 2: Atomics.wait on byte 4",
        "main.js:6:",
    ]);
}

#[test]
fn deadlock_with_a_blocked_main_agent_is_found_and_reported() {
    let script = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);";
    run_with("deadlock_main", &["--main-can-block"], &[("main.js", script)], &[]).with_code(1).complained(&[
        "deadlock",
        "main: Atomics.wait on byte 0",
        "main.js:1:",
    ]);
}

#[test]
fn the_error_that_led_to_a_deadlock_is_reported_too() {
    let script = r#"
        const { Worker } = require("worker_threads");
        new Worker("null.x", { eval: true });
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    "#;
    run_with("deadlock_cause", &["--main-can-block"], &[("main.js", script)], &[]).with_code(1).complained(
        &["uncaught exception in worker 1", "TypeError", "deadlock", "main: Atomics.wait on byte 0"],
    );
}

/// A worker that has been notified but has not got up yet, or that is about to find its word changed, looks blocked
/// while everyone else sleeps. Each round gives both a chance.
#[test]
fn a_handoff_between_blocked_agents_is_no_deadlock() {
    run(
        "handover",
        r#"
        const { Worker, isMainThread, workerData: words } = require("worker_threads");
        const [TURN, ROUNDS, WORKERS] = [0, 300, 3];
        if (isMainThread) {
          const words = new Int32Array(new SharedArrayBuffer(4));
          for (let me = 0; me < WORKERS; me++) new Worker(__filename, { workerData: words, argv: [me] });
        } else {
          const me = Number(process.argv[2]);
          for (let turn = me; turn < ROUNDS * WORKERS; turn += WORKERS) {
            for (let now; (now = Atomics.load(words, TURN)) !== turn; ) Atomics.wait(words, TURN, now);
            Atomics.store(words, TURN, turn + 1);
            Atomics.notify(words, TURN);
          }
          if (me === WORKERS - 1) console.log("done", words[TURN]);
        }
        "#,
    )
    .with_code(0)
    .printed(&["done 900"])
    .quietly();
}

#[test]
fn agents_that_only_listen_to_each_other_end() {
    run(
        "listeners",
        r#"
        const { Worker } = require("worker_threads");
        new Worker(`require("worker_threads").parentPort.on("message", () => {})`, { eval: true });
        "#,
    )
    .with_code(0)
    .complained(&["all agents wait for messages"]);
}

/// Due timers without end do not keep the loop from waits and messages.
#[test]
fn settled_waits_and_timers_and_messages_take_turns() {
    run(
        "turns",
        r#"
        const { Worker } = require("worker_threads");
        const word = new Int32Array(new SharedArrayBuffer(4));
        const pending = new Set(["ok", "message"]);
        (function again() {
          if (pending.size > 0) setImmediate(again);
        })();
        Atomics.waitAsync(word, 0, 0).value.then((outcome) => pending.delete(outcome));
        const source = `const { parentPort, workerData: word } = require("worker_threads");
          parentPort.postMessage("message");
          Atomics.notify(word, 0);`;
        const worker = new Worker(source, { eval: true, workerData: word });
        worker.on("message", (message) => pending.delete(message));
        process.on("exit", () => console.log(pending.size));
        "#,
    )
    .with_code(0)
    .printed(&["0"])
    .quietly();
}

/// The host looks at the stack of a wait that it has to report. A hook that runs then would notify a wait that is given up.
#[test]
fn the_stack_of_an_abandoned_wait_is_read_without_the_scripts_hook() {
    run(
        "stack_hook",
        r#"
        const words = new Int32Array(new SharedArrayBuffer(4));
        Error.prepareStackTrace = () => { console.log("asked", Atomics.notify(words, 0)); return ""; };
        Atomics.waitAsync(words, 0, 0).value.then((outcome) => console.log(outcome));
        "#,
    )
    .with_code(0)
    .printed(&[])
    .complained(&["Atomics.waitAsync on byte 0", "main.js:4:"]);
}

#[test]
fn a_wait_without_a_deadline_is_kept_while_any_other_agent_is_alive() {
    let others = [
        // One that nobody waits for, and that is busy.
        "for (const end = Date.now() + 20; Date.now() < end;);",
        // One that is blocked, but not for ever.
        "Atomics.wait(word, 1, 0, 20);",
        // One that waits for a deadline of its own.
        "setTimeout(() => {}, 20); process.on('exit', () => {});",
        // One that has only a wait with a deadline.
        "Atomics.waitAsync(word, 1, 0, 20);",
    ];
    for other in others {
        let script = format!(
            r#"
            const {{ Worker }} = require("worker_threads");
            const word = new Int32Array(new SharedArrayBuffer(8));
            const source = `const {{ workerData: word }} = require("worker_threads");
              process.on("exit", () => Atomics.notify(word, 0)); {other}`;
            new Worker(source, {{ eval: true, workerData: word }}).unref();
            Atomics.waitAsync(word, 0, 0).value.then((outcome) => console.log(outcome));
            "#
        );
        run("kept_by_any", &script).with_code(0).printed(&["ok"]).quietly();
    }
}

#[test]
fn a_wait_with_a_deadline_keeps_a_worker_and_its_parent_too() {
    run(
        "deadline_in_worker",
        r#"
        const { Worker } = require("worker_threads");
        const source = `const word = new Int32Array(new SharedArrayBuffer(4));
          Atomics.waitAsync(word, 0, 0, 10).value.then((outcome) => console.log("worker", outcome))`;
        new Worker(source, { eval: true }).on("exit", (code) => console.log("exit", code));
        "#,
    )
    .with_code(0)
    .printed(&["worker timed-out", "exit 0"])
    .quietly();
}

/// An agent that notified and is gone has notified: whatever it settled runs, however close the end.
#[test]
fn a_queued_settlement_always_runs() {
    run(
        "settlement_runs",
        r#"
        const { Worker } = require("worker_threads");
        const source = `const { workerData: word } = require("worker_threads"); Atomics.notify(word, 0);`;
        let settled = 0;
        (function again(left) {
          if (left === 0) return console.log(settled);
          const word = new Int32Array(new SharedArrayBuffer(4));
          Atomics.waitAsync(word, 0, 0).value.then(() => { settled++; again(left - 1); });
          new Worker(source, { eval: true, workerData: word }).unref();
        })(100);
        "#,
    )
    .with_code(0)
    .printed(&["100"])
    .quietly();
    run(
        "settlement_by_the_terminated",
        r#"
        const { Worker } = require("worker_threads");
        const word = new Int32Array(new SharedArrayBuffer(4));
        const source = `const { parentPort, workerData: word } = require("worker_threads");
          Atomics.notify(word, 0); parentPort.postMessage(0); for (;;);`;
        Atomics.waitAsync(word, 0, 0).value.then((outcome) => console.log(outcome));
        const worker = new Worker(source, { eval: true, workerData: word });
        worker.on("message", () => worker.terminate());
        "#,
    )
    .with_code(0)
    .printed(&["ok"])
    .quietly();
}

#[test]
fn a_program_that_would_hang_ends_with_the_list_of_all_its_waits() {
    run(
        "would_hang",
        r#"
        const { Worker } = require("worker_threads");
        const word = new Int32Array(new SharedArrayBuffer(16));
        const source = `const { parentPort, workerData: word } = require("worker_threads");
          parentPort.on("message", () => {});
          Atomics.waitAsync(word, 2, 0);
          Atomics.wait(word, 3, 0);`;
        new Worker(source, { eval: true, workerData: word });
        Atomics.waitAsync(word, 0, 0);
        Atomics.waitAsync(word, 1, 0);
        new MessageChannel().port1.on("message", () => {});
        "#,
    )
    .with_code(1)
    .complained(&[
        "deadlock",
        "main: Atomics.waitAsync on byte 0",
        "main: Atomics.waitAsync on byte 4",
        "worker 1: Atomics.waitAsync on byte 8",
        "worker 1: Atomics.wait on byte 12",
    ]);
}
