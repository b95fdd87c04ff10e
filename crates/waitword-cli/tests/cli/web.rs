//! Workers as pages have them: `new Worker(url)`, `onmessage`, `self`, `close`.

use crate::program::{run, run_files};

#[test]
fn a_page_and_its_worker_talk_through_onmessage() {
    run_files(
        "web_talk",
        &[
            (
                "page.js",
                r#"
                const memory = new Int32Array(new SharedArrayBuffer(4));
                const worker = new Worker("worker.js", { name: "bob" });
                worker.onmessage = (event) => {
                  console.log("page", event.data, event.type, event.target === worker, event instanceof MessageEvent);
                  if (event.data === "done") worker.terminate();
                };
                worker.addEventListener("message", { handleEvent({ data }) { console.log("object", data); } });
                worker.addEventListener("message", () => console.log("once"), { once: true });
                worker.postMessage({ memory });
                Atomics.waitAsync(memory, 0, 0).value.then(() => console.log("woken", memory[0]));
                console.log(self === globalThis, typeof require("worker_threads").Worker);
                "#,
            ),
            (
                "worker.js",
                r#"
                "use strict";
                importScripts("library.js", "data:text/javascript,var fromText = 2;");
                let count = 0;
                function scope() { return [self === globalThis, this === undefined, name, fromLibrary + fromText]; }
                self.onmessage = function ({ data: { memory } }) {
                  memory[0] = ++count;
                  postMessage(scope());
                  postMessage(this === self);
                  Atomics.notify(memory, 0);
                  self.postMessage("done");
                };
                "#,
            ),
            ("library.js", "var fromLibrary = 1;"),
        ],
    )
    .with_code(0)
    .sorted()
    .printed(&[
        "object [ true, true, 'bob', 3 ]",
        "object done",
        "object true",
        "once",
        "page [ true, true, 'bob', 3 ] message true true",
        "page done message true true",
        "page true message true true",
        "true function",
        "woken 1",
    ])
    .quietly();
}

#[test]
fn assigned_and_declared_handlers_are_found_and_null_takes_them_back() {
    for handler in
        ["onmessage = (event) =>", "self.onmessage = (event) =>", "globalThis.onmessage = event =>"]
    {
        let worker = format!("{handler} {{ postMessage(event.data + 1); close(); }}");
        run_files(
            "web_handlers",
            &[
                (
                    "page.mjs",
                    r#"
                    const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
                    worker.onmessage = () => console.log("replaced");
                    worker.onmessage = ({ data }) => { console.log(data); };
                    worker.onerror = () => {};
                    worker.onerror = null;
                    console.log(worker.onerror);
                    worker.postMessage(1);
                    "#,
                ),
                ("worker.js", &worker),
            ],
        )
        .with_code(0)
        .printed(&["null", "2"])
        .quietly();
    }
}

#[test]
fn a_worker_can_be_made_of_text_and_close_ends_it_after_its_job() {
    run(
        "web_text",
        r#"
        const text = `
          setInterval(() => postMessage("never"), 0);
          Promise.resolve().then(() => postMessage("microtask"));
          close();
          postMessage("after close");`;
        const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
        const worker = new Worker(url);
        URL.revokeObjectURL(url);
        worker.onmessage = ({ data }) => console.log(data);
        for (const bad of [url, "https://example.com/worker.js"]) {
          try {
            new Worker(bad);
          } catch (error) {
            console.log(error.code);
          }
        }
        "#,
    )
    .with_code(0)
    .printed(&["ERR_WORKER_PATH", "ERR_WORKER_PATH", "after close", "microtask"])
    .quietly();
}

#[test]
fn the_error_of_a_worker_is_an_error_event_or_fails_the_program() {
    let worker = ("worker.js", "\nthrow new TypeError('wrong');");
    run_files(
        "web_onerror",
        &[
            (
                "page.js",
                r#"
                const worker = new Worker("./worker.js");
                worker.onerror = (event) => {
                  event.preventDefault();
                  console.log(event.message, event.lineno, /[\\/]worker\.js$/.test(event.filename), event.error instanceof TypeError);
                };
                "#,
            ),
            worker,
        ],
    )
    .with_code(0)
    .printed(&["Uncaught TypeError: wrong 2 true true"])
    .quietly();
    run_files("web_no_onerror", &[("page.js", "new Worker('worker.js')"), worker])
        .with_code(1)
        .complained(&["worker 1", "TypeError: wrong", "worker.js:2"]);
}

#[test]
fn ports_come_in_the_event_and_may_be_transferred_to_a_page() {
    run_files(
        "web_ports",
        &[
            (
                "page.js",
                r#"
                const { port1, port2 } = new MessageChannel();
                const worker = new Worker("worker.js");
                worker.postMessage("unnamed port", [port2]);
                port1.onmessage = ({ data }) => { console.log(data); port1.close(); };
                "#,
            ),
            ("worker.js", "onmessage = ({ data, ports: [port] }) => { port.postMessage(data); close(); };"),
        ],
    )
    .with_code(0)
    .printed(&["unnamed port"])
    .quietly();
}

#[test]
fn a_page_and_its_worker_hear_of_errors_and_rejections_and_may_deal_with_them() {
    run(
        "web_errors",
        r#"
        const text = `
          onerror = (message, file, line, column, error) => {
            postMessage(["onerror", message, line, error.name]);
            return true;
          };
          addEventListener("unhandledrejection", (event) => {
            postMessage(["unhandledrejection", String(event.reason), event.promise instanceof Promise]);
            event.preventDefault();
            setTimeout(() => { setTimeout(close); throw new TypeError("x"); });
          });
          Promise.reject(new Error("r"));`;
        const worker = new Worker("data:text/javascript;base64," + btoa(text));
        worker.onmessage = ({ data }) => {
          console.log(...data);
          if (data[0] === "onerror") reportError(new Error("reported"));
        };
        addEventListener("error", (event) => {
          console.log(event.message, event instanceof ErrorEvent);
          event.preventDefault();
        });
        console.log(crossOriginIsolated, navigator.hardwareConcurrency > 0);
        "#,
    )
    .with_code(0)
    .printed(&[
        "true true",
        "unhandledrejection Error: r true",
        "onerror Uncaught TypeError: x 9 TypeError",
        "Uncaught Error: reported true",
    ])
    .quietly();
    run("web_unprevented", "onerror = (message) => console.log(message); throw new Error('goes on');")
        .with_code(1)
        .printed(&["Uncaught Error: goes on"])
        .complained(&["Error: goes on"]);
    run("web_error_in_onerror", "onerror = () => { throw new Error('again'); }; throw new Error('first');")
        .with_code(1)
        .complained(&["Error: again"]);
}

#[test]
fn broadcast_channels_join_pages_and_workers() {
    run(
        "web_broadcast",
        r#"
        const channel = new BroadcastChannel("c");
        const text = `
          const channel = new BroadcastChannel("c");
          channel.onmessage = ({ data }) => { channel.postMessage("re " + data); channel.close(); close(); };
          postMessage("ready");`;
        const worker = new Worker(URL.createObjectURL(new Blob([text])));
        worker.onmessage = () => channel.postMessage("x");
        channel.addEventListener("message", ({ data, target }) => {
          console.log(data, target === channel);
          channel.close();
        });
        "#,
    )
    .with_code(0)
    .printed(&["re x true"])
    .quietly();
}
