//! What the suite said when somebody last looked, kept as text files beside the code: a change of conformance is a diff.
//!
//! A snapshot names the paths it covers and lists every case below them that does not pass, with the first line of its
//! error and, by hand, with the cause. Two runs agree when the same cases pass, fail and are skipped; the texts of errors
//! may differ.
//!
//! ```text
//! suite test262, commit be13516fb644
//! path test/built-ins/Atomics
//! total 760 passed, 1 failed, 0 skipped
//!
//! failed test/built-ins/Atomics/some-test.js (sloppy, strict)
//!     error Test262Error: Expected a TypeError
//!     because the engine does not look at the index first
//! ```

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::plan::{Case, Mode};
use super::run::Tested;
use super::verdict::Outcome;

/// How many cases ended in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Total {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) skipped: usize,
}

/// One file of results.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Snapshot {
    pub(super) file: PathBuf,
    /// What it covers, in the suite's spelling.
    pub(super) paths: Vec<String>,
    /// The version of the suite, for its readers.
    suite: String,
    /// `None` in a file that was just begun.
    total: Option<Total>,
    /// The cases that do not pass.
    entries: BTreeMap<Case, Entry>,
}

/// A case that does not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    kind: Kind,
    /// The first line of the error; none for a case that is skipped.
    error: Option<String>,
    /// Why it is so: of a failure, by hand.
    because: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Failed,
    Skipped,
}

/// Where a run and a snapshot disagree.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Difference {
    /// One case ends otherwise.
    Outcome { case: Case, expected: &'static str, found: Outcome },
    /// A case that the snapshot lists was not found in the suite.
    Gone { case: Case, file: PathBuf },
    /// As many cases as before are not there, or there are more.
    Total { file: PathBuf, expected: Total, found: Total },
}

/// The snapshots in a folder, `*.txt`, sorted by name. A folder that is not there has none.
///
/// # Errors
/// A file that cannot be read or understood.
pub(super) fn load_all(folder: &Path) -> Result<Vec<Snapshot>, String> {
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

/// Compares the results of a run over `paths` with what the snapshots have for them. What no snapshot covers has to
/// pass.
pub(super) fn compare(snapshots: &[Snapshot], paths: &[String], tested: &[Tested]) -> Vec<Difference> {
    let mut differences = Vec::new();
    for Tested { case, outcome, .. } in tested {
        let covering = snapshots.iter().find(|snapshot| snapshot.covers(&case.file));
        // To skip is no failure, so a case that is known to nobody may be skipped.
        let expected = covering.map_or(
            match outcome {
                Outcome::Skipped(_) => "skipped",
                _ => "passed",
            },
            |snapshot| snapshot.expected(case),
        );
        if expected != outcome.word() {
            differences.push(Difference::Outcome { case: case.clone(), expected, found: outcome.clone() });
        }
    }
    let present: HashSet<&Case> = tested.iter().map(|tested| &tested.case).collect();
    for snapshot in snapshots {
        let is_run = |file: &str| paths.iter().any(|path| is_below(file, path));
        let gone = snapshot.entries.keys().filter(|case| is_run(&case.file) && !present.contains(case));
        let gone = gone.map(|case| Difference::Gone { case: case.clone(), file: snapshot.file.clone() });
        differences.extend(gone);
        let found = snapshot.total_of(tested);
        if let Some(expected) = snapshot.total
            && snapshot.is_whole_in(paths)
            && expected != found
        {
            differences.push(Difference::Total { file: snapshot.file.clone(), expected, found });
        }
    }
    differences
}

impl Snapshot {
    fn load(file: PathBuf) -> Result<Self, String> {
        let text = fs::read_to_string(&file);
        let text = text.map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        Self::parse(file, &text)
    }

    fn parse(file: PathBuf, text: &str) -> Result<Self, String> {
        let mut snapshot =
            Self { file, paths: Vec::new(), suite: String::new(), total: None, entries: BTreeMap::new() };
        // The cases of the entry whose lines are being read.
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
                    let kind = if word == "failed" { Kind::Failed } else { Kind::Skipped };
                    cases = parse_cases(rest).ok_or_else(|| wrong("expected FILE (MODE, …)"))?;
                    for case in &cases {
                        let entry = Entry { kind, error: None, because: None };
                        snapshot.entries.insert(case.clone(), entry);
                    }
                }
                "error" | "because" if !cases.is_empty() => {
                    for case in &cases {
                        let Some(entry) = snapshot.entries.get_mut(case) else { continue };
                        let part = if word == "error" { &mut entry.error } else { &mut entry.because };
                        *part = Some(rest.to_owned()).filter(|text| text != UNKNOWN);
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

    /// Writes the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn save(&self) -> Result<(), String> {
        let written = fs::write(&self.file, self.to_string());
        written.map_err(|error| format!("cannot write {}: {error}", self.file.display()))
    }

    /// Takes over the results of a run over all it covers.
    pub(super) fn update(&mut self, suite: &str, tested: &[Tested]) {
        self.suite = format!("test262, {suite}");
        self.total = Some(self.total_of(tested));
        let covered = tested.iter().filter(|tested| self.covers(&tested.case.file));
        let entries = covered.filter_map(|Tested { case, outcome, .. }| {
            let because = || self.because(case).map(str::to_owned);
            let entry = match outcome {
                Outcome::Passed => return None,
                Outcome::Failed(error) => {
                    Entry { kind: Kind::Failed, error: Some(error.clone()), because: because() }
                }
                Outcome::Skipped(reason) => {
                    Entry { kind: Kind::Skipped, error: None, because: Some(reason.clone()) }
                }
            };
            Some((case.clone(), entry))
        });
        self.entries = entries.collect();
    }

    /// Whether a run over `paths` ran all that this covers.
    pub(super) fn is_whole_in(&self, paths: &[String]) -> bool {
        self.paths.iter().all(|own| paths.iter().any(|path| is_below(own, path)))
    }

    /// Why a case fails, as far as somebody has found out.
    pub(super) fn because(&self, case: &Case) -> Option<&str> {
        self.entries.get(case).filter(|entry| entry.kind == Kind::Failed)?.because.as_deref()
    }

    fn covers(&self, file: &str) -> bool {
        self.paths.iter().any(|path| is_below(file, path))
    }

    fn expected(&self, case: &Case) -> &'static str {
        match self.entries.get(case).map(|entry| entry.kind) {
            None => "passed",
            Some(kind) => kind.word(),
        }
    }

    fn total_of(&self, tested: &[Tested]) -> Total {
        Total::of(tested.iter().filter(|tested| self.covers(&tested.case.file)))
    }
}

/// In the place of a cause that nobody has found yet.
const UNKNOWN: &str = "?";

const HEAD: &str = "\
# What `waitword test262` found: every test below these paths passes, but for those listed.
# Written by --update, which keeps the paths, and of each failure the line `because`.
";

impl fmt::Display for Snapshot {
    /// The text of the file. Cases of one test that have all in common are listed once.
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
                write!(f, "\n{} {} ({})\n", entry.kind.word(), first.file, modes.join(", "))?;
                if let Some(error) = &entry.error {
                    writeln!(f, "    error {error}")?;
                }
                writeln!(f, "    because {}", entry.because.as_deref().unwrap_or(UNKNOWN))?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outcome { case, expected, found } => {
                write!(f, "{case}: {}, expected: {expected}", found.word())
            }
            Self::Gone { case, file } => write!(f, "{case}: in {}, but not in the suite", file.display()),
            Self::Total { file, expected, found } => {
                write!(f, "{}: {found}, expected: {expected}", file.display())
            }
        }
    }
}

impl Total {
    pub(super) fn of<'a>(tested: impl IntoIterator<Item = &'a Tested>) -> Self {
        let mut total = Self::default();
        for tested in tested {
            match tested.outcome {
                Outcome::Passed => total.passed += 1,
                Outcome::Failed(_) => total.failed += 1,
                Outcome::Skipped(_) => total.skipped += 1,
            }
        }
        total
    }

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

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// `FILE (MODE, MODE)`
fn parse_cases(text: &str) -> Option<Vec<Case>> {
    let (file, modes) = text.strip_suffix(')')?.rsplit_once(" (")?;
    let case = |mode: &str| Some(Case { file: file.to_owned(), mode: mode.trim().parse::<Mode>().ok()? });
    modes.split(',').map(case).collect()
}

fn is_below(file: &str, path: &str) -> bool {
    file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const TEXT: &str = "\
# What `waitword test262` found: every test below these paths passes, but for those listed.
# Written by --update, which keeps the paths, and of each failure the line `because`.

suite test262, commit 0123
path test/a
path test/b/one.js
total 3 passed, 3 failed, 1 skipped

failed test/a/bad.js (sloppy, strict)
    error Test262Error: no (really)
    because the engine is in error

failed test/a/worse.js (strict)
    error TypeError: x
    because ?

skipped test/a/x (new).js (module)
    because the engine has no x
";

    fn snapshot() -> Snapshot {
        Snapshot::parse("s.txt".into(), TEXT).unwrap()
    }

    fn tested(file: &str, mode: Mode, outcome: Outcome) -> Tested {
        Tested { case: Case { file: file.to_owned(), mode }, outcome, time: Duration::ZERO }
    }

    fn failed() -> Outcome {
        Outcome::Failed("Error: today's".to_owned())
    }

    /// The results with which the snapshot agrees.
    fn as_known() -> Vec<Tested> {
        vec![
            tested("test/a/bad.js", Mode::Sloppy, failed()),
            tested("test/a/bad.js", Mode::Strict, failed()),
            tested("test/a/good.js", Mode::Module, Outcome::Passed),
            tested("test/a/worse.js", Mode::Sloppy, Outcome::Passed),
            tested("test/a/worse.js", Mode::Strict, failed()),
            tested("test/a/x (new).js", Mode::Module, Outcome::Skipped("so".to_owned())),
            tested("test/b/one.js", Mode::Sloppy, Outcome::Passed),
        ]
    }

    fn differences(paths: &[&str], tested: &[Tested]) -> Vec<String> {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        compare(&[snapshot()], &paths, tested).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(snapshot().to_string(), TEXT);
    }

    #[test]
    fn a_run_that_ends_as_known_has_no_differences_whatever_the_errors_say() {
        assert_eq!(differences(&["test"], &as_known()), [""; 0]);
        assert_eq!(differences(&["test/a", "test/b"], &as_known()), [""; 0]);
    }

    #[test]
    fn each_change_of_an_outcome_is_a_difference() {
        let mut tested = as_known();
        tested[1].outcome = Outcome::Passed;
        tested[2].outcome = failed();
        tested[5].outcome = failed();
        assert_eq!(
            differences(&["test"], &tested),
            [
                "test/a/bad.js (strict): passed, expected: failed",
                "test/a/good.js (module): failed, expected: passed",
                "test/a/x (new).js (module): failed, expected: skipped",
                "s.txt: 3 passed, 4 failed, 0 skipped, expected: 3 passed, 3 failed, 1 skipped",
            ]
        );
    }

    #[test]
    fn a_part_of_what_is_covered_is_compared_without_the_total() {
        let part = &as_known()[..2];
        assert_eq!(differences(&["test/a/bad.js"], part), [""; 0]);
        assert_eq!(
            differences(&["test/a/bad.js"], &part[..1]),
            ["test/a/bad.js (strict): in s.txt, but not in the suite"]
        );
        // A name that merely begins alike is another test.
        assert_eq!(differences(&["test/a/bad"], &[]), [""; 0]);
    }

    #[test]
    fn new_tests_change_the_total_although_they_pass() {
        let mut more = as_known();
        more.push(tested("test/a/new.js", Mode::Strict, Outcome::Passed));
        assert_eq!(differences(&["test"], &more).len(), 1);
    }

    #[test]
    fn what_no_snapshot_covers_has_to_pass_or_be_skipped() {
        let mut more = as_known();
        more.push(tested("test/b/two.js", Mode::Strict, Outcome::Passed));
        more.push(tested("test/b/two.js", Mode::Sloppy, Outcome::Skipped("so".to_owned())));
        assert_eq!(differences(&["test"], &more), [""; 0]);
        more.push(tested("test/b/three.js", Mode::Strict, failed()));
        assert_eq!(differences(&["test"], &more), ["test/b/three.js (strict): failed, expected: passed"]);
    }

    #[test]
    fn an_update_keeps_the_causes_of_what_still_fails() {
        let mut tested = as_known();
        tested[0].outcome = Outcome::Passed;
        let mut snapshot = snapshot();
        snapshot.update("commit 4567", &tested);
        let text = snapshot.to_string();
        for part in [
            "suite test262, commit 4567\npath test/a\npath test/b/one.js\ntotal 4 passed, 2 failed, 1 skipped\n",
            "failed test/a/bad.js (strict)\n    error Error: today's\n    because the engine is in error\n",
            "failed test/a/worse.js (strict)\n    error Error: today's\n    because ?\n",
            "skipped test/a/x (new).js (module)\n    because so\n",
        ] {
            assert!(text.contains(part), "no {part} in {text}");
        }
        assert_eq!(compare(&[snapshot], &["test".to_owned()], &tested), []);
    }

    #[test]
    fn mistakes_in_the_file_are_named_with_their_line() {
        for (text, complaint) in [
            ("path test\nfaild test/a.js (strict)", "s.txt:2: expected suite, path"),
            ("path test\nfailed test/a.js", "s.txt:2: expected FILE (MODE"),
            ("path test\nfailed test/a.js (loose)", "s.txt:2: expected FILE (MODE"),
            ("total many", "s.txt:1: expected three numbers"),
            ("error x\npath test", "s.txt:1: expected"),
            ("# nothing", "s.txt covers nothing"),
        ] {
            let error = Snapshot::parse("s.txt".into(), text).unwrap_err();
            assert!(error.contains(complaint), "{text}: {error}");
        }
    }
}
