//! The article's own listings, taken out of a text of it: `WAITWORD_ARTICLE=FILE`, from the root of the workspace if FILE is
//! relative. Without it these tests are skipped, and say so.
//!
//! The listings run as they stand. Code of ours stands before or after them, never in them.

use std::path::{Path, PathBuf};
use std::sync::Once;
use std::{env, fs};

use crate::listings::Listings;
use crate::program;
use crate::skip::skip;
use crate::{run, statement};

const VARIABLE: &str = "WAITWORD_ARTICLE";

fn folder(test: &str) -> PathBuf {
    program::folder(&format!("article/{test}"))
}

/// The listings of the text that is given, or `None` if none is.
fn given() -> Option<Listings> {
    static SKIPPED: Once = Once::new();
    let Some(file) = env::var_os(VARIABLE).filter(|file| !file.is_empty()) else {
        SKIPPED.call_once(|| {
            let why = format!(
                "they are not in this repository; give a text of the article with fenced code as {VARIABLE}=FILE"
            );
            skip("the article's own listings", &why);
        });
        return None;
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{VARIABLE}: {}: {error}", path.display()));
    Some(Listings::read(&text))
}

#[test]
fn the_demo_runs_alone() {
    let Some(listings) = given() else { return };
    let script = folder("demo").join("demo.js");
    fs::write(&script, listings.demo).unwrap();
    assert_eq!(run(&script), [""; 0]);
}

/// What the demo's result was, and the outcome of its promise if there is one. `before` runs before the demo.
fn demo(test: &str, listings: &Listings, before: &str) -> Vec<String> {
    let after = "
        console.log(`async: ${result.async}, promise: ${result.value instanceof Promise}`);
        console.log(await result.value);";
    let script = folder(test).join("demo.mjs");
    fs::write(&script, format!("{before}\n{}\n{after}\n", listings.demo)).unwrap();
    run(&script)
}

#[test]
fn the_demo_is_notified_by_its_own_agent_or_by_another_or_times_out_or_need_not_wait() {
    let Some(listings) = given() else { return };
    let own = "
        const { notify } = Atomics;
        Atomics.notify = (...args) => console.log(`woke ${notify(...args)}`);";
    let other = "
        import { Worker } from 'node:worker_threads';
        const code = `
            const { workerData, parentPort } = require('node:worker_threads');
            parentPort.postMessage(Atomics.notify(...workerData));`;
        Atomics.notify = (...args) => {
            new Worker(code, { eval: true, workerData: args }).on('message', (count) => console.log(`woke ${count}`));
        };";
    let nobody = "
        Atomics.notify = () => {};
        const start = performance.now();
        const { waitAsync } = Atomics;
        Atomics.waitAsync = (array, index, expected, timeout) => {
            const result = waitAsync(array, index, expected, timeout);
            result.value.then(() => console.log(performance.now() - start >= timeout ? 'on time' : 'early'));
            return result;
        };";
    let unequal = "
        globalThis.Int32Array = class extends Int32Array {
            constructor(buffer) {
                super(buffer).fill(1);
            }
        };";
    let pending = "async: true, promise: true";
    assert_eq!(demo("own", &listings, own), ["woke 1", pending, "ok"]);
    let mut lines = demo("other", &listings, other);
    lines.sort();
    assert_eq!(lines, [pending, "ok", "woke 1"]);
    assert_eq!(demo("late", &listings, nobody), [pending, "on time", "timed-out"]);
    assert_eq!(demo("unequal", &listings, unequal), ["async: false, promise: false", "not-equal"]);
}

/// The scripts about the mutex, with the article's class in the place of ours.
#[test]
fn the_class_is_the_mutex_that_the_article_describes() {
    let Some(listings) = given() else { return };
    let folder = folder("class");
    let support = folder.join("support");
    fs::create_dir(&support).unwrap();
    for part in ["check.mjs", "partner.mjs"] {
        fs::copy(statement("support").join(part), support.join(part)).unwrap();
    }
    let exports = "export { AsyncLock };\nexport const UNLOCKED = 0;\nexport const LOCKED = 1;";
    let class = format!("{}\n{exports}\n", listings.class);
    fs::write(support.join("async-lock.mjs"), class).unwrap();

    let mut checked = 0;
    for entry in fs::read_dir(statement("")).unwrap() {
        let script = entry.unwrap().path();
        let name = script.file_name().unwrap().to_string_lossy().into_owned();
        if !name.starts_with("mutex-") {
            continue;
        }
        let text = fs::read_to_string(&script).unwrap();
        let checks: Vec<_> =
            text.lines().filter_map(|line| line.strip_prefix("//> ")).map(str::to_owned).collect();
        fs::copy(&script, folder.join(&name)).unwrap();
        assert_eq!(run(&folder.join(&name)), checks, "{name}");
        checked += 1;
    }
    assert_eq!(checked, 6);
}

/// The states of the word have the names that the article gives them.
#[test]
fn the_class_names_its_states() {
    let Some(listings) = given() else { return };
    let script = folder("names").join("names.mjs");
    let after = "
        const word = new Int32Array(new SharedArrayBuffer(4));
        const lock = new AsyncLock(word.buffer);
        console.log(AsyncLock.INDEX, word[0] === AsyncLock.UNLOCKED);
        lock.lock();
        console.log(word[0] === AsyncLock.LOCKED, lock.i32a.buffer === lock.sab);";
    fs::write(&script, format!("{}\n{after}\n", listings.class)).unwrap();
    assert_eq!(run(&script), ["0 true", "true true"]);
}
