//! The tests for other processors and systems: compiled here, run by this processor, QEMU or Wine.
//!
//! The tools come from rustup (the standard library of the target) and from Debian's packages, whose names for a target's tools differ from
//! Rust's. If rustup has no such library, Debian's compiler builds it.

use std::path::Path;

use crate::line::{self, Stop, succeeds};
use crate::skips::SKIPS;
use crate::tool::{DEBIAN, has_library, has_sources, with_std_sources};

/// A target, and what runs its programs.
struct Target {
    name: &'static str,
    /// The prefix of its C compiler, and the name of the folder with its libraries.
    tools: &'static str,
    runs_on: RunsOn,
    /// The crates that are tested besides [`LIBRARIES`].
    crates: &'static str,
}

#[derive(Debug)]
enum RunsOn {
    ThisProcessor,
    /// The kernel must have an entry for it, because tests start programs, too.
    Qemu,
    Wine,
}

/// The crates without C code. (`rquickjs-sys` has no bindings of the engine for s390x.)
const LIBRARIES: &str = "-p waitword-core -p waitword -p waitword-observe -p waitword-agents";
const ENGINE: &str = "-p waitword-quickjs";
const ENGINE_HOST_AND_FILES: &str = "-p waitword-quickjs -p waitword-host -p waitword-cli -p waitword-file";

const TARGETS: [Target; 6] = [
    target("i686-unknown-linux-gnu", "i686-linux-gnu", RunsOn::ThisProcessor, ENGINE_HOST_AND_FILES),
    target("aarch64-unknown-linux-gnu", "aarch64-linux-gnu", RunsOn::Qemu, ENGINE),
    target("armv7-unknown-linux-gnueabihf", "arm-linux-gnueabihf", RunsOn::Qemu, ENGINE),
    target("riscv64gc-unknown-linux-gnu", "riscv64-linux-gnu", RunsOn::Qemu, ENGINE),
    target("s390x-unknown-linux-gnu", "s390x-linux-gnu", RunsOn::Qemu, ""),
    target("x86_64-pc-windows-gnu", "x86_64-w64-mingw32", RunsOn::Wine, ENGINE_HOST_AND_FILES),
];

const fn target(name: &'static str, tools: &'static str, runs_on: RunsOn, crates: &'static str) -> Target {
    Target { name, tools, runs_on, crates }
}

/// Targets whose programs nothing here runs. To compile the libraries for them needs only the sources of the standard library.
const NEVER_RUN: [&str; 5] = [
    "aarch64-apple-darwin",
    "aarch64-apple-ios",
    "aarch64-linux-android",
    "x86_64-pc-windows-msvc",
    "x86_64-unknown-freebsd",
];

/// A test that is left out, and why.
type Skipped = (&'static str, &'static str);

const NOT_UNDER_QEMU: [Skipped; 1] = [(
    "the_page_shows_what_the_example_prints",
    "the page is from a fast machine; on a slow one the report shows another lock, held for long enough",
)];

/// Wine starts a Linux program, but does not return its output.
const STARTS_CARGO: &str = "it starts cargo, which is a Linux program";
const NOT_UNDER_WINE: [Skipped; 3] = [
    ("clippy_knows_each_path_of_the_configuration_and_warns_of_its_use", STARTS_CARGO),
    ("to_await_a_blocking_method_is_refused_and_the_message_names_the_async_one", STARTS_CARGO),
    ("what_is_not_used_is_warned_of_with_what_to_do", STARTS_CARGO),
];

/// The folder below the root with Wine's drive, and with the library of Windows that this Wine lacks.
const WINE: &str = "target/wine";

/// Wine's environment: its own drive, and no debug output.
const IN_WINE: &str = "WINEPREFIX=\"$PWD/target/wine/prefix\" WINEDEBUG=-all";

pub(crate) fn run(name: &str) -> Result<(), Stop> {
    let Some(target) = TARGETS.iter().find(|target| target.name == name) else {
        return Err(Stop::Usage(format!(
            "there is no recipe for {name}; `cargo xtask cross --list` lists all"
        )));
    };
    target.missing().map_or_else(|| target.test(), |missing| Err(Stop::Missing(missing)))
}

/// Checks the libraries that need no C compiler: for each testable target whose standard library is installed, and for all of [`NEVER_RUN`].
/// Reports each target that is left out.
pub(crate) fn check() -> Result<(), Stop> {
    for Target { name, .. } in &TARGETS {
        if has_library(name) {
            line::run(&format!("cargo check --quiet --target {name} {LIBRARIES}"))?;
        } else {
            let why = format!("its standard library is missing; to get it: rustup target add {name}");
            SKIPS.skip(&format!("cargo check --target {name}"), why);
        }
    }
    // The features of the standard library would take a minute more.
    let check = "check -Zbuild-std=std -Zbuild-std-features= --target-dir target/never-run";
    if let Some(check) = with_std_sources(check) {
        let targets = NEVER_RUN.map(|target| format!("--target {target}")).join(" ");
        return line::run(&format!("RUSTFLAGS=-Zno-codegen {check} {targets} {LIBRARIES}"));
    }
    let why = "the sources of the standard library are missing; to get them: apt-get install rustc-web rust-web-src (Debian), or rustup \
               component add rust-src";
    SKIPS.skip(&format!("cargo check for {}", NEVER_RUN.join(", ")), why);
    Ok(())
}

pub(crate) fn list() -> Result<(), Stop> {
    for target in &TARGETS {
        let runs_on = format!("{:?}", target.runs_on);
        println!("{:<31}{runs_on:<16}{}", target.name, target.missing().unwrap_or("ready".to_owned()));
    }
    Ok(())
}

impl Target {
    /// What it lacks here, if anything, and how to get it.
    fn missing(&self) -> Option<String> {
        let Self { name, tools, .. } = self;
        let has = |program: &str| succeeds(&format!("{program} --version"));
        let is_there = |path: &str| Path::new(path).exists();
        let has_library = has_library(name) || has_sources(DEBIAN);
        let has_compiler = has(&self.compiler());
        let (runner, has_runner, packages) = match self.runs_on {
            RunsOn::ThisProcessor => (
                "the loader of 32-bit programs",
                is_there("/lib/ld-linux.so.2"),
                format!("gcc-{tools} libc6-i386 lib32gcc-s1"),
            ),
            RunsOn::Qemu => {
                let processor = tools.split('-').next().unwrap_or_default();
                let entries = "/proc/sys/fs/binfmt_misc";
                // The file of Debian's package, which systemd gives to the kernel.
                let source = format!("/usr/lib/binfmt.d/qemu-{processor}.conf");
                let has_entry = is_there(&format!("{entries}/qemu-{processor}"));
                if has_library && has_compiler && !has_entry && is_there(&source) {
                    let by_hand =
                        format!("mount -t binfmt_misc none {entries}; cp {source} {entries}/register");
                    let how = "systemctl restart systemd-binfmt; without systemd, as root";
                    return Some(format!(
                        "the kernel's entry for QEMU is missing; to get it: {how}: {by_hand}"
                    ));
                }
                ("QEMU", has_entry, format!("gcc-{tools} qemu-user-static"))
            }
            RunsOn::Wine => ("Wine", has("wine"), "gcc-mingw-w64-x86-64-posix wine".to_owned()),
        };
        let needs = [
            (has_library, "the standard library of the target"),
            (has_compiler, "a C compiler for the target"),
            (has_runner, runner),
        ];
        let (_, missing) = needs.iter().find(|(has, _)| !has)?;
        let library = format!("rustup target add {name} (or Debian's packages rustc-web and rust-web-src)");
        Some(format!("{missing} is missing; to get it: {library}; apt-get install {packages}"))
    }

    fn skipped(&self) -> &'static [Skipped] {
        match self.runs_on {
            RunsOn::ThisProcessor => &[],
            RunsOn::Qemu => &NOT_UNDER_QEMU,
            RunsOn::Wine => &NOT_UNDER_WINE,
        }
    }

    fn compiler(&self) -> String {
        format!("{}-gcc", self.tools)
    }

    fn test(&self) -> Result<(), Stop> {
        let (name, crates, compiler, tools) = (self.name, self.crates, self.compiler(), self.tools);
        let for_cargo = format!("CARGO_TARGET_{}", name.to_uppercase().replace('-', "_"));
        let env = format!("{for_cargo}_LINKER={compiler} CC_{}={compiler}", name.replace('-', "_"));
        let (env, std) = match has_library(name) {
            true => (env, ""),
            false => (format!("RUSTC={DEBIAN} RUSTC_BOOTSTRAP=1 {env}"), "-Zbuild-std"),
        };
        let options = format!("{std} --target {name} {LIBRARIES} {crates}");
        // Tests start the examples. `cargo test --examples` builds only the tests in them.
        line::run(&format!("{env} cargo build --examples {options}"))?;
        for (test, why) in self.skipped() {
            println!("skipped: {test}: {why}");
        }
        let runs_on = match self.runs_on {
            RunsOn::ThisProcessor => String::new(),
            RunsOn::Qemu => format!("QEMU_LD_PREFIX=/usr/{tools}"),
            RunsOn::Wine => {
                self.prepare_wine()?;
                // WINEPATH adds folders with programs. Without Node for Windows, the comparison with Node is skipped.
                format!("{IN_WINE} WINEPATH=\"$PWD/{WINE};$WINEPATH\" {for_cargo}_RUNNER=wine")
            }
        };
        let skipped: Vec<_> = self.skipped().iter().map(|(test, _)| format!("--skip {test}")).collect();
        // `--tests` includes the unit tests, but not the doctests, which are the same everywhere.
        let test = format!("cargo test --no-fail-fast --tests --examples {options}");
        line::run(&format!("{runs_on} {env} {test} -- {}", skipped.join(" ")))
    }

    /// Prepares Wine's drive. Rust takes random numbers from `bcryptprimitives.dll`, which Wine has only since version 9. The one built here
    /// follows Wine's own in the search order of libraries.
    fn prepare_wine(&self) -> Result<(), Stop> {
        let source = "xtask/src/cross/bcryptprimitives.c -ladvapi32";
        let library = format!("{WINE}/bcryptprimitives.dll");
        line::run(&format!("mkdir -p {WINE} && {} -shared -o {library} {source}", self.compiler()))?;
        // The oldest Windows that Rust and Node support. This Wine's default is Windows 7.
        line::run(&format!("{IN_WINE} wine winecfg -v win10"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::{read, root};

    #[test]
    fn the_readme_says_of_each_target_what_was_run() {
        let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
        let row = |target: &str| readme.lines().find(|line| line.contains(&format!("`{target}`")));
        for target in &TARGETS {
            assert!(row(target.name).is_some(), "{}", target.name);
        }
        for target in NEVER_RUN {
            assert!(row(target).is_some_and(|row| row.contains("type-checked, never run")), "{target}");
        }
    }

    #[test]
    fn the_tests_that_are_left_out_exist() {
        let files = read(r"git grep -h -E '^\s*fn \w+\(\)' -- 'crates/*/tests/*.rs'").unwrap();
        for (test, _) in TARGETS.iter().flat_map(Target::skipped) {
            assert!(files.contains(&format!("fn {test}()")), "{test}");
        }
    }
}
