//! Which tests to run, in which modes, and which to skip.

use std::fmt;

use clap::ValueEnum;

use super::front_matter::FrontMatter;
use super::outcome::Outcome;
use super::suite::Suite;

/// How the text of a test is run. The names on the command line and in snapshots are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ValueEnum)]
pub(super) enum Mode {
    /// As a script, unchanged.
    Sloppy,
    /// As a script, after a `"use strict"`.
    Strict,
    /// As a module.
    Module,
}

/// One test in one mode.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Case {
    /// The path in the suite, with `/` between its parts on all platforms: `test/built-ins/…`.
    pub(super) file: String,
    pub(super) mode: Mode,
}

/// A case, and its outcome if that is known before it runs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Planned {
    pub(super) case: Case,
    /// The outcome, if the engine lacks a feature or the front matter is wrong.
    pub(super) ahead: Option<Outcome>,
}

/// Features that QuickJS-NG lacks. A name that ends with `*` stands for all names with this prefix.
const LACKING: [&str; 11] = [
    "await-dictionary",
    "canonical-tz",
    "decorators",
    "import-defer",
    "Intl*",
    "intl-normative-optional",
    "legacy-regexp",
    "ShadowRealm",
    "source-phase-imports*",
    "tail-call-optimization",
    "Temporal",
];

/// All cases of these files, in their order.
///
/// # Errors
/// A file that cannot be read.
pub(super) fn plan(suite: &Suite, files: &[String]) -> Result<Vec<Planned>, String> {
    let mut planned = Vec::new();
    for file in files {
        planned.extend(cases(file, &suite.read(file)?));
    }
    Ok(planned)
}

/// The cases of one test.
fn cases(file: &str, text: &str) -> Vec<Planned> {
    let planned = |mode, ahead| Planned { case: Case { file: file.to_owned(), mode }, ahead };
    let front_matter = match FrontMatter::parse(text) {
        Ok(front_matter) => front_matter,
        Err(error) => return vec![planned(Mode::Sloppy, Some(Outcome::Failed(error)))],
    };
    let ahead = || reason_to_skip(file, &front_matter).map(Outcome::Skipped);
    modes(&front_matter).iter().map(|mode| planned(*mode, ahead())).collect()
}

fn modes(test: &FrontMatter) -> &'static [Mode] {
    if test.has("module") {
        &[Mode::Module]
    } else if test.has("raw") || test.has("noStrict") {
        &[Mode::Sloppy]
    } else if test.has("onlyStrict") {
        &[Mode::Strict]
    } else {
        &[Mode::Sloppy, Mode::Strict]
    }
}

fn reason_to_skip(file: &str, test: &FrontMatter) -> Option<String> {
    let is_lacking = |feature: &&String| {
        LACKING.iter().any(|lacking| match lacking.strip_suffix('*') {
            Some(beginning) => feature.starts_with(beginning),
            None => feature.as_str() == *lacking,
        })
    };
    if file.split('/').any(|part| part == "intl402") {
        return Some("the engine has no ECMA-402 (Intl)".to_owned());
    }
    test.features.iter().find(is_lacking).map(|feature| format!("the engine has no {feature}"))
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sloppy => "sloppy",
            Self::Strict => "strict",
            Self::Module => "module",
        })
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.file, self.mode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_engine_lacks_is_skipped_with_its_reason() {
        let ahead = |file: &str, features: &str| {
            cases(file, &format!("/*---\nfeatures: [{features}]\n---*/")).remove(0).ahead
        };
        let skipped = |why: &str| Some(Outcome::Skipped(why.to_owned()));
        assert_eq!(ahead("test/a.js", "BigInt, Atomics.waitAsync"), None);
        assert_eq!(ahead("test/a.js", "BigInt, Temporal"), skipped("the engine has no Temporal"));
        assert_eq!(ahead("test/a.js", "Intl.Era"), skipped("the engine has no Intl.Era"));
        assert_eq!(ahead("test/intl402/a.js", ""), skipped("the engine has no ECMA-402 (Intl)"));
    }

    #[test]
    fn a_test_that_cannot_be_understood_fails_once() {
        let planned = cases("test/a.js", "/*---\nflags: [new]\n---*/");
        assert!(
            matches!(&planned[..], [Planned { ahead: Some(Outcome::Failed(why)), .. }] if why.contains("`new`"))
        );
    }
}
