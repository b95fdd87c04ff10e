//! The front matter of a test: the YAML between `/*---` and `---*/`, as far as a runner needs it. The rest (the description, the clause
//! of the standard) is ignored.

use yaml_rust2::{Yaml, YamlLoader};

/// The parts of the front matter that a runner needs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FrontMatter {
    /// Files of the harness to run before the test, in this order, besides those of every test.
    pub(super) includes: Vec<String>,
    /// Parts of the language that the test needs.
    pub(super) features: Vec<String>,
    /// The error that the test must throw.
    pub(super) negative: Option<Negative>,
    /// How the test must be run: some of [`FLAGS`].
    flags: Vec<String>,
}

/// The flags that a runner must know. The last two matter only to readers of a test.
const FLAGS: [&str; 9] = [
    "onlyStrict",
    "noStrict",
    "module",
    // Without the harness, and with nothing put in front.
    "raw",
    // The test ends when it calls `$DONE`.
    "async",
    "CanBlockIsFalse",
    "CanBlockIsTrue",
    "generated",
    "non-deterministic",
];

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

impl FrontMatter {
    /// Parses the front matter of a test. It is empty if the test has none.
    ///
    /// # Errors
    /// What is wrong with the front matter.
    pub(super) fn parse(test: &str) -> Result<Self, String> {
        let Some((_, rest)) = test.split_once("/*---") else { return Ok(Self::default()) };
        let (text, _) = rest.split_once("---*/").ok_or("the front matter has no end: `---*/` is missing")?;
        let documents = YamlLoader::load_from_str(text);
        let documents = documents.map_err(|error| format!("the front matter is not YAML: {error}"))?;
        let yaml = documents.first().unwrap_or(&Yaml::Null);
        let list = |key: &str| -> Vec<String> {
            let items = yaml[key].as_vec().into_iter().flatten();
            items.filter_map(Yaml::as_str).map(str::to_owned).collect()
        };
        let flags = list("flags");
        // An error, because the result without the flag would mean nothing.
        if let Some(unknown) = flags.iter().find(|flag| !FLAGS.contains(&flag.as_str())) {
            return Err(format!("unknown flag `{unknown}` in the front matter"));
        }
        let negative = &yaml["negative"];
        let negative = (!negative.is_badvalue()).then(|| Negative::parse(negative)).transpose()?;
        Ok(Self { includes: list("includes"), features: list("features"), negative, flags })
    }

    /// Whether the test has one of the [`FLAGS`].
    pub(super) fn has(&self, flag: &str) -> bool {
        debug_assert!(FLAGS.contains(&flag));
        self.flags.iter().any(|each| each == flag)
    }
}

impl Negative {
    fn parse(yaml: &Yaml) -> Result<Self, String> {
        let (Some(phase), Some(kind)) = (yaml["phase"].as_str(), yaml["type"].as_str()) else {
            return Err("`negative` in the front matter needs a `phase` and a `type`".to_owned());
        };
        Ok(Self { phase: Phase::parse(phase)?, kind: kind.to_owned() })
    }
}

impl Phase {
    fn parse(name: &str) -> Result<Self, String> {
        match name {
            // "early" is the name in older versions of the suite.
            "parse" | "early" => Ok(Self::Parse),
            "resolution" => Ok(Self::Resolution),
            "runtime" => Ok(Self::Runtime),
            unknown => Err(format!("unknown phase `{unknown}` in the front matter")),
        }
    }

    /// The suite's name for it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Resolution => "resolution",
            Self::Runtime => "runtime",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In each notation, with each kind of line end.
    #[test]
    fn what_a_runner_needs_is_found_among_the_rest() {
        assert_eq!(FrontMatter::parse("var flags = 1;").unwrap(), FrontMatter::default());
        let text = "description: >\n  flags: [async]\ninfo: |\n  1. Let x\n    negative:\n\n  y: z\n";
        for rest in [
            "includes: [a.js, 'b.js']\nflags: [raw]\nnegative: {type: SyntaxError, phase: parse}",
            "includes:   # two\n  - a.js # one\n\n  - b.js\nflags: [\n  raw,\n]\nnegative:\n  phase: early\n  type: SyntaxError",
        ] {
            for end in ["\n", "\r\n", "\r"] {
                let yaml = format!("{text}{rest}").replace('\n', end);
                let found =
                    FrontMatter::parse(&format!("// x\n/*---{end}{yaml}{end}---*/\ncode: [x]")).unwrap();
                assert_eq!(found.includes, ["a.js", "b.js"]);
                assert!(found.has("raw") && !found.has("async") && found.features.is_empty());
                let negative = Negative { phase: Phase::Parse, kind: "SyntaxError".to_owned() };
                assert_eq!(found.negative, Some(negative));
            }
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, name) in [
            ("/*--- flags: [raw]", "has no end"),
            ("/*--- [ ---*/", "not YAML"),
            ("/*--- flags: [sideways] ---*/", "`sideways`"),
            ("/*---\nnegative:\n  phase: later\n  type: Error\n---*/", "`later`"),
            ("/*--- negative: {type: Error} ---*/", "`phase`"),
        ] {
            assert!(FrontMatter::parse(text).unwrap_err().contains(name), "{text}");
        }
    }
}
