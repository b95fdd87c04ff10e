//! Recursion: an error, in scripts, in the engine and in the host's own functions.

use crate::program::run;

/// Whatever goes deep ends in an error that the script can catch, never in a dead process.
#[test]
fn going_too_deep_is_an_error_and_no_abort() {
    let deep = [
        ("function f() { f(); } f()", true),
        ("const f = () => [1].map(f); f()", true),
        ("const o = { get x() { return o.x; } }; o.x", true),
        ("const o = { toString() { return `${o}`; } }; `${o}`", true),
        ("let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x", true),
        (
            "let b = () => {}; for (let i = 0; i < 3e3; i++) b = b.bind(null); for (;;) b = Reflect.apply(b, b, []) ?? b",
            true,
        ),
        ("const a = []; a.push(a); a.flat(Infinity)", true),
        ("JSON.parse('['.repeat(1e6))", true),
        ("eval('('.repeat(1e6))", true),
        ("eval('['.repeat(1e5) + ']'.repeat(1e5))", true),
        ("eval('1' + '+1'.repeat(1e6)); throw new RangeError()", true),
        ("new RegExp('('.repeat(1e6))", true),
        ("/^(a|b|c)*$/.test('abc'.repeat(1e6)); throw new RangeError()", true),
        ("let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; JSON.stringify(o)", true),
        ("let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; console.log(`${structuredClone(o)}`)", false),
        (
            "let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; require('util').inspect(o, { depth: null })",
            true,
        ),
        (
            "let e; for (let i = 0; i < 1e5; i++) e = new Error('e', { cause: e }); require('util').inspect(e, { depth: null })",
            true,
        ),
        (
            "let e; for (let i = 0; i < 1e5; i++) e = new Error('e', { cause: e }); require('util').inspect(e)",
            false,
        ),
        ("let s = ''; for (let i = 0; i < 1e4; i++) s = 'a' + s + 'b'; console.log(`${s.length}`)", false),
        ("const handler = {}; handler.get = () => new Proxy({}, handler).x; new Proxy({}, handler).x", true),
        ("class A { constructor() { new A(); } } new A()", true),
        ("function* g() { yield* g(); } [...g()]", true),
        ("const f = async () => { await f(); }; f().catch(() => {}); throw new RangeError()", true),
        (
            "const { port1 } = new MessageChannel(); port1.on('close', function f() { port1.emit('close'); }); port1.emit('close')",
            true,
        ),
    ];
    for (script, throws) in deep {
        let script = format!(
            "process.on('exit', () => console.log('alive'));
             try {{ {script}; }} catch (error) {{
               if (!(error instanceof RangeError || error instanceof SyntaxError || error instanceof InternalError)) throw error;
               console.log('caught');
             }}"
        );
        let ran = run("too_deep", &script);
        let has_caught = ran.stdout.starts_with("caught");
        let ran = ran.with_code(0).quietly();
        assert!(ran.stdout.ends_with("alive\n"), "{script}: {ran:#?}");
        assert_eq!(has_caught, throws, "{script}: {ran:#?}");
    }
}

#[test]
fn a_worker_that_goes_too_deep_or_patches_everything_harms_no_other() {
    run(
        "harmless",
        r#"
        const { Worker } = require("worker_threads");
        const sources = [
          "function f() { f(); } f()",
          "Object.prototype.then = () => { throw 1; }; Promise.resolve({})",
          "globalThis.Promise = Array.prototype.push = null; throw null",
          "Atomics.wait = Atomics.notify = undefined; delete globalThis.Atomics; throw { get stack() { throw 1; } }",
        ];
        let left = sources.length;
        for (const source of sources) {
          const worker = new Worker(source, { eval: true });
          worker.on("error", () => {});
          worker.on("exit", () => {
            if (--left > 0) return;
            const word = new Int32Array(new SharedArrayBuffer(4));
            Atomics.waitAsync(word, 0, 0).value.then((outcome) => console.log(outcome, [1].concat([2]).length));
            Atomics.notify(word, 0);
          });
        }
        "#,
    )
    .with_code(0)
    .printed(&["ok 2"])
    .quietly();
}
