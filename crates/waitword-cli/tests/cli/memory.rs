//! `--memory-limit`: what counts on an agent's budget, until when, and what is beyond it.

use crate::program::limited;

const IS_OUT_OF_MEMORY: &str = r#"
    const isOutOfMemory = (thrown) => thrown instanceof Error && /out of memory|string too long/.test(thrown.message);
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
            "{IS_OUT_OF_MEMORY} let caught; try {{ (() => {{ {script} }})(); }} catch (error) {{ caught = error; }}
             console.log(isOutOfMemory(caught));"
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
fn memory_counts_for_the_getters_of_what_was_thrown() {
    limited(
        "memory_thrown",
        &["--memory-limit", "16M"],
        r#"
        const { Worker } = require("worker_threads");
        const made = new Int32Array(new SharedArrayBuffer(4));
        const worker = new Worker(`
          const made = require("worker_threads").workerData;
          const kept = [];
          throw { get greedy() { while (Atomics.load(made, 0) < 40) kept.push(new ArrayBuffer(1 << 20)), Atomics.add(made, 0, 1); } };
        `, { eval: true, workerData: made });
        worker.on("error", (error) => console.log(String(error), made[0] < 16 ? "within the limit" : made[0]));
        "#,
    )
    .with_code(0)
    .printed(&["{ greedy: [Getter] } within the limit"])
    .quietly();
}

#[test]
fn a_worker_that_is_out_of_memory_says_so_as_in_node() {
    let source = "const all = []; for (;;) all.push([all.length]);";
    // The second goes on after its errors, until nothing is left even for one.
    let deaf = "let all; for (;;) try { for (;;) all = [all]; } catch {}";
    for source in [source, deaf] {
        let script = format!(
            r#"const {{ Worker }} = require("worker_threads");
            const worker = new Worker({source:?}, {{ eval: true }});
            worker.on("error", (error) => console.log(error.code, error instanceof Error));
            worker.on("exit", (code) => console.log(code));"#
        );
        limited("memory_code", &["--memory-limit", "4M"], &script)
            .with_code(0)
            .printed(&["ERR_WORKER_OUT_OF_MEMORY true", "1"])
            .quietly();
    }
    limited("memory_deaf", &["--memory-limit", "4M"], deaf)
        .with_code(1)
        .complained(&["error: out of memory in main", "help: give each agent more with --memory-limit"]);
}

/// `fill` takes as much as there is and says how much that was.
pub(crate) const FILL: &str = r#"
    const { Worker, MessageChannel, receiveMessageOnPort } = require("worker_threads");
    const MIB = 1 << 20;
    function fill(take) {
      for (let taken = 0; ; taken++) try { take(); } catch (error) { return [taken, error]; }
    }
"#;

#[test]
fn shared_memory_counts_for_its_maker_until_the_last_handle_is_gone() {
    let script = format!(
        r#"{FILL}
        for (const options of [undefined, {{ maxByteLength: MIB }}]) {{
          for (let round = 0; round < 3; round++) {{
            let all = [];
            const [taken, error] = fill(() => all.push(new SharedArrayBuffer(options ? 1 : MIB, options)));
            console.log(taken, error.name);
            // What is reserved is there to be grown into.
            if (options) all.forEach((each) => each.grow(MIB));
            all = undefined;
          }}
        }}
        // Garbage that only the collector finds.
        const litter = () => {{
          const circle = {{ memory: new SharedArrayBuffer(MIB) }};
          circle.circle = circle;
        }};
        for (let i = 0; i < 100; i++) litter();
        const source = `const {{ parentPort }} = require("worker_threads"); const all = [];
          parentPort.on("message", (memory) => (all.push(memory), parentPort.postMessage(all.length)));`;
        const worker = new Worker(source, {{ eval: true }});
        let sent = 0;
        const [taken] = fill(() => (worker.postMessage(new SharedArrayBuffer(MIB)), sent++));
        worker.on("message", (count) => {{
          if (count < sent) return;
          const more = [];
          console.log(taken, fill(() => more.push(new SharedArrayBuffer(MIB)))[0], "while the worker has it all");
          worker.terminate().then(() => console.log(fill(() => {{
            if (++sent > 100) throw new Error();
            new SharedArrayBuffer(MIB);
          }})[0] > 50));
        }});"#
    );
    let range = "7 RangeError";
    let lines = [range, range, range, range, range, range, "7 0 while the worker has it all", "true"];
    limited("memory_shared", &["--memory-limit", "8M"], &script).with_code(0).printed(&lines).quietly();
    let uncaught = "const all = []; for (;;) all.push(new SharedArrayBuffer(1e6));";
    limited("memory_shared_uncaught", &["--memory-limit", "8M"], uncaught).with_code(1).complained(&[
        "RangeError: Array buffer allocation failed",
        "help: give each agent more with --memory-limit",
    ]);
}

#[test]
fn messages_count_for_their_sender_until_they_are_taken() {
    let script = format!(
        r#"{FILL}
        const text = "x".repeat(MIB / 4);
        const {{ port1, port2 }} = new MessageChannel();
        const rounds = [];
        for (let round = 0; round < 3; round++) {{
          const [taken, error] = fill(() => port1.postMessage(text));
          rounds.push(taken);
          console.log(error.name, error.message);
          while (receiveMessageOnPort(port2));
        }}
        console.log(rounds[0] > 20, rounds[0] === rounds[2]);
        // One that fails has moved nothing.
        const inner = new MessageChannel();
        const bytes = new Uint8Array(MIB);
        fill(() => port1.postMessage(text));
        try {{
          port1.postMessage([bytes, inner.port1], [bytes.buffer, inner.port1]);
        }} catch (error) {{
          console.log(error.name, bytes.length);
        }}
        inner.port1.postMessage("still here");
        console.log(receiveMessageOnPort(inner.port2).message);
        receiveMessageOnPort(port2);
        receiveMessageOnPort(port2);
        receiveMessageOnPort(port2);
        receiveMessageOnPort(port2);
        receiveMessageOnPort(port2);
        port1.postMessage([bytes, inner.port1], [bytes.buffer, inner.port1]);
        console.log(bytes.length);
        // A port that is closed gives back what waited there.
        port2.close();
        setTimeout(() => {{
          const {{ port1, port2 }} = new MessageChannel();
          console.log(fill(() => port1.postMessage(text))[0] > 20);
          port2.close();
          // So does a worker that never reads.
          const worker = new Worker("Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", {{ eval: true }});
          setTimeout(() => {{
            console.log(fill(() => worker.postMessage(text))[0] > 20, fill(() => worker.postMessage(text))[0]);
            worker.terminate().then(() => {{
              const {{ port1 }} = new MessageChannel();
              console.log(fill(() => port1.postMessage(text))[0] > 20);
              port1.close();
            }});
          }});
        }});"#
    );
    let full = "DataCloneError The message could not be cloned: out of memory";
    let lines = [
        full,
        full,
        full,
        "true true",
        "DataCloneError 1048576",
        "still here",
        "0",
        "true",
        "true 0",
        "true",
    ];
    limited("memory_messages", &["--memory-limit", "8M"], &script).with_code(0).printed(&lines).quietly();
}

/// Each copy of what is broadcast counts; when they do not all fit, nobody gets one.
#[test]
fn a_broadcast_goes_to_all_or_to_nobody() {
    let script = format!(
        r#"{FILL}
        const {{ BroadcastChannel }} = require("worker_threads");
        const sender = new BroadcastChannel("room");
        const others = [1, 2, 3].map(() => new BroadcastChannel("room"));
        const heard = [];
        const hear = ({{ data: {{ round }} }}) => {{
          heard.push(round);
          if (heard.length === 3) sender.postMessage({{ round: "last", text }});
          if (heard.filter((each) => each === "last").length < 3) return;
          console.log(heard.join());
          for (const each of [sender, ...others]) each.close();
        }};
        for (const each of others) each.onmessage = hear;
        const text = "x".repeat(MIB);
        let round = 0;
        const [taken, error] = fill(() => sender.postMessage({{ round: round++, text }}));
        console.log(error.name, taken);"#
    );
    let lines = ["DataCloneError 1", "0,0,0,last,last,last"];
    limited("memory_broadcast", &["--memory-limit", "8M"], &script).with_code(0).printed(&lines).quietly();
}

/// A worker may have less than its parent, and its error says which limit it was.
#[test]
fn resource_limits_are_those_of_the_worker_alone() {
    let script = format!(
        r#"{FILL}
        const source = `const {{ parentPort }} = require("worker_threads");
          let blocks = 0;
          try {{ for (const all = []; ; blocks++) all.push(new SharedArrayBuffer(1 << 20)); }} catch {{}}
          parentPort.postMessage(blocks);
          for (const all = []; ; ) all.push([all.length]);`;
        const worker = new Worker(source, {{ eval: true, resourceLimits: {{ maxOldGenerationSizeMb: 4 }} }});
        worker.on("message", (blocks) => console.log(blocks));
        worker.on("error", (error) => console.log(error.code, fill(() => blocks.push(new SharedArrayBuffer(MIB)))[0] > 10));
        const blocks = [];"#
    );
    let lines = ["3", "ERR_WORKER_OUT_OF_MEMORY true"];
    limited("memory_resource", &["--memory-limit", "32M"], &script).with_code(0).printed(&lines).quietly();
}

/// From limits at which nothing fits to such that everything does.
#[test]
fn no_limit_leads_to_anything_but_an_error_that_is_understood() {
    let programs = [
        "console.log([1, { a: 2 }, new Map([[1, 2]])]);",
        "const { Worker } = require('worker_threads');
         const worker = new Worker('const { parentPort: p, workerData: d } = require(\"worker_threads\"); p.once(\"message\", (m) => p.postMessage([m, d]))',
           { eval: true, workerData: new Array(500).fill('data') });
         worker.on('message', ([m, d]) => console.log(m.length, d.length));
         worker.postMessage(Array.from({ length: 2000 }, (_, i) => ({ i })));",
        "const word = new Int32Array(new SharedArrayBuffer(4));
         for (let i = 0; i < 300; i++) Atomics.waitAsync(word, 0, 0).value.then(() => {});
         setTimeout(() => console.log(Atomics.notify(word, 0)), 1);",
        "const all = []; process.on('exit', () => console.log('exit')); for (;;) all.push({ length: all.length });",
        "let all; const give = () => { for (;;) all = [all]; };
         try { give(); } catch { try { give(); } catch { process.exit(7); } }",
        "const { port1, port2 } = new MessageChannel(); port2.onmessage = ({ data }) => { console.log(data.length); port2.close(); };
         port1.postMessage('y'.repeat(20000)); Promise.resolve().then(() => structuredClone(new Array(1000).fill([1])));",
    ];
    for kib in [1, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 4096] {
        for (number, program) in programs.iter().enumerate() {
            let ran = limited("memory_limits", &["--memory-limit", &format!("{kib}K")], program);
            let is_understood = match ran.code {
                Some(0) => true,
                Some(7) => number == 4,
                Some(1) => {
                    ["out of memory", "so much shared memory"].iter().any(|why| ran.stderr.contains(why))
                }
                _ => false,
            };
            assert!(is_understood, "program {number} with {kib}K: {ran:#?}");
            ran.kept_from(&["panicked", "bug in waitword", "null"]);
        }
    }
}
