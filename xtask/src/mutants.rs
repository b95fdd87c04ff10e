//! The mutants of the queue: each weakens one step of it, and some model has to notice.
//!
//! The sources name the steps (`broken!("…")`), and docs/loom.md says what becomes of the queue without each.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::Stop;
use crate::line::{Ended, Line, root};

const SOURCES: &str = "crates/waitword-core/src";

/// With nothing broken each model is through in a second. One that takes this long has lost its way, and noticed.
const LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn run(only: Option<&str>) -> Result<(), Stop> {
    let failed = |error: std::io::Error| Stop::Failed(format!("{SOURCES}: {error}"));
    let mut mutants = named_in(&read_all(&root().join(SOURCES)).map_err(failed)?);
    if let Some(name) = only {
        if !mutants.iter().any(|mutant| mutant == name) {
            return Err(Stop::Usage(format!("no mutant is called {name}; there are {}", mutants.join(", "))));
        }
        mutants = vec![name.to_owned()];
    }

    // If a model fails anyway, it catches nothing.
    let whole = Models::build(None)?;
    if let Some(red) = whole.caught_by()?.first() {
        return Err(Stop::Failed(format!("nothing is broken, and a model fails: {red}")));
    }
    let mut missed = Vec::new();
    for mutant in mutants {
        let models = Models::build(Some(&mutant))?;
        let caught_by = models.caught_by()?;
        println!("{mutant}: {} of {}: {}", caught_by.len(), models.names.len(), caught_by.join(", "));
        if caught_by.is_empty() {
            missed.push(mutant);
        }
    }
    if missed.is_empty() {
        Ok(())
    } else {
        Err(Stop::Failed(format!("no model notices {}", missed.join(", "))))
    }
}

/// The models of `tests/loom.rs`, built with one mutant or none.
#[derive(Debug)]
struct Models {
    program: String,
    names: Vec<String>,
}

impl Models {
    fn build(mutant: Option<&str>) -> Result<Self, Stop> {
        let flags = match mutant {
            Some(name) => format!("--cfg loom --cfg mutant=\"{name}\""),
            None => "--cfg loom".to_owned(),
        };
        let line = Line::new("cargo test --release -p waitword-core --test loom --target-dir target/loom")
            .env("RUSTFLAGS", &flags);
        println!("$ {line}");
        // Not run by cargo: a model that aborts would take the others along, and one that hangs could not be stopped.
        let built = line.args(["--no-run", "--message-format=json"]).read()?;
        let program = executable(&built)
            .ok_or_else(|| Stop::Failed(format!("cargo has not said what it built:\n{built}")))?;
        let list = Line::new("").args([program.as_str(), "--list", "--format=terse"]).read()?;
        let names = list.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect();
        Ok(Self { program, names })
    }

    /// Those that fail, abort or hang.
    fn caught_by(&self) -> Result<Vec<&str>, Stop> {
        let mut red = Vec::new();
        for name in &self.names {
            let line = Line::new("").args([self.program.as_str(), "--exact", name.as_str()]);
            if line.end_within(LIMIT)? != Ended::Well {
                red.push(name.as_str());
            }
        }
        Ok(red)
    }
}

/// The path of the only program among cargo's messages.
fn executable(messages: &str) -> Option<String> {
    let (_, rest) = messages.split_once(r#""executable":""#)?;
    let (path, _) = rest.split_once('"')?;
    Some(path.replace(r"\\", r"\"))
}

/// The steps that a text calls `broken!`, each once.
fn named_in(sources: &str) -> Vec<String> {
    let names = sources.split(r#"broken!(""#).skip(1).filter_map(|rest| rest.split('"').next());
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// All files below `folder`, one behind the other.
fn read_all(folder: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        text += &if path.is_dir() { read_all(&path)? } else { fs::read_to_string(&path)? };
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page has a row for each, and for nothing else.
    #[test]
    fn the_page_names_exactly_the_steps_of_the_sources() {
        let page = fs::read_to_string(root().join("docs/loom.md")).unwrap();
        let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        let mut rows: Vec<&str> = rows.collect();
        rows.sort_unstable();
        let steps = named_in(&read_all(&root().join(SOURCES)).unwrap());
        assert!(!steps.is_empty());
        assert_eq!(rows, steps);
    }

    #[test]
    fn a_step_is_whatever_the_sources_call_so() {
        let source =
            r#"broken!("b"); match (broken!("a"), broken!("b")) macro_rules! broken { ($step:tt) => {} }"#;
        assert_eq!(named_in(source), ["a", "b"]);
    }

    #[test]
    fn the_program_is_found_among_the_messages() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","target":{"name":"waitword_core"},"executable":null}"#,
            "\n",
            r#"{"reason":"compiler-artifact","target":{"name":"loom"},"executable":"C:\\target\\loom-1"}"#,
        );
        assert_eq!(executable(messages).as_deref(), Some(r"C:\target\loom-1"));
        assert_eq!(executable(r#"{"reason":"build-finished","success":true}"#), None);
    }
}
