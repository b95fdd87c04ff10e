//! The engines that are there.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::workload::OURS;

/// Something that runs a program's file.
pub(crate) struct Engine {
    pub(super) name: &'static str,
    /// Its name with its version.
    pub(super) title: String,
    /// What comes before the file.
    pub(super) command: Vec<String>,
}

/// Those that are measured wherever they are installed. Node's collector is at hand, so that garbage does not count as memory
/// in use; Bun and Deno have none to offer.
const KNOWN: [(&str, &[&str]); 3] =
    [("node", &["node", "--expose-gc"]), ("deno", &["deno", "run", "--allow-all"]), ("bun", &["bun", "run"])];

/// Ours first, then those that are known and answer, then the others that the user names.
///
/// # Errors
/// What to do about one that does not answer and has to.
pub(super) fn find(waitword: Option<&Path>, named: &[(String, Vec<String>)]) -> Result<Vec<Engine>, String> {
    let beside =
        || env::current_exe().map(|this| this.with_file_name(format!("waitword{}", env::consts::EXE_SUFFIX)));
    let path = waitword.map_or_else(beside, |path| Ok(path.to_owned()));
    let path =
        path.map_err(|error| format!("this program does not know where it is: {error}; give --waitword"))?;
    let path = path.display().to_string();
    let ours = Engine::new(OURS, vec![path.clone(), "run".to_owned(), "--main-can-block".to_owned()]);
    let ours =
        ours.ok_or_else(|| format!("{path} does not run; build it: cargo build --release -p waitword-cli"))?;

    let mut engines = vec![ours];
    let words = |command: &[&str]| command.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let is_named = |name: &str| named.iter().any(|(other, _)| other == name);
    let known = KNOWN.iter().filter(|(name, _)| !is_named(name));
    engines.extend(known.filter_map(|(name, command)| Engine::new(name, words(command))));
    for (name, command) in named {
        // Results are kept by names that live as long as the program.
        let engine = Engine::new(String::leak(name.clone()), command.clone());
        engines.push(engine.ok_or_else(|| format!("{name}: {} does not run", command.join(" ")))?);
    }
    Ok(engines)
}

/// `NAME=COMMAND`, with the command's words separated by spaces.
pub(super) fn named(text: &str) -> Result<(String, Vec<String>), String> {
    let parts = text.split_once('=').filter(|(name, command)| !name.is_empty() && !command.trim().is_empty());
    let (name, command) = parts.ok_or("give a name and a command, such as node18=/opt/node18/bin/node")?;
    Ok((name.to_owned(), command.split_whitespace().map(str::to_owned).collect()))
}

impl Engine {
    /// Nothing if it does not run. One that does, but does not print its version, has none.
    fn new(name: &'static str, command: Vec<String>) -> Option<Self> {
        let mut asked = Command::new(&command[0]);
        let answer = asked.arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        let answer = String::from_utf8_lossy(&answer.stdout).into_owned();
        // "v20.1.0", or "deno 2.1.0 (stable, ...)"
        let words = answer.split_whitespace().map(|word| word.trim_start_matches('v'));
        let version = words.into_iter().find(|word| word.starts_with(|first: char| first.is_ascii_digit()));
        let title = version.map_or_else(|| name.to_owned(), |version| format!("{name} {version}"));
        Some(Self { name, title, command })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_engine_has_a_name_and_a_command() {
        let node = named("mine=/opt/node --expose-gc").unwrap();
        assert_eq!(node, ("mine".to_owned(), vec!["/opt/node".to_owned(), "--expose-gc".to_owned()]));
        assert!(named("mine").is_err());
        assert!(named("=node").is_err());
        assert!(named("mine= ").is_err());
    }

    #[test]
    fn an_engine_that_is_not_there_is_not_measured() {
        assert!(Engine::new("none", vec!["no engine of JavaScript has this name".to_owned()]).is_none());
    }
}
