//! The words of `waitword test262` on the command line.

use std::num::NonZero;
use std::path::PathBuf;

use clap::Args;

use crate::numbers::{count, seconds};

/// Run test262, the conformance suite of ECMAScript, and compare with what is known
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{MORE}\n{EXIT_CODES}"))]
pub(crate) struct Test262 {
    /// The folder with a checkout of test262, which is only read
    pub(super) dir: PathBuf,

    /// Tests, or folders of tests, such as test/built-ins/Atomics [default: what the snapshots cover]
    ///
    /// They count from DIR, or from test in it. Without any, and without snapshots, all tests are run.
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<String>,

    /// How many tests run at a time [default: as many as there are processor cores]
    ///
    /// Tests of agents mostly sleep, so more than there are cores may be faster.
    #[arg(short, long, value_name = "N", value_parser = jobs, allow_negative_numbers = true)]
    pub(super) jobs: Option<NonZero<usize>>,

    /// After so many seconds a test has failed
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds, allow_negative_numbers = true)]
    pub(super) time_limit: std::time::Duration,

    /// The folder of snapshots [default: conformance]
    ///
    /// Each *.txt in it names the paths that it covers and lists the tests below them that do not pass. Tests that no
    /// snapshot covers have to pass.
    #[arg(long, value_name = "DIR")]
    pub(super) snapshots: Option<PathBuf>,

    /// Write what was found into the snapshots, instead of comparing
    ///
    /// Rewrites those snapshots of which all paths were run. To begin a new one, write a file with a line such as `path
    /// test/built-ins/Atomics`.
    #[arg(long)]
    pub(super) update: bool,

    /// Print one JSON object, with every test, instead of text
    #[arg(long)]
    pub(super) json: bool,
}

/// One test, in the process that `waitword test262` starts for it.
#[derive(Debug, Args)]
pub(crate) struct Test262Case {
    pub(super) dir: PathBuf,
    pub(super) file: String,
    #[arg(value_enum)]
    pub(super) mode: super::plan::Mode,
}

fn jobs(text: &str) -> Result<NonZero<usize>, String> {
    NonZero::new(count(text)?).ok_or_else(|| "give a number greater than 0".to_owned())
}

const EXIT_CODES: &str = "\
Exit codes:
    0  everything is as the snapshots say; with --update, they were written
    1  something is not as the snapshots say, or fails and no snapshot knows it
    2  a mistake on the command line; no checkout there, no such tests, a
       snapshot that cannot be read or written";

const MORE: &str = "\
Examples:
  git clone --depth 1 https://github.com/tc39/test262
  waitword test262 test262
  waitword test262 test262 test/built-ins/Atomics/waitAsync --jobs 8
  waitword test262 test262 --update && git diff conformance

How tests run:
  Each in a process of its own, in sloppy and in strict mode unless its flags say
  otherwise. $262 has agent, createRealm, detachArrayBuffer, evalScript, gc,
  global and IsHTMLDDA. The main agent can block, but for tests with the flag
  CanBlockIsFalse. Tests of features that the engine does not have are skipped.
";
