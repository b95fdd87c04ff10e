//! What `node:worker_threads` has besides workers and ports: names, streams, marks, messages to any thread.

use crate::program::{run, run_with};

#[test]
fn a_worker_has_a_name_and_its_parent_hears_of_it() {
    run(
        "names",
        r#"
        const { Worker, isInternalThread, threadName } = require("worker_threads");
        console.log(JSON.stringify(threadName), isInternalThread);
        process.on("worker", (worker) => console.log("worker", worker.threadId, worker.threadName));
        const source = "const { parentPort, threadName } = require('worker_threads'); parentPort.postMessage(threadName)";
        const workers = [undefined, "  porter  ", ""].map((name) => new Worker(source, { eval: true, name }));
        console.log("the constructors are done");
        const heard = workers.map((worker) => new Promise((resolve) => worker.on("message", resolve)));
        const gone = workers.map((worker) => new Promise((resolve) => worker.on("exit", () => resolve(worker.threadName))));
        Promise.all(heard).then((names) => console.log(names.join()));
        Promise.all(gone).then((names) => console.log(names));
        try { new Worker("", { eval: true, name: 5 }); } catch ({ code, message }) { console.log(code, message); }
        "#,
    )
    .with_code(0)
    .printed(&[
        "\"\" false",
        "the constructors are done",
        "ERR_INVALID_ARG_TYPE The \"options.name\" property must be of type string. Received type number (5)",
        "worker 1 WorkerThread",
        "worker 2 porter",
        "worker 3 WorkerThread",
        "WorkerThread,porter,WorkerThread",
        "[ null, null, null ]",
    ])
    .quietly();
}

/// What a worker prints comes out, and can be read as well: all of it if asked for in the job that makes the worker.
#[test]
fn streams_are_there_without_options() {
    run(
        "streams",
        r#"
        const { Worker } = require("worker_threads");
        const source = `
          const { parentPort } = require("worker_threads");
          console.log("early");
          process.stderr.write("wrong\\n");
          parentPort.once("message", () => console.log("late"));`;
        const first = new Worker(source, { eval: true });
        const heard = { out: "", err: "" };
        first.stdout.on("data", (text) => (heard.out += text));
        first.stderr.on("data", (text) => (heard.err += text));
        const ended = (stream) => new Promise((resolve) => stream.on("end", resolve));
        const all = [ended(first.stdout), ended(first.stderr)];
        first.postMessage(0);
        Promise.all(all).then(() => {
          console.log(heard, first.stdout === first.stdout, first.stdin);
          // One that is asked for later has what is printed later.
          const second = new Worker(source, { eval: true });
          let text = "";
          second.on("online", () => setTimeout(() => {
            second.stdout.on("data", (more) => (text += more)).on("end", () => console.log(["late\n", "early\nlate\n"].includes(text)));
            second.postMessage(0);
          }));
          second.on("exit", async () => {
            // After the end there is nothing to come.
            let rest = 0;
            for await (const _ of second.stderr) rest++;
            console.log("rest", rest);
          });
        });
        "#,
    )
    .with_code(0)
    .printed(&[
        "early",
        "late",
        "{ out: 'early\\nlate\\n', err: 'wrong\\n' } true null",
        "early",
        "late",
        "true",
        "rest 0",
    ])
    .complained(&["wrong\nwrong\n"]);
}

/// A parent that never asks pays for no copies, and one that blocks first for few.
#[test]
fn output_without_a_reader_is_not_buffered() {
    let script = r#"
        const { Worker } = require("worker_threads");
        const done = new Int32Array(new SharedArrayBuffer(4));
        const source = `const { workerData } = require("worker_threads");
          for (let at = 0; at < 300; at++) console.log("x".repeat(100_000));
          workerData[0] = 1; Atomics.notify(workerData, 0);`;
        const worker = new Worker(source, { eval: true, workerData: done });
        Atomics.wait(done, 0, 0);
        worker.on("exit", (code) => console.error("exit", code));
        "#;
    run_with("unread", &["--main-can-block", "--memory-limit", "4M"], &[("main.js", script)], &[])
        .with_code(0)
        .complained(&["exit 0\n"]);
}

#[test]
fn objects_can_be_marked() {
    run(
        "marks",
        r#"
        const { MessageChannel, isMarkedAsUntransferable, markAsUncloneable, markAsUntransferable } = require("worker_threads");
        const refused = (value, transfer) => {
          try {
            structuredClone(value, { transfer });
            return "cloned";
          } catch ({ name, code }) {
            return `${name} ${code}`;
          }
        };
        const object = { a: 1 };
        console.log(refused(object));
        for (const each of [object, [1], new Map(), new Date(), 5, null, undefined, "text", Symbol.iterator]) {
          markAsUncloneable(each);
          if (typeof each === "object" && each) console.log(refused(each), refused({ deep: [each] }));
        }
        // Buffers and views are no such objects.
        for (const each of [new ArrayBuffer(1), new SharedArrayBuffer(1), new Uint8Array(1), new DataView(new ArrayBuffer(1))]) {
          markAsUncloneable(each);
          console.log(refused(each));
        }
        // A port is transferred, not cloned.
        const { port1, port2 } = new MessageChannel();
        markAsUncloneable(port2);
        console.log(refused(port2, [port2]));
        port1.close();
        const buffer = new ArrayBuffer(1);
        console.log(isMarkedAsUntransferable(buffer));
        markAsUntransferable(buffer);
        console.log(isMarkedAsUntransferable(buffer), [5, null, undefined, "text", {}].some(isMarkedAsUntransferable));
        "#,
    )
    .with_code(0)
    .printed(&[
        "cloned",
        "DataCloneError 25 DataCloneError 25",
        "DataCloneError 25 DataCloneError 25",
        "DataCloneError 25 DataCloneError 25",
        "DataCloneError 25 DataCloneError 25",
        "cloned",
        "cloned",
        "cloned",
        "cloned",
        "cloned",
        "false",
        "true false",
    ])
    .quietly();
}

#[test]
fn messages_go_from_any_thread_to_any_other() {
    run(
        "thread_messages",
        r#"
        const { MessageChannel, Worker, postMessageToThread } = require("worker_threads");
        const source = `
          const { Worker, parentPort, postMessageToThread, threadId, workerData } = require("worker_threads");
          parentPort.on("message", () => {});
          process.on("workerMessage", (value) => {
            if (value === "throw") throw new Error("refused");
          });
          process.on("workerMessage", async (value, from) => {
            if (value === "forward") await postMessageToThread(threadId === 1 ? 2 : 1, "forwarded by " + threadId);
            else if (value.port) value.port.postMessage("moved to " + threadId), value.port.close();
            else await postMessageToThread(0, threadId + " had " + value + " from " + from);
          });
          parentPort.postMessage("ready");`;
        const workers = [1, 2].map(() => new Worker(source, { eval: true }));
        const quiet = new Worker("require('worker_threads').parentPort.once('message', () => {})", { eval: true });
        const heard = [];
        let wake;
        process.on("workerMessage", (value, from) => (heard.push(`${value} (${from})`), wake?.()));
        const next = () => new Promise((resolve) => (wake = resolve));
        const why = ({ code, name }) => console.log(code ?? name);
        (async () => {
          // One that has not started yet gets it when it has.
          const first = next();
          console.log(await postMessageToThread(1, "a text"));
          await first;
          const second = next();
          await postMessageToThread(1, "forward", 60_000);
          await second;
          console.log(heard.join("; "));
          const { port1, port2 } = new MessageChannel();
          port1.on("message", (text) => console.log(text));
          const closed = new Promise((resolve) => port1.on("close", resolve));
          await postMessageToThread(2, { port: port2 }, [port2]);
          await closed;
          await postMessageToThread(1, "throw").catch(why);
          await postMessageToThread(3, "nobody listens").catch(why);
          await postMessageToThread(99, "nobody is there").catch(why);
          await postMessageToThread("1", "no number").catch(why);
          await postMessageToThread(0, "to oneself").catch(why);
          await postMessageToThread(1, () => {}).catch(why);
          await postMessageToThread(1, 1, [], -1).catch(why);
          await postMessageToThread(1, 1, [], "soon").catch(why);
          // One that ends without having read it.
          await Promise.all([quiet.terminate(), postMessageToThread(3, "too late").catch(why)]);
          for (const worker of workers) worker.terminate();
        })();
        "#,
    )
    .with_code(0)
    .printed(&[
        "undefined",
        "1 had a text from 0 (1); 2 had forwarded by 1 from 1 (2)",
        "moved to 2",
        "ERR_WORKER_MESSAGING_ERRORED",
        "ERR_WORKER_MESSAGING_FAILED",
        "ERR_WORKER_MESSAGING_FAILED",
        "ERR_WORKER_MESSAGING_FAILED",
        "ERR_WORKER_MESSAGING_SAME_THREAD",
        "25",
        "ERR_OUT_OF_RANGE",
        "ERR_INVALID_ARG_TYPE",
        "ERR_WORKER_MESSAGING_FAILED",
    ])
    .quietly();
}

/// A thread that is blocked does not take a message in time; when nobody can take it at all, the program ends.
#[test]
fn messages_to_a_blocked_thread_time_out_and_keep_no_agent_alive() {
    run(
        "thread_timeout",
        r#"
        const { Worker, postMessageToThread } = require("worker_threads");
        const word = new Int32Array(new SharedArrayBuffer(4));
        const source = "Atomics.wait(require('worker_threads').workerData, 0, 0)";
        const worker = new Worker(source, { eval: true, workerData: word });
        worker.on("exit", (code) => console.log("exit", code));
        (async () => {
          await postMessageToThread(1, "hello", 20).catch(({ code }) => console.log(code));
          await postMessageToThread(1, "hello", undefined, 20).catch(({ code }) => console.log(code));
          // Without a timeout it waits as long as there is hope.
          const asked = postMessageToThread(1, "hello").catch(({ code }) => console.log(code));
          Atomics.store(word, 0, 1);
          Atomics.notify(word, 0);
          await asked;
        })();
        "#,
    )
    .with_code(0)
    // The answer and the end come by different ways.
    .sorted()
    .printed(&[
        "ERR_WORKER_MESSAGING_FAILED",
        "ERR_WORKER_MESSAGING_TIMEOUT",
        "ERR_WORKER_MESSAGING_TIMEOUT",
        "exit 0",
    ])
    .quietly();
    run(
        "thread_hopeless",
        r#"
        const { Worker, postMessageToThread } = require("worker_threads");
        new Worker("Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", { eval: true });
        postMessageToThread(1, "hello");
        "#,
    )
    .with_code(1)
    .complained(&["deadlock"]);
}

#[test]
fn utilization_is_seen_from_outside() {
    run(
        "utilization",
        r#"
        const { Worker } = require("worker_threads");
        const source = `const { parentPort } = require("worker_threads");
          parentPort.on("message", (milliseconds) => {
            for (const start = performance.now(); performance.now() - start < milliseconds; );
            parentPort.postMessage("done");
          });`;
        const worker = new Worker(source, { eval: true });
        const { eventLoopUtilization } = worker.performance;
        console.log(eventLoopUtilization());
        worker.once("online", async () => {
          const message = (after) => new Promise((resolve) => (worker.once("message", resolve), worker.postMessage(after)));
          await message(0);
          const before = eventLoopUtilization();
          await message(30);
          const after = eventLoopUtilization();
          const during = eventLoopUtilization(after, before);
          console.log(during.active >= 29, during.utilization > 0, during.active + during.idle <= after.active + after.idle);
          for (let now; (now = eventLoopUtilization(after)).idle < 5; ) await null;
          console.log(eventLoopUtilization(after).utilization < 1);
          await worker.terminate();
          console.log(eventLoopUtilization());
        });
        "#,
    )
    .with_code(0)
    .printed(&[
        "{ idle: 0, active: 0, utilization: 0 }",
        "true true true",
        "true",
        "{ idle: 0, active: 0, utilization: 0 }",
    ])
    .quietly();
}

#[test]
fn a_worker_can_be_disposed_of() {
    run(
        "dispose",
        r#"
        const { Worker } = require("worker_threads");
        const worker = new Worker("for (;;);", { eval: true });
        worker.on("exit", (code) => console.log("exit", code));
        worker.on("online", async () => console.log(await worker[Symbol.asyncDispose]()));
        "#,
    )
    .with_code(0)
    .printed(&["exit 1", "undefined"])
    .quietly();
}
