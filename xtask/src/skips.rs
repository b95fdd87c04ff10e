//! What is not run, for something that it needs is missing: told at once, and in a list at the end.
//!
//! A line is `skipped: WHAT, for WHY`. It is appended to the file that the environment variable WAITWORD_SKIPS names, or to one in `target`:
//! so recipes tell `.ci/run`, and the programs that a recipe starts tell the recipe (`packages/waitword/tests/browser/drive.mjs`).

use std::env;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::LazyLock;

use crate::line::{Stop, quoted, root};

const VARIABLE: &str = "WAITWORD_SKIPS";

/// What this recipe skips.
pub(crate) static SKIPS: LazyLock<Skips> = LazyLock::new(|| match env::var_os(VARIABLE) {
    Some(file) => Skips::within(file.into()),
    None => {
        let file = root().join("target/skips");
        let _ = fs::remove_file(&file); // of a recipe that has ended
        Skips::within(file)
    }
});

/// A part that lacks something is skipped alone.
#[derive(Debug)]
pub(crate) struct Skips {
    file: PathBuf,
    /// What stood in the file before.
    start: usize,
}

impl Skips {
    fn within(file: PathBuf) -> Self {
        let start = fs::read(&file).map_or(0, |text| text.len());
        Self { file, start }
    }

    /// Tells that `what` is not run.
    pub(crate) fn skip(&self, what: &str, why: impl Display) {
        let line = format!("skipped: {what}, for {why}");
        println!("{line}");
        let append = || writeln!(File::options().create(true).append(true).open(&self.file)?, "{line}");
        if let Err(error) = append() {
            eprintln!("xtask: the list of what was skipped lacks that line: {error}");
        }
    }

    /// Returns whether the part was run.
    pub(crate) fn part(&self, what: &str, run: impl FnOnce() -> Result<(), Stop>) -> Result<bool, Stop> {
        match run() {
            Err(missing @ Stop::Missing(_)) => {
                self.skip(what, missing);
                Ok(false)
            }
            ended => ended.map(|()| true),
        }
    }

    /// What stands before a line whose program tells its own skips.
    pub(crate) fn env(&self) -> String {
        format!("{VARIABLE}={}", quoted([self.file.to_string_lossy()]))
    }

    /// What the recipe ends with if nothing failed.
    pub(crate) fn end(&self) -> Result<(), Stop> {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        match text.get(self.start..).unwrap_or_default().trim_end() {
            "" => Ok(()),
            lines => Err(Stop::Missing(format!("what could be run passed; the rest could not:\n{lines}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_lacks_something_is_skipped_alone_and_told_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("skips");
        fs::write(&file, "skipped: another recipe's\n").unwrap();
        let skips = Skips::within(file.clone());
        assert!(!skips.part("the page", || Err(Stop::missing("Chromium", "apt-get install it"))).unwrap());
        assert!(skips.part("the suite", || Ok(())).unwrap());
        assert!(skips.part("the size", || Err(Stop::Failed("too large".into()))).is_err());
        skips.skip("the page in Firefox", "it is not installed");
        let end = skips.end().unwrap_err();
        assert_eq!(end.code(), 3);
        let lines = "skipped: the page, for Chromium is missing; to get it: apt-get install it\n\
            skipped: the page in Firefox, for it is not installed";
        assert!(end.to_string().ends_with(lines), "{end}");
        assert!(Skips::within(file).end().is_ok(), "nothing is told twice");
    }
}
