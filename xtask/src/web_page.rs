//! The page of `examples/browser`: built, and served or tested.

use std::fs;

use crate::line::{Line, root};
use crate::stop::Stop;
use crate::tool::{NODE, need};
use crate::web::{FOLDER, build};

/// What the wasm of the two Rust workers may weigh, in bytes. Lower it where it gets smaller.
const LIMIT: u64 = 110_000;

/// Where the test puts the picture that the README shows.
const PICTURE: &str = "docs/browser.png";

pub(crate) fn run(test: bool) -> Result<(), Stop> {
    need(&[NODE])?;
    build("examples/browser/rust/Cargo.toml", "waitword_browser_example", "example")?;
    guard_size()?;
    let line = Line::new("node examples/browser/drive.mjs");
    if test { line.args(["--test", "--picture", PICTURE]).run() } else { line.run() }
}

fn guard_size() -> Result<(), Stop> {
    let file = format!("{FOLDER}/example/waitword_browser_example_bg.wasm");
    let size =
        fs::metadata(root().join(&file)).map_err(|error| Stop::Failed(format!("{file}: {error}")))?.len();
    println!("{file}: {size} bytes, of {LIMIT} at most");
    if size <= LIMIT { Ok(()) } else { Err(Stop::Failed(format!("{file} has grown to {size} bytes"))) }
}
