//! How a case ended, and the line in which its process reports that.

/// How a case ended.
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

/// The prefix of an outcome, which distinguishes it from everything else that a process prints, such as the error of an agent.
const MARK: &str = "waitword test262 outcome: ";
const PASSED: &str = "passed";
const FAILED: &str = "failed ";

/// The line in which the process of a case reports how the case ended.
pub(super) fn line(outcome: &Result<(), String>) -> String {
    match outcome {
        Ok(()) => format!("{MARK}{PASSED}\n"),
        Err(error) => format!("{MARK}{FAILED}{}\n", first_line(error)),
    }
}

/// The outcome in the output of a process, if the process got as far as printing it.
pub(super) fn find(output: &str) -> Option<Outcome> {
    let outcome = output.lines().find_map(|line| line.strip_prefix(MARK))?;
    match outcome.strip_prefix(FAILED) {
        Some(error) => Some(Outcome::Failed(error.to_owned())),
        None => (outcome == PASSED).then_some(Outcome::Passed),
    }
}

/// The first line of a text that is not blank.
pub(super) fn first_line(text: &str) -> &str {
    text.lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or("a value that cannot be shown was thrown")
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
