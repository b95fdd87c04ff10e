//! What came out: tables for reading, charts for looking, JSON for machines.

mod chart;
mod goals;
mod json;
pub(crate) mod markdown;

use std::path::PathBuf;
use std::{fs, io};

use crate::args::Args;
use crate::runner::Results;

/// Writes whatever the arguments ask for. Returns which files these are.
pub(crate) fn write(results: &[Results<'_>], args: &Args) -> io::Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    if let Some(folder) = args.folder() {
        fs::create_dir_all(&folder)?;
        let page = folder.join("README.md");
        let charts = chart::all(results);
        let mut text = markdown::page(results);
        text.push_str(&markdown::gallery(&charts));
        fs::write(&page, text)?;
        written.push(page);
        for chart in charts {
            let path = folder.join(&chart.file);
            fs::write(&path, chart.svg)?;
            written.push(path);
        }
    }
    if let Some(path) = &args.json {
        fs::write(path, json::document(results)?)?;
        written.push(path.clone());
    }
    Ok(written)
}
