//! Reads a case; what its lines mean, `main.rs` says.

use std::fs;
use std::path::{Path, PathBuf};

/// A program, how it is run, and what comes of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Case {
    pub(crate) path: PathBuf,
    /// `AREA/NAME`, and the number of the variant.
    pub(crate) name: String,
    /// `run` with the first file, or something else.
    command: Option<String>,
    pub(crate) flags: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) code: i32,
    pub(crate) stdout: Stdout,
    pub(crate) lines: Vec<String>,
    /// Whether nothing is known of the standard error but the parts that it has, and those that it lacks.
    pub(crate) may_complain: bool,
    pub(crate) complaints: Vec<String>,
    /// All that it complains of, but for times, the number of the process, and where lines end.
    pub(crate) report: String,
    pub(crate) lacks: Vec<String>,
    pub(crate) environment: Option<(String, String)>,
    /// How many MiB of memory its process may have had when it calls `done`.
    pub(crate) memory: Option<usize>,
    pub(crate) is_on_node: bool,
    /// The checks in which Node is known to be wrong.
    pub(crate) deviations: Vec<String>,
    /// Whether it runs where it lies, for it imports what lies elsewhere.
    pub(crate) is_in_place: bool,
    only_on: Option<String>,
    /// The names of `each`, and the rows of texts that stand for them.
    each: Option<(Vec<String>, Vec<String>)>,
    /// By name; the first is run.
    pub(crate) files: Vec<(String, String)>,
}

/// How the lines of the output are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Stdout {
    #[default]
    Exact,
    Sorted,
    Starts,
    Any,
    /// Each line says of a check that it holds.
    Checks,
    /// What Node prints, and nothing else is known of it.
    AsOnNode,
}

impl Case {
    pub(crate) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let (area, stem) = (path.parent().unwrap().file_name().unwrap(), path.file_stem().unwrap());
        let extension = path.extension().unwrap();
        let mut case = Self {
            path: path.to_owned(),
            name: format!("{}/{}", area.display(), stem.display()),
            files: vec![(format!("main.{}", extension.display()), String::new())],
            ..Self::default()
        };
        let (head, body) = split(&text);
        for line in head.lines() {
            if let Some(line) = line.strip_prefix("//>") {
                case.lines.push(line.strip_prefix(' ').unwrap_or(line).to_owned());
            } else if let Some(line) = line.strip_prefix("//2>") {
                case.may_complain = true;
                case.report += line;
            } else if let Some(directive) = line.strip_prefix("//@") {
                case.take(directive.trim());
            }
        }
        for line in body.lines() {
            match line.strip_prefix("//@ file: ") {
                Some(name) => case.files.push((name.to_owned(), String::new())),
                // It would be taken for a comment, and nothing would be compared with it.
                None if line.starts_with("//@") || line.starts_with("//>") => case.is_wrong(line),
                None => case.files.last_mut().unwrap().1.extend([line, "\n"]),
            }
        }
        case
    }

    /// What a line `//@ KEY: VALUE` says.
    fn take(&mut self, directive: &str) {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        let (key, value) = directive.split_once(':').unwrap_or((directive, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match key {
            "command" => self.command = Some(value.to_owned()),
            "flags" => self.flags = value.to_owned(),
            "arguments" => self.arguments = words(value),
            "code" => self.code = value.parse().unwrap_or_else(|_| self.is_wrong(directive)),
            "stdout" => {
                self.stdout = match value {
                    "sorted" => Stdout::Sorted,
                    "starts" => Stdout::Starts,
                    "any" => Stdout::Any,
                    "checks" => Stdout::Checks,
                    "as on Node" => Stdout::AsOnNode,
                    _ => self.is_wrong(directive),
                }
            }
            "stderr" if value == "any" => self.may_complain = true,
            "stderr has" => {
                self.may_complain = true;
                self.complaints.push(value.replace("\\n", "\n"));
            }
            "environment" => {
                let (name, value) = value.split_once('=').unwrap_or_else(|| self.is_wrong(directive));
                self.environment = Some((name.to_owned(), value.to_owned()));
            }
            "memory" => self.memory = value.parse().ok(),
            "stderr lacks" => self.lacks.push(value.replace("\\n", "\n")),
            "node" if value == "same" => self.is_on_node = true,
            "node differs" => self.deviations.push(value.to_owned()),
            "in place" => {
                self.is_in_place = true;
                self.files[0].0 = self.path.file_name().unwrap().to_string_lossy().into_owned();
            }
            "only on" => self.only_on = Some(value.to_owned()),
            "file" => self.files[0].0 = value.to_owned(),
            _ => self.take_each(directive),
        }
    }

    fn take_each(&mut self, directive: &str) {
        let Some(rest) = directive.strip_prefix("each ") else { self.is_wrong(directive) };
        let (names, texts) = if let Some((names, text)) = rest.split_once(": ") {
            (names, vec![text.to_owned()])
        } else if let Some((name, file)) = rest.split_once(" in ") {
            let text = fs::read_to_string(self.path.with_file_name(file)).unwrap();
            (name, text.trim().split("\n\n").map(str::to_owned).collect())
        } else {
            self.is_wrong(directive)
        };
        let names: Vec<_> = names.split(' ').map(str::to_owned).collect();
        let each = self.each.get_or_insert_with(|| (names.clone(), Vec::new()));
        assert_eq!(each.0, names, "{}: the same names for each", self.path.display());
        each.1.extend(texts);
    }

    fn is_wrong(&self, line: &str) -> ! {
        panic!("{}: what is {line:?}?", self.path.display())
    }

    /// Whether it is for the system that the tests run on.
    pub(crate) fn runs_here(&self) -> bool {
        match self.only_on.as_deref() {
            None => true,
            Some("unix") => cfg!(unix),
            Some(system) => system == std::env::consts::OS,
        }
    }

    /// The case with each of the texts of `each`; itself if it has none.
    pub(crate) fn variants(self) -> Vec<Self> {
        let Some((names, texts)) = &self.each else { return vec![self] };
        let with = |(number, text): (usize, &String)| {
            let texts: Vec<&str> = if names.len() == 1 { vec![text] } else { text.split(" | ").collect() };
            assert_eq!(texts.len(), names.len(), "{}: {text}", self.path.display());
            let put = |into: &String| {
                let pairs = names.iter().zip(&texts);
                pairs.fold(into.clone(), |into, (name, text)| into.replace(name, text))
            };
            Self {
                name: format!("{}:{number}", self.name),
                files: self.files.iter().map(|(file, body)| (file.clone(), put(body))).collect(),
                command: self.command.as_ref().map(put),
                flags: put(&self.flags),
                environment: self.environment.as_ref().map(|(name, value)| (name.clone(), put(value))),
                complaints: self.complaints.iter().map(put).collect(),
                ..self.clone()
            }
        };
        (1..).zip(texts).map(with).collect()
    }

    /// Whether the command is `run`.
    pub(crate) fn runs(&self) -> bool {
        self.command.is_none()
    }

    /// What stands behind the name of the program.
    pub(crate) fn command(&self) -> Vec<&str> {
        match &self.command {
            Some(command) => command.split_whitespace().collect(),
            None => {
                let arguments = self.arguments.iter().map(String::as_str);
                let file = std::iter::once(self.files[0].0.as_str());
                std::iter::once("run")
                    .chain(self.flags.split_whitespace())
                    .chain(file)
                    .chain(arguments)
                    .collect()
            }
        }
    }

    /// The text of `each` that it has.
    pub(crate) fn variant(&self) -> Option<&str> {
        let (_, texts) = self.each.as_ref()?;
        let (_, number) = self.name.split_once(':')?;
        Some(&texts[number.parse::<usize>().ok()? - 1])
    }

    /// Whether its output can be written into it.
    pub(crate) fn can_be_blessed(&self) -> bool {
        self.each.is_none() && matches!(self.stdout, Stdout::Exact | Stdout::Sorted)
    }
}

/// What is said of a program, and its files.
pub(crate) fn split(text: &str) -> (&str, &str) {
    let head: usize =
        text.split_inclusive('\n').take_while(|line| line.starts_with("//")).map(str::len).sum();
    let (head, body) = text.split_at(head);
    // An empty line parts them, so that a program may begin with a comment.
    (head, body.strip_prefix('\n').unwrap_or(body))
}
