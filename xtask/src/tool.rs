//! Programs that are not part of stable Rust: whether they are there, and how to get them.

use std::path::Path;

use crate::line::{Line, Stop};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    /// Succeeds when it is installed.
    probe: &'static str,
    pub(crate) how_to_get: &'static str,
}

/// A row per program: its name, what succeeds where it is installed, and how to get it.
macro_rules! tools {
    ($($(#[$docs:meta])* $TOOL:ident: $name:literal, $probe:literal, $how_to_get:literal;)+) => {$(
        $(#[$docs])*
        pub(crate) const $TOOL: Tool = Tool { name: $name, probe: $probe, how_to_get: $how_to_get };
    )+};
}

tools! {
    NIGHTLY: "the nightly toolchain", "cargo +nightly --version",
        "rustup toolchain install nightly --component rust-src";
    MIRI: "Miri", "cargo +nightly miri --version", "rustup +nightly component add miri rust-src";
    CARGO_DENY: "cargo-deny", "cargo deny --version", "cargo install --locked cargo-deny";
    CARGO_FUZZ: "cargo-fuzz", "cargo fuzz --version", "cargo install cargo-fuzz";
    SPIN: "spin", "spin -V", "apt-get install spin, brew install spin, or https://spinroot.com";
    C_COMPILER: "a C compiler", "cc --version", "apt-get install gcc";
    VALGRIND: "valgrind", "valgrind --version", "apt-get install valgrind";
    /// Its version has to be that of the library, in waitword-bench's `Cargo.toml`.
    GUNGRAUN_RUNNER: "gungraun-runner", "gungraun-runner --version",
        "cargo install --locked gungraun-runner --version 0.20.0";
    /// Its version has to be that of the library, in `verify/web/Cargo.lock`.
    WASM_BINDGEN: "wasm-bindgen", "wasm-bindgen --version", "cargo install wasm-bindgen-cli --version 0.2.130";
    /// With WebAssembly that waits, Node 20 hangs (docs/web.md).
    NODE: "Node", "node --version", "https://nodejs.org, version 22 or later";
}

impl Tool {
    pub(crate) fn is_there(self) -> bool {
        Line::new(self.probe).succeeds()
    }
}

/// Stops at the first of them that is missing.
pub(crate) fn need(tools: &[Tool]) -> Result<(), Stop> {
    match tools.iter().find(|tool| !tool.is_there()) {
        Some(&Tool { name, how_to_get, .. }) => Err(Stop::Missing { name, how_to_get }),
        None => Ok(()),
    }
}

/// The compiler of Debian's package `rustc-web`; its sources are in `rust-web-src`.
pub(crate) const DEBIAN: &str = "/usr/bin/rustc";

/// A line of cargo that can build the standard library along, if a toolchain here has its sources: Debian's, the one at hand, or nightly.
pub(crate) fn with_std_sources(cargo: &str) -> Option<Line> {
    let line = Line::new(&format!("cargo {cargo}")).env("RUSTC_BOOTSTRAP", "1");
    if has_sources(DEBIAN) {
        Some(line.env("RUSTC", DEBIAN))
    } else if has_sources("rustc") {
        Some(line)
    } else {
        has_sources("rustc +nightly").then(|| Line::new(&format!("cargo +nightly {cargo}")))
    }
}

/// Whether a compiler has the sources of the standard library, and so can build it along.
pub(crate) fn has_sources(rustc: &str) -> bool {
    const BELOW_SYSROOT: &str = "lib/rustlib/src/rust/library/std";
    let sysroot = Line::new(rustc).args(["--print", "sysroot"]).read();
    sysroot.is_ok_and(|path| Path::new(path.trim()).join(BELOW_SYSROOT).exists())
}
