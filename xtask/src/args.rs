//! The recipes' names, flags and help texts.

use clap::{Parser, Subcommand};

/// Runs the checks that take longer than `bash .ci/run`, or need more tools than stable Rust.
///
/// Each recipe prints the command lines that it runs in the root of the repository, so that you can copy, change and run
/// them yourself. verify/README.md says what each finds and misses, CONTRIBUTING.md when to run which.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", after_help = EXIT_CODES, after_long_help = EXIT_CODES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) recipe: Recipe,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  everything passed (also if `miri`, `msrv` or a target of `cross --check` was skipped because its toolchain is not installed)
  1  a check failed; its output says which
  2  the command line is invalid
  3  a program that the recipe needs is not installed; the message says how to get it. `web --test` still runs the parts that it can

For each part that is skipped, a recipe prints a line `skipped: WHAT: WHY`, and appends it to the file that WAITWORD_SKIPS names.";

#[derive(Debug, Subcommand)]
pub(crate) enum Recipe {
    /// Checks that files, headings, items and recipes named in the Markdown exist, that the guide's pages match their sources, and that
    /// no phrase of xtask/src/docs/words.txt is used (a second)
    Docs {
        /// Check the links in the output of `cargo doc` instead, and those of the Markdown to docs.rs
        #[arg(long)]
        built: bool,

        /// First write the guide's pages from the files in `crates/*/docs`, which rustdoc shows as well
        #[arg(long, conflicts_with = "built")]
        write: bool,
    },

    /// Packs the published crates, and builds each from its package
    Package,

    /// Compiles the published crates with the oldest Rust that they promise; without that toolchain, checks what their dependencies require
    Msrv,

    /// Checks the licences, sources and versions of the published crates' dependencies (needs cargo-deny; the rules are in `deny.toml`)
    Deny {
        /// Check RustSec's advisories for these versions, too (needs a network)
        #[arg(long)]
        advisories: bool,
    },

    /// Runs the tests of parking_lot and async-lock, from the copies in cargo's home, on their replacements in `compat` (minutes; needs a
    /// network the first time)
    Compat,

    /// Runs the tests for another processor or system, under QEMU or Wine (minutes; needs the target's tools)
    ///
    /// Tests the crates that the README's table of platforms names. Each target needs its standard library (`rustup target add`), a C
    /// compiler and what runs its programs. All but the first are Debian packages, and `--list` says which are missing.
    Cross {
        /// List the targets that have a recipe, and what each lacks here
        #[arg(long)]
        list: bool,

        /// Only compile the libraries: for every target whose standard library is installed, and, if the sources of the standard library
        /// are, for macOS, iOS, Android, FreeBSD and Windows with MSVC, on which nothing was run
        #[arg(long, conflicts_with = "list")]
        check: bool,

        /// The target's name in rustc
        #[arg(required_unless_present_any = ["list", "check"], conflicts_with_all = ["list", "check"])]
        target: Option<String>,
    },

    /// Checks that no files of a crate import each other, directly or through others; prints the layer of each file
    Layers {
        /// Print only import cycles
        #[arg(long)]
        quiet: bool,
    },

    /// Runs the tests round after round, each with another seed; one failed round fails the recipe (a minute to hours)
    ///
    /// Leaves out the tests that take too long or cannot differ. A failed round prints the test's output, its seed, and the command line
    /// that repeats it. A round may use five minutes of CPU time, and may be idle for 100 seconds, because a lost wakeup hangs.
    Repeat(Repeat),

    /// Runs the model checks: every interleaving of two to four threads, and what the memory model allows between (eight minutes)
    Loom {
        /// Allow one preemption more in each model (hours; before a release)
        #[arg(long)]
        deep: bool,

        /// Allow one preemption less in the models of the locks, as `.ci/run` does (two minutes)
        #[arg(long, conflicts_with = "deep")]
        quick: bool,
    },

    /// Runs the same models once per mutant, a step that is weakened on purpose: one must fail each time (half an hour; verify/README.md)
    Mutants {
        /// Run only these mutants, separated by commas
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        only: Vec<String>,
    },

    /// Checks the Promela models, and that each of their mutants fails (a minute or two; needs spin and a C compiler)
    Promela {
        /// Check larger models instead, without the mutants (minutes, and gigabytes of memory)
        #[arg(long)]
        deep: bool,
    },

    /// Compares every order in which six waiters of several agents can arrive and be notified with the sequential model
    Arrivals,

    /// Fuzzes histories of the queue against the sequential model, and programs on Atomics against a model of ECMA-262 (needs nightly and
    /// cargo-fuzz)
    Fuzz {
        /// How long to search, in seconds; without --target, each target gets half
        #[arg(long, value_name = "N", default_value_t = 300)]
        seconds: u32,

        /// Fuzz only this target: histories of the queue, or programs of several agents on Atomics and SharedArrayBuffers
        #[arg(long, value_name = "NAME", value_parser = ["queue", "atomics"])]
        target: Option<String>,
    },

    /// Runs the long soaks: nothing is lost in the queue and the locks, no signal is lost without the watchdog, and the memory of scripts
    /// does not grow
    Soak {
        /// How long to run the soaks of the locks, in seconds and whole rounds: once with the watchdog, once without it. The
        /// other soaks have fixed lengths
        #[arg(long, value_name = "N", default_value_t = 60)]
        seconds: u32,

        /// The seed of the locks' soak, which prints it; the default is the time
        #[arg(long, value_name = "N")]
        seed: Option<u64>,

        /// Only check that observation reports no finding in the locks' soak, nor in threads and tasks that take several locks
        #[arg(long)]
        observe: bool,
    },

    /// Runs the tests under AddressSanitizer (needs nightly)
    Asan,

    /// Runs the tests under ThreadSanitizer, with a standard library built for it (needs nightly with rust-src)
    Tsan,

    /// Runs the tests under Miri (a quarter of an hour); skipped if the nightly toolchain has no Miri
    Miri,

    /// Counts the instructions of the short paths, and compares them with the limits that are checked in (needs Linux, valgrind and
    /// gungraun-runner)
    Instructions,

    /// Tests the npm package in each engine that is installed: Node, Deno, Bun, waitword, Chromium, Firefox (needs Node)
    Js {
        /// Run the model's mutants instead: the model must find each
        #[arg(long)]
        mutants: bool,
    },

    /// Builds the page of examples/browser and serves it (needs Debian's rustc-web and rust-web-src or nightly with rust-src,
    /// wasm-bindgen, and Node; docs/web.md)
    Web {
        /// Instead run the tests on wasm32 with threads in Node and headless Chromium, and test the page, also in Firefox
        #[arg(long)]
        test: bool,

        /// Only build the suite, and the smallest program, whose size has a limit
        #[arg(long, conflicts_with = "test")]
        build: bool,

        /// Instead run the soaks beside a busy loop: 10 million waits and 10 million acquisitions, in Node and headless Chromium, each with
        /// both of V8's compilers and with the baseline compiler alone (half an hour, more on a busy machine)
        #[arg(long, conflicts_with_all = ["test", "build"])]
        soak: bool,
    },

    /// Benchmarks the queue and the locks beside their peers; all arguments go to waitword-bench (half an hour without any)
    #[command(disable_help_flag = true)]
    Bench {
        /// `--quick` for a first impression, `--help` for the rest
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },

    /// Benchmarks the programs of benches/js on waitword, and on Node, Deno and Bun where installed; all arguments go to
    /// `benches/js/run.mjs` (six minutes without any)
    #[command(disable_help_flag = true)]
    BenchJs {
        /// `--quick` for a first impression, `--help` for the rest
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
}

/// Which tests to repeat, and how often.
#[derive(Debug, clap::Args)]
pub(crate) struct Repeat {
    /// Repeat only these test binaries (`executors`, `waitword-core/executors`, `waitword-core/lib`); the default is all that race
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,

    /// The number of rounds of each binary
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rounds: u64,

    /// Stop after this many seconds; the binaries get equal parts of them, and each at least one round
    #[arg(long, value_name = "S")]
    pub(crate) seconds: Option<u64>,

    /// Run this many busy loops beside the tests
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) busy: usize,

    /// The first round's seed, to which each further round adds one; the default is the time
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// Continue with a binary that has failed, to count how often it fails
    #[arg(long)]
    pub(crate) keep_going: bool,

    /// Arguments of the test binaries: a part of a test's name, `--ignored`, `--test-threads 1`
    #[arg(last = true)]
    pub(crate) args: Vec<String>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Args::command().debug_assert();
    }

    #[test]
    fn arguments_of_the_benchmarks_are_theirs() {
        for recipe in ["bench", "bench-js"] {
            let args = ["--engine", "old=node18 --expose-gc", "--help"];
            let parsed =
                Args::try_parse_from(["cargo xtask", recipe].into_iter().chain(args)).unwrap().recipe;
            let (Recipe::Bench { args: passed } | Recipe::BenchJs { args: passed }) = parsed else {
                panic!("{recipe}")
            };
            assert_eq!(passed, args, "{recipe}");
        }
    }
}
