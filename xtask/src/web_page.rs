//! The page of `examples/browser`: built, and served or tested.

use crate::line::Line;
use crate::skips::Skips;
use crate::stop::Stop;
use crate::tool::{NODE, need};
use crate::web::{build, weigh};

/// The Rust half of its workers.
const PACKAGE: &str = "waitword-browser-example";

/// What their wasm may weigh, in bytes: what it weighed, and a tenth more.
const LARGEST: u64 = 62_000;

const DRIVE: &str = "node examples/browser/drive.mjs";

/// Where the test puts a picture of the page. The one in the README is `docs/browser.png`, taken at a raised priority.
const PICTURE: &str = "target/web/browser.png";

pub(crate) fn serve() -> Result<(), Stop> {
    need(&[NODE])?;
    build_wasm()?;
    Line::new(DRIVE).run()
}

/// Without its wasm the page runs as well, with fewer workers.
pub(crate) fn test(skips: &Skips) -> Result<(), Stop> {
    skips.part("the workers in Rust of examples/browser", build_wasm)?;
    skips.part("the page of examples/browser", || {
        need(&[NODE])?;
        skips.of(Line::new(DRIVE).args(["--test", "--picture", PICTURE])).run()
    })?;
    Ok(())
}

fn build_wasm() -> Result<(), Stop> {
    build(PACKAGE, "small", "example")?;
    weigh("example", PACKAGE, LARGEST)
}
