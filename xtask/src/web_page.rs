//! The page of `examples/browser`: built, and served or tested.

use crate::line::Line;
use crate::stop::Stop;
use crate::tool::{NODE, need};
use crate::web::{build, weigh};

/// The Rust half of its workers.
const PACKAGE: &str = "waitword-browser-example";

/// What their wasm may weigh, in bytes: what it weighed, and a tenth more.
const LARGEST: u64 = 62_000;

/// Where the test puts a picture of the page. The one in the README is `docs/browser.png`, taken at a raised priority.
const PICTURE: &str = "target/web/browser.png";

pub(crate) fn run(test: bool) -> Result<(), Stop> {
    need(&[NODE])?;
    build(PACKAGE, "small", "example")?;
    weigh("example", PACKAGE, LARGEST)?;
    let line = Line::new("node examples/browser/drive.mjs");
    if test { line.args(["--test", "--picture", PICTURE]).run() } else { line.run() }
}
