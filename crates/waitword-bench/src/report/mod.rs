//! What came out: tables for reading, charts for looking, JSON for machines.

mod chart;
mod goals;
mod json;
pub(crate) mod markdown;

use std::path::PathBuf;
use std::{fs, io};

use crate::args::Args;
use crate::runner::Results;
use crate::workloads::Page;

/// The pages, and the file of each.
const PAGES: [(Page, &str); 2] = [(Page::Queue, "README.md"), (Page::Locks, "locks.md")];

/// Prints the pages that have something to say.
pub(crate) fn print(results: &[Results<'_>]) {
    for (page, _) in PAGES {
        if has(results, page) {
            print!("{}", markdown::page(results, page));
        }
    }
}

/// Writes whatever the arguments ask for. Returns which files these are.
pub(crate) fn write(results: &[Results<'_>], args: &Args) -> io::Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    let mut write = |path: PathBuf, text: &str| {
        fs::write(&path, text)?;
        written.push(path);
        io::Result::Ok(())
    };
    if let Some(folder) = args.folder() {
        fs::create_dir_all(&folder)?;
        for (page, file) in PAGES.into_iter().filter(|(page, _)| has(results, *page)) {
            let charts = chart::all(results, page);
            let text = markdown::page(results, page) + &markdown::gallery(&charts);
            write(folder.join(file), &text)?;
            for chart in charts {
                write(folder.join(&chart.file), &chart.svg)?;
            }
        }
    }
    if let Some(path) = &args.json {
        write(path.clone(), &json::document(results)?)?;
    }
    Ok(written)
}

fn has(results: &[Results<'_>], page: Page) -> bool {
    results.iter().any(|results| results.workload.page == page)
}
