//! What WebIDL and HTML say of the functions that post and clone, where Node goes other ways: arguments, DOMExceptions, constants.

use crate::program::{run, run_files};

/// Each function that posts, as `post(...arguments)`, and a second argument that it must not take.
const POSTS: &[(&str, &str)] = &[
    ("structuredClone", "structuredClone"),
    ("MessagePort", "(...all) => new MessageChannel().port1.postMessage(...all)"),
    ("Worker of pages", "(...all) => page.postMessage(...all)"),
    ("Worker of Node", "(...all) => node.postMessage(...all)"),
];

const WORKERS: &str = r#"
    const { Worker: NodeWorker } = require("node:worker_threads");
    const page = new Worker("data:text/javascript,onmessage = () => {}");
    const node = new NodeWorker("require('worker_threads').parentPort.on('message', () => {})", { eval: true });
    const end = () => { page.terminate(); node.terminate(); };
    const shown = (call) => { try { call(); return "taken"; } catch (error) { return error.name; } };
"#;

#[test]
fn what_is_no_list_and_no_options_is_a_type_error() {
    for (name, post) in POSTS {
        for bad in [
            "0",
            "false",
            "'X'",
            "Symbol()",
            "1n",
            "{ transfer: null }",
            "{ transfer: 0 }",
            "{ transfer: 'X' }",
            "{ transfer: {} }",
        ] {
            let script =
                format!("{WORKERS} const post = {post}; console.log(shown(() => post(1, {bad}))); end();");
            assert_eq!(run("bad_transfer", &script).with_code(0).stdout.trim(), "TypeError", "{name}: {bad}");
        }
        let script = format!(
            "{WORKERS} const post = {post};
             for (const good of [undefined, null, {{}}, [], {{ transfer: undefined }}, {{ transfer: [] }}, () => {{}},
               {{ transfer: new Set([new ArrayBuffer(8)]) }}]) console.log(shown(() => post(1, good)));
             console.log(shown(() => post()));
             end();"
        );
        run("good_transfer", &script).with_code(0).printed(&[
            "taken",
            "taken",
            "taken",
            "taken",
            "taken",
            "taken",
            "taken",
            "taken",
            "TypeError",
        ]);
    }
    // A sequence of objects: what is in it has to be one.
    run(
        "bad_elements",
        &format!(
            "{WORKERS} for (const bad of [0, null, undefined, 'x', Symbol()]) {{
               console.log(shown(() => new MessageChannel().port1.postMessage(1, [bad])), shown(() => structuredClone(1, {{ transfer: [bad] }})));
             }}
             console.log(shown(() => structuredClone(1, {{ transfer: [{{}}] }})));
             const buffer = new ArrayBuffer(8);
             new MessageChannel().port1.postMessage(1, new Set([buffer]));
             console.log(buffer.detached);
             end();"
        ),
    )
    .with_code(0)
    .printed(&[
        "TypeError TypeError",
        "TypeError TypeError",
        "TypeError TypeError",
        "TypeError TypeError",
        "TypeError TypeError",
        "DataCloneError",
        "true",
    ]);
}

#[test]
fn a_worker_checks_what_it_posts_as_its_page_does() {
    run_files(
        "worker_posts",
        &[
            (
                "page.js",
                "const worker = new Worker('worker.js'); worker.onmessage = ({ data }) => console.log(data);",
            ),
            (
                "worker.js",
                r#"
                const results = [];
                for (const bad of [0, false, "X", Symbol(), { transfer: null }]) {
                  try {
                    self.postMessage(1, bad);
                    results.push("taken");
                  } catch (error) {
                    results.push(error.name);
                  }
                }
                try {
                  postMessage();
                } catch (error) {
                  results.push(error.name);
                }
                const channel = new BroadcastChannel("x");
                try {
                  channel.postMessage();
                } catch (error) {
                  results.push(error.name);
                }
                channel.postMessage(1, 0);
                postMessage(results.join(" "));
                close();
                "#,
            ),
        ],
    )
    .with_code(0)
    .printed(&["TypeError TypeError TypeError TypeError TypeError TypeError TypeError"])
    .quietly();
    run(
        "parent_port_posts",
        r#"
        const { Worker } = require("node:worker_threads");
        const text = `
          const { parentPort } = require("node:worker_threads");
          const results = [];
          for (const bad of [0, false, "X", Symbol(), { transfer: null }]) {
            try { parentPort.postMessage(1, bad); } catch (error) { results.push(error.name); }
          }
          parentPort.postMessage(results.join(" "));`;
        new Worker(text, { eval: true }).on("message", (results) => console.log(results));
        "#,
    )
    .with_code(0)
    .printed(&["TypeError TypeError TypeError TypeError TypeError"])
    .quietly();
}

#[test]
fn a_dom_exception_takes_a_name_and_a_cause_and_is_an_error() {
    run(
        "dom_exception",
        r#"
        const show = (...all) => console.log(...all);
        const cause = { why: 1 };
        const e = new DOMException("m", { name: "AbortError", cause });
        show(e.name, e.message, e.code, e.cause === cause, e instanceof Error, Error.isError(e), e.constructor === DOMException);
        const { writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(e, "cause");
        show(writable, enumerable, configurable, "cause" in new DOMException("m", { name: "X" }), "cause" in new DOMException("m", "X"));
        show(new DOMException().name, new DOMException("m").code, new DOMException("m", {}).name, new DOMException("m", { cause: undefined }).cause);
        show(String(e), Object.prototype.toString.call(e), e.stack.split("\n")[0], /main\.js:/.test(e.stack), /waitword:web\/dom_exception/.test(e.stack));
        for (const bad of [() => DOMException("m"), () => new DOMException(Symbol()), () => new DOMException("m", Symbol()),
          () => new DOMException("m", { name: Symbol() }), () => DOMException.prototype.name, () => DOMException.prototype.code]) {
          try { show(bad()); } catch (error) { show(error.name); }
        }
        class Mine extends DOMException {}
        show(new Mine("m", "DataCloneError").code, new Mine() instanceof Mine, DOMException.length);
        for (const of of [DOMException, DOMException.prototype]) {
          const { value, writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(of, "DATA_CLONE_ERR");
          show(value, writable, enumerable, configurable);
        }
        for (const call of [() => atob("!"), () => btoa("\u0100")]) {
          try { call(); } catch (error) { show(error.name, error.code, error instanceof DOMException, error instanceof Error); }
        }
        console.log(e);
        "#,
    )
    .with_code(0)
    .quietly()
    .starts(&[
        "AbortError m 20 true true true true",
        "true false true false false",
        "Error 0 Error undefined",
        "AbortError: m [object DOMException] AbortError: m true false",
        "TypeError",
        "TypeError",
        "TypeError",
        "TypeError",
        "TypeError",
        "TypeError",
        "25 true 0",
        "25 false true false",
        "25 false true false",
        "InvalidCharacterError 5 true true",
        "InvalidCharacterError 5 true true",
        "AbortError: m",
    ]);
}

#[test]
fn a_dom_exception_is_serializable() {
    run(
        "dom_exception_clone",
        r#"
        const e = new DOMException("m", { name: "AbortError", cause: new RangeError("why") });
        const show = (it) => console.log(it instanceof DOMException, it.name, it.message, it.code, it.stack === e.stack, it.cause?.message, it !== e);
        show(structuredClone(e));
        const both = structuredClone({ one: e, two: e, list: [e] });
        console.log(both.one === both.two, both.one === both.list[0]);
        class Mine extends DOMException {}
        console.log(Object.getPrototypeOf(structuredClone(new Mine("m", "DataCloneError"))) === DOMException.prototype);
        console.log("cause" in structuredClone(new DOMException("m", "NoSuchName")), structuredClone(new DOMException("m", "NoSuchName")).code);
        const { port1, port2 } = new MessageChannel();
        port2.onmessage = ({ data }) => {
          show(data);
          port2.close();
          const worker = new Worker("data:text/javascript,onmessage = ({ data }) => { postMessage(data); close(); }");
          worker.postMessage(e);
          worker.onmessage = ({ data }) => {
            show(data);
            const [one, other] = [new BroadcastChannel("dom"), new BroadcastChannel("dom")];
            one.postMessage(e);
            other.onmessage = ({ data }) => {
              show(data);
              one.close();
              other.close();
              const { Worker } = require("node:worker_threads");
              new Worker("throw new DOMException('thrown', 'DataCloneError')", { eval: true })
                .on("error", (it) => console.log(it instanceof DOMException, it.name, it.message, it.code));
            };
          };
        };
        port1.postMessage(e);
        "#,
    )
    .with_code(0)
    .printed(&[
        "true AbortError m 20 true why true",
        "true true",
        "true",
        "false 0",
        "true AbortError m 20 true why true",
        "true AbortError m 20 true why true",
        "true AbortError m 20 true why true",
        "true DataCloneError thrown 25",
    ])
    .quietly();
}

#[test]
fn constants_are_read_only_on_the_constructor_and_on_the_prototype() {
    run(
        "constants",
        r#"
        "use strict";
        for (const [name, value] of [["NONE", 0], ["CAPTURING_PHASE", 1], ["AT_TARGET", 2], ["BUBBLING_PHASE", 3]]) {
          for (const of of [Event, Event.prototype]) {
            const found = Object.getOwnPropertyDescriptor(of, name);
            let thrown;
            try { of[name] = 9; } catch (error) { thrown = error.name; }
            console.log(found.value === value, found.writable, found.enumerable, found.configurable, thrown, delete { ...of }[name]);
          }
        }
        console.log(new Event("x").AT_TARGET);
        "#,
    )
    .with_code(0)
    .printed(&[
        "true false true false TypeError true",
        "true false true false TypeError true",
        "true false true false TypeError true",
        "true false true false TypeError true",
        "true false true false TypeError true",
        "true false true false TypeError true",
        "true false true false TypeError true",
        "true false true false TypeError true",
        "2",
    ])
    .quietly();
}

#[test]
fn a_broadcast_channel_has_a_name_that_is_a_text_and_its_messages_an_origin() {
    run(
        "broadcast_name",
        r#"
        for (const bad of [() => new BroadcastChannel(Symbol()), () => new BroadcastChannel(), () => BroadcastChannel("x")]) {
          try { console.log(bad()); } catch (error) { console.log(error.name); }
        }
        const [one, other] = [new BroadcastChannel(null), new BroadcastChannel("null")];
        other.onmessage = (event) => {
          console.log(event.origin === origin, event.origin, event.data, event.target === other, event.source, event.ports.length);
          one.close();
          other.close();
        };
        one.postMessage(1);
        const { port1, port2 } = new MessageChannel();
        port2.onmessage = (event) => { console.log(JSON.stringify(event.origin)); port2.close(); };
        port1.postMessage(1);
        "#,
    )
    .with_code(0)
    .sorted()
    .printed(&["\"\"", "TypeError", "TypeError", "TypeError", "true null 1 true null 0"])
    .quietly();
}

#[test]
fn views_that_follow_their_buffer_do_so_in_the_copy() {
    run(
        "clone_views",
        r#"
        const resizable = () => new ArrayBuffer(8, { maxByteLength: 24 });
        const views = {
          "DataView": (b) => new DataView(b, 2),
          "DataView of 4": (b) => new DataView(b, 2, 4),
          "DataView to the end": (b) => new DataView(b, 2, 6),
          "Uint8Array": (b) => new Uint8Array(b),
          "Uint8Array to the end": (b) => new Uint8Array(b, 0, 8),
          "Uint16Array": (b) => new Uint16Array(b, 2),
          "Uint16Array to the end": (b) => new Uint16Array(b, 2, 3),
          "BigInt64Array": (b) => new BigInt64Array(b),
          "BigInt64Array to the end": (b) => new BigInt64Array(b, 0, 1),
        };
        for (const name in views) {
          const buffer = resizable();
          new Uint8Array(buffer).fill(7);
          const view = views[name](buffer);
          const copy = structuredClone(view);
          const moved = (() => { const { buffer } = view; return structuredClone(view, { transfer: [buffer] }); })();
          const lengths = [copy, moved].map((each) => {
            const before = each.byteLength;
            each.buffer.resize(24);
            return [before, each.byteLength, new Uint8Array(each.buffer)[7], new Uint8Array(each.buffer)[8], each.byteOffset].join(" ");
          });
          console.log(name + ":", lengths[0], lengths[0] === lengths[1]);
        }
        const shared = structuredClone(new DataView(new SharedArrayBuffer(8, { maxByteLength: 24 }), 2));
        shared.buffer.grow(16);
        console.log("shared", shared.byteLength);
        "#,
    )
    .with_code(0)
    .printed(&[
        "DataView: 6 22 7 0 2 true",
        "DataView of 4: 4 4 7 0 2 true",
        "DataView to the end: 6 6 7 0 2 true",
        "Uint8Array: 8 24 7 0 0 true",
        "Uint8Array to the end: 8 8 7 0 0 true",
        "Uint16Array: 6 22 7 0 2 true",
        "Uint16Array to the end: 6 6 7 0 2 true",
        "BigInt64Array: 8 24 7 0 0 true",
        "BigInt64Array to the end: 8 8 7 0 0 true",
        "shared 14",
    ])
    .quietly();
}

/// The message of an error is its own property, or none: one that is inherited, or made by a getter, stays behind.
#[test]
fn the_message_of_a_cloned_error_is_its_own() {
    run(
        "clone_messages",
        r#"
        class Inherits extends Error {}
        Inherits.prototype.message = "inherited";
        const gets = Object.defineProperty(new Error(), "message", { get: () => "got", enumerable: true });
        for (const error of [new Error(), new Error(""), new Error("own"), new Inherits(), gets, Object.assign(new Error(), { message: 5 })]) {
          const copy = structuredClone(error);
          console.log(Object.hasOwn(copy, "message"), JSON.stringify(copy.message));
        }
        "#,
    )
    .with_code(0)
    .printed(&["false \"\"", "true \"\"", "true \"own\"", "false \"\"", "false \"\"", "true \"5\""])
    .quietly();
}
