//! What came out: tables to read, pictures, CSV and JSON for machines, and which of them are kept.

mod chart;
mod data;
mod goals;
mod tables;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use crate::runner::Results;

/// The results and their peers.
pub(crate) struct Report<'a> {
    pub(crate) results: &'a [Results<'a>],
    /// How to measure them again.
    pub(crate) command: &'a str,
    /// The files that are kept: the page, and all figures.
    pub(crate) page: &'a str,
    pub(crate) figures: &'a str,
    /// The names and versions of the others.
    pub(crate) against: Vec<String>,
}

impl Report<'_> {
    /// Prints the tables; writes the page that is kept, pictures and CSV to `folder` and every figure to `json`, if these are
    /// wanted. Fails if that fails, or a contender did not finish.
    pub(crate) fn publish(&self, folder: Option<PathBuf>, json: Option<&Path>) -> ExitCode {
        print!("{}", tables::all(self.results));
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
            let page = tables::page(self.results, self.command, &self.against, self.figures);
            write(folder.join(self.page), &page)?;
            write(folder.join(self.figures), &data::csv(self.results))?;
            for (file, svg) in self.results.iter().flat_map(chart::of) {
                write(folder.join(file), &svg)?;
            }
        }
        if let Some(path) = json {
            write(path.to_owned(), &data::json(self.results)?)?;
        }
        Ok(written)
    }
}
