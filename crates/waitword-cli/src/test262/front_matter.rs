//! What a test says of itself: the YAML between `/*---` and `---*/`, as far as a runner needs it.
//!
//! The suite uses a small part of YAML: keys at the left margin, lists in either notation, block texts, and one nested
//! mapping. Whatever else a test says (its description, its chapter of the standard) is passed over.

/// The answers to a runner's questions.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FrontMatter {
    /// Files of the harness that come before the test, in this order, besides those that every test gets.
    pub(super) includes: Vec<String>,
    /// Parts of the language that the test needs.
    pub(super) features: Vec<String>,
    /// The error with which the test has to end.
    pub(super) negative: Option<Negative>,
    pub(super) flags: Flags,
}

/// The error that a negative test has to throw.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Negative {
    pub(super) phase: Phase,
    /// The name of the error's constructor.
    pub(super) kind: String,
}

/// How far a test gets before its error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Parse,
    Resolution,
    Runtime,
}

/// How a test wants to be run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) only_strict: bool,
    pub(super) no_strict: bool,
    pub(super) module: bool,
    /// Without the harness, and without a word put in front.
    pub(super) raw: bool,
    /// It ends when it says so, by `$DONE`.
    pub(super) is_async: bool,
    /// It needs an agent that can block, or one that cannot.
    pub(super) can_block: Option<bool>,
}

impl FrontMatter {
    /// Reads it out of a test. A test without one says nothing.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn parse(test: &str) -> Result<Self, String> {
        let Some((_, rest)) = test.split_once("/*---") else { return Ok(Self::default()) };
        let (yaml, _) = rest.split_once("---*/").ok_or("its front matter has no end: `---*/` is missing")?;
        let mut found = Self::default();
        for (key, value) in entries(yaml) {
            match key.as_str() {
                "includes" => found.includes = list(&value),
                "features" => found.features = list(&value),
                "flags" => found.flags = Flags::parse(&list(&value))?,
                "negative" => found.negative = Some(Negative::parse(&value)?),
                _ => {}
            }
        }
        Ok(found)
    }
}

impl Flags {
    fn parse(names: &[String]) -> Result<Self, String> {
        let mut flags = Self::default();
        for name in names {
            match name.as_str() {
                "onlyStrict" => flags.only_strict = true,
                "noStrict" => flags.no_strict = true,
                "module" => flags.module = true,
                "raw" => flags.raw = true,
                "async" => flags.is_async = true,
                "CanBlockIsFalse" => flags.can_block = Some(false),
                "CanBlockIsTrue" => flags.can_block = Some(true),
                // Of interest to its readers only.
                "generated" | "non-deterministic" => {}
                // To run it as if it had no flag might prove anything.
                unknown => return Err(format!("this runner does not know its flag `{unknown}`")),
            }
        }
        Ok(flags)
    }
}

impl Negative {
    fn parse(value: &str) -> Result<Self, String> {
        // `{phase: x, type: y}` or a line for each.
        let pairs = value.split([',', '{', '}', '\n']).filter_map(|pair| pair.split_once(':'));
        let (mut phase, mut kind) = (None, None);
        for (key, value) in pairs {
            match key.trim() {
                "phase" => phase = Some(Phase::parse(value.trim())?),
                "type" => kind = Some(value.trim().to_owned()),
                _ => {}
            }
        }
        match (phase, kind) {
            (Some(phase), Some(kind)) => Ok(Self { phase, kind }),
            _ => Err("its `negative` needs a `phase` and a `type`".to_owned()),
        }
    }
}

impl Phase {
    fn parse(name: &str) -> Result<Self, String> {
        match name {
            // The second is what older versions of the suite call it.
            "parse" | "early" => Ok(Self::Parse),
            "resolution" => Ok(Self::Resolution),
            "runtime" => Ok(Self::Runtime),
            unknown => Err(format!("this runner does not know the phase `{unknown}`")),
        }
    }

    /// The suite's word for it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Resolution => "resolution",
            Self::Runtime => "runtime",
        }
    }
}

/// Each key at the left margin, and all that follows it up to the next one.
fn entries(yaml: &str) -> Vec<(String, String)> {
    let mut entries: Vec<(String, String)> = Vec::new();
    // A few tests are about line ends, and have unusual ones.
    for line in yaml.replace("\r\n", "\n").split(['\n', '\r']) {
        // The items of a list, and the end of one, may stand at the margin too.
        let is_continued = line.is_empty() || line.starts_with([' ', '\t', '-', ']', '#']);
        match (line.split_once(':'), entries.last_mut()) {
            (Some((key, value)), _) if !is_continued => {
                entries.push((key.trim().to_owned(), value.to_owned()));
            }
            (_, Some((_, entry))) => {
                entry.push('\n');
                *entry += line;
            }
            (_, None) => {}
        }
    }
    entries
}

/// `[a, b]`, on one line or several, or a line `- a` for each.
fn list(value: &str) -> Vec<String> {
    let text: Vec<&str> = value.lines().map(without_comment).collect();
    let text = text.join("\n");
    let items: Vec<&str> = match text.trim_start().strip_prefix('[') {
        Some(flow) => flow.split(']').next().unwrap_or_default().split(',').collect(),
        None => text.lines().filter_map(|line| line.trim().strip_prefix('-')).collect(),
    };
    let items = items.into_iter().map(|item| item.trim().trim_matches(['"', '\'']));
    items.filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

fn without_comment(line: &str) -> &str {
    if line.trim_start().starts_with('#') { "" } else { line.split(" #").next().unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(yaml: &str) -> FrontMatter {
        FrontMatter::parse(&format!("// A comment\n/*---\n{yaml}\n---*/\ncode: [x]")).unwrap()
    }

    fn error(yaml: &str) -> String {
        FrontMatter::parse(&format!("/*---\n{yaml}\n---*/")).unwrap_err()
    }

    #[test]
    fn a_test_without_front_matter_says_nothing() {
        assert_eq!(FrontMatter::parse("var flags = 1;").unwrap(), FrontMatter::default());
    }

    #[test]
    fn lists_in_every_notation() {
        for yaml in [
            "includes: [a.js, b.js]",
            "includes: [a.js,\n  b.js]",
            "includes: [\n  'a.js',\n  \"b.js\",\n]",
            "includes:\n  - a.js\n  - b.js",
            "includes:\n- a.js\n\n- b.js",
            "includes:   # two\n  # the first\n  - a.js # one\n  - b.js",
        ] {
            assert_eq!(parse(yaml).includes, ["a.js", "b.js"], "{yaml}");
        }
        assert_eq!(parse("includes: []").includes, [""; 0]);
    }

    #[test]
    fn all_kinds_of_line_end() {
        for end in ["\n", "\r\n", "\r"] {
            let found = parse(&["description: x", "flags: [raw]", "features:", "  - BigInt"].join(end));
            assert!(found.flags.raw);
            assert_eq!(found.features, ["BigInt"]);
        }
    }

    #[test]
    fn texts_are_passed_over() {
        let found = parse(
            "description: >\n  flags: [raw]\ninfo: |\n  1. Let x\n    negative:\n\n  y: z\nflags: [async]",
        );
        assert_eq!(found.flags, Flags { is_async: true, ..Flags::default() });
        assert_eq!(found.negative, None);
    }

    #[test]
    fn every_flag() {
        let found =
            parse("flags: [onlyStrict, noStrict, module, raw, async, generated, non-deterministic]").flags;
        assert_eq!(
            found,
            Flags {
                only_strict: true,
                no_strict: true,
                module: true,
                raw: true,
                is_async: true,
                can_block: None
            }
        );
        assert_eq!(parse("flags: [CanBlockIsFalse]").flags.can_block, Some(false));
        assert_eq!(parse("flags: [CanBlockIsTrue]").flags.can_block, Some(true));
    }

    #[test]
    fn negatives() {
        for (word, phase) in
            [("parse", Phase::Parse), ("resolution", Phase::Resolution), ("runtime", Phase::Runtime)]
        {
            for yaml in [
                format!("negative:\n  phase: {word}\n  type: SyntaxError"),
                format!("negative: {{type: SyntaxError, phase: {word}}}"),
            ] {
                assert_eq!(
                    parse(&yaml).negative,
                    Some(Negative { phase, kind: "SyntaxError".to_owned() }),
                    "{yaml}"
                );
            }
        }
    }

    #[test]
    fn mistakes_are_named() {
        assert!(FrontMatter::parse("/*--- flags: [raw]").unwrap_err().contains("has no end"));
        assert!(error("flags: [sideways]").contains("`sideways`"));
        assert!(error("negative:\n  phase: later\n  type: Error").contains("`later`"));
        assert!(error("negative:\n  type: Error").contains("`phase`"));
    }
}
