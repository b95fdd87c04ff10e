//! What a script finds when it runs: modules, timers, the console, `process`.

use crate::program::{run, run_files, run_with};

#[test]
fn a_script_has_what_common_js_gives_it() {
    run_with(
        "common_js",
        &[],
        &[
            (
                "main.js",
                r#"#!/usr/bin/env waitword
                const { basename } = require("node:path");
                console.log(basename(__filename), basename(__dirname), this === module.exports, require.main === module);
                const lib = require("./lib");
                console.log(lib.add(1, 2), lib === require("./lib.js"), require("./data.json"));
                console.log(process.argv.slice(2));
                if (lib) return;
                console.log("never");
                "#,
            ),
            ("lib.js", "exports.main = require('./main.js'); exports.add = (a, b) => a + b;"),
            ("data.json", r#"{ "z": [1] }"#),
        ],
        &["one", "--two"],
    )
    .with_code(0)
    .printed(&["main.js common_js true true", "3 true { z: [ 1 ] }", "[ 'one', '--two' ]"])
    .quietly();
}

#[test]
fn a_module_imports_modules_scripts_json_and_built_ins() {
    run_files(
        "modules",
        &[
            (
                "main.mjs",
                r#"
                import { basename } from "node:path";
                import threads, { isMainThread } from "worker_threads";
                import { counter, increment } from "./counter.mjs";
                import { add } from "./lib.cjs";
                import data from "./data.json" with { type: "json" };
                increment();
                console.log(counter, add(1, 2), data.z, isMainThread, threads.isMainThread, this, typeof require);
                console.log(basename(import.meta.url), basename(import.meta.filename), basename(import.meta.dirname));
                console.log((await import("./late.js")).default, await Promise.resolve("top-level await"));
                "#,
            ),
            ("counter.mjs", "export let counter = 0; export const increment = () => counter++; import './main.mjs';"),
            ("lib.cjs", "exports.add = (a, b) => a + b;"),
            ("data.json", r#"{ "z": 1 }"#),
            ("late.js", "export default 'late';"),
        ],
    )
    .with_code(0)
    .printed(&["1 3 1 true true undefined undefined", "main.mjs main.mjs modules", "late top-level await"])
    .quietly();
}

#[test]
fn a_worker_and_a_module_are_found_by_every_name_of_a_file() {
    run_files(
        "names_of_a_file",
        &[
            (
                "main.mjs",
                r#"
                import { createRequire } from "node:module";
                import { sep } from "node:path";
                import { Worker } from "node:worker_threads";
                const { filename, url } = import.meta;
                const part = (name) => name.replace("main.mjs", "part.js");
                const absolute = [part(filename), new URL(part(url)), `.${sep}part.js`, "./part.js"];
                // As Windows itself has it.
                if (sep === "\\") absolute.push("\\\\?\\" + part(filename), part(filename).replaceAll("\\", "/"));
                const worker = (name) => new Promise((resolve) => new Worker(name).on("message", resolve));
                const answers = [];
                for (const name of absolute) answers.push(await worker(name));
                for (const name of [part(filename), part(url), "./part.js"]) answers.push((await import(name)).default);
                answers.push(createRequire(url)(part(filename)), createRequire(filename)("./part.js"));
                console.log(new Set(answers).size, answers[0] === part(filename), new URL(url).pathname.endsWith("/main.mjs"));
                "#,
            ),
            (
                "part.js",
                "require('worker_threads').parentPort?.postMessage(__filename); module.exports = __filename;",
            ),
        ],
    )
    .with_code(0)
    .printed(&["1 true true"])
    .quietly();
}

#[test]
fn package_json_decides_what_a_js_file_is() {
    let script = "console.log(typeof require, this === undefined);";
    run_files("package_module", &[("main.js", script), ("package.json", r#"{ "type": "module" }"#)])
        .with_code(0)
        .printed(&["undefined true"]);
    run_files("package_script", &[("main.js", script), ("package.json", r#"{ "type": "commonjs" }"#)])
        .with_code(0)
        .printed(&["function false"]);
    run_files("package_silent", &[("main.js", script), ("package.json", "{ not json")])
        .with_code(0)
        .printed(&["function false"]);
}

#[test]
fn import_makes_a_js_file_a_module() {
    run("by_syntax", "import 'node:path'; console.log(typeof require, await 1);")
        .with_code(0)
        .printed(&["undefined 1"]);
}

#[test]
fn microtasks_come_before_the_next_job() {
    run(
        "order",
        r#"
        // Due at once, so before the timers, however long this script takes.
        setImmediate(() => console.log("immediate"));
        setTimeout((...args) => { console.log("timer", ...args); Promise.resolve().then(() => console.log("its microtask")); }, 1, "a", "b");
        setTimeout(() => console.log("next timer"), 1);
        Promise.resolve().then(() => console.log("microtask"));
        queueMicrotask(() => console.log("queued"));
        console.log("script");
        "#,
    )
    .with_code(0)
    .printed(&["script", "microtask", "queued", "immediate", "timer a b", "its microtask", "next timer"])
    .quietly();
}

#[test]
fn timers_can_be_stopped_and_unreferenced() {
    run(
        "timers",
        r#"
        let ticks = 0;
        const interval = setInterval(() => { if (++ticks === 3) clearInterval(interval); }, 1);
        clearTimeout(setTimeout(() => console.log("never"), 1));
        clearTimeout(+setTimeout(() => console.log("never"), 1));
        clearImmediate(setImmediate(() => console.log("never")));
        clearTimeout(undefined);
        const far = setTimeout(() => console.log("never"), 1e6).unref();
        console.log(far.hasRef());
        process.on("exit", () => console.log(ticks));
        "#,
    )
    .with_code(0)
    .printed(&["false", "3"])
    .quietly();
}

#[test]
fn timers_are_never_early() {
    run(
        "timers_not_early",
        r#"
        const start = performance.now();
        setTimeout(() => console.log(performance.now() - start >= 20), 20);
        "#,
    )
    .with_code(0)
    .printed(&["true"]);
}

#[test]
fn console_formats_as_node_does() {
    run(
        "console",
        r#"
        const circular = { name: "c" };
        circular.self = circular;
        console.log("%s is %d and %i and %f %j %o%%", "x", "1.5", 1.7, "2.5", { a: 1 }, { b: 1 }, "rest", { c: "d" });
        console.log([1, , "two"], new Map([["k", new Set([1])]]), circular, [undefined, null, -0, 1n, Symbol("s")]);
        console.log({ f() {}, g: class A {}, h: () => {}, d: new Date(0), re: /x/g, deep: { a: { b: { c: {} } } } });
        console.log(new (class Point { x = 1; })(), Object.create(null), Promise.resolve(1), new Uint8Array(2), "it's");
        console.log(["it's", 'a"b', "line\n"]);
        console.group("group"); console.log("a\nb"); console.groupEnd(); console.log(); console.log(undefined);
        console.log(Array.from({ length: 40 }, (_, i) => i * 10));
        console.info("info"); console.debug("debug"); console.count(); console.count();
        "#,
    )
    .with_code(0)
    .printed(&[
        r#"x is 1.5 and 1 and 2.5 {"a":1} { b: 1 }% rest { c: 'd' }"#,
        "[ 1, <1 empty item>, 'two' ] Map(1) { 'k' => Set(1) { 1 } } <ref *1> { name: 'c', self: [Circular *1] } [ undefined, null, -0, 1n, Symbol(s) ]",
        "{",
        "  f: [Function: f],",
        "  g: [class A],",
        "  h: [Function: h],",
        "  d: 1970-01-01T00:00:00.000Z,",
        "  re: /x/g,",
        "  deep: { a: { b: [Object] } }",
        "}",
        r#"Point { x: 1 } [Object: null prototype] {} Promise { 1 } Uint8Array(2) [ 0, 0 ] it's"#,
        r#"[ "it's", 'a"b', 'line\n' ]"#,
        "group",
        "  a",
        "  b",
        "",
        "undefined",
        "[",
        "    0,  10,  20,  30,  40,  50,  60,  70,",
        "   80,  90, 100, 110, 120, 130, 140, 150,",
        "  160, 170, 180, 190, 200, 210, 220, 230,",
        "  240, 250, 260, 270, 280, 290, 300, 310,",
        "  320, 330, 340, 350, 360, 370, 380, 390",
        "]",
        "info",
        "debug",
        "default: 1",
        "default: 2",
    ])
    .quietly();
}

#[test]
fn warnings_and_errors_go_to_the_standard_error() {
    run(
        "console_error",
        "console.error('e'); console.warn('w'); console.log('l'); console.assert(false, 'a');",
    )
    .with_code(0)
    .printed(&["l"])
    .complained(&["e\nw\nAssertion failed: a\n"]);
}

#[test]
fn structured_clone_copies_and_shares() {
    run(
        "structured_clone",
        r#"
        const shared = new SharedArrayBuffer(4);
        const copy = structuredClone({ list: [1], word: new Int32Array(shared) });
        new Int32Array(shared)[0] = 7;
        console.log(copy.list, copy.word[0]);
        try { structuredClone(() => {}); } catch (error) { console.log(error.name); }
        "#,
    )
    .with_code(0)
    .printed(&["[ 1 ] 7", "DataCloneError"])
    .quietly();
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_text() {
    run_files(
        "byte_order_mark",
        &[
            ("main.js", "\u{feff}#!/usr/bin/env waitword\nconsole.log(require('./data.json').a);"),
            ("data.json", "\u{feff}{ \"a\": 1 }"),
        ],
    )
    .with_code(0)
    .printed(&["1"])
    .quietly();
}
