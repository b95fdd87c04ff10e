//! Programs that are not part of stable Rust: whether each is installed, and how to get it.

use std::path::Path;

use crate::line::{Stop, read, succeeds};

/// A program's name, a command that succeeds if it is installed, and how to get it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool(pub(crate) &'static str, &'static str, pub(crate) &'static str);

pub(crate) const NIGHTLY: Tool = Tool(
    "the nightly toolchain",
    "cargo +nightly --version",
    "rustup toolchain install nightly --component rust-src",
);
pub(crate) const MIRI: Tool =
    Tool("Miri", "cargo +nightly miri --version", "rustup +nightly component add miri rust-src");
pub(crate) const CARGO_DENY: Tool =
    Tool("cargo-deny", "cargo deny --version", "cargo install --locked cargo-deny");
pub(crate) const CARGO_FUZZ: Tool = Tool("cargo-fuzz", "cargo fuzz --version", "cargo install cargo-fuzz");
pub(crate) const SPIN: Tool =
    Tool("spin", "spin -V", "apt-get install spin, brew install spin, or https://spinroot.com");
pub(crate) const C_COMPILER: Tool = Tool("a C compiler", "cc --version", "apt-get install gcc");
pub(crate) const VALGRIND: Tool = Tool("valgrind", "valgrind --version", "apt-get install valgrind");
/// Its version must be that of the library in waitword-bench's `Cargo.toml`.
pub(crate) const GUNGRAUN_RUNNER: Tool = Tool(
    "gungraun-runner",
    "gungraun-runner --version",
    "cargo install --locked gungraun-runner --version 0.20.0",
);
/// Its version must be that of the library in `verify/web/Cargo.lock`.
pub(crate) const WASM_BINDGEN: Tool =
    Tool("wasm-bindgen", "wasm-bindgen --version", "cargo install wasm-bindgen-cli --version 0.2.130");
/// Node 20 hangs in WebAssembly that waits (docs/web.md).
pub(crate) const NODE: Tool = Tool("Node", "node --version", "https://nodejs.org, version 22 or later");

impl Tool {
    pub(crate) fn is_there(self) -> bool {
        succeeds(self.1)
    }
}

/// Stops at the first of these programs that is missing.
pub(crate) fn need(tools: &[Tool]) -> Result<(), Stop> {
    let missing = tools.iter().find(|tool| !tool.is_there());
    missing.map_or(Ok(()), |Tool(name, _, how_to_get)| Err(Stop::missing(name, how_to_get)))
}

/// The compiler of Debian's package `rustc-web`. Its sources are in `rust-web-src`.
pub(crate) const DEBIAN: &str = "/usr/bin/rustc";

/// A cargo command line that can build the standard library, if a toolchain here has its sources: Debian's, the default one, or nightly.
pub(crate) fn with_std_sources(cargo: &str) -> Option<String> {
    if has_sources(DEBIAN) {
        Some(format!("RUSTC_BOOTSTRAP=1 RUSTC={DEBIAN} cargo {cargo}"))
    } else if has_sources("rustc") {
        Some(format!("RUSTC_BOOTSTRAP=1 cargo {cargo}"))
    } else {
        has_sources("rustc +nightly").then(|| format!("cargo +nightly {cargo}"))
    }
}

/// Whether a compiler has the sources of the standard library, and so can build it.
pub(crate) fn has_sources(rustc: &str) -> bool {
    let sysroot = read(&format!("{rustc} --print sysroot"));
    sysroot.is_ok_and(|path| Path::new(path.trim()).join("lib/rustlib/src/rust/library/std").exists())
}

/// Whether the standard library of a target is installed.
pub(crate) fn has_library(target: &str) -> bool {
    let folder = read(&format!("rustc --print target-libdir --target {target}"));
    folder.is_ok_and(|folder| Path::new(folder.trim()).is_dir())
}
