//! The parts that are skipped because something that they need is missing: reported at once, and in a list at the end.
//!
//! A line is `skipped: WHAT: WHY`. It is appended to the file that the environment variable WAITWORD_SKIPS names, or to one in `target`.
//! In this way recipes report to `.ci/run`, and the programs that a recipe starts (`packages/waitword/tests/browser/drive.mjs`) to the recipe.

use std::env;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::LazyLock;

use crate::line::{Stop, quoted, root};

const VARIABLE: &str = "WAITWORD_SKIPS";

/// The parts that this recipe skips.
pub(crate) static SKIPS: LazyLock<Skips> = LazyLock::new(|| match env::var_os(VARIABLE) {
    Some(file) => Skips::within(file.into()),
    None => {
        let file = root().join("target/skips");
        let _ = fs::remove_file(&file); // left by an earlier recipe
        Skips::within(file)
    }
});

/// Skips each part that lacks something, without the others.
#[derive(Debug)]
pub(crate) struct Skips {
    file: PathBuf,
    /// The length of the file at the start.
    start: usize,
}

impl Skips {
    fn within(file: PathBuf) -> Self {
        let start = fs::read(&file).map_or(0, |text| text.len());
        Self { file, start }
    }

    /// Reports that `what` is not run.
    pub(crate) fn skip(&self, what: &str, why: impl Display) {
        let line = format!("skipped: {what}: {why}");
        println!("{line}");
        let append = || writeln!(File::options().create(true).append(true).open(&self.file)?, "{line}");
        if let Err(error) = append() {
            eprintln!("xtask: that line could not be appended to {}: {error}", self.file.display());
        }
    }

    /// Runs a part, or reports it as skipped if a program that it needs is missing. Returns whether it was run.
    pub(crate) fn part(&self, what: &str, run: impl FnOnce() -> Result<(), Stop>) -> Result<bool, Stop> {
        match run() {
            Err(missing @ Stop::Missing(_)) => {
                self.skip(what, missing);
                Ok(false)
            }
            ended => ended.map(|()| true),
        }
    }

    /// The environment for a line whose program reports its own skips.
    pub(crate) fn env(&self) -> String {
        format!("{VARIABLE}={}", quoted([self.file.to_string_lossy()]))
    }

    /// Ends the recipe, if nothing failed.
    ///
    /// # Errors
    /// [`Stop::Missing`] with the skipped parts, if there are any.
    pub(crate) fn end(&self) -> Result<(), Stop> {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        match text.get(self.start..).unwrap_or_default().trim_end() {
            "" => Ok(()),
            lines => Err(Stop::Missing(format!("some parts were skipped; all others passed:\n{lines}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_lacks_something_is_skipped_alone_and_reported_at_the_end() {
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
        let lines = "skipped: the page: Chromium is missing; to get it: apt-get install it\n\
            skipped: the page in Firefox: it is not installed";
        assert!(end.to_string().ends_with(lines), "{end}");
        assert!(Skips::within(file).end().is_ok(), "nothing is reported twice");
    }
}
