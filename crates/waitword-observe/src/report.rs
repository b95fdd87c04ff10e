//! A report: a snapshot, and the findings in it.

use std::cmp::Reverse;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::blame::{Blame, blame};
use crate::finding::Finding;
#[cfg(feature = "json")]
use crate::json;
use crate::model::{Lock, Snapshot};
use crate::order;
use crate::process::{program, since_1970, snapshot};
use crate::record::rings::process_id;
use crate::search::{cycles, has_cycle, waits};
use crate::text::{self, clean, counted, listing};

/// The version of the JSON schema that this crate writes and reads.
pub const SCHEMA: u32 = 1;

/// Distinguishes a report from other JSON.
#[cfg(feature = "json")]
const FORMAT: &str = "waitword-report";

/// The waiters of one process, and the findings about them.
///
/// Its [`Display`](fmt::Display) is for a terminal of 100 columns. It lists the findings, the newest first, then the locks, those with the
/// most waiters first, and each queue from its head. At most 20 locks and 10 waiters of each are listed; the rest are counted. The JSON has
/// everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The process.
    pub process: Process,
    /// When the report was made, in milliseconds since 1970. 0 in a page.
    pub unix_ms: u64,
    /// The findings, the newest first.
    pub findings: Vec<Finding>,
    /// The snapshot that they were found in.
    pub snapshot: Snapshot,
    /// Who made others wait: see [`blame`](crate::blame()).
    #[serde(default)]
    pub blame: Vec<Blame>,
}

/// The process that a report is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub id: u32,
    /// The file name of its program, if it is known.
    pub program: Option<String>,
}

/// Returns a report of this process, as of now.
///
/// Takes one snapshot, and a second one if the first seems to have a cycle. It may be called anywhere, even in a panic hook. Ages are known
/// only of waits that began after [`enable`](crate::enable); without ages there are few findings.
///
/// ```
/// let report = waitword_observe::report();
/// print!("{report}"); // "... 0 waiters at 0 locks; nothing found ..."
/// assert!(report.findings.is_empty());
/// ```
pub fn report() -> Report {
    let (mut seen, mut findings) = (snapshot(), Vec::new());
    if has_cycle(&seen) {
        let first = std::mem::replace(&mut seen, snapshot());
        findings = cycles(&first, &seen);
    }
    findings.extend(waits(&seen));
    findings.extend(order::findings());
    Report::new(findings, seen)
}

impl Report {
    /// Creates a report of this process, as of now, from a snapshot of it and its findings. Sorts the findings, the newest first.
    pub fn new(mut findings: Vec<Finding>, snapshot: Snapshot) -> Self {
        // Faults of the same age first.
        findings.sort_by_key(|finding| (finding.since(), Reverse(finding.is_fault())));
        Self {
            process: Process { id: process_id(), program: program() },
            unix_ms: u64::try_from(since_1970().as_millis()).unwrap_or(u64::MAX),
            findings,
            snapshot,
            blame: blame(),
        }
    }

    /// Returns the report as JSON, in one line. [`json_schema`](crate::json_schema) has every field.
    #[cfg(feature = "json")]
    pub fn to_json(&self) -> String {
        json::written(FORMAT, SCHEMA, self)
    }

    /// Reads a report that [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    /// If the text is not a report, or one of another schema version.
    ///
    /// ```
    /// use waitword_observe::Report;
    ///
    /// let report = waitword_observe::report();
    /// assert_eq!(Report::from_json(&report.to_json()), Ok(report));
    /// assert!(Report::from_json("{}").is_err());
    /// ```
    #[cfg(feature = "json")]
    pub fn from_json(json: &str) -> Result<Self, ReadError> {
        match json::head(json) {
            Some((format, SCHEMA)) if format == FORMAT => {
                serde_json::from_str(json).map_err(|error| ReadError::Malformed(error.to_string()))
            }
            Some((format, schema)) if format == FORMAT => Err(ReadError::OtherSchema(schema)),
            _ => Err(ReadError::NotAReport),
        }
    }
}

/// The error of [`Report::from_json`]: why a text cannot be read as a report.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// The text is not a report.
    NotAReport,
    /// The report has this other schema version.
    OtherSchema(u32),
    /// The report has this schema version, but not its fields.
    Malformed(String),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAReport => f.write_str("not a report of waitword-observe"),
            Self::OtherSchema(schema) => {
                write!(f, "the report has schema version {schema}, and this program reads version {SCHEMA}")
            }
            Self::Malformed(error) => write!(f, "malformed report: {error}"),
        }
    }
}

impl std::error::Error for ReadError {}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = self.process.program.as_deref().unwrap_or("unknown");
        let [waiters, locks] =
            [counted(self.snapshot.waiters(), "waiter"), counted(self.snapshot.locks.len(), "lock")];
        writeln!(f, "waitword: {} (process {}): {waiters} at {locks}", clean(program, 40), self.process.id)?;
        if self.snapshot.holders.is_none() {
            writeln!(
                f,
                "holders are not recorded, so deadlocks cannot be found (waitword_observe::enable records them)"
            )?;
        }
        let mut waits = self.snapshot.locks.iter().flat_map(Lock::all_waiters);
        if waits.any(|waiter| waiter.age.is_none()) {
            writeln!(
                f,
                "some waits have no age: they began before the clock was started (waitword_observe::enable starts it)"
            )?;
        }
        if let Some(lost @ 1..) = self.snapshot.recording.as_ref().map(|recording| recording.unrecorded) {
            let were = if lost == 1 { "acquisition was" } else { "acquisitions were" };
            writeln!(f, "{lost} {were} not recorded because no record was free: a deadlock may be missed")?;
        }
        let who = text::Who::in_snapshot(&self.snapshot, &self.findings);
        f.write_str(&text::findings(&self.findings, &who))?;
        f.write_str(&text::blame(&self.blame))?;
        f.write_str(&listing(&self.snapshot, &who))
    }
}
