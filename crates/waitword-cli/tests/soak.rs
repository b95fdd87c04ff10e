//! Long programs whose memory has to stay flat. Ignored by default:
//!
//! ```text
//! cargo test --release -p waitword-cli --test soak -- --ignored --nocapture --test-threads 1
//! ```
//!
//! Each script prints a line after each of its ten rounds, and this reads then how much memory its process has. The last
//! rounds may need a little more than the third one (an allocator is no machine), but not what a leak of a round would be.

#![cfg(target_os = "linux")]

#[path = "cli/program.rs"]
#[allow(dead_code)]
mod program;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::Instant;

use program::{memory_of, prepared};

#[test]
#[ignore = "ten thousand workers"]
fn ten_thousand_workers_that_are_terminated_in_their_waits_leave_memory_flat() {
    flat(
        "terminated",
        r#"
        const { Worker } = require("worker_threads");
        const word = new Int32Array(new SharedArrayBuffer(8));
        const source = `const { parentPort, workerData: word } = require("worker_threads");
          for (let i = 0; i < 10; i++) Atomics.waitAsync(word, 0, 0);
          for (let i = 0; i < 10; i++) Atomics.waitAsync(word, 0, 0, 1e9);
          parentPort.postMessage("ready");
          Atomics.wait(word, 1, 0);`;
        async function once() {
          const worker = new Worker(source, { eval: true, workerData: word });
          await new Promise((resolve) => worker.once("message", resolve));
          await worker.terminate();
          if (Atomics.notify(word, 0) + Atomics.notify(word, 1) !== 0) throw new Error("the dead eat notifies");
        }
        (async () => {
          for (let round = 0; round < 10; round++) {
            for (let i = 0; i < 1000; i++) await once();
            await mark();
          }
        })();
        "#,
    );
}

#[test]
#[ignore = "a million blocks"]
fn a_million_blocks_dropped_with_a_waiter_each_leave_memory_flat() {
    flat(
        "dropped",
        r#"
        (async () => {
          for (let round = 0; round < 10; round++) {
            for (let i = 0; i < 100_000; i++) {
              Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0).value.then(() => console.log("never"));
            }
            await mark();
          }
        })();
        "#,
    );
}

#[test]
#[ignore = "a million waits"]
fn a_million_notified_waits_that_had_long_deadlines_leave_memory_flat() {
    flat(
        "notified",
        r#"
        const word = new Int32Array(new SharedArrayBuffer(4));
        let woken = 0;
        (async () => {
          for (let round = 0; round < 10; round++) {
            for (let crowd = 0; crowd < 100; crowd++) {
              const all = [];
              for (let i = 0; i < 1000; i++) all.push(Atomics.waitAsync(word, 0, 0, 1e9).value);
              Atomics.notify(word, 0);
              for (const outcome of await Promise.all(all)) woken += outcome === "ok";
            }
            if (woken !== (round + 1) * 100_000) throw new Error(`${woken}`);
            await mark();
          }
        })();
        "#,
    );
}

/// Waits until the test has looked: it answers by a file, the only thing that a script can see of the outside.
const MARK: &str = r#"
    let marks = 0;
    async function mark() {
      console.log("mark");
      marks++;
      for (;;) {
        try {
          require(`./mark-${marks}.json`);
          return;
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
      }
    }
"#;

fn flat(test: &str, script: &str) {
    let script = format!("{MARK}{script}");
    let mut command = prepared(&format!("soak/{test}"), &[], &[("main.js", &script)], &[]);
    let folder = command.get_current_dir().unwrap().to_owned();
    let start = Instant::now();
    command.stderr(Stdio::inherit());
    let mut child = command.spawn().unwrap();
    let mut rounds = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        assert_eq!(line.unwrap(), "mark");
        rounds.push(memory_of(child.id(), "VmRSS").expect("a resident set") >> 20);
        // Whole or not at all, so that the script never reads half of it.
        let part = folder.join("part");
        fs::File::create(&part).unwrap().write_all(b"0").unwrap();
        fs::rename(part, folder.join(format!("mark-{}.json", rounds.len()))).unwrap();
    }
    assert!(child.wait().unwrap().success());
    println!("{test}: MiB after each round: {rounds:?}; {:.1} s", start.elapsed().as_secs_f64());
    assert_eq!(rounds.len(), 10);
    let (early, late) = (rounds[2], rounds[9]);
    assert!(late <= early + early / 4 + 4, "{test}: {rounds:?}");
}
