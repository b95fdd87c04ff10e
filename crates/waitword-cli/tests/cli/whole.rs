//! Limits of a program as a whole: `--max-workers`, `--total-memory`; and memory that nobody has touched.

use crate::memory::FILL;
use crate::program::{are_usage_errors, folder, limited, measured, waitword};

#[test]
fn workers_beyond_the_limit_are_an_error_where_they_are_made() {
    let refused = "ERR_WORKER_INIT_FAILED Worker initialization failure: 3 workers are alive, and no more may be: \
                   end some, or raise the limit";
    let script = r#"
        const { Worker } = require("worker_threads");
        const stay = "require('worker_threads').parentPort.on('message', () => {})";
        const workers = [];
        const attempt = () => {
          try {
            workers.push(new Worker(stay, { eval: true }));
            return "made";
          } catch ({ code, message }) {
            return code + " " + message;
          }
        };
        for (let at = 0; at < 4; at++) console.log(attempt());
        // Those of a page are no others.
        try { new globalThis.Worker("data:,"); } catch ({ code }) { console.log(code); }
        (async () => {
          await workers.pop().terminate();
          await workers.pop().terminate();
          workers.push(new Worker(stay, { eval: true }));
          // Nor are those that workers make.
          const nested = `const { Worker, parentPort } = require("worker_threads");
            try { new Worker("", { eval: true }); } catch ({ code }) { parentPort.postMessage(code); }`;
          const parent = new Worker(nested, { eval: true });
          parent.on("message", (code) => console.log("nested", code));
          await new Promise((resolve) => parent.on("exit", resolve));
          console.log(attempt());
          for (const worker of workers) worker.terminate();
        })();
        "#;
    limited("max_workers", &["--max-workers", "3"], script)
        .with_code(0)
        .printed(&[
            "made",
            "made",
            "made",
            refused,
            "ERR_WORKER_INIT_FAILED",
            "nested ERR_WORKER_INIT_FAILED",
            "made",
        ])
        .quietly();
    limited(
        "max_workers_uncaught",
        &["--max-workers", "0"],
        "new (require('worker_threads').Worker)(__filename);",
    )
    .with_code(1)
    .complained(&["0 workers are alive", "help: the limit is that of --max-workers"]);
}

/// Each worker makes more, and all stay.
const BOMB: &str = r#"
    const { Worker, workerData, isMainThread } = require("worker_threads");
    const counts = workerData ?? new Int32Array(new SharedArrayBuffer(8));
    const [MADE, REFUSED] = [0, 1];
    for (let at = 0; at < 3; at++) {
      try {
        new Worker(__filename, { workerData: counts });
        Atomics.add(counts, MADE, 1);
      } catch (error) {
        if (error.code !== "ERR_WORKER_INIT_FAILED" && !/out of memory/.test(error.message)) throw error;
        Atomics.add(counts, REFUSED, 1);
        Atomics.notify(counts, REFUSED);
      }
    }
"#;

#[test]
fn a_fork_bomb_ends_in_errors() {
    let all_refused = r#"
        // With 20 alive, 3 attempts of each and 3 of the main agent, there are 63.
        if (isMainThread) (async () => {
          for (let refused; (refused = Atomics.load(counts, REFUSED)) < 43; ) await Atomics.waitAsync(counts, REFUSED, refused).value;
          console.log(Atomics.load(counts, MADE), Atomics.load(counts, REFUSED));
          process.exit(0);
        })();
        else require("worker_threads").parentPort.on("message", () => {});
        "#;
    limited("bomb_workers", &["--max-workers", "20", "--timeout", "50"], &format!("{BOMB}{all_refused}"))
        .with_code(0)
        .printed(&["20 43"])
        .quietly();
    // A chain in which nobody catches anything.
    let chain = "const { Worker } = require('worker_threads'); new Worker(__filename);";
    limited("bomb_chain", &["--max-workers", "20"], chain)
        .with_code(1)
        .complained(&["in worker 20", "20 workers are alive"]);
    limited("bomb_chain_memory", &["--total-memory", "24M"], chain)
        .with_code(1)
        .complained(&["no memory left for another agent", "help: the limit is that of --total-memory"]);
}

#[test]
fn a_fork_bomb_takes_no_more_memory_than_all_may() {
    let measure = r#"
        else require("worker_threads").parentPort.on("message", () => {});
        "#;
    // The first that is refused is heard of; some are ended then, for `done` makes a worker.
    let script = format!(
        r#"{BOMB}
        if (isMainThread) (async () => {{
          await Atomics.waitAsync(counts, REFUSED, 0).value;
          // There is room for this as soon as the first of them has ended.
          for (;;) try {{
            await Promise.all(workers.map((each) => each.terminate()));
            break;
          }} catch (error) {{
            if (!/out of memory/.test(error.message)) throw error;
          }}
          console.log(Atomics.load(counts, MADE) > 3);
          done();
        }})();
        {measure}"#
    );
    let script = script.replace("new Worker(__filename", "workers.push(new Worker(__filename");
    let script = script.replace("workerData: counts });", "workerData: counts }));");
    let script = format!("const workers = []; {script}");
    let flags = ["--total-memory", "32M", "--timeout", "50"];
    let (ran, peak) = measured(&folder("bomb_memory"), &flags, &script);
    ran.with_code(0).printed(&["true"]).quietly();
    assert!(peak.is_none_or(|peak| peak < 100 << 20), "{peak:?}");
}

#[test]
fn all_agents_share_the_memory_of_the_program() {
    let script = format!(
        r#"{FILL}
        const source = `
          const {{ parentPort }} = require("worker_threads");
          ${{fill}}
          const kept = [];
          const kinds = {{
            shared: () => kept.push(new SharedArrayBuffer(1 << 20)),
            growable: () => kept.push(new SharedArrayBuffer(1, {{ maxByteLength: 1 << 20 }})),
            heap: () => kept.push(new ArrayBuffer(1 << 20)),
          }};
          parentPort.on("message", (kind) => {{
            const [taken, error] = fill(kinds[kind]);
            kept.length = 0;
            parentPort.postMessage([taken, error.name]);
          }});`;
        const worker = new Worker(source, {{ eval: true }});
        const ask = (kind) => new Promise((resolve) => {{
          worker.once("message", resolve);
          worker.postMessage(kind);
        }});
        (async () => {{
          for (const kind of ["shared", "growable", "heap"]) {{
            const [alone, name] = await ask(kind);
            const half = [new SharedArrayBuffer(8 * MIB), new ArrayBuffer(4 * MIB)];
            const {{ port1, port2 }} = new MessageChannel();
            port1.postMessage("x".repeat(4 * MIB));
            const [beside] = await ask(kind);
            port2.close();
            half.length = 0;
            console.log(kind, name, alone > 20, alone - beside >= 15 && alone - beside <= 17);
            await new Promise((resolve) => setTimeout(resolve));
          }}
          worker.terminate();
        }})();
        "#
    );
    limited("total_memory", &["--total-memory", "32M"], &script)
        .with_code(0)
        .printed(&[
            "shared RangeError true true",
            "growable RangeError true true",
            "heap InternalError true true",
        ])
        .quietly();
    // The smaller of the two limits holds.
    let both =
        format!("{FILL} const all = []; console.log(fill(() => all.push(new SharedArrayBuffer(MIB)))[0]);");
    limited("total_and_each", &["--total-memory", "64M", "--memory-limit", "8M"], &both)
        .with_code(0)
        .printed(&["7"])
        .quietly();
}

/// From limits at which nothing fits to such that everything does.
#[test]
fn no_limit_of_the_whole_leads_to_anything_but_an_error_that_is_understood() {
    let program = r#"
        const { Worker, isMainThread, parentPort, workerData } = require("worker_threads");
        if (isMainThread) {
          const worker = new Worker(__filename, { workerData: new Array(500).fill("data") });
          worker.on("message", (length) => console.log(length));
        } else {
          const kept = Array.from({ length: 20_000 }, (_, i) => ({ i }));
          parentPort.postMessage(workerData.length + kept.length);
        }
        "#;
    let mut seen = [false; 2];
    for kib in [1, 256, 512, 768, 1024, 1536, 2048, 2560, 3072, 4096, 6144, 8192, 16384] {
        let ran = limited("total_limits", &["--total-memory", &format!("{kib}K")], program);
        let is_understood = match ran.code {
            Some(0) => ran.stdout == "20500\n",
            Some(1) => ["out of memory", "no memory left for another agent"]
                .iter()
                .any(|why| ran.stderr.contains(why)),
            _ => false,
        };
        assert!(is_understood, "with {kib}K: {ran:#?}");
        seen[usize::from(ran.code == Some(0))] = true;
        ran.kept_from(&["panicked", "bug in waitword", "null"]);
    }
    assert_eq!(seen, [true, true], "some have to fit, and some not");
}

/// A gibibyte that is only made takes neither memory nor time, for whatever kind of buffer.
#[test]
fn shared_memory_takes_no_memory_before_it_is_touched() {
    let script = r#"
        const { Worker } = require("worker_threads");
        const GIB = 2 ** 30;
        class Sub extends SharedArrayBuffer {}
        const made = [new SharedArrayBuffer(GIB), new SharedArrayBuffer(0, { maxByteLength: GIB }), new Sub(GIB)];
        made[1].grow(GIB);
        console.log(made.map((each) => each.byteLength === GIB), made.map((each) => each.growable), made[2] instanceof Sub);
        console.log(made.map((each) => Object.prototype.toString.call(each).slice(8, -1)).join(), made[0].maxByteLength === GIB);
        const source = `const { parentPort, workerData: [fixed, growable] } = require("worker_threads");
          const words = [fixed, growable].map((each) => new Int32Array(each));
          parentPort.postMessage(words.map((each) => Atomics.add(each, each.length - 1, 5)));`;
        new Worker(source, { eval: true, workerData: made }).on("message", (seen) => {
          console.log(seen, made.slice(0, 2).map((each) => new Int32Array(each).at(-1)));
          done();
        });
        "#;
    let (ran, peak) = measured(&folder("untouched"), &[], script);
    ran.with_code(0)
        .printed(&[
            "[ true, true, true ] [ false, true, false ] true",
            "SharedArrayBuffer,SharedArrayBuffer,SharedArrayBuffer true",
            "[ 0, 0 ] [ 5, 5 ]",
        ])
        .quietly();
    assert!(peak.is_none_or(|peak| peak < 200 << 20), "{peak:?}");
}

#[test]
fn limits_of_the_whole_that_make_no_sense_are_usage_errors() {
    are_usage_errors(&[
        "--total-memory=0",
        "--total-memory=much",
        "--max-workers=-1",
        "--max-workers=1.5",
        "--max-workers=16M",
    ]);
    let help = waitword().args(["run", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    for part in ["--total-memory <SIZE>", "--max-workers <N>", "[default: 1024]", "ERR_WORKER_INIT_FAILED"] {
        assert!(help.contains(part), "no {part} in {help}");
    }
}
