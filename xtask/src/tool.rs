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

pub(crate) const NIGHTLY: Tool = Tool {
    name: "the nightly toolchain",
    probe: "cargo +nightly --version",
    how_to_get: "rustup toolchain install nightly --component rust-src",
};

pub(crate) const MIRI: Tool = Tool {
    name: "Miri",
    probe: "cargo +nightly miri --version",
    how_to_get: "rustup +nightly component add miri rust-src",
};

pub(crate) const CARGO_FUZZ: Tool =
    Tool { name: "cargo-fuzz", probe: "cargo fuzz --version", how_to_get: "cargo install cargo-fuzz" };

pub(crate) const SPIN: Tool = Tool {
    name: "spin",
    probe: "spin -V",
    how_to_get: "apt-get install spin, brew install spin, or https://spinroot.com",
};

pub(crate) const C_COMPILER: Tool =
    Tool { name: "a C compiler", probe: "cc --version", how_to_get: "apt-get install gcc" };

pub(crate) const VALGRIND: Tool =
    Tool { name: "valgrind", probe: "valgrind --version", how_to_get: "apt-get install valgrind" };

/// Its version has to be that of the library, in waitword-bench's `Cargo.toml`.
pub(crate) const GUNGRAUN_RUNNER: Tool = Tool {
    name: "gungraun-runner",
    probe: "gungraun-runner --version",
    how_to_get: "cargo install --locked gungraun-runner --version 0.20.0",
};

/// Its version has to be that of the library, in `web/Cargo.lock`.
pub(crate) const WASM_BINDGEN: Tool = Tool {
    name: "wasm-bindgen",
    probe: "wasm-bindgen --version",
    how_to_get: "cargo install wasm-bindgen-cli --version 0.2.130",
};

/// With WebAssembly that waits, Node 20 hangs (docs/web.md).
pub(crate) const NODE: Tool =
    Tool { name: "Node", probe: "node --version", how_to_get: "https://nodejs.org, version 22 or later" };

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

/// Whether a compiler has the sources of the standard library, and so can build it along.
pub(crate) fn has_sources(rustc: &str) -> bool {
    const BELOW_SYSROOT: &str = "lib/rustlib/src/rust/library/std";
    let sysroot = Line::new(rustc).args(["--print", "sysroot"]).read();
    sysroot.is_ok_and(|path| Path::new(path.trim()).join(BELOW_SYSROOT).exists())
}
