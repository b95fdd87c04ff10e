//! Scripts that change the built-ins under the host's own JavaScript.

use crate::program::{run, run_files};

/// Everything that a script can do to the built-ins which the host's JavaScript shares with it.
const PATCHES: &[&str] = &[
    "each([Array, Map, Set, WeakMap, Promise, String, Number, BigInt, Symbol, RegExp, Function, Date, Error, ArrayBuffer,
           SharedArrayBuffer, getPrototypeOf(Uint8Array), Boolean], (C) => each(ownKeys(C.prototype), (key) => {
         try { if (key !== 'constructor') defineProperty(C.prototype, key, { value: boom }); } catch {}
     }))",
    "each([Array, Map, Set, String], (C) => { C.prototype[Symbol.iterator] = boom; })",
    "each([[].values(), new Map().keys(), new Set().keys(), 'a'.matchAll(/a/g), (function* () {})()],
         (iterator) => { getPrototypeOf(iterator).next = boom; })",
    "each([Object, Array, Reflect, JSON, Math, Error, Number, String, Promise, Symbol, Date], (C) =>
         each(ownKeys(C), (key) => { try { if (typeof C[key] === 'function') C[key] = boom; } catch {} }))",
    "const kept = { console: 1, setTimeout: 1, require: 1, globalThis: 1, URL: 1, structuredClone: 1, process: 1 };
     each(ownKeys(globalThis), (key) => { if (!kept[key]) delete globalThis[key]; })",
    "for (let at = 0; at < 8; at++)
         defineProperty(Array.prototype, at, { get: boom, set: boom, configurable: true })",
    "each(['get', 'set', 'value', 'then', 'transfer', 'eval', 'depth', 'name', 'type', 'length', 'at', 'once', 'argv',
           'env', 'workerData', 'transferList', 'message', 'writable', 'cause', 'protocol', 'host'], (key) =>
         defineProperty(Object.prototype, key, { __proto__: null, get: () => undefined, set: boom, configurable: true }))",
    "globalThis.Symbol = globalThis.Promise = globalThis.Error = globalThis.TypeError = boom",
    "Error.prepareStackTrace = boom",
    "Error.stackTraceLimit = 0",
];

const TOOLS: &str = r#"
    const { ownKeys } = Reflect;
    const { defineProperty, getPrototypeOf } = Object;
    const boom = () => { throw "patched"; };
    const each = (list, use) => { for (let at = 0; at < list.length; at++) use(list[at]); };
"#;

#[test]
fn console_shows_objects_whatever_was_patched() {
    let show = r#"
        const values = { list: [1, , "two"], map: new Map([[1, { deep: [] }]]), set: new Set(["x"]), date: new Date(0),
            re: /a/gi, bytes: new Uint8Array([1, 2]), buffer: new ArrayBuffer(2), boxed: Object(1), big: 10n,
            done: Promise.resolve(7), f() {}, symbol: Symbol("s"), nothing: null, class: class A {} };
        const { log, group, groupEnd, count, assert, error: complain } = console;
        PATCH;
        log(values);
        log("%s is %d of %i, %j %o", "one", 1.5, 2.7, "json", "o");
        group("in");
        log("a\nb");
        groupEnd();
        count("c");
    "#;
    for patch in PATCHES {
        run("patched_console", &format!("{TOOLS}{}", show.replace("PATCH", patch)))
            .with_code(0)
            .printed(&[
                "{",
                "  list: [ 1, <1 empty item>, 'two' ],",
                "  map: Map(1) { 1 => { deep: [] } },",
                "  set: Set(1) { 'x' },",
                "  date: 1970-01-01T00:00:00.000Z,",
                "  re: /a/gi,",
                "  bytes: Uint8Array(2) [ 1, 2 ],",
                "  buffer: ArrayBuffer { [Uint8Contents]: <00 00>, byteLength: 2 },",
                "  boxed: [Number: 1],",
                "  big: 10n,",
                "  done: Promise { 7 },",
                "  f: [Function: f],",
                "  symbol: Symbol(s),",
                "  nothing: null,",
                "  class: [class A]",
                "}",
                "one is 1.5 of 2, \"json\" 'o'",
                "in",
                "  a",
                "  b",
                "c: 1",
            ])
            .quietly();
    }
}

#[test]
fn modules_paths_urls_and_workers_work_whatever_was_patched() {
    let main = r#"
        const { Worker, MessageChannel, receiveMessageOnPort } = require("worker_threads");
        const path = require("path");
        const { log } = console;
        const folder = __dirname;
        PATCH;
        log(require("./part").answer + require("./data.json").answer);
        const { basename, dirname, extname, join } = path.posix;
        log(join("/a", "../b", "c.js") + basename("/x/y.js", ".js") + extname("a.b.c") + dirname("/q/r"));
        log(new URL("../c d.js?q#h", "file:///a/b/e.js").href);
        const url = new URL("http://a:80/?x=1");
        url.searchParams.append("y", "2 3");
        url.searchParams.set("x", 4);
        url.hash = "h";
        log(url.href + url.searchParams.getAll("y")[0] + url.port + new URL("a:?z=5").searchParams.get("z"));
        log(path.resolve("x") === folder + path.sep + "x" && path.win32.resolve("C:\\a", "b") === "C:\\a\\b");
        const { port1, port2 } = new MessageChannel();
        port1.postMessage({ list: [1, 2] });
        log(receiveMessageOnPort(port2).message.list[1]);
        log(structuredClone({ deep: { list: [3] } }).deep.list[0]);
        port2.once("message", (value) => {
            log(value);
            setTimeout(start, 1, "timer");
        });
        port1.postMessage("through a port");
        function start(word) {
            log(word);
            const worker = new Worker("./worker.js", { workerData: { a: 1 }, argv: ["x"] });
            worker.on("message", (message) => { log(message.n); worker.terminate(); });
            worker.once("exit", (code) => log("exit " + code));
        }
        process.nextTick((text) => log(text), "tick");
    "#;
    for patch in PATCHES {
        let main = format!("{TOOLS}{}", main.replace("PATCH", patch));
        let worker = format!(
            "const {{ parentPort, workerData }} = require('worker_threads'); {TOOLS} {patch};
             parentPort.postMessage({{ n: workerData.a }}); setTimeout(() => {{}}, 100000);"
        );
        run_files(
            "patched_modules",
            &[
                ("main.js", &main),
                ("worker.js", &worker),
                ("part.js", "exports.answer = 40;"),
                ("data.json", r#"{ "answer": 2 }"#),
            ],
        )
        .with_code(0)
        .printed(&[
            "42",
            "/b/c.jsy.c/q",
            "file:///a/c%20d.js?q#h",
            "http://a/?x=4&y=2+3#h2 35",
            "true",
            "2",
            "3",
            "tick",
            "through a port",
            "timer",
            "1",
            "exit 1",
        ])
        .quietly();
    }
}

/// Parts of the host run when they are first asked for: here that is when all is patched.
#[test]
fn what_is_first_used_after_the_patches_works_as_well() {
    let main = r#"
        const { log } = console;
        const load = require;
        PATCH;
        const { BroadcastChannel, MessageChannel, Worker, setEnvironmentData } = load("worker_threads");
        process.on("exit", (code) => log("end " + code));
        log(process.env.PATH.length > 0);
        setEnvironmentData("key", { list: [7] });
        const here = new BroadcastChannel("room");
        const there = new BroadcastChannel("room");
        there.onmessage = (event) => {
          log(event.data.word + event.target.name);
          here.close();
          there.close();
          start();
        };
        here.postMessage({ word: "to the " });
        function start() {
          const text = `const { getEnvironmentData, parentPort } = require("worker_threads");
            parentPort.postMessage(getEnvironmentData("key").list[0] + process.env.ONE);
            console.log("captured");
            throw new RangeError("this one");`;
          const worker = new Worker(text, { eval: true, env: { ONE: "!" }, stdout: true, resourceLimits: { maxOldGenerationSizeMb: 64 } });
          let heard = "";
          let printed = "";
          worker.on("message", (text) => { heard += text + ", "; });
          worker.on("error", (error) => { heard += error.message; });
          worker.stdout.on("data", (text) => { printed += text; });
          worker.stdout.on("end", () => log(heard + "\n" + printed));
        }
    "#;
    for patch in PATCHES {
        run("patched_first", &format!("{TOOLS}{}", main.replace("PATCH", patch)))
            .with_code(0)
            .printed(&["true", "to the room", "7!, this one", "captured", "", "end 0"])
            .quietly();
    }
}

#[test]
fn emitters_exceptions_and_blob_urls_are_what_they_are_whatever_was_patched() {
    let main = r#"
        const { log } = console;
        const load = require;
        const { URL, Blob, Worker: PageWorker, DOMException, MessageChannel, Uint8Array } = globalThis;
        const make = (text) => URL.createObjectURL(new Blob([text]));
        const { structuredClone, queueMicrotask } = globalThis;
        PATCH;
        const EventEmitter = load("events");
        const emitter = new EventEmitter({ captureRejections: true });
        let calls = 0;
        const once = () => { calls++; emitter.emit("x"); };
        emitter.once("newListener", (name) => emitter.on(name, () => { calls += 10; }));
        emitter.once("x", once);
        log(emitter.rawListeners("x").length, emitter.rawListeners("x")[1].listener === once, emitter.eventNames()[0]);
        emitter.emit("x");
        log(calls);
        process.on("warning", (warning) => log("warning " + warning.count));
        for (let at = 0; at < 12; at++) emitter.on("many", once);
        emitter.removeAllListeners("many");
        emitter.on("error", (error) => log("rejected " + error));
        emitter.on("fails", () => ({ then(_, reject) { reject("so"); } }));
        emitter.emit("fails");
        const exception = new DOMException("m", { name: "AbortError", cause: 7 });
        const copy = structuredClone(exception);
        log(copy.name, copy.code, copy.message, copy.cause, copy instanceof DOMException);
        const { port1, port2 } = new MessageChannel();
        const bad = [0, "X", { transfer: null }, [0]];
        for (let at = 0; at < bad.length; at++) {
          try { port1.postMessage(1, bad[at]); log("taken"); } catch (error) { log(error.code); }
        }
        try { queueMicrotask(1); } catch (error) { log(error.code); }
        const worker = new PageWorker(make("postMessage('from a blob'); close();"));
        worker.onmessage = (event) => {
          log(event.data);
          const { Worker } = load("worker_threads");
          const other = new Worker(new URL("data:text/javascript,import { parentPort } from 'node:worker_threads'; parentPort.postMessage(8); throw Symbol('s')"));
          let got = "";
          other.on("message", (value) => { got += value; });
          other.on("error", (error) => { got += typeof error; });
          other.on("exit", () => log(got));
        };
    "#;
    for patch in PATCHES {
        run("patched_emitters", &format!("{TOOLS}{}", main.replace("PATCH", patch))).with_code(0).printed(&[
            "2 true x",
            "21",
            "AbortError 20 m 7 true",
            "ERR_INVALID_ARG_TYPE",
            "ERR_INVALID_ARG_TYPE",
            "ERR_INVALID_ARG_TYPE",
            "ERR_INVALID_TRANSFER_OBJECT",
            "ERR_INVALID_ARG_TYPE",
            "warning 11",
            "rejected so",
            "from a blob",
            "8symbol",
        ]);
    }
}

#[test]
fn an_uncaught_error_is_reported_whatever_was_patched() {
    for patch in PATCHES {
        run(
            "patched_error",
            &format!("{TOOLS} const wrong = new TypeError('this one'); setTimeout(() => {{ throw wrong; }}, 1); {patch};"),
        )
        .with_code(1)
        .complained(&["uncaught exception in main", "TypeError: this one", "main.js:"]);
    }
}

/// A stack hook is shown the functions themselves: with those of the host a script could forge messages and events.
#[test]
fn a_stack_hook_sees_no_function_of_the_host() {
    run(
        "stack_of_host",
        r#"
        const { MessageChannel } = require("worker_threads");
        const seen = new Set();
        Error.prepareStackTrace = (error, sites) => {
          for (const site of sites) seen.add(`${site.getFileName()}`.replace(/.*[\\/]/, ""));
          return "hooked";
        };
        const hook = Error.prepareStackTrace;
        const look = () => new Error("look").stack;
        const { port1, port2 } = new MessageChannel();
        port2.once("message", look);
        port1.postMessage(1);
        setTimeout(look, 1);
        process.on("exit", () => {
          look();
          console.log([...seen].join(), new Error("x").stack, hook === Error.prepareStackTrace);
          Error.prepareStackTrace = undefined;
          console.log(typeof new Error("x").stack, Error.prepareStackTrace);
        });
        console.log({ toString: look });
        [1].map(look);
        "#,
    )
    .with_code(0)
    .printed(&["{ toString: [Function: look] }", "main.js,null hooked true", "string undefined"])
    .quietly();
}
