//! Rounds: in each, every contender of a workload runs once. Each round begins with another contender.

use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};

use crate::figures::{self, Figures};
use crate::workload::{Scale, Workload};

/// The workloads, their scale, the number of rounds, and the folder of the figures, if they are written.
pub(crate) struct Plan {
    pub(crate) workloads: Vec<Workload>,
    pub(crate) scale: Scale,
    pub(crate) rounds: usize,
    pub(crate) folder: Option<PathBuf>,
}

impl Plan {
    /// Measures, writes the figures, and prints the tables.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(crate) fn run(&self) -> io::Result<()> {
        let csv = figures::csv(&self.measure());
        if let Some(folder) = &self.folder {
            let file = folder.join("figures.csv");
            fs::create_dir_all(folder)?;
            fs::write(&file, &csv)?;
            eprintln!("wrote {}", file.display());
        }
        let mut report = figures::report();
        report.args(self.folder.iter().flat_map(|folder| ["--out".as_ref(), folder.as_os_str()]));
        if !figures::pipe(&csv, &mut report)? {
            eprintln!("the tables need Node, which is not installed: printing the figures as CSV");
            print!("{csv}");
        }
        Ok(())
    }

    fn measure(&self) -> Vec<Figures> {
        let rounds = self.rounds;
        let runs = self.workloads.iter().map(|workload| workload.contenders.len() * rounds).sum::<usize>();
        let bar = ProgressBar::new(runs as u64);
        let style = ProgressStyle::with_template("{bar:30} {pos} of {len}, {elapsed}: {wide_msg}");
        bar.set_style(style.expect("the template is well formed"));
        let measure = |workload: &Workload| {
            if !io::stderr().is_terminal() {
                eprintln!("{}: {rounds} rounds", workload.name);
            }
            let mut figures = Figures::of(workload.name);
            let contenders = &workload.contenders;
            for turn in (0..rounds).flat_map(|round| (0..contenders.len()).map(move |next| round + next)) {
                let contender = &contenders[turn % contenders.len()];
                bar.set_message(format!("{}, {}", workload.name, contender.name));
                let samples = contender.run(&self.scale);
                samples.into_iter().for_each(|sample| figures.add(contender.name, sample));
                bar.inc(1);
            }
            figures
        };
        let figures = self.workloads.iter().map(measure).collect();
        bar.finish_and_clear();
        figures
    }
}
