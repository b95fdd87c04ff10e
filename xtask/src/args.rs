//! The recipes' names, and what `--help` says of them.

use clap::{Parser, Subcommand};

/// The checks that take longer than `bash .ci/run`, or need tools beside stable Rust.
///
/// Each recipe prints the command lines it runs, from the root of the repository, so that you can copy, change and run
/// them yourself. What each of them finds and misses is in verify/README.md, when to run which in CONTRIBUTING.md.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", after_help = EXIT_CODES, after_long_help = EXIT_CODES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) recipe: Recipe,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  everything passed (also: `miri`, `msrv` or a target of `cross --check` was skipped, for its toolchain is not installed)
  1  a check failed; its own output says which
  2  the command line makes no sense
  3  a program that the recipe needs is not installed; the message says how to get it. `web --test` runs what it can nevertheless

What is skipped is told in a line `skipped: WHAT, for WHY`, which is also appended to the file that WAITWORD_SKIPS names.";

#[derive(Debug, Subcommand)]
pub(crate) enum Recipe {
    /// That files, headings, items and recipes named in the Markdown exist, and that the pages of the guide are what their sources say
    /// (a second)
    Docs {
        /// The links in what `cargo doc` wrote instead, and those of the Markdown to docs.rs
        #[arg(long)]
        built: bool,

        /// Writes the pages of the guide before: from the files in `crates/*/docs`, which rustdoc shows as they are
        #[arg(long, conflicts_with = "built")]
        write: bool,
    },

    /// Packs the published crates, and builds each from its package
    Package,

    /// The published crates with the oldest Rust that they promise; where it is not installed, what their dependencies need
    Msrv,

    /// The licences, the sources and the versions of what the published crates depend on (needs cargo-deny; `deny.toml` has the rules)
    Deny {
        /// And what RustSec says of these versions (needs a network)
        #[arg(long)]
        advisories: bool,
    },

    /// The tests of parking_lot and async-lock, from the copies in cargo's home, on the crates in `compat` that stand in for them (minutes; a network,
    /// the first time)
    Compat,

    /// The tests on another processor or system, which QEMU or Wine stands in for (minutes; needs the target's tools)
    ///
    /// Of the crates that the README's table of platforms names. Each target needs its standard library (`rustup target add`), a C
    /// compiler and what runs its programs; all but the first are packages of Debian, and `--list` says which are missing.
    Cross {
        /// The targets that have a recipe, and what each lacks here
        #[arg(long)]
        list: bool,

        /// Only compile the libraries: for every target whose standard library is installed, and, with the sources of the standard
        /// library, for macOS, iOS, Android, FreeBSD and Windows with MSVC, on which nothing was run
        #[arg(long, conflicts_with = "list")]
        check: bool,

        /// As rustc names it
        #[arg(required_unless_present_any = ["list", "check"], conflicts_with_all = ["list", "check"])]
        target: Option<String>,
    },

    /// No two files of a crate may import each other, not even through others; prints the floor of each file
    Layers {
        /// Print circles alone
        #[arg(long)]
        quiet: bool,
    },

    /// The tests, but for those that take too long or cannot differ, round after round, each with another seed; what fails once has
    /// failed (a minute to hours)
    ///
    /// A failed round prints what the test printed, its seed, and the command line for this round. Each round has five minutes,
    /// for a lost wakeup hangs.
    Repeat(Repeat),

    /// Model checks: every interleaving of two to four threads, and what the memory model allows between (eight minutes)
    Loom {
        /// With one preemption more in each model (hours: before a release)
        #[arg(long)]
        deep: bool,

        /// With one preemption less in the locks, as for each change (two minutes)
        #[arg(long, conflicts_with = "deep")]
        quick: bool,
    },

    /// The same models once per step that is weakened on purpose: one has to fail each time (half an hour; verify/README.md)
    Mutants {
        /// Only with these steps weakened, each by itself; commas between them
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        only: Vec<String>,
    },

    /// The Promela model of the queue, and that each of its mutants fails (a minute or two; needs spin and a C compiler)
    Promela {
        /// Larger models instead, without the mutants (minutes, and gigabytes of memory)
        #[arg(long)]
        deep: bool,
    },

    /// Every order in which six waiters of several agents can arrive and be notified, against the sequential model
    Arrivals,

    /// What a fuzzer finds: histories of the queue against the sequential model, programs on Atomics against a model of
    /// ECMA-262 (needs nightly and cargo-fuzz)
    Fuzz {
        /// How long to search; without --target, half of it for each
        #[arg(long, value_name = "N", default_value_t = 300)]
        seconds: u32,

        /// Only this one: histories of the queue, or programs of several agents on Atomics and SharedArrayBuffers
        #[arg(long, value_name = "NAME", value_parser = ["queue", "atomics"])]
        target: Option<String>,
    },

    /// The long soaks: conservation, of the queue and of the locks; signals that nothing makes up for; memory that stays
    /// flat, of programs
    Soak {
        /// How long to keep at the locks, in whole rounds, with the watchdog and once more without (the others have lengths of
        /// their own)
        #[arg(long, value_name = "N", default_value_t = 60)]
        seconds: u32,

        /// What the locks' choices follow from; the time without it, and what it is is printed
        #[arg(long, value_name = "N")]
        seed: Option<u64>,

        /// Only this: that observation finds nothing in the locks' soak, and in threads and tasks that take several locks
        #[arg(long)]
        observe: bool,
    },

    /// The tests under AddressSanitizer (needs nightly)
    Asan,

    /// The tests under ThreadSanitizer, with a standard library built for it (needs nightly with rust-src)
    Tsan,

    /// The tests under Miri; skipped where the nightly toolchain has no such component
    Miri,

    /// Counts the instructions of the paths that must stay short, against the limits that are checked in (needs valgrind and
    /// gungraun-runner; Linux)
    Instructions,

    /// The npm package in each engine that is installed: Node, Deno, Bun, waitword, Chromium, Firefox (needs Node)
    Js {
        /// The model's mutants instead: each has to be found
        #[arg(long)]
        mutants: bool,
    },

    /// Builds the page of examples/browser and serves it (needs Debian's rustc-web and rust-web-src or nightly with rust-src,
    /// wasm-bindgen, and Node; docs/web.md)
    Web {
        /// Runs the tests on wasm32 with threads instead, in Node and in headless Chromium; and tests the page, in Firefox as well
        #[arg(long)]
        test: bool,

        /// Builds the suite and the smallest program, whose size has a limit; runs nothing
        #[arg(long, conflicts_with = "test")]
        build: bool,

        /// The soaks instead, beside a busy loop: 10 million waits and 10 million acquisitions, in Node and in headless Chromium, as
        /// these are and with V8's baseline compiler alone (half an hour, more on a busy machine)
        #[arg(long, conflicts_with_all = ["test", "build"])]
        soak: bool,
    },

    /// The queue and the locks beside their peers; all arguments go to waitword-bench (half an hour without any)
    #[command(disable_help_flag = true)]
    Bench {
        /// `--quick` for a first look, `--help` for the rest
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },

    /// The programs of benches/js on waitword, Node, Deno and Bun, as far as they are installed; all arguments go to
    /// `benches/js/run.mjs` (six minutes without any)
    #[command(disable_help_flag = true)]
    BenchJs {
        /// `--quick` for a first look, `--help` for the rest
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
}

/// What is repeated, and how often.
#[derive(Debug, clap::Args)]
pub(crate) struct Repeat {
    /// Only these test binaries: `executors`, `waitword-core/executors`, `waitword-core/lib`; those that race without
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,

    /// How often each runs
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rounds: u64,

    /// Ends earlier, when so much time is over; each binary gets its share of it, and one round at least
    #[arg(long, value_name = "S")]
    pub(crate) seconds: Option<u64>,

    /// Beside so many busy loops
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) busy: usize,

    /// The first round's seed; the second's is one more, and so on. The time without it
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// Goes on with a binary that has failed, to count how often it does
    #[arg(long)]
    pub(crate) keep_going: bool,

    /// For the tests: a part of their names, `--ignored`, `--test-threads 1`
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
