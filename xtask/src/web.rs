//! The tests in a browser and in Node, and the page of `examples/browser`: `verify/web/` is a workspace of its own, built for wasm32 with threads.
//!
//! The standard library has to be built with atomics. For that a toolchain needs the library's sources.

use std::fs;
use std::path::Path;
use std::thread;

use clap::ValueEnum;

use crate::args::SoakPart;
use crate::line::{Line, Stop, root};
use crate::repeat::beside_busy_loops;
use crate::skips::SKIPS;
use crate::tool::{DEBIAN, NODE, WASM_BINDGEN, has_sources, need, with_std_sources};

const FOLDER: &str = "target/web";

/// The package of the tests.
const TESTS: &str = "waitword-web-tests";

/// The instructions of threads, and a memory that the host makes and shares.
const FLAGS: &str = "-C target-feature=+atomics,+bulk-memory,+mutable-globals -C link-arg=--shared-memory -C link-arg=--import-memory \
    -C link-arg=--max-memory=1073741824 -C link-arg=--export=__wasm_init_tls -C link-arg=--export=__tls_size \
    -C link-arg=--export=__tls_align -C link-arg=--export=__tls_base -C link-arg=--export=__heap_base";

const TARGET: &str = "wasm32-unknown-unknown";

/// How the suite is run: on which agents' means.
const MODES: [&str; 3] = ["", "timer", "timer&messages"];

/// The package of the benchmark.
const CONTEST: &str = "waitword-web-contest";

/// What a soak runs, each of 10 million steps: the test's name, and how many times over.
const SOAKS: [(&str, u32); 2] =
    [("queue::conservation", 500), ("locks::no_count_is_lost_and_nobody_meets", 125)];
const STEPS: u32 = 10_000_000;

/// V8's flag for the baseline compiler alone.
const BASELINE: &str = "--liftoff-only";

/// The package of the smallest program with a lock.
const SIZE: &str = "waitword-web-size";

/// What that may weigh, in bytes of wasm: what it weighed, and a tenth more.
const LARGEST: u64 = 106_000;

/// The Rust half of the workers of `examples/browser`.
const PAGE: &str = "waitword-browser-example";

/// What their wasm may weigh, in bytes: what it weighed, and a tenth more.
const LARGEST_PAGE: u64 = 62_000;

const DRIVE: &str = "node examples/browser/drive.mjs";

/// Where the test puts a picture of the page. The one in the README is `docs/browser.png`, taken at a raised priority.
const PICTURE: &str = "target/web/browser.png";

/// The tests, in one mode or in all; then the page as well.
pub(crate) fn test(mode: Option<&str>) -> Result<(), Stop> {
    let built = build_all()?;
    if built.single {
        SKIPS.part("the test without threads", || {
            need(&[NODE])?;
            Line::new("node verify/web/single.mjs target/web/single").run()
        })?;
    }
    if built.suite {
        run_suite(mode)?;
    }
    if mode.is_none() { test_page() } else { Ok(()) }
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
        let suite = scope.spawn(|| build(TESTS, "release", "pkg"));
        let size = scope.spawn(|| build(SIZE, "small", "size"));
        let single = scope.spawn(build_single);
        [suite, size, single].map(|thread| thread.join().expect("a build that does not panic"))
    });
    let suite =
        SKIPS.part("the suite in Node and in Chromium, and the size of its smallest program", || {
            suite.and(size)?;
            weigh("size", SIZE, LARGEST)
        })?;
    Ok(Built { suite, single: SKIPS.part("the test without threads", || single)? })
}

/// Fails if the wasm of a bound package has grown beyond `largest` bytes.
fn weigh(folder: &str, package: &str, largest: u64) -> Result<(), Stop> {
    let file = format!("{FOLDER}/{folder}/{}_bg.wasm", package.replace('-', "_"));
    let size = fs::metadata(root().join(&file)).map_err(Stop::at(&file))?.len();
    println!("{file}: {size} bytes of at most {largest}");
    if size <= largest { Ok(()) } else { Err(Stop::Failed(format!("{file} has grown to {size} bytes"))) }
}

/// Builds a package of `verify/web/` for wasm32 with threads and a standard library with atomics, and binds it: into `target/web/FOLDER`.
fn build(package: &str, profile: &str, folder: &str) -> Result<(), Stop> {
    let cargo = cargo_with_std()?.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", FLAGS);
    bind(cargo, FOLDER, package, profile, folder)
}

/// Builds a package of `verify/web/` by this line into `target`, and binds it: into `target/web/FOLDER`.
fn bind(cargo: Line, target: &str, package: &str, profile: &str, folder: &str) -> Result<(), Stop> {
    need(&[WASM_BINDGEN])?;
    let cargo =
        cargo.args(["--manifest-path", "verify/web/Cargo.toml", "--target", TARGET, "--target-dir", target]);
    cargo.args(["-p", package, "--profile", profile]).run()?;
    let wasm = format!("{target}/{TARGET}/{profile}/{}.wasm", package.replace('-', "_"));
    let folder = format!("{FOLDER}/{folder}");
    Line::new("wasm-bindgen --target web --out-dir").args([folder.clone(), wasm]).run()?;
    // For Node, which takes a `.js` for CommonJS otherwise.
    write(&format!("{folder}/package.json"), "{ \"type\": \"module\" }\n")
}

/// Builds the standard library along.
fn cargo_with_std() -> Result<Line, Stop> {
    let Some(line) = with_std_sources("build -Zbuild-std=std,panic_abort") else {
        return Err(Stop::Missing {
            name: "a toolchain that builds the standard library for wasm32",
            how_to_get: "apt-get install rustc-web rust-web-src (Debian), or rustup component add rust-src",
        });
    };
    if !has_sources(DEBIAN) {
        return Ok(line);
    }
    // It comes without the linker, which rustup's has.
    let sysroot = Line::new("rustc --print sysroot").read()?;
    let host = Line::new("rustc --print host-tuple").read()?;
    let linker = format!("{}/lib/rustlib/{}/bin/rust-lld", sysroot.trim(), host.trim());
    Ok(line.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", &linker))
}

/// The same small program without atomics, with the standard library as stable Rust has it, where that is installed.
fn build_single() -> Result<(), Stop> {
    let library = Line::new("rustc --print target-libdir --target").args([TARGET]).read();
    let has_library = library.is_ok_and(|path| Path::new(path.trim()).exists());
    let line = if has_library { Line::new("cargo build") } else { cargo_with_std()? };
    bind(line, &format!("{FOLDER}/single-agent"), SIZE, "small", "single")
}

/// The suite in Node, and in a browser's page; each in all modes.
fn run_suite(query: Option<&str>) -> Result<(), Stop> {
    let modes = query.map_or(MODES.to_vec(), |query| vec![query]);
    SKIPS.part("the suite in Node", || {
        need(&[NODE])?;
        let flags = flags_of_node();
        modes.iter().try_for_each(|mode| {
            Line::new("node")
                .args(flags.iter().copied())
                .args(["verify/web/node.mjs", "target/web/pkg", *mode])
                .run()
        })
    })?;
    SKIPS.part("the suite in Chromium", || {
        need(&[NODE])?;
        let browser = browser()?;
        serve()?;
        modes.iter().try_for_each(|mode| in_browser(browser, mode).run())
    })?;
    Ok(())
}

fn in_browser(browser: &str, mode: &str) -> Line {
    let page = format!("page.html?{mode}");
    Line::new("node verify/web/chromium.mjs").args([browser, "target/web/root", &page, "300"])
}

/// The soaks in Node and in a browser's page, with both compilers and with the baseline one alone, beside a busy loop.
pub(crate) fn soak(only: Option<SoakPart>) -> Result<(), Stop> {
    need(&[NODE])?;
    let browser = browser()?;
    // Here the baseline compiler alone is what is to be soaked.
    Line::new("node verify/web/wait_bug.mjs").run()?;
    build(TESTS, "release", "pkg")?;
    serve()?;
    beside_busy_loops(1, || {
        for (name, scale) in SOAKS {
            let mode = format!("name={name}&scale={scale}&steps={STEPS}");
            for part in
                SoakPart::value_variants().iter().filter(|part| only.is_none_or(|only| only == **part))
            {
                let node = |flags| {
                    Line::new("node").args(flags).args(["verify/web/node.mjs", "target/web/pkg", &mode])
                };
                match part {
                    SoakPart::Node => node(None),
                    SoakPart::NodeBaseline => node(Some(BASELINE)),
                    SoakPart::Chromium => in_browser(browser, &mode),
                    SoakPart::ChromiumBaseline => in_browser(browser, &mode).args([BASELINE]),
                }
                .run()?;
            }
        }
        Ok(())
    })
}

/// One workload on waitword's lock and its peers', each in a browser of its own.
pub(crate) fn bench() -> Result<(), Stop> {
    need(&[NODE])?;
    let browser = browser()?;
    build(CONTEST, "release", "contest/pkg")?;
    copy("contest/page.html", "contest/page.html")?;
    for lock in ["waitword", "wasm_safe_mutex", "wasm_sync"] {
        let page = format!("page.html?lock={lock}");
        Line::new("node verify/web/chromium.mjs").args([browser, "target/web/contest", &page, "60"]).run()?;
    }
    Ok(())
}

/// Where V8's baseline compiler spoils a local variable at each wait, as that of Node 20 does, the optimizing one runs alone.
fn flags_of_node() -> &'static [&'static str] {
    if Line::new("node verify/web/wait_bug.mjs").succeeds() {
        return &[];
    }
    SKIPS.skip("the suite in Node with the baseline compiler", "this Node has a bug there (docs/web.md)");
    &["--no-liftoff", "--no-wasm-tier-up"]
}

pub(crate) fn serve_page() -> Result<(), Stop> {
    need(&[NODE])?;
    build_page()?;
    Line::new(DRIVE).run()
}

/// Without its wasm the page runs as well, with fewer workers.
fn test_page() -> Result<(), Stop> {
    SKIPS.part("the workers in Rust of examples/browser", build_page)?;
    SKIPS.part("the page of examples/browser", || {
        need(&[NODE])?;
        SKIPS.of(Line::new(DRIVE).args(["--test", "--picture", PICTURE])).run()
    })?;
    Ok(())
}

fn build_page() -> Result<(), Stop> {
    build(PAGE, "small", "example")?;
    weigh("example", PAGE, LARGEST_PAGE)
}

/// Puts what the page loads into one folder.
fn serve() -> Result<(), Stop> {
    for file in ["page.html", "suite.mjs"] {
        copy(file, &format!("root/{file}"))?;
    }
    let link = root().join(FOLDER).join("root/pkg");
    if !link.exists() {
        #[cfg(unix)]
        std::os::unix::fs::symlink("../pkg", &link).map_err(Stop::at("root/pkg"))?;
    }
    Ok(())
}

/// From `verify/web/` to the folder of what is built.
fn copy(from: &str, to: &str) -> Result<(), Stop> {
    let text = fs::read_to_string(root().join("verify/web").join(from)).map_err(Stop::at(from))?;
    write(&format!("{FOLDER}/{to}"), &text)
}

/// The name of a Chromium that is installed.
fn browser() -> Result<&'static str, Stop> {
    const NAMES: [&str; 4] = ["chromium", "chromium-headless-shell", "google-chrome", "chromium-browser"];
    let is_there = |name: &&str| Line::new(name).args(["--version"]).succeeds();
    let how_to_get = "apt-get install chromium-headless-shell";
    NAMES.into_iter().find(is_there).ok_or(Stop::Missing { name: "Chromium", how_to_get })
}

fn write(file: &str, text: &str) -> Result<(), Stop> {
    let path = root().join(file);
    let folder = path.parent().unwrap_or(&path);
    fs::create_dir_all(folder).and_then(|()| fs::write(&path, text)).map_err(Stop::at(file))
}
