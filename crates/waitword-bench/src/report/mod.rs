//! What came out: tables to read, pictures, CSV for machines, and which of them are kept.

mod chart;
mod goals;
mod tables;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use crate::runner::{self, Results};
use crate::workload::{Scale, Workload};

/// What is measured, and where that is reported.
pub(crate) struct Plan {
    pub(crate) workloads: Vec<Workload>,
    pub(crate) scale: Scale,
    /// How to measure it again.
    pub(crate) command: &'static str,
    /// The files that are kept: the page, and all figures; and their folder, if they are.
    pub(crate) page: &'static str,
    pub(crate) figures: &'static str,
    pub(crate) folder: Option<PathBuf>,
    /// The names and versions of the others.
    pub(crate) against: Vec<String>,
}

impl Plan {
    /// Measures, prints the tables, and writes what is kept: the page, pictures and CSV. Fails if that fails, or a contender did not
    /// finish.
    pub(crate) fn run(&self) -> ExitCode {
        let results = self.workloads.iter().map(|workload| runner::run(workload, &self.scale));
        let results = results.collect::<Vec<_>>();
        print!("{}", tables::all(&results));
        if let Some(Err(error)) = self.folder.as_ref().map(|folder| self.write(&results, folder)) {
            eprintln!("the results could not be written: {error}");
            return ExitCode::FAILURE;
        }
        let all_are_well = results.iter().all(|results| results.failures.is_empty());
        if all_are_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    fn write(&self, results: &[Results<'_>], folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let page = tables::page(results, self.command, &self.against, self.figures);
        let mut files = vec![(self.page.to_owned(), page), (self.figures.to_owned(), tables::csv(results))];
        files.extend(results.iter().flat_map(chart::of));
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
        let contenders = contenders.iter().map(|name| Contender::new(name, |_| Vec::new())).collect();
        Workload { name: "test", about: "About.", contenders, goals }
    }

    pub(super) fn results<'a>(workload: &'a Workload, samples: Vec<(&'static str, Sample)>) -> Results<'a> {
        let mut results = Results::new(workload);
        samples.into_iter().for_each(|(contender, sample)| results.add(contender, sample));
        results
    }
}
