//! The tests on other processors and systems: compiled here, run by the processor itself, by QEMU or by Wine.
//!
//! All of it comes from rustup (the standard library of the target) and from the packages of Debian, whose names for a target's
//! tools differ from Rust's. Where rustup has no such library, Debian's compiler builds it along.

use std::env;
use std::fs;
use std::path::Path;

use crate::line::{Line, Stop, root};
use crate::skips::SKIPS;
use crate::tool::{DEBIAN, has_sources, with_std_sources};

/// A target, and what its programs run on.
struct Target {
    name: &'static str,
    /// The prefix of its C compiler, and the name of the folder with its libraries.
    tools: &'static str,
    runs_on: RunsOn,
    /// The crates that are tested.
    crates: &'static str,
}

enum RunsOn {
    ThisProcessor,
    /// By its name for the processor. The kernel has to have an entry for it, for tests start programs, too.
    Qemu(&'static str),
    Wine,
}

/// What is built from Rust alone. `rquickjs-sys` brings no bindings of the engine for s390x.
const LIBRARIES: &str = "waitword-core waitword waitword-observe waitword-agents";
const WITH_ENGINE: &str = "waitword-core waitword waitword-observe waitword-agents waitword-quickjs";
const ALL: &str =
    "waitword-core waitword waitword-observe waitword-agents waitword-quickjs waitword-host waitword-cli";

const TARGETS: [Target; 6] = [
    target("i686-unknown-linux-gnu", "i686-linux-gnu", RunsOn::ThisProcessor, ALL),
    target("aarch64-unknown-linux-gnu", "aarch64-linux-gnu", RunsOn::Qemu("aarch64"), WITH_ENGINE),
    target("armv7-unknown-linux-gnueabihf", "arm-linux-gnueabihf", RunsOn::Qemu("arm"), WITH_ENGINE),
    target("riscv64gc-unknown-linux-gnu", "riscv64-linux-gnu", RunsOn::Qemu("riscv64"), WITH_ENGINE),
    target("s390x-unknown-linux-gnu", "s390x-linux-gnu", RunsOn::Qemu("s390x"), LIBRARIES),
    target("x86_64-pc-windows-gnu", "x86_64-w64-mingw32", RunsOn::Wine, ALL),
];

const fn target(name: &'static str, tools: &'static str, runs_on: RunsOn, crates: &'static str) -> Target {
    Target { name, tools, runs_on, crates }
}

/// Nothing here runs their programs. That the libraries compile for them needs no more than the sources of the standard library.
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
    "the page is from a fast machine; on a slow one a lock is held long enough to stand in the report, too",
)];

/// Wine starts a program of Linux, but does not hand out what it prints.
const STARTS_CARGO: &str = "it starts cargo, which is a program of Linux";
const NOT_UNDER_WINE: [Skipped; 3] = [
    ("clippy_knows_each_path_of_the_configuration_and_warns_of_its_use", STARTS_CARGO),
    ("to_await_a_blocking_method_is_refused_and_the_message_names_the_async_one", STARTS_CARGO),
    ("what_is_not_used_is_warned_of_with_what_to_do", STARTS_CARGO),
];

/// Below the root: Wine's drive, and what Windows has and this Wine lacks.
const WINE: &str = "target/wine";

pub(crate) fn run(name: &str, crates: &[String], args: Vec<String>) -> Result<(), Stop> {
    let Some(target) = TARGETS.iter().find(|target| target.name == name) else {
        return Err(Stop::Usage(format!("no recipe for {name}; `cargo xtask cross --list` has all")));
    };
    target.missing().map_or_else(|| target.test(crates, args), Err)
}

/// What no C compiler is needed for: for each target that can be tested and whose standard library is there, and for all of [`NEVER_RUN`].
/// What is left out is named.
pub(crate) fn check() -> Result<(), Stop> {
    let crates: Vec<&str> = LIBRARIES.split(' ').flat_map(|name| ["-p", name]).collect();
    for target in &TARGETS {
        if !target.has_library() {
            SKIPS.skip(
                &format!("cargo check --target {}", target.name),
                format!("its standard library is missing; to get it: rustup target add {}", target.name),
            );
            continue;
        }
        Line::new("cargo check --quiet --target").args([target.name]).args(crates.clone()).run()?;
    }
    // The features of the standard library would be a minute more.
    let Some(line) =
        with_std_sources("check -Zbuild-std=std -Zbuild-std-features= --target-dir target/never-run")
    else {
        let why = "the sources of the standard library are missing; to get them: apt-get install rustc-web rust-web-src (Debian), or \
                   rustup component add rust-src";
        SKIPS.skip(&format!("cargo check for {}", NEVER_RUN.join(", ")), why);
        return Ok(());
    };
    let targets = NEVER_RUN.into_iter().flat_map(|target| ["--target", target]);
    line.args(targets).args(crates).env("RUSTFLAGS", "-Zno-codegen").run()
}

pub(crate) fn list() {
    for target in &TARGETS {
        let runs_on = match target.runs_on {
            RunsOn::ThisProcessor => "this processor",
            RunsOn::Qemu(_) => "QEMU",
            RunsOn::Wine => "Wine",
        };
        let ready = target.missing().map_or("ready".to_owned(), |missing| missing.to_string());
        println!("{:<31}{runs_on:<16}{ready}", target.name);
    }
}

impl Target {
    /// Whether rustup has brought its standard library.
    fn has_library(&self) -> bool {
        let folder = Line::new(&format!("rustc --print target-libdir --target {}", self.name)).read();
        folder.is_ok_and(|folder| Path::new(folder.trim()).is_dir())
    }

    /// What it lacks here, if anything, and how to get that.
    fn missing(&self) -> Option<Stop> {
        let missing = |name, how_to_get: String| Some(Stop::Missing { name, how_to_get: how_to_get.leak() });
        let has = |program: &str| Line::new(&format!("{program} --version")).succeeds();
        let is_there = |path: &str| Path::new(path).exists();
        let name = match self.runs_on {
            _ if !self.has_library() && !has_sources(DEBIAN) => "the standard library of the target",
            _ if !has(&self.compiler()) => "a C compiler for the target",
            RunsOn::ThisProcessor if !is_there("/lib/ld-linux.so.2") => "the loader of 32-bit programs",
            RunsOn::Qemu(processor) => {
                let entries = "/proc/sys/fs/binfmt_misc";
                // Where Debian's package has it. systemd hands it to the kernel.
                let source = format!("/usr/lib/binfmt.d/qemu-{processor}.conf");
                if is_there(&format!("{entries}/qemu-{processor}")) {
                    return None;
                }
                if is_there(&source) {
                    let how_to_register = format!(
                        "systemctl restart systemd-binfmt; without systemd, as root: mount -t binfmt_misc none {entries}; \
                         cp {source} {entries}/register"
                    );
                    return missing("the kernel's entry for QEMU", how_to_register);
                }
                "QEMU"
            }
            RunsOn::Wine if !has("wine") => "Wine",
            RunsOn::ThisProcessor | RunsOn::Wine => return None,
        };
        let Self { name: target, tools, .. } = self;
        let packages = match self.runs_on {
            RunsOn::ThisProcessor => format!("gcc-{tools} libc6-i386 lib32gcc-s1"),
            RunsOn::Qemu(_) => format!("gcc-{tools} qemu-user-static"),
            RunsOn::Wine => "gcc-mingw-w64-x86-64-posix wine".to_owned(),
        };
        let library = format!("rustup target add {target} (or Debian's packages rustc-web and rust-web-src)");
        missing(name, format!("{library}; apt-get install {packages}"))
    }

    fn skipped(&self) -> &'static [Skipped] {
        match self.runs_on {
            RunsOn::ThisProcessor => &[],
            RunsOn::Qemu(_) => &NOT_UNDER_QEMU,
            RunsOn::Wine => &NOT_UNDER_WINE,
        }
    }

    fn compiler(&self) -> String {
        format!("{}-gcc", self.tools)
    }

    fn test(&self, crates: &[String], args: Vec<String>) -> Result<(), Stop> {
        let cargos =
            |what: &str| format!("CARGO_TARGET_{}_{what}", self.name.to_uppercase().replace('-', "_"));
        let crates: Vec<&str> = match crates {
            [] => self.crates.split(' ').collect(),
            some => some.iter().map(String::as_str).collect(),
        };
        let has_library = self.has_library();
        let cargo = |what: &str| {
            let line = Line::new(what)
                .args(["--target", self.name])
                .args(crates.iter().flat_map(|name| ["-p", name]))
                .env(&cargos("LINKER"), &self.compiler())
                .env(&format!("CC_{}", self.name.replace('-', "_")), &self.compiler());
            match has_library {
                true => line,
                false => line.args(["-Zbuild-std"]).env("RUSTC", DEBIAN).env("RUSTC_BOOTSTRAP", "1"),
            }
        };
        // Tests start the examples. `cargo test --examples` builds only the tests in them.
        cargo("cargo build --examples").run()?;
        // `--tests` are those in the libraries and programs, too; not those in the docs, which are the same everywhere.
        let skipped = self.skipped();
        for (test, why) in skipped {
            println!("skipped: {test}: {why}");
        }
        let line = cargo("cargo test --no-fail-fast --tests --examples").args(["--"]).args(args);
        let line = line.args(skipped.iter().flat_map(|(test, _)| ["--skip", test]));
        match self.runs_on {
            RunsOn::ThisProcessor => line.run(),
            RunsOn::Qemu(_) => line.env("QEMU_LD_PREFIX", &format!("/usr/{}", self.tools)).run(),
            RunsOn::Wine => {
                let folder = self.prepare_wine()?;
                // More folders with programs: without Node for Windows the comparison with Node is skipped.
                let path = match env::var("WINEPATH") {
                    Ok(others) => format!("{folder};{others}"),
                    Err(_) => folder,
                };
                in_wine(line.env(&cargos("RUNNER"), "wine").env("WINEPATH", &path)).run()
            }
        }
    }

    /// Rust takes random numbers from `bcryptprimitives.dll`, which Wine has only since version 9. The one made here comes after
    /// Wine's own in the order in which libraries are looked for.
    fn prepare_wine(&self) -> Result<String, Stop> {
        let folder = root().join(WINE);
        fs::create_dir_all(&folder).map_err(Stop::at(WINE))?;
        Line::new(&self.compiler())
            .args([
                "-shared",
                "-o",
                &format!("{WINE}/bcryptprimitives.dll"),
                "xtask/src/cross/bcryptprimitives.c",
            ])
            .args(["-ladvapi32"])
            .run()?;
        // The oldest that Rust and Node support. By itself this Wine takes the part of Windows 7.
        in_wine(Line::new("wine winecfg -v win10")).run()?;
        Ok(folder.display().to_string())
    }
}

/// With a drive of its own, and quiet.
fn in_wine(line: Line) -> Line {
    let drive = root().join(WINE).join("prefix");
    line.env("WINEPREFIX", &drive.display().to_string()).env("WINEDEBUG", "-all")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_says_of_each_target_what_was_run() {
        let readme = fs::read_to_string(root().join("README.md")).unwrap();
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
        let files = Line::new("git grep -h -E")
            .args([r"^\s*fn \w+\(\)", "--", "crates/*/tests/*.rs"])
            .read()
            .unwrap();
        for (test, _) in TARGETS.iter().flat_map(Target::skipped) {
            assert!(files.contains(&format!("fn {test}()")), "{test}");
        }
    }
}
