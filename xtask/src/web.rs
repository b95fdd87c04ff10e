//! The tests in a browser and in Node, and the page of `examples/browser`. `verify/web/` is a workspace of its own, built for wasm32 with threads.
//!
//! The standard library must be built with atomics, for which a toolchain needs the library's sources.

use std::thread;

use crate::line::{Stop, quoted, read, run, succeeds};
use crate::repeat::start_busy_loops;
use crate::skips::SKIPS;
use crate::tool::{DEBIAN, NODE, WASM_BINDGEN, has_library, has_sources, need, with_std_sources};

const FOLDER: &str = "target/web";

/// Enables the instructions of threads, and a memory that the host creates and shares.
const FLAGS: &str = "-C target-feature=+atomics,+bulk-memory,+mutable-globals -C link-arg=--shared-memory -C link-arg=--import-memory \
    -C link-arg=--max-memory=1073741824 -C link-arg=--export=__wasm_init_tls -C link-arg=--export=__tls_size \
    -C link-arg=--export=__tls_align -C link-arg=--export=__tls_base -C link-arg=--export=__heap_base";

const TARGET: &str = "wasm32-unknown-unknown";

/// A package of `verify/web/`: its name, its profile, the output folder below [`FOLDER`], and the largest size of its wasm in bytes (a tenth more
/// than it had).
struct Package(&'static str, &'static str, &'static str, Option<u32>);

const TESTS: Package = Package("waitword-web-tests", "release", "pkg", None);
/// The smallest program with a lock, and the same without atomics.
const SIZE: Package = Package("waitword-web-size", "small", "size", Some(106_000));
const SINGLE: Package = Package("waitword-web-size", "small", "single", None);
/// The Rust half of the workers of `examples/browser`.
const PAGE: Package = Package("waitword-browser-example", "small", "example", Some(62_000));

/// The modes of the suite: which means of the agents it uses.
const MODES: [&str; 3] = ["", "timer", "timer&messages"];

/// The tests of a soak, with 10 million steps each.
const SOAKS: [&str; 2] = [
    "name=queue::conservation&scale=500&steps=10000000",
    "name=locks::no_count_is_lost_and_nobody_meets&scale=125&steps=10000000",
];

/// V8's flag for only the baseline compiler.
const BASELINE: &str = "--liftoff-only";

/// Puts the files that the suite's page loads into one folder.
const LAY_OUT: &str = "mkdir -p target/web/root && cp verify/web/page.html verify/web/suite.mjs target/web/root/ && \
    ln -sfn ../pkg target/web/root/pkg";

const DRIVE: &str = "node examples/browser/drive.mjs";

/// Runs the tests in all modes, and tests the page. (Its picture in the README, `docs/browser.png`, was taken at a raised priority.)
pub(crate) fn test() -> Result<(), Stop> {
    let [suite, single] = build_all()?;
    if single {
        SKIPS.part("the test without threads", || node(&["verify/web/single.mjs", "target/web/single"]))?;
    }
    if suite {
        SKIPS.part("the suite in Node", || {
            need(&[NODE])?;
            let flags = flags_of_node();
            MODES.iter().try_for_each(|mode| suite_in_node(flags, mode))
        })?;
        SKIPS.part("the suite in Chromium", || {
            let browser = browser()?;
            run(LAY_OUT)?;
            MODES.iter().try_for_each(|mode| suite_in_chromium(browser, mode, &[]))
        })?;
    }
    // Without its wasm the page runs with fewer workers.
    SKIPS.part("the workers in Rust of examples/browser", || build(&PAGE))?;
    SKIPS.part("the page of examples/browser", || {
        need(&[NODE])?;
        run(&format!("{} {DRIVE} --test --picture target/web/browser.png", SKIPS.env()))
    })?;
    Ok(())
}

/// Builds the page and serves it.
pub(crate) fn serve() -> Result<(), Stop> {
    need(&[NODE])?;
    build(&PAGE)?;
    run(DRIVE)
}

/// Runs the soaks in Node and in a browser's page, with both of V8's compilers and with only the baseline compiler, beside a busy loop.
pub(crate) fn soak() -> Result<(), Stop> {
    let browser = browser()?;
    // The soak needs a correct baseline compiler.
    node(&["verify/web/wait_bug.mjs"])?;
    build(&TESTS)?;
    run(LAY_OUT)?;
    start_busy_loops(1);
    for mode in SOAKS {
        for flags in [&[][..], &[BASELINE]] {
            suite_in_node(flags, mode)?;
            suite_in_chromium(browser, mode, flags)?;
        }
    }
    Ok(())
}

/// Builds what the tests run, and checks its size. Returns whether the suite and the test without threads were built.
pub(crate) fn build_all() -> Result<[bool; 2], Stop> {
    // In parallel, because each builds a standard library of its own, mostly on one CPU.
    let [suite, size, single] = thread::scope(|scope| {
        let builds = [scope.spawn(|| build(&TESTS)), scope.spawn(|| build(&SIZE)), scope.spawn(build_single)];
        builds.map(|thread| thread.join().expect("a build that does not panic"))
    });
    let what = "the suite in Node and in Chromium, and the size of its smallest program";
    let suite = SKIPS.part(what, || suite.and(size))?;
    Ok([suite, SKIPS.part("the test without threads", || single)?])
}

/// Builds a package for wasm32 with threads, with a standard library that has atomics.
fn build(package: &Package) -> Result<(), Stop> {
    let cargo = cargo_with_std()?;
    bind(&format!("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS='{FLAGS}' {cargo}"), FOLDER, package)
}

/// Builds the test without atomics, with stable Rust's standard library if that is installed.
fn build_single() -> Result<(), Stop> {
    let cargo = if has_library(TARGET) { "cargo build".to_owned() } else { cargo_with_std()? };
    bind(&cargo, "target/web/single-agent", &SINGLE)
}

/// Builds a package by the line `cargo` into `target`, and binds it for JavaScript. Fails if its wasm is too large.
fn bind(cargo: &str, target: &str, Package(name, profile, folder, largest): &Package) -> Result<(), Stop> {
    need(&[WASM_BINDGEN])?;
    let what = format!("--manifest-path verify/web/Cargo.toml -p {name} --profile {profile}");
    run(&format!("{cargo} {what} --target {TARGET} --target-dir {target}"))?;
    let (file, folder) = (name.replace('-', "_"), format!("{FOLDER}/{folder}"));
    run(&format!("wasm-bindgen --target web --out-dir {folder} {target}/{TARGET}/{profile}/{file}.wasm"))?;
    // Otherwise Node would treat a `.js` as CommonJS.
    run(&format!("echo '{{ \"type\": \"module\" }}' > {folder}/package.json"))?;
    let wasm = format!("{folder}/{file}_bg.wasm");
    let weigh = |largest| run(&format!("wc -c {wasm} && test $(wc -c < {wasm}) -le {largest}"));
    largest.map_or(Ok(()), weigh)
}

/// The start of a line that builds the standard library, too.
fn cargo_with_std() -> Result<String, Stop> {
    let line = with_std_sources("build -Zbuild-std=std,panic_abort").ok_or_else(|| {
        let how_to_get = "apt-get install rustc-web rust-web-src (Debian), or rustup component add rust-src";
        Stop::missing("a toolchain that builds the standard library for wasm32", how_to_get)
    })?;
    if !has_sources(DEBIAN) {
        return Ok(line);
    }
    // Debian's compiler has no linker for wasm; rustup's has.
    let (sysroot, host) = (read("rustc --print sysroot")?, read("rustc --print host-tuple")?);
    let linker = format!("{}/lib/rustlib/{}/bin/rust-lld", sysroot.trim(), host.trim());
    Ok(format!("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER={linker} {line}"))
}

fn node(args: &[&str]) -> Result<(), Stop> {
    need(&[NODE])?;
    run(&format!("node {}", quoted(args)))
}

fn suite_in_node(flags: &[&str], mode: &str) -> Result<(), Stop> {
    node(&[flags, &["verify/web/node.mjs", "target/web/pkg", mode]].concat())
}

/// Opens the page of the suite, and stops it after 300 seconds.
fn suite_in_chromium(browser: &str, mode: &str, flags: &[&str]) -> Result<(), Stop> {
    let page = format!("page.html?{mode}");
    node(&[&["verify/web/chromium.mjs", browser, "target/web/root", &page, "300"], flags].concat())
}

/// The name of a Chromium that is installed.
fn browser() -> Result<&'static str, Stop> {
    const NAMES: [&str; 4] = ["chromium", "chromium-headless-shell", "google-chrome", "chromium-browser"];
    need(&[NODE])?;
    let is_there = |name: &&str| succeeds(&format!("{name} --version"));
    NAMES
        .into_iter()
        .find(is_there)
        .ok_or_else(|| Stop::missing("Chromium", "apt-get install chromium-headless-shell"))
}

/// Node's flags: only the optimizing compiler, if the baseline compiler spoils a local variable at each wait, as in Node 20.
fn flags_of_node() -> &'static [&'static str] {
    if succeeds("node verify/web/wait_bug.mjs") {
        return &[];
    }
    SKIPS.skip("the suite in Node with the baseline compiler", "this Node's has a bug (docs/web.md)");
    &["--no-liftoff", "--no-wasm-tier-up"]
}
