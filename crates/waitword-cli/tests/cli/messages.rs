//! Messages that are huge, hostile, or both: structured clone has no depth, no size and no getter that it does not survive.

use crate::program::run;

#[test]
fn neither_depth_nor_length_is_too_much() {
    run(
        "messages_huge",
        r#"
        const nest = (wrap) => { let value = null; for (let i = 0; i < 2e5; i++) value = wrap(value); return value; };
        let depth = 0;
        for (let each = structuredClone(nest((next) => ({ next }))); each; each = each.next) depth++;
        console.log(depth, structuredClone(nest((inner) => [inner])).length, structuredClone(nest((key) => new Map([[key, 1]]))).size);
        const sparse = [];
        sparse[4294967294] = 1;
        sparse[5] = { named: sparse };
        const copy = structuredClone(sparse);
        console.log(copy.length, Object.keys(copy), copy[5].named === copy);
        console.log(structuredClone(new Map(Array.from({ length: 1e5 }, (_, i) => [i, [i]]))).get(99999));
        console.log(structuredClone("\u00ff\ud800x".repeat(1e6)) === "\u00ff\ud800x".repeat(1e6));
        console.log(structuredClone(new Uint8Array(5e7).fill(7)).at(-1), structuredClone(-(7n ** 5000n)) === -(7n ** 5000n));
        const ports = Array.from({ length: 5000 }, () => new MessageChannel().port1);
        console.log(new Set(structuredClone(ports, { transfer: ports })).size);
        "#,
    )
    .with_code(0)
    .printed(&[
        "200000 1 1",
        "4294967295 [ '5', '4294967294' ] true",
        "[ 99999 ]",
        "true",
        "7 true",
        "5000",
    ])
    .quietly();
}

/// The web's algorithm is depth first: what is in a property is read to its end before the next property is.
#[test]
fn getters_run_in_the_standards_order_and_may_change_what_is_copied() {
    run(
        "messages_getters",
        r#"
        const { receiveMessageOnPort } = require("worker_threads");
        const order = [];
        const noted = (name, value) => (order.push(name), value);
        structuredClone({
          get a() { return noted("a", { get b() { return noted("b", [1]); }, get c() { return noted("c"); } }); },
          get d() { return noted("d", new Map([[{ get e() { return noted("e"); } }, { get f() { return noted("f"); } }]])); },
          get g() { return noted("g"); },
        });
        console.log(order.join(""));
        const changed = { get a() { delete this.b; this.c = 1; return 0; }, b: 1, d: 2 };
        console.log(structuredClone(changed));
        const array = [1, 2, 3, 4];
        Object.defineProperty(array, 0, { enumerable: true, get() { array.length = 2; return 9; } });
        console.log(structuredClone(array));
        const freed = { list: [0, {}] };
        Object.defineProperty(freed.list, 0, { enumerable: true, get() { freed.list = null; return Array.from({ length: 100 }, () => ({})); } });
        console.log(structuredClone(freed).list[0].length);
        const map = new Map([["a", { get b() { map.clear(); return 1; } }], ["c", 2]]);
        console.log(structuredClone(map));
        const { port1, port2 } = new MessageChannel();
        port1.postMessage({ get a() { port1.postMessage("first"); return 1; } });
        console.log(receiveMessageOnPort(port2).message, receiveMessageOnPort(port2).message);
        "#,
    )
    .with_code(0)
    .printed(&[
        "abcdefg",
        "{ a: 0, d: 2 }",
        "[ 9, 2, <2 empty items> ]",
        "100",
        "Map(2) { 'a' => { b: 1 }, 'c' => 2 }",
        "first { a: 1 }",
    ])
    .quietly();
}

#[test]
fn what_is_refused_has_moved_nothing() {
    run(
        "messages_refused",
        r#"
        const tried = (value, transfer) => {
          try {
            structuredClone(value, { transfer });
            console.log("copied");
          } catch (error) {
            console.log(error.name);
          }
        };
        const { proxy, revoke } = Proxy.revocable({}, {});
        revoke();
        for (const each of [proxy, new Proxy([], {}), () => {}, Symbol(), (function* () {})(), new WeakMap()]) tried([each]);
        const bytes = new Uint8Array(8);
        const { port1, port2 } = new MessageChannel();
        tried({ bytes, bad: () => {} }, [bytes.buffer, port1]);
        tried({ get a() { structuredClone(port1, { transfer: [port1] }); } }, [bytes.buffer, port1]);
        const other = new ArrayBuffer(4);
        tried({ bytes, other, get a() { structuredClone(other, { transfer: [other] }); } }, [bytes.buffer, other]);
        tried(bytes, [bytes.buffer, bytes.buffer]);
        console.log(bytes.length, other.byteLength);
        const resizable = new ArrayBuffer(4, { maxByteLength: 8 });
        const view = new Uint8Array(resizable).fill(3);
        const moved = structuredClone(view, { transfer: [resizable] });
        moved.buffer.resize(8);
        console.log(view.length, moved);
        tried(1, [bytes.buffer]);
        console.log(bytes.length);
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
        "DataCloneError",
        "DataCloneError",
        "DataCloneError",
        "8 0",
        "0 Uint8Array(8) [",
        "  3, 3, 3, 3,",
        "  0, 0, 0, 0",
        "]",
        "copied",
        "0",
    ])
    .quietly();
}

/// The agent that posts it gets the error, not the one that reads it, which would end for a fault that is not its own.
#[test]
fn a_view_that_would_not_lie_in_the_copy_of_its_buffer_is_refused() {
    run(
        "messages_views",
        r#"
        const buffer = (length) => new ArrayBuffer(length, { maxByteLength: 64 });
        const tried = (value, transfer) => {
          try {
            return structuredClone(value, { transfer });
          } catch (error) {
            return error.name + ": " + error.message;
          }
        };
        for (const View of [Uint8Array, DataView]) {
          const moved = buffer(16);
          console.log(tried({ view: new View(moved, 4, 8), get x() { moved.resize(0); } }, [moved]), moved.detached);
          const early = buffer(64);
          const view = new View(early, 0, 32);
          early.resize(16);
          console.log(tried([early, { get x() { early.resize(64); } }, view]));
          const still = buffer(16);
          const whole = tried({ view: new View(still, 4, 8), get x() { still.resize(12); } }, [still]);
          console.log(whole.view.byteLength, whole.view.buffer.byteLength);
          const grown = buffer(16);
          const copy = tried({ view: new View(grown, 4, 8), get x() { grown.resize(64); } }, [grown]);
          console.log(copy.view.byteLength, copy.view.buffer.byteLength);
        }
        const short = buffer(16);
        const outside = new Uint8Array(short, 4, 8);
        short.resize(2);
        console.log(tried(outside));
        "#,
    )
    .with_code(0)
    .printed(&[
        "DataCloneError: #<ArrayBuffer> has shrunk under a view that was cloned false",
        "DataCloneError: #<ArrayBuffer> has grown since it was cloned",
        "8 12",
        "8 64",
        "DataCloneError: #<ArrayBuffer> has shrunk under a view that was cloned false",
        "DataCloneError: #<ArrayBuffer> has grown since it was cloned",
        "8 12",
        "8 64",
        "DataCloneError: #<Uint8Array> is out of the bounds of its buffer",
    ])
    .quietly();
}

/// A message that cannot be read would end the agent that it was sent to.
#[test]
fn what_is_posted_can_be_read_whatever_its_getters_say() {
    let hostile = r#"
        const fickle = new Error("fickle");
        let asked = 0;
        Object.defineProperty(fickle, "name", { get: () => (asked++ % 2 ? "nothing" : "RangeError") });
        const flagged = /a/g;
        for (const flag of ["unicode", "unicodeSets"]) Object.defineProperty(flagged, flag, { value: true });
    "#;
    run(
        "messages_readable",
        &format!(
            r#"
            {hostile}
            const {{ Worker }} = require("worker_threads");
            const [error, regExp] = structuredClone([fickle, flagged]);
            console.log(error.name, error.message, regExp);
            const short = new ArrayBuffer(16, {{ maxByteLength: 16 }});
            const view = new DataView(short, 4, 8);
            short.resize(2);
            try {{ structuredClone(view); }} catch (error) {{ console.log(error.name); }}
            new Worker(`{hostile} throw fickle;`, {{ eval: true }}).on("error", (error) => console.log(error.message));
            "#
        ),
    )
    .with_code(0)
    .printed(&["RangeError fickle /a/g", "DataCloneError", "fickle"])
    .quietly();
}

#[test]
fn an_uncaught_refusal_says_what_it_is() {
    run("messages_uncaught", "structuredClone(() => {});")
        .with_code(1)
        .complained(&["DataCloneError: () => {} could not be cloned."]);
}
