//! The command on scripts. Each script in a folder beside this file is a case: a program, and at its top how it is run and what comes
//! of it. A case prints exactly its lines, complains about nothing and ends with code 0, unless it says otherwise:
//!
//! | line | means |
//! |---|---|
//! | `// text` | why the case is there |
//! | `//> text` | a line of the standard output; `$DIR` stands for the folder of the program |
//! | `//@ stdout: sorted` | agents print these lines in any order; `starts`: more lines follow; `any`: nothing is known of it |
//! | `//@ stdout: checks` | the program checks itself, and begins each line, of which there are some, with `ok` |
//! | `//@ stdout: as on Node` | the lines and the exit code are those of Node; nothing is compared where Node is not installed |
//! | `//@ stderr has: text` | a part of the standard error, with `\n` for the end of a line; others may be there as well |
//! | `//2> text` | all of it; here, and in what it has, T may stand for a time, N for the number of the process, a space for several or for the end of a line |
//! | `//@ stderr lacks: text` | what is not a part of it; `//@ stderr: any`: nothing is known of it |
//! | `//@ code: 1` | the exit code |
//! | `//@ flags: …`, `//@ arguments: …` | stand before and after the name of the script |
//! | `//@ command: …` | is run, and not `run` with the first file; spaces at the ends of lines that it prints do not count |
//! | `//@ environment: NAME=text` | a variable that it gets |
//! | `//@ memory: 100` | so many MiB are more than its process has had when it calls `done()`, as the last that it does |
//! | `//@ each NAME: text` | the case is run with each of these texts in the place of NAME, above the program too |
//! | `//@ each ONE OTHER: text \| text` | the same with texts for several names |
//! | `//@ each NAME in FILE` | the same, with the paragraphs of a file of the folder |
//! | `//@ node: same` | the program prints the same on Node as well, if that is installed |
//! | `//@ node differs: text` | but for the line with this check, in which Node goes another way than ECMA-262 or HTML |
//! | `//@ only on: linux` | or another name that `cfg` knows |
//! | `//@ file: NAME` | what follows is another file of the program; as the first line of all, it names the first file |
//!
//! The program is copied to a folder of its own, without the lines above, under the name `main.js` or `main.mjs`; the folder `support`
//! goes with it. One with `//@ in place` runs where it lies. `WAITWORD_BLESS=1` writes what cases that fail print into them.
//! `cargo test -p waitword-cli --test scripts NAME` runs some.

mod case;
#[path = "../cli/program.rs"]
#[allow(dead_code)]
mod program;
mod run;
#[path = "../../../waitword/tests/common/skip.rs"]
mod skip;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

use case::{Case, Stdout};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Many a case sleeps, or waits for another process.
    arguments.test_threads.get_or_insert(4 * std::thread::available_parallelism().map_or(1, usize::from));
    let has_node = run::has_node();
    let trials: Vec<_> = cases().flat_map(Case::variants).map(|case| trial(case, has_node)).collect();
    assert!(!trials.is_empty(), "there are no scripts");
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial(case: Case, has_node: bool) -> Trial {
    let is_ignored = !case.runs_here() || case.stdout == Stdout::AsOnNode && !has_node;
    Trial::test(case.name.clone(), move || run::run(&case, has_node)).with_ignored_flag(is_ignored)
}

/// What lies in the folders beside this file.
fn cases() -> impl Iterator<Item = Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let areas = entries(&root).into_iter().filter(|path| path.is_dir());
    let scripts = areas
        .flat_map(|area| entries(&area))
        .filter(|path| path.extension().is_some_and(|end| end == "js" || end == "mjs"));
    scripts.map(|path| Case::read(&path))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}
