//! `MessageChannel`, `MessagePort` and `receiveMessageOnPort`.

use crate::program::{run, run_files};

#[test]
fn ports_deliver_in_order_to_both_kinds_of_listeners() {
    run(
        "port_order",
        r#"
        const { MessageChannel, MessagePort } = require("worker_threads");
        const { port1, port2 } = new MessageChannel();
        console.log(port1 instanceof MessagePort, MessageChannel === globalThis.MessageChannel, port2.hasRef());
        port2.on("message", (value) => console.log("on", value));
        port2.addEventListener("message", ({ data, target, type }) => console.log(type, data, target === port2));
        port2.onmessage = (event) => console.log(event.constructor.name, event.data);
        port2.once("message", (value) => console.log("once", value));
        console.log(port2.hasRef());
        port1.postMessage("a");
        port1.postMessage("b");
        Promise.resolve().then(() => console.log("microtask"));
        port1.close();
        port2.on("close", () => console.log("closed"));
        "#,
    )
    .with_code(0)
    .printed(&[
        "true true false",
        "true",
        "microtask",
        "on a",
        "message a true",
        "MessageEvent a",
        "once a",
        "on b",
        "message b true",
        "MessageEvent b",
        "closed",
    ])
    .quietly();
}

#[test]
fn messages_of_several_ports_come_in_the_order_in_which_they_were_posted() {
    run(
        "ports_take_turns",
        r#"
        const { MessageChannel } = require("worker_threads");
        const channels = [0, 1, 2].map(() => new MessageChannel());
        let left = 6;
        channels.forEach(({ port1, port2 }, at) => port2.on("message", (value) => {
          console.log(at, value);
          if (--left === 0) for (const each of channels) each.port1.close();
        }));
        for (const at of [2, 0, 0, 1, 2, 0]) channels[at].port1.postMessage("m");
        "#,
    )
    .with_code(0)
    .printed(&["2 m", "0 m", "0 m", "1 m", "2 m", "0 m"])
    .quietly();
}

#[test]
fn receive_message_on_port_takes_messages_without_listening() {
    run(
        "receive_on_port",
        r#"
        const { MessageChannel, Worker, receiveMessageOnPort } = require("worker_threads");
        const { port1, port2 } = new MessageChannel();
        port1.postMessage({ n: 1 });
        port1.postMessage(undefined);
        console.log(receiveMessageOnPort(port2), receiveMessageOnPort(port2), receiveMessageOnPort(port2));
        for (const wrong of [{}, null, 1]) {
          try {
            receiveMessageOnPort(wrong);
          } catch (error) {
            console.log(error.name, error.code);
          }
        }
        // What is taken so does not come as an event; what comes after it does.
        port2.on("message", (value) => { console.log("event", value); port2.close(); });
        port1.postMessage(2);
        port1.postMessage(3);
        console.log(receiveMessageOnPort(port2));
        // A worker that blocks, and looks at its port when it is woken.
        const word = new Int32Array(new SharedArrayBuffer(4));
        const source = `const { parentPort, receiveMessageOnPort, workerData: word } = require("worker_threads");
          Atomics.wait(word, 0, 0);
          console.log(receiveMessageOnPort(parentPort), receiveMessageOnPort(parentPort));`;
        const worker = new Worker(source, { eval: true, workerData: word });
        worker.postMessage("for the blocked");
        word[0] = 1;
        Atomics.notify(word, 0);
        "#,
    )
    .with_code(0)
    .sorted()
    .printed(&[
        "TypeError ERR_INVALID_ARG_TYPE",
        "TypeError ERR_INVALID_ARG_TYPE",
        "TypeError ERR_INVALID_ARG_TYPE",
        "event 3",
        "{ message: 'for the blocked' } undefined",
        "{ message: 2 }",
        "{ message: { n: 1 } } { message: undefined } undefined",
    ])
    .quietly();
}

#[test]
fn ports_travel_with_what_waits_at_them() {
    run_files(
        "port_travels",
        &[
            (
                "main.js",
                r#"
                const { MessageChannel, MessagePort, Worker } = require("worker_threads");
                const data = new MessageChannel();
                const later = new MessageChannel();
                data.port1.postMessage("waits already");
                later.port1.postMessage("waits too");
                const { workerData, transferList } = { workerData: { port: data.port2 }, transferList: [data.port2] };
                const worker = new Worker(__dirname + "/worker.js", { workerData, transferList });
                worker.postMessage([later.port2, "list"], [later.port2]);
                for (const { port2 } of [data, later]) {
                  port2.postMessage("nobody");
                  port2.on("message", () => console.log("never"));
                }
                data.port1.on("message", (value) => { console.log("main", value); });
                data.port1.on("close", () => console.log("main closed"));
                worker.on("message", (port) => {
                  console.log("came back", port instanceof MessagePort);
                  port.on("message", (value) => console.log("through two agents:", value));
                  later.port1.postMessage("hello");
                  later.port1.close();
                });
                "#,
            ),
            (
                "worker.js",
                r#"
                const { MessagePort, parentPort, workerData } = require("worker_threads");
                workerData.port.on("message", (value) => {
                  workerData.port.postMessage([value, workerData.port instanceof MessagePort]);
                  workerData.port.close();
                });
                parentPort.once("message", ([port, text]) => {
                  port.once("message", (value) => {
                    parentPort.postMessage(port, [port]);
                    workerData.port.postMessage(value + text);
                  });
                });
                "#,
            ),
        ],
    )
    .with_code(0)
    .quietly();
}

#[test]
fn an_open_port_with_a_listener_keeps_its_agent_and_a_silent_or_unreferenced_one_does_not() {
    run(
        "port_silent",
        r#"
        const { MessageChannel } = require("worker_threads");
        const silent = new MessageChannel();
        silent.port1.postMessage("never read");
        const unreferenced = new MessageChannel();
        unreferenced.port2.on("message", () => console.log("never")).unref();
        const gone = new MessageChannel();
        const listener = () => console.log("never");
        gone.port2.on("message", listener);
        gone.port2.off("message", listener);
        process.on("exit", () => console.log("exit"));
        "#,
    )
    .with_code(0)
    .printed(&["exit"])
    .quietly();
    run(
        "port_kept",
        r#"
        const { MessageChannel, Worker } = require("worker_threads");
        const { port1, port2 } = new MessageChannel();
        const worker = new Worker(`
          const { workerData: { port, word } } = require("worker_threads");
          Atomics.wait(word, 0, 0);
          port.postMessage("from a worker that nobody waits for");`,
          { eval: true, workerData: { port: port2, word: new Int32Array(new SharedArrayBuffer(4)) }, transferList: [port2] });
        worker.unref();
        const word = new Int32Array(new SharedArrayBuffer(4));
        port1.on("message", (value) => console.log(value));
        setTimeout(() => port1.postMessage("nobody reads this"), 1);
        "#,
    )
    .with_code(1)
    .complained(&["deadlock", "worker 1: Atomics.wait"]);
    run(
        "port_kept_by_a_worker",
        r#"
        const { MessageChannel, Worker } = require("worker_threads");
        const { port1, port2 } = new MessageChannel();
        const source = `const { workerData: port } = require("worker_threads");
          setTimeout(() => port.postMessage("late"), 5);`;
        new Worker(source, { eval: true, workerData: port2, transferList: [port2] }).unref();
        port1.on("message", (value) => console.log(value));
        port1.on("close", () => console.log("closed, for its worker is gone"));
        "#,
    )
    .with_code(0)
    .printed(&["late", "closed, for its worker is gone"])
    .quietly();
}

#[test]
fn what_cannot_be_transferred_is_a_data_clone_error_and_moves_nothing() {
    run(
        "port_errors",
        r#"
        const { MessageChannel, MessagePort, parentPort } = require("worker_threads");
        const { port1, port2 } = new MessageChannel();
        const other = new MessageChannel();
        const buffer = new ArrayBuffer(1);
        const closed = new MessageChannel().port1;
        closed.close();
        const sent = new MessageChannel().port1;
        structuredClone(sent, { transfer: [sent] });
        const hostile = { get x() { other.port2.close(); } };
        const attempts = [
          () => port1.postMessage(1, [port1]),
          () => port1.postMessage(other.port1),
          () => port1.postMessage(1, [other.port1, other.port1]),
          () => port1.postMessage(1, [buffer, closed]),
          () => port1.postMessage(1, [buffer, sent]),
          () => port1.postMessage(hostile, [buffer, other.port2]),
          () => structuredClone({ p: other.port1 }),
          () => new MessagePort(),
        ];
        for (const attempt of attempts) {
          try {
            attempt();
            console.log("no error");
          } catch (error) {
            console.log(error.name);
          }
        }
        console.log(buffer.detached);
        const moved = structuredClone({ p: other.port1 }, { transfer: [other.port1] }).p;
        console.log(moved instanceof MessagePort, moved !== other.port1);
        // As the standard has it: a channel whose one end goes through the other is lost.
        const lost = new MessageChannel();
        lost.port1.on("close", () => console.log("lost"));
        lost.port1.postMessage("x", [lost.port2]);
        "#,
    )
    .with_code(0)
    .printed(&[
        "DataCloneError",
        "DataCloneError",
        "DataCloneError",
        "DataCloneError",
        "DataCloneError",
        "DataCloneError",
        "DataCloneError",
        "TypeError",
        "false",
        "true true",
        "lost",
    ])
    .quietly();
}
