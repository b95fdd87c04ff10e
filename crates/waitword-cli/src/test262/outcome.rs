//! How a case ended, and how the process that ran it says so.

/// The end of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    /// With the first line of its error.
    Failed(String),
    /// With the reason.
    Skipped(String),
}

impl Outcome {
    /// The word for it.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed(_) => "failed",
            Self::Skipped(_) => "skipped",
        }
    }

    /// The error or the reason.
    pub(super) fn detail(&self) -> Option<&str> {
        match self {
            Self::Passed => None,
            Self::Failed(detail) | Self::Skipped(detail) => Some(detail),
        }
    }
}

/// In front of an outcome, so that it is distinct from all else that a process prints: an engine's last words, or the error
/// of an agent.
const MARK: &str = "waitword test262 outcome: ";
const PASSED: &str = "passed";
const FAILED: &str = "failed ";

/// The line in which the process of a case says how it ended.
pub(super) fn line(outcome: &Result<(), String>) -> String {
    match outcome {
        Ok(()) => format!("{MARK}{PASSED}\n"),
        Err(error) => format!("{MARK}{FAILED}{}\n", first_line(error)),
    }
}

/// What a process has said, if it has come so far.
pub(super) fn find(output: &str) -> Option<Outcome> {
    let outcome = output.lines().find_map(|line| line.strip_prefix(MARK))?;
    match outcome.strip_prefix(FAILED) {
        Some(error) => Some(Outcome::Failed(error.to_owned())),
        None => (outcome == PASSED).then_some(Outcome::Passed),
    }
}

/// The first line of a text that has something on it.
pub(super) fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it threw nothing that can be shown")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_understood() {
        let said = line(&Ok(()));
        assert_eq!(find(&format!("in agent 1: TypeError\n{said}")), Some(Outcome::Passed));
        let said = line(&Err("\nError: one\ntwo".to_owned()));
        assert_eq!(find(&said), Some(Outcome::Failed("Error: one".to_owned())));
        assert_eq!(find("Assertion `p != NULL' failed.\n"), None);
        assert_eq!(find(""), None);
    }
}
