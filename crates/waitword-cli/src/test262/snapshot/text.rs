//! The text of a snapshot's file, and the folder of these files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use clap::ValueEnum;

use super::results::{Entry, Snapshot, Total};
use crate::test262::outcome::Outcome;
use crate::test262::plan::{Case, Mode};

/// Stands for a cause that is not known yet.
const UNKNOWN: &str = "?";

const HEAD: &str = "\
# What `waitword test262` found: every test below these paths passes, but for those listed.
# Written by --update, which keeps the paths, and of each failure the line `because`.
";

impl Snapshot {
    /// # Errors
    /// What is wrong, with the line number.
    pub(super) fn parse(file: PathBuf, text: &str) -> Result<Self, String> {
        let mut snapshot =
            Self { file, paths: Vec::new(), suite: String::new(), total: None, entries: BTreeMap::new() };
        // The cases of the current entry.
        let mut cases = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let wrong = |what: &str| format!("{}:{number}: {what}", snapshot.file.display());
            let line = line.trim();
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let rest = rest.trim();
            match word {
                "" => {}
                _ if line.starts_with('#') => {}
                "suite" => snapshot.suite = rest.to_owned(),
                "path" => snapshot.paths.push(rest.trim_end_matches('/').to_owned()),
                "total" => {
                    let total = Total::parse(rest).ok_or_else(|| wrong("expected three numbers"))?;
                    snapshot.total = Some(total);
                }
                "failed" | "skipped" => {
                    let outcome = if word == "failed" { Outcome::Failed } else { Outcome::Skipped };
                    cases = parse_cases(rest).ok_or_else(|| wrong("expected FILE (MODE, …)"))?;
                    for case in &cases {
                        let entry = Entry { outcome: outcome(String::new()), because: None };
                        snapshot.entries.insert(case.clone(), entry);
                    }
                }
                "error" | "because" if !cases.is_empty() => {
                    for case in &cases {
                        let Some(entry) = snapshot.entries.get_mut(case) else { continue };
                        match (word, &mut entry.outcome) {
                            ("error", Outcome::Failed(text)) | ("because", Outcome::Skipped(text)) => {
                                *text = rest.to_owned();
                            }
                            ("because", _) => {
                                entry.because = Some(rest.to_owned()).filter(|text| text != UNKNOWN);
                            }
                            _ => return Err(wrong("a case that is skipped has no error")),
                        }
                    }
                }
                _ => {
                    return Err(wrong("expected suite, path, total, failed or skipped, or a # in front"));
                }
            }
        }
        if snapshot.paths.is_empty() {
            return Err(format!(
                "{} covers nothing: begin it with a line such as `path test/built-ins/Atomics`",
                snapshot.file.display()
            ));
        }
        Ok(snapshot)
    }
}

impl fmt::Display for Snapshot {
    /// Writes the text of the file. Cases of one test with equal results are listed once.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{HEAD}\nsuite {}\n", self.suite)?;
        for path in &self.paths {
            writeln!(f, "path {path}")?;
        }
        if let Some(total) = self.total {
            writeln!(f, "total {total}")?;
        }
        let entries: Vec<(&Case, &Entry)> = self.entries.iter().collect();
        for mut rest in entries.chunk_by(|(a, _), (b, _)| a.file == b.file).map(<[_]>::to_vec) {
            while let Some((first, entry)) = rest.first().copied() {
                let (same, others) = rest.into_iter().partition::<Vec<_>, _>(|(_, other)| *other == entry);
                rest = others;
                let modes: Vec<String> = same.iter().map(|(case, _)| case.mode.to_string()).collect();
                write!(f, "\n{} {} ({})\n", entry.outcome.word(), first.file, modes.join(", "))?;
                let because = match &entry.outcome {
                    Outcome::Skipped(reason) => Some(reason.as_str()),
                    outcome => {
                        writeln!(f, "    error {}", outcome.detail().unwrap_or_default())?;
                        entry.because.as_deref()
                    }
                };
                writeln!(f, "    because {}", because.unwrap_or(UNKNOWN))?;
            }
        }
        Ok(())
    }
}

impl Total {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(',').map(str::trim);
        let mut count = |word: &str| parts.next()?.strip_suffix(word)?.trim().parse().ok();
        Some(Self { passed: count("passed")?, failed: count("failed")?, skipped: count("skipped")? })
    }
}

impl fmt::Display for Total {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// `FILE (MODE, MODE)`
fn parse_cases(text: &str) -> Option<Vec<Case>> {
    let (file, modes) = text.strip_suffix(')')?.rsplit_once(" (")?;
    let case =
        |mode: &str| Some(Case { file: file.to_owned(), mode: Mode::from_str(mode.trim(), false).ok()? });
    modes.split(',').map(case).collect()
}

/// Loads the snapshots in a folder, `*.txt`, sorted by name. A folder that does not exist has none.
///
/// # Errors
/// If a file cannot be read or parsed.
pub(crate) fn load_all(folder: &Path) -> Result<Vec<Snapshot>, String> {
    let unreadable = |error: io::Error| format!("cannot read {}: {error}", folder.display());
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries.collect::<io::Result<Vec<_>>>().map_err(unreadable)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(error)),
    };
    let mut files: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "txt"));
    files.sort();
    files.into_iter().map(Snapshot::load).collect()
}

impl Snapshot {
    fn load(file: PathBuf) -> Result<Self, String> {
        let text = fs::read_to_string(&file);
        let text = text.map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        Self::parse(file, &text)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn save(&self) -> Result<(), String> {
        let written = fs::write(&self.file, self.to_string());
        written.map_err(|error| format!("cannot write {}: {error}", self.file.display()))
    }
}
