//! Where source text comes from, and how much of it is read: files, pipes, the standard input.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::thread;

use crate::program::{Ran, ended, finish, folder, measured, run_with, waitword};

/// Runs what comes from the standard input.
fn run_stdin(
    test: &str,
    flags: &[&str],
    arguments: &[&str],
    feed: impl Fn(&mut dyn Write) -> bool + Send,
) -> Ran {
    let mut command = waitword();
    command.current_dir(folder(test)).arg("run").args(flags).args(arguments);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    thread::scope(|scope| {
        scope.spawn(move || while feed(&mut stdin) {});
        finish(child)
    })
}

fn once(text: &str) -> impl Fn(&mut dyn Write) -> bool + Send + '_ {
    move |stdin| {
        stdin.write_all(text.as_bytes()).unwrap();
        false
    }
}

/// Goes on until nobody reads.
fn without_end(stdin: &mut dyn Write) -> bool {
    stdin.write_all(&b"// and so on\n".repeat(100)).is_ok()
}

#[test]
fn a_program_can_come_from_the_standard_input() {
    let script = "console.log(__filename, process.argv.slice(1).join());\nnull.x;";
    run_stdin("stdin_script", &[], &["-", "a", "-b"], once(script))
        .with_code(1)
        .printed(&["[stdin] -,a,-b"])
        .complained(&["--> [stdin]:2:1", "2 | null.x;"]);
    let module = "import assert from 'node:assert'; assert.ok(import.meta.url.endsWith('/stdin_module/%5Bstdin%5D'));
        const { default: data } = await import('./data.json', { with: { type: 'json' } }); console.log(data.n);";
    let with_file = move |stdin: &mut dyn Write| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stdin_module");
        fs::write(folder.join("data.json"), r#"{ "n": 7 }"#).unwrap();
        once(module)(stdin)
    };
    run_stdin("stdin_module", &[], &["-"], with_file).with_code(0).printed(&["7"]).quietly();
    run_stdin("stdin_nothing", &[], &["-"], once("")).with_code(0).printed(&[]).quietly();
}

#[test]
fn text_without_end_is_read_until_there_is_no_memory_for_it() {
    for from in ["-", "/dev/stdin"] {
        if cfg!(unix) || from == "-" {
            run_stdin("endless", &["--memory-limit", "16M"], &[from], without_end).with_code(1).complained(
                &["error: out of memory in main", ": out of memory\n", "help: raise --memory-limit"],
            );
        }
    }
}

/// The program ends by itself, and need not be ended from outside; but for a machine that does not let it run for so long.
fn ends_in_time(run: impl Fn() -> Ran) {
    let is_in_time = |_| {
        let ran = run().with_code(124).complained(&["error: timed out"]);
        !ran.stderr.contains("cannot interrupt")
    };
    assert!((0..20).any(is_in_time), "it is ended from outside each time");
}

#[test]
fn timeout_ends_the_reading_of_text_and_the_wait_for_it() {
    ends_in_time(|| run_stdin("endless_timeout", &["--timeout", "0.3"], &["-"], without_end));
    // Nobody writes, and nobody closes it before the program has ended.
    ends_in_time(|| {
        let mut command = waitword();
        let pipes = command.args(["run", "--timeout", "0.2", "-"]).stdin(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        let _stdin = child.stdin.take();
        finish(child)
    });
}

#[cfg(unix)]
mod pipes {
    use std::process::Command;

    use super::*;

    fn fifo(test: &str) -> std::path::PathBuf {
        let fifo = folder(test).join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        fifo
    }

    /// Writes to a pipe as soon as somebody reads there.
    fn write(fifo: &Path, text: &'static str) -> thread::JoinHandle<()> {
        let fifo = fifo.to_owned();
        thread::spawn(move || File::create(fifo).unwrap().write_all(text.as_bytes()).unwrap())
    }

    #[test]
    fn programs_modules_data_and_workers_can_come_from_pipes() {
        let fifo = fifo("pipes");
        let run = |arguments: &[&str]| {
            ended(waitword().current_dir(fifo.parent().unwrap()).arg("run").args(arguments))
        };
        let writer = write(&fifo, "console.log(require('path').basename(__filename));\nnull.x");
        run(&["fifo"]).with_code(1).printed(&["fifo"]).complained(&["fifo:2:1", "2 | null.x"]);
        writer.join().unwrap();

        fs::write(fifo.with_file_name("require.js"), "console.log(require('./fifo'))").unwrap();
        let writer = write(&fifo, "module.exports = 'required'");
        run(&["require.js"]).with_code(0).printed(&["required"]).quietly();
        writer.join().unwrap();

        fs::write(fifo.with_file_name("import.mjs"), "import x from './fifo'; console.log(x)").unwrap();
        let writer = write(&fifo, "export default 'imported'");
        run(&["import.mjs"]).with_code(0).printed(&["imported"]).quietly();
        writer.join().unwrap();

        let main = "const { Worker } = require('worker_threads');
            new Worker('./fifo').on('message', (message) => console.log(message));";
        fs::write(fifo.with_file_name("worker.js"), main).unwrap();
        let writer = write(&fifo, "require('worker_threads').parentPort.postMessage('posted')");
        run(&["worker.js"]).with_code(0).printed(&["posted"]).quietly();
        writer.join().unwrap();
    }

    #[test]
    fn a_worker_that_waits_for_its_text_can_be_terminated() {
        let fifo = fifo("pipe_terminate");
        let main = "const { Worker } = require('worker_threads'); const worker = new Worker('./fifo');
            worker.once('online', () => worker.terminate().then((code) => console.log(code)));";
        fs::write(fifo.with_file_name("main.js"), main).unwrap();
        ended(waitword().current_dir(fifo.parent().unwrap()).args(["run", "main.js"]))
            .with_code(0)
            .printed(&["1"])
            .quietly();
    }

    #[test]
    fn process_substitution_has_names_that_lead_nowhere() {
        let Ok(bash) = Command::new("bash").arg("-c").arg("true").status() else { return };
        assert!(bash.success());
        let mut command = Command::new("bash");
        let line = format!("{} run <(echo 'console.log(1);'; echo 'null.x')", env!("CARGO_BIN_EXE_waitword"));
        command.arg("-c").arg(line).stdin(Stdio::null());
        finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
            .with_code(1)
            .printed(&["1"])
            .complained(&["2 | null.x"]);
    }
}

/// A file that says that it has so many bytes, and takes no room on the disk.
fn sparse(path: &Path, bytes: u64) {
    let mut file = File::create(path).unwrap();
    file.write_all(b"// ").unwrap();
    file.set_len(bytes).unwrap();
}

/// However large a file is, and whichever part of the host reads it.
#[test]
fn files_beyond_the_limit_take_no_more_than_the_limit() {
    let folder = folder("sparse");
    sparse(&folder.join("huge.js"), 3 << 30);
    sparse(&folder.join("large.js"), 200 << 20);
    sparse(&folder.join("huge.json"), 3 << 30);
    sparse(&folder.join("large.json"), 200 << 20);
    let limit = ["--memory-limit", "16M"];
    let main =
        |file: &str| ended(waitword().current_dir(&folder).arg("run").args(limit).arg(file)).with_code(1);
    main("huge.js").complained(&["huge.js is too long: source text may have at most 536870912 bytes"]);
    main("large.js").complained(&["error: out of memory in main", "cannot read large.js: out of memory"]);

    let (ran, peak) = measured(&folder, &limit, include_str!("programs/sparse.js"));
    // Of each ending what `require` and `import` say, then the worker.
    let (long, full) = (["undefined too long"; 4], ["undefined out of memory"; 4]);
    let worker = [["MODULE_NOT_FOUND too long"], ["ERR_WORKER_OUT_OF_MEMORY out of memory"]];
    let lines = [&long[..], &worker[0], &full, &worker[1]].concat();
    ran.with_code(0).printed(&lines).quietly();
    assert!(peak.is_none_or(|peak| peak < 40 << 20), "{peak:?}");
}

/// What fits is read, whatever the size says: those below `/proc` have none.
#[test]
fn files_within_the_limit_are_read_whole() {
    let text = format!("{}\nconsole.log('end');", "// a comment\n".repeat(100_000));
    run_with("whole_file", &["--memory-limit", "16M"], &[("main.js", &text)], &[])
        .with_code(0)
        .printed(&["end"])
        .quietly();
    if Path::new("/proc/self/cmdline").exists() {
        let script = "try { require('/proc/self/cmdline') } catch (error) { console.log(error.name) }";
        run_with("proc", &[], &[("main.js", script)], &[]).with_code(0).printed(&["SyntaxError"]).quietly();
    }
}

#[test]
fn a_file_that_is_no_text_says_where() {
    let folder = folder("no_text");
    fs::write(folder.join("latin1.js"), b"'\xe9'").unwrap();
    ended(waitword().current_dir(&folder).args(["run", "latin1.js"]))
        .with_code(1)
        .complained(&["not UTF-8 text (at byte 1)"]);
}

#[cfg(unix)]
mod no_text {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    const NO_TEXT: &[u8] = b"caf\xe9";

    #[test]
    fn an_argument_is_named() {
        let argument = OsStr::from_bytes(NO_TEXT);
        ended(waitword().args(["run", "a.js", "x"]).arg(argument))
            .with_code(2)
            .complained(&[r#"argument 2 of the program is not UTF-8: "caf\xE9""#, "Usage: waitword"]);
    }

    /// Also what it imports, requires and starts, and its package.
    #[test]
    fn a_path_works() {
        let folder = folder("path_no_text").join(OsStr::from_bytes(NO_TEXT));
        fs::create_dir_all(&folder).unwrap();
        let files = [
            ("package.json", r#"{ "type": "module" }"#),
            (
                "main.js",
                "import { x } from './lib.js'; import { createRequire } from 'node:module'; import { Worker } from 'node:worker_threads'; console.log(x, (await import(new URL('lib.js', import.meta.url))).x, createRequire(import.meta.url)('./lib.cjs')); new Worker(new URL('worker.js', import.meta.url));",
            ),
            ("lib.js", "export const x = 1;"),
            ("lib.cjs", "module.exports = 2;"),
            ("worker.js", "console.log(3);\nnull.x;"),
        ];
        for (name, text) in files {
            fs::write(folder.join(name), text).unwrap();
        }
        ended(waitword().arg("run").arg(folder.join("main.js")))
            .with_code(1)
            .printed(&["1 1 2", "3"])
            .complained(&["caf\u{FFFD}e9/worker.js:2:", "2 | null.x;"]);
    }
}
