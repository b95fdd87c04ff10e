//! `node:worker_threads`: life, messages and death of workers.

use crate::program::{run, run_files};

#[test]
fn a_worker_knows_who_it_is_and_what_it_was_given() {
    run_files(
        "identity",
        &[
            (
                "main.mjs",
                r#"
                import { Worker, isMainThread, parentPort, threadId, workerData } from "node:worker_threads";
                console.log(isMainThread, threadId, parentPort, workerData);
                const worker = new Worker(new URL("./worker.mjs", import.meta.url), { workerData: { a: [1] }, argv: ["x"] });
                console.log(worker.threadId);
                worker.on("online", () => console.log("online"));
                worker.on("message", (message) => console.log(message));
                worker.on("exit", (code) => console.log("exit", code, worker.threadId));
                "#,
            ),
            (
                "worker.mjs",
                r#"
                import { isMainThread, parentPort, threadId, workerData } from "worker_threads";
                parentPort.postMessage({ isMainThread, threadId, workerData, argv: process.argv.slice(2) });
                "#,
            ),
        ],
    )
    .with_code(0)
    .printed(&[
        "true 0 null null",
        "1",
        "online",
        "{",
        "  isMainThread: false,",
        "  threadId: 1,",
        "  workerData: { a: [ 1 ] },",
        "  argv: [ 'x' ]",
        "}",
        "exit 0 -1",
    ])
    .quietly();
}

#[test]
fn messages_are_clones_and_shared_memory_is_shared() {
    run(
        "clones",
        r#"
        const { Worker, isMainThread, parentPort } = require("worker_threads");
        if (isMainThread) {
          const shared = new SharedArrayBuffer(8);
          const sent = {
            list: [1, , 3], map: new Map([[{ k: 1 }, new Set(["s"])]]), date: new Date(5), re: /a/gi, big: 2n ** 70n,
            error: new TypeError("wrong", { cause: "c" }), nothing: undefined, zero: -0, text: "é\ud800",
            bytes: new Uint8Array([1, 2, 3]).subarray(1), shared, view: new BigInt64Array(shared), boxed: Object(1n),
          };
          sent.self = sent;
          const worker = new Worker(__filename);
          worker.postMessage(sent);
          worker.once("message", (got) => {
            console.log(got.self === got, 1 in got.list, got.list[2], [...got.map][0][1].has("s"), got.date.getTime());
            console.log(got.re.flags, got.big === 2n ** 70n, got.error instanceof TypeError, got.error.cause);
            console.log("nothing" in got, Object.is(got.zero, -0), got.text === sent.text, got.bytes[0], typeof got.boxed);
            console.log(got.view.buffer === got.shared, got.shared !== shared, sent.view[0]);
          });
        } else {
          parentPort.once("message", (got) => {
            got.view[0] = 42n;
            parentPort.postMessage(got);
          });
        }
        "#,
    )
    .with_code(0)
    .printed(&[
        "true false 3 true 5",
        "gi true true c",
        "true true true 2 object",
        "true true 42n",
    ])
    .quietly();
}

#[test]
fn a_message_lets_the_worker_see_what_was_grown_before_it() {
    run(
        "growth",
        r#"
        const { Worker, isMainThread, parentPort, workerData } = require("worker_threads");
        if (isMainThread) {
          const memory = new SharedArrayBuffer(4, { maxByteLength: 64 });
          const worker = new Worker(__filename, { workerData: memory });
          worker.once("message", () => {
            memory.grow(32);
            worker.on("message", (seen) => console.log(...seen));
            worker.postMessage("look");
          });
        } else {
          const view = new Int32Array(workerData);
          parentPort.once("message", () => parentPort.postMessage([view.length, view[7], workerData.byteLength]));
          parentPort.postMessage("ready");
        }
        "#,
    )
    .with_code(0)
    .printed(&["8 0 32"])
    .quietly();
}

#[test]
fn what_cannot_be_cloned_is_a_data_clone_error() {
    run(
        "data_clone_error",
        r#"
        const { Worker } = require("worker_threads");
        for (const value of [() => {}, Symbol("s"), { deep: [{ f() {} }] }, Promise.resolve(), new WeakMap()]) {
          try {
            new Worker("", { eval: true, workerData: value });
          } catch (error) {
            console.log(error.name, error.code, error instanceof DOMException);
          }
        }
        "#,
    )
    .with_code(0)
    .printed(&["DataCloneError 25 true"; 5])
    .quietly();
}

#[test]
fn transferred_buffers_move() {
    run(
        "transfer",
        r#"
        const { Worker } = require("worker_threads");
        const source = `const { parentPort } = require("worker_threads");
          parentPort.once("message", (bytes) => parentPort.postMessage(bytes[0]))`;
        const worker = new Worker(source, { eval: true });
        const bytes = new Uint8Array([7]);
        worker.postMessage(bytes, [bytes.buffer]);
        console.log(bytes.buffer.detached, bytes.length);
        worker.on("message", (first) => console.log(first));
        "#,
    )
    .with_code(0)
    .printed(&["true 0", "7"])
    .quietly();
}

#[test]
fn messages_wait_until_the_worker_listens() {
    run(
        "early_messages",
        r#"
        const { Worker } = require("worker_threads");
        const source = `const { parentPort } = require("worker_threads");
          setTimeout(() => parentPort.on("message", (m) => { console.log(m); if (m === 3) parentPort.close(); }), 5)`;
        const worker = new Worker(source, { eval: true });
        for (const each of [1, 2, 3]) worker.postMessage(each);
        worker.on("exit", (code) => console.log("exit", code));
        "#,
    )
    .with_code(0)
    .printed(&["1", "2", "3", "exit 0"])
    .quietly();
}

/// `terminate` resolves only when nothing of the worker is left: its waits do not eat a notify any more.
#[test]
fn terminate_ends_workers_wherever_they_are() {
    run(
        "terminate",
        r#"
        const { Worker } = require("worker_threads");
        const word = new Int32Array(new SharedArrayBuffer(4));
        const head = `const { parentPort, workerData: word } = require("worker_threads"); parentPort.postMessage(0);`;
        const places = {
          blocked: "Atomics.wait(word, 0, 0);",
          busy: "for (;;) try { for (;;); } finally { continue; }",
          awaiting: "Atomics.waitAsync(word, 0, 0); setInterval(() => {}, 1000);",
          listening: "parentPort.on('message', () => {});",
          sleeping: "setTimeout(() => {}, 1e6);",
        };
        (async () => {
          for (const [name, source] of Object.entries(places)) {
            const worker = new Worker(head + source, { eval: true, workerData: word });
            await new Promise((resolve) => worker.once("message", resolve));
            const codes = await Promise.all([worker.terminate(), worker.terminate()]);
            console.log(name, codes, Atomics.notify(word, 0), await worker.terminate());
          }
          const unborn = new Worker("for (;;);", { eval: true });
          console.log("unborn", await unborn.terminate());
        })();
        "#,
    )
    .with_code(0)
    .printed(&[
        "blocked [ 1, 1 ] 0 undefined",
        "busy [ 1, 1 ] 0 undefined",
        "awaiting [ 1, 1 ] 0 undefined",
        "listening [ 1, 1 ] 0 undefined",
        "sleeping [ 1, 1 ] 0 undefined",
        "unborn 1",
    ])
    .quietly();
}

#[test]
fn the_end_of_a_worker_is_the_end_of_its_workers() {
    run(
        "grandchildren",
        r#"
        const { Worker } = require("worker_threads");
        const grandchild = `const { workerData: word } = require("worker_threads");
          // So many take their time to go.
          for (let waiter = 0; waiter < 5000; waiter++) Atomics.waitAsync(word, 0, 0);
          Atomics.store(word, 1, 1);
          Atomics.wait(word, 0, 0);`;
        const child = `const { Worker, workerData } = require("worker_threads");
          new Worker(${JSON.stringify(grandchild)}, { eval: true, workerData });
          while (true);`;
        const shared = new Int32Array(new SharedArrayBuffer(8));
        const worker = new Worker(child, { eval: true, workerData: shared });
        const timer = setInterval(async () => {
          // All but one of the grandchild's waits are queued, and that one is on its way there.
          if (Atomics.load(shared, 1) === 0) return;
          clearInterval(timer);
          console.log(await worker.terminate(), Atomics.notify(shared, 0));
        }, 1);
        "#,
    )
    .with_code(0)
    .printed(&["1 0"])
    .quietly();
}

#[test]
fn exit_codes_of_workers() {
    run(
        "worker_exit_codes",
        r#"
        const { Worker } = require("worker_threads");
        const exit = (source) => new Promise((resolve) => new Worker(source, { eval: true }).on("exit", resolve));
        (async () => {
          console.log(await exit(""), await exit("process.exit(5); console.log('never')"));
          console.log(await exit("process.exitCode = 6"), await exit("try { process.exit(7) } finally { for (;;); }"));
        })();
        "#,
    )
    .with_code(0)
    .printed(&["0 5", "6 7"])
    .quietly();
}

#[test]
fn an_unreferenced_worker_does_not_keep_the_program_alive() {
    run(
        "unref",
        r#"
        const { Worker } = require("worker_threads");
        const worker = new Worker("for (;;);", { eval: true });
        worker.unref();
        worker.on("exit", () => console.log("never"));
        console.log("end");
        "#,
    )
    .with_code(0)
    .printed(&["end"])
    .quietly();
    // The agent that terminates it waits for its end.
    run(
        "unref_terminate",
        r#"
        const { Worker } = require("worker_threads");
        const worker = new Worker("for (;;);", { eval: true }).unref();
        worker.terminate().then((code) => console.log("exit", code));
        "#,
    )
    .with_code(0)
    .printed(&["exit 1"])
    .quietly();
}

#[test]
fn process_exit_ends_all_workers() {
    run(
        "process_exit",
        r#"
        const { Worker } = require("worker_threads");
        const word = new Int32Array(new SharedArrayBuffer(4));
        for (const source of ["for (;;);", "Atomics.wait(require('worker_threads').workerData, 0, 0)"]) {
          new Worker(source, { eval: true, workerData: word });
        }
        process.on("exit", (code) => console.log("exit", code));
        setTimeout(() => {
          process.exit(9);
          console.log("never");
        }, 1);
        "#,
    )
    .with_code(9)
    .printed(&["exit 9"])
    .quietly();
}

#[test]
fn lines_of_several_workers_never_mix() {
    let ran = run(
        "whole_lines",
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

/// Scripts share the realm with the host's JavaScript, and may overwrite what it is written with.
#[test]
fn messages_and_timers_survive_replaced_built_ins() {
    const WORKER: &str = r#"
        const { parentPort } = require("worker_threads");
        parentPort.on("message", (message) => {
            parentPort.postMessage(message);
            if (message === "end") parentPort.close();
        });
    "#;
    const MAIN: &str = r#"
        const { Worker } = require("worker_threads");
        const { getOwnPropertyNames } = Object;
        const worker = new Worker(__dirname + "/worker.js");
        const payload = { list: [1, [2, { deep: 3 }]], map: new Map([[1, 2]]), set: new Set(["x"]), named: Object.assign([7], { name: 1 }) };
        const { log } = console;
        const show = ({ list, named }) => "got " + list[0] + list[1][0] + list[1][1].deep + named[0] + named.name;
        worker.on("message", (message) => log(message === "end" ? message : show(message)));
        worker.once("exit", (code) => log("exit " + code));
        const boom = () => { throw new Error("patched"); };
        PATCH;
        setTimeout((word) => {
            log(word);
            worker.postMessage(payload);
            worker.postMessage("end");
        }, 1, "timer");
    "#;
    let patches = [
        "for (const C of [Array, Map, Set, WeakMap, Promise, String, Number, RegExp, Function])
             for (const key of getOwnPropertyNames(C.prototype))
                 try { Object.defineProperty(C.prototype, key, { value: boom }); } catch {}",
        "Array.prototype[Symbol.iterator] = Map.prototype[Symbol.iterator] = boom",
        "Object.getPrototypeOf([][Symbol.iterator]()).next = boom",
        "for (const C of [Object, Array, Reflect, JSON, Math, Error])
             for (const key of getOwnPropertyNames(C)) if (typeof C[key] === 'function') C[key] = boom",
        "for (const key of getOwnPropertyNames(globalThis))
             if (!['setTimeout', 'globalThis', 'key'].includes(key)) delete globalThis[key]",
        "for (let at = 0; at < 4; at++)
             Object.defineProperty(Array.prototype, at, { get: boom, set: boom, configurable: true })",
        "for (const key of ['get', 'set', 'value', 'list', 'map', 'then', 'transfer', 'eval'])
             Object.defineProperty(Object.prototype, key, { __proto__: null, get: () => undefined, set: boom })",
    ];
    for patch in patches {
        let main = MAIN.replace("PATCH", patch);
        run_files("replaced_built_ins", &[("main.js", &main), ("worker.js", WORKER)])
            .with_code(0)
            .printed(&["timer", "got 12371", "end", "exit 0"])
            .quietly();
    }
}
