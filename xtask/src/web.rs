//! The tests in a browser and in Node, and the page of `examples/browser`: `verify/web/` is a workspace of its own, built for wasm32 with threads.
//!
//! The standard library has to be built with atomics. For that a toolchain needs the library's sources.

use std::fs;
use std::thread;

use crate::line::{Stop, quoted, read, root, run, succeeds};
use crate::repeat::start_busy_loops;
use crate::skips::SKIPS;
use crate::tool::{DEBIAN, NODE, WASM_BINDGEN, has_library, has_sources, need, with_std_sources};

const FOLDER: &str = "target/web";

/// The instructions of threads, and a memory that the host makes and shares.
const FLAGS: &str = "-C target-feature=+atomics,+bulk-memory,+mutable-globals -C link-arg=--shared-memory -C link-arg=--import-memory \
    -C link-arg=--max-memory=1073741824 -C link-arg=--export=__wasm_init_tls -C link-arg=--export=__tls_size \
    -C link-arg=--export=__tls_align -C link-arg=--export=__tls_base -C link-arg=--export=__heap_base";

const TARGET: &str = "wasm32-unknown-unknown";

/// A package of `verify/web/`: its profile, and the folder below [`FOLDER`] for what is built of it.
struct Package {
    name: &'static str,
    profile: &'static str,
    folder: &'static str,
    /// What its wasm may weigh, in bytes: what it weighed, and a tenth more.
    largest: u64,
}

const TESTS: Package =
    Package { name: "waitword-web-tests", profile: "release", folder: "pkg", largest: u64::MAX };
const CONTEST: Package =
    Package { name: "waitword-web-contest", profile: "release", folder: "contest/pkg", largest: u64::MAX };
/// The smallest program with a lock.
const SIZE: Package =
    Package { name: "waitword-web-size", profile: "small", folder: "size", largest: 106_000 };
/// The same without atomics.
const SINGLE: Package = Package { folder: "single", largest: u64::MAX, ..SIZE };
/// The Rust half of the workers of `examples/browser`.
const PAGE: Package =
    Package { name: "waitword-browser-example", profile: "small", folder: "example", largest: 62_000 };

/// How the suite is run: on which agents' means.
const MODES: [&str; 3] = ["", "timer", "timer&messages"];

/// What a soak runs, each of 10 million steps: the test's name, and how many times over.
const SOAKS: [&str; 2] = [
    "name=queue::conservation&scale=500&steps=10000000",
    "name=locks::no_count_is_lost_and_nobody_meets&scale=125&steps=10000000",
];

/// V8's flag for the baseline compiler alone.
const BASELINE: &str = "--liftoff-only";

const DRIVE: &str = "node examples/browser/drive.mjs";

/// The tests in all modes, and the page. (Its picture in the README, `docs/browser.png`, was taken at a raised priority.)
pub(crate) fn test() -> Result<(), Stop> {
    let built = build_all()?;
    if built.single {
        SKIPS.part("the test without threads", || node(&["verify/web/single.mjs", "target/web/single"]))?;
    }
    if built.suite {
        SKIPS.part("the suite in Node", || {
            need(&[NODE])?;
            let flags = flags_of_node();
            MODES.iter().try_for_each(|mode| suite_in_node(flags, mode))
        })?;
        SKIPS.part("the suite in Chromium", || {
            let browser = browser()?;
            lay_out()?;
            MODES.iter().try_for_each(|mode| chromium(browser, "root", mode, &["300"]))
        })?;
    }
    // Without its wasm the page runs as well, with fewer workers.
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

/// The soaks in Node and in a browser's page, with both compilers and with the baseline one alone, beside a busy loop.
pub(crate) fn soak() -> Result<(), Stop> {
    let browser = browser()?;
    // Here the baseline compiler alone is what is to be soaked.
    node(&["verify/web/wait_bug.mjs"])?;
    build(&TESTS)?;
    lay_out()?;
    start_busy_loops(1);
    for mode in SOAKS {
        for flags in [&[][..], &[BASELINE]] {
            suite_in_node(flags, mode)?;
            chromium(browser, "root", mode, &[&["300"], flags].concat())?;
        }
    }
    Ok(())
}

/// One workload on waitword's lock and its peers', each in a browser of its own.
pub(crate) fn bench() -> Result<(), Stop> {
    let browser = browser()?;
    build(&CONTEST)?;
    copy("contest/page.html", "contest/page.html")?;
    for lock in ["waitword", "wasm_safe_mutex", "wasm_sync"] {
        chromium(browser, "contest", &format!("lock={lock}"), &["60"])?;
    }
    Ok(())
}

/// What could be built.
pub(crate) struct Built {
    suite: bool,
    single: bool,
}

/// Builds what the tests run, and weighs it.
pub(crate) fn build_all() -> Result<Built, Stop> {
    // Each builds a standard library of its own, most of the time on one CPU.
    let [suite, size, single] = thread::scope(|scope| {
        let builds = [scope.spawn(|| build(&TESTS)), scope.spawn(|| build(&SIZE)), scope.spawn(build_single)];
        builds.map(|thread| thread.join().expect("a build that does not panic"))
    });
    let suite = SKIPS
        .part("the suite in Node and in Chromium, and the size of its smallest program", || {
            suite.and(size)
        })?;
    Ok(Built { suite, single: SKIPS.part("the test without threads", || single)? })
}

/// Builds a package for wasm32 with threads, and a standard library with atomics along.
fn build(package: &Package) -> Result<(), Stop> {
    bind(
        &format!("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS='{FLAGS}' {}", cargo_with_std()?),
        FOLDER,
        package,
    )
}

/// Without atomics, with the standard library as stable Rust has it, where that is installed.
fn build_single() -> Result<(), Stop> {
    let cargo = if has_library(TARGET) { "cargo build".to_owned() } else { cargo_with_std()? };
    bind(&cargo, "target/web/single-agent", &SINGLE)
}

/// Builds a package by this line into `target`, and binds it for JavaScript. Fails if its wasm has grown.
fn bind(cargo: &str, target: &str, package: &Package) -> Result<(), Stop> {
    need(&[WASM_BINDGEN])?;
    let Package { name, profile, folder, largest } = package;
    let what = format!("--manifest-path verify/web/Cargo.toml -p {name} --profile {profile}");
    run(&format!("{cargo} {what} --target {TARGET} --target-dir {target}"))?;
    let file = name.replace('-', "_");
    let wasm = format!("{target}/{TARGET}/{profile}/{file}.wasm");
    run(&format!("wasm-bindgen --target web --out-dir {FOLDER}/{folder} {wasm}"))?;
    // For Node, which takes a `.js` for CommonJS otherwise.
    write(&format!("{folder}/package.json"), "{ \"type\": \"module\" }\n")?;
    let file = format!("{FOLDER}/{folder}/{file}_bg.wasm");
    let size = fs::metadata(root().join(&file)).map_err(Stop::at(&file))?.len();
    println!("{file}: {size} bytes");
    let why = || format!("{file} has grown to {size} bytes, of at most {largest}");
    if size <= *largest { Ok(()) } else { Err(Stop::Failed(why())) }
}

/// Puts what the page of the suite loads into one folder.
fn lay_out() -> Result<(), Stop> {
    copy("page.html", "root/page.html")?;
    copy("suite.mjs", "root/suite.mjs")?;
    let link = root().join(FOLDER).join("root/pkg");
    #[cfg(unix)]
    if !link.exists() {
        std::os::unix::fs::symlink("../pkg", &link).map_err(Stop::at("root/pkg"))?;
    }
    Ok(())
}

/// Builds the standard library along.
fn cargo_with_std() -> Result<String, Stop> {
    let line = with_std_sources("build -Zbuild-std=std,panic_abort").ok_or_else(|| {
        let how_to_get = "apt-get install rustc-web rust-web-src (Debian), or rustup component add rust-src";
        Stop::missing("a toolchain that builds the standard library for wasm32", how_to_get)
    })?;
    if !has_sources(DEBIAN) {
        return Ok(line);
    }
    // It comes without the linker, which rustup's has.
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

/// Opens the page of a folder in a browser, and stops it after so many seconds.
fn chromium(browser: &str, folder: &str, query: &str, more: &[&str]) -> Result<(), Stop> {
    let page = [&format!("{FOLDER}/{folder}"), &format!("page.html?{query}")];
    node(&[&["verify/web/chromium.mjs", browser, page[0], page[1]], more].concat())
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

/// Where V8's baseline compiler spoils a local variable at each wait, as that of Node 20 does, the optimizing one runs alone.
fn flags_of_node() -> &'static [&'static str] {
    if succeeds("node verify/web/wait_bug.mjs") {
        return &[];
    }
    SKIPS.skip("the suite in Node with the baseline compiler", "this Node has a bug there (docs/web.md)");
    &["--no-liftoff", "--no-wasm-tier-up"]
}

/// From `verify/web/` to the folder of what is built.
fn copy(from: &str, to: &str) -> Result<(), Stop> {
    write(to, &fs::read_to_string(root().join("verify/web").join(from)).map_err(Stop::at(from))?)
}

fn write(file: &str, text: &str) -> Result<(), Stop> {
    let path = root().join(FOLDER).join(file);
    let folder = path.parent().unwrap_or(&path);
    fs::create_dir_all(folder).and_then(|()| fs::write(&path, text)).map_err(Stop::at(file))
}
