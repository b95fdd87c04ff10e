//! The command line of `waitword test262`.

use std::num::NonZero;
use std::path::PathBuf;

use clap::Args;

use crate::numbers::{count, seconds};

/// Run test262, the conformance suite of ECMAScript, and compare the results with snapshots
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{MORE}\n{EXIT_CODES}"))]
pub(crate) struct Test262 {
    /// The folder with a checkout of test262, which is not modified
    pub(super) dir: PathBuf,

    /// Tests or folders of tests, such as test/built-ins/Atomics [default: what the snapshots cover]
    ///
    /// Paths are relative to DIR or to DIR/test. Without paths and without snapshots, all tests run.
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<String>,

    /// How many tests run at a time [default: the number of processor cores]
    ///
    /// More may be faster, because tests of agents mostly sleep.
    #[arg(short, long, value_name = "N", value_parser = jobs, allow_negative_numbers = true)]
    pub(super) jobs: Option<NonZero<usize>>,

    /// The time after which a test counts as failed
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds, allow_negative_numbers = true)]
    pub(super) time_limit: std::time::Duration,

    /// The folder of snapshots [default: conformance]
    ///
    /// Each *.txt in it names the paths that it covers and lists the tests below them that do not pass. Tests that no
    /// snapshot covers are expected to pass.
    #[arg(long, value_name = "DIR")]
    pub(super) snapshots: Option<PathBuf>,

    /// Write the results into the snapshots instead of comparing
    ///
    /// Rewrites each snapshot if all its paths were run. To begin a new snapshot, create a file with a line such as `path
    /// test/built-ins/Atomics`.
    #[arg(long)]
    pub(super) update: bool,

    /// Print one JSON object with every test instead of text
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
    NonZero::new(count(text)?).ok_or_else(|| "expected a number greater than 0".to_owned())
}

const EXIT_CODES: &str = "\
Exit codes:
    0  all results are as in the snapshots; with --update, they were written
    1  a result differs from its snapshot, or a test that no snapshot covers fails
    2  invalid command line; no checkout in DIR, no such tests, a snapshot that
       cannot be read or written";

const MORE: &str = "\
Examples:
  git clone --depth 1 https://github.com/tc39/test262
  waitword test262 test262
  waitword test262 test262 test/built-ins/Atomics/waitAsync --jobs 8
  waitword test262 test262 --update && git diff conformance

How tests run:
  Each test runs in a process of its own, in sloppy and in strict mode unless its
  flags say otherwise. $262 has agent, createRealm, detachArrayBuffer, evalScript,
  gc, global and IsHTMLDDA. The main agent can block, except in tests with the
  flag CanBlockIsFalse. Tests of features that the engine lacks are skipped.
";
