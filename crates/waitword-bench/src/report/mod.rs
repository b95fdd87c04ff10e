//! What came out: tables to read, pictures, CSV for machines, and which of them are kept.

mod chart;
mod goals;
mod tables;

use std::path::PathBuf;
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
    /// Prints the tables; writes the page that is kept, pictures and CSV to `folder`, if that is wanted. Fails if that fails, or a
    /// contender did not finish.
    pub(crate) fn publish(&self, folder: Option<PathBuf>) -> ExitCode {
        print!("{}", tables::all(self.results));
        if let Some(Err(error)) = folder.map(|folder| self.write(folder)) {
            eprintln!("the results could not be written: {error}");
            return ExitCode::FAILURE;
        }
        let all_are_well = self.results.iter().all(|results| results.failures.is_empty());
        if all_are_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    fn write(&self, folder: PathBuf) -> io::Result<()> {
        fs::create_dir_all(&folder)?;
        let page = tables::page(self.results, self.command, &self.against, self.figures);
        let mut files =
            vec![(self.page.to_owned(), page), (self.figures.to_owned(), tables::csv(self.results))];
        files.extend(self.results.iter().flat_map(chart::of));
        for (file, text) in files {
            let path = folder.join(file);
            fs::write(&path, text)?;
            eprintln!("wrote {}", path.display());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::runner::Results;
    use crate::series::Sample;
    use crate::workload::{Contender, Goal, Workload};

    pub(super) fn workload(contenders: &[&'static str], goals: Vec<Goal>) -> Workload {
        let contenders = contenders.iter().map(|name| Contender { name, run: |_| Vec::new() }).collect();
        Workload { name: "test", about: "About.", contenders, goals }
    }

    pub(super) fn results<'a>(workload: &'a Workload, samples: Vec<(&'static str, Sample)>) -> Results<'a> {
        let mut results = Results::new(workload.topic());
        samples.into_iter().for_each(|(contender, sample)| results.add(contender, sample));
        results
    }
}
