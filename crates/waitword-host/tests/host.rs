//! Whole programs inside a Rust program.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::thread;

use waitword_host::{FailureKind, Program};
use waitword_quickjs::SharedBlock;

fn script(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).unwrap();
    path
}

/// The script waits without a timeout, which would be hopeless if nobody but its own agents could notify.
#[test]
fn a_rust_thread_shares_a_word_with_a_program() {
    let path = script(
        "share.mjs",
        r#"
        import { Worker, workerData } from "node:worker_threads";
        const words = new Int32Array(workerData);
        Atomics.store(words, 0, 1);
        Atomics.notify(words, 0);
        const { value } = Atomics.waitAsync(words, 1, 0);
        process.exitCode = (await value) === "ok" && words[2] === 42 ? 7 : 1;
        "#,
    );
    let block = SharedBlock::new(12).unwrap();
    let program = Program::new(path).share(block.clone());
    let running = thread::spawn(move || program.run());
    let word = |index: usize| block.i32(index * 4).unwrap();
    while word(0).load(Ordering::SeqCst) == 0 {
        let _ = waitword_core::wait(word(0), 0);
    }
    word(2).store(42, Ordering::SeqCst);
    while waitword_core::notify_one(word(1)) == 0 && !running.is_finished() {
        thread::yield_now();
    }
    let ended = running.join().unwrap();
    assert_eq!(ended.exit_code, 7, "{ended:?}");
    assert!(ended.failure.is_none() && ended.abandoned.is_empty() && !ended.is_standstill);
}

#[test]
fn a_failure_is_plain_data() {
    let path = script("failure.js", "function f() {\n  null.x;\n}\nf();\n");
    let ended = Program::new(&path).run();
    let failure = ended.failure.unwrap();
    assert_eq!(
        (ended.exit_code, failure.kind, failure.agent.to_string().as_str()),
        (1, FailureKind::Uncaught, "main")
    );
    assert!(failure.message.starts_with("TypeError: "), "{failure:?}");
    let place = failure.place.unwrap();
    assert_eq!((place.line, place.column, place.text.as_deref()), (2, Some(3), Some("  null.x;")));
    assert_eq!(failure.stack.len(), 2);
}

#[test]
fn abandoned_waits_are_plain_data() {
    let path = script(
        "abandoned.js",
        "const words = new BigInt64Array(new SharedArrayBuffer(16));\nAtomics.waitAsync(words, 1, 0n);\n",
    );
    let ended = Program::new(&path).run();
    assert_eq!(ended.exit_code, 0);
    assert!(ended.is_standstill && !ended.is_awaiting);
    let [wait] = ended.abandoned.as_slice() else { panic!("{ended:?}") };
    assert_eq!((wait.agent.thread_id(), wait.is_blocked, wait.byte_index), (0, false, 8));
    assert!(wait.place.as_ref().unwrap().contains("abandoned.js:2:"));
}

/// Two programs of one process do not know of each other.
#[test]
fn programs_run_side_by_side() {
    let path = script(
        "side_by_side.js",
        "const { Worker, threadId } = require('worker_threads');
         new Worker('', { eval: true }).on('exit', () => { process.exitCode = 3 + threadId; });",
    );
    let running = [(); 4].map(|()| {
        thread::spawn({
            let path = path.clone();
            || Program::new(path).run().exit_code
        })
    });
    assert_eq!(running.map(|each| each.join().unwrap()), [3; 4]);
}
