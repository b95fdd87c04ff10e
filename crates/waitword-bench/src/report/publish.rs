//! The files of a report: which pages there are, and where they are written.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use super::{chart, csv, json, markdown};
use crate::results::Results;
use crate::workload::Page;

/// The pages, the file of each, and that of what the page leaves out.
const PAGES: [(Page, &str, &str); 3] = [
    (Page::Queue, "README.md", "queue.csv"),
    (Page::Locks, "locks.md", "locks.csv"),
    (Page::JavaScript, "js.md", "js.csv"),
];

/// The results and their peers.
pub(crate) struct Report<'a> {
    pub(crate) results: &'a [Results<'a>],
    /// The names and versions of the others of a page.
    pub(crate) against: &'a dyn Fn(Page) -> Vec<String>,
}

impl Report<'_> {
    /// Prints the pages that have something to say; writes tables, charts and CSV to `folder` and every figure to `json`, if these
    /// are wanted. Fails if that fails, or a contender did not finish.
    pub(crate) fn publish(&self, folder: Option<PathBuf>, json: Option<&Path>) -> ExitCode {
        for (page, ..) in self.pages() {
            print!("{}", markdown::page(self.results, page, &(self.against)(page), &[]));
        }
        match self.write(folder, json) {
            Ok(written) => written.iter().for_each(|path| eprintln!("wrote {}", path.display())),
            Err(error) => {
                eprintln!("the results could not be written: {error}");
                return ExitCode::FAILURE;
            }
        }
        let all_are_well = self.results.iter().all(|results| results.failures.is_empty());
        if all_are_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    /// Returns which files were written.
    fn write(&self, folder: Option<PathBuf>, json: Option<&Path>) -> io::Result<Vec<PathBuf>> {
        let mut written = Vec::new();
        let mut write = |path: PathBuf, text: &str| {
            fs::write(&path, text)?;
            written.push(path);
            io::Result::Ok(())
        };
        if let Some(folder) = folder {
            fs::create_dir_all(&folder)?;
            for (page, file, details) in self.pages() {
                let charts = chart::all(self.results, page);
                let text = markdown::page(self.results, page, &(self.against)(page), &charts);
                write(folder.join(file), &text)?;
                write(folder.join(details), &csv::document(self.results, page))?;
                for chart in charts {
                    write(folder.join(&chart.file), &chart.svg)?;
                }
            }
        }
        if let Some(path) = json {
            write(path.to_owned(), &json::document(self.results)?)?;
        }
        Ok(written)
    }

    fn pages(&self) -> impl Iterator<Item = (Page, &'static str, &'static str)> {
        let has = |page| self.results.iter().any(|results| results.topic.page == page);
        PAGES.into_iter().filter(move |(page, ..)| has(*page))
    }
}
