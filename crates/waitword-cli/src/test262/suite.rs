//! The suite itself: a folder that the user has checked out, and that is not modified.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A checkout of test262.
#[derive(Debug)]
pub(super) struct Suite {
    root: PathBuf,
}

impl Suite {
    /// Opens a checkout.
    ///
    /// # Errors
    /// If the folder is not a checkout, with what to do.
    pub(super) fn open(dir: &Path) -> Result<Self, String> {
        let shown = dir.display();
        let root =
            dunce::canonicalize(dir).map_err(|error| format!("cannot open {shown}: {error}\n{CLONE}"))?;
        for part in ["harness/assert.js", "harness/sta.js", "test"] {
            if !root.join(part).exists() {
                return Err(format!("{shown} is not a checkout of test262: it has no {part}\n{CLONE}"));
            }
        }
        Ok(Self { root })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The tests at a path, sorted: one file, or all below a folder. The path is relative to the suite's folder, or to `test` in
    /// it.
    ///
    /// # Errors
    /// If there are no tests at the path.
    pub(super) fn tests(&self, path: &str) -> Result<Vec<String>, String> {
        let path = self.normal(path)?;
        let mut found = Vec::new();
        let start = self.root.join(&path);
        collect(&start, &path, &mut found)
            .map_err(|error| format!("cannot read {}: {error}", start.display()))?;
        if found.is_empty() {
            return Err(format!("no tests at {path} in {}", self.root.display()));
        }
        found.sort();
        Ok(found)
    }

    /// A path in the suite's own spelling: `test/…`, with `/` between its parts.
    ///
    /// # Errors
    /// If there is nothing at the path.
    pub(super) fn normal(&self, path: &str) -> Result<String, String> {
        let tests = self.root.join("test");
        let candidates = [PathBuf::from(path), self.root.join(path), tests.join(path)];
        // Only paths inside the folder of tests count, whatever else has that name.
        let found = candidates.iter().find_map(|candidate| {
            let whole = dunce::canonicalize(candidate).ok()?;
            let inner = whole.strip_prefix(&tests).ok()?;
            let parts = inner.iter().map(|part| part.to_string_lossy());
            Some(std::iter::once("test".into()).chain(parts).collect::<Vec<_>>().join("/"))
        });
        found.ok_or_else(|| {
            let example = "give a path such as test/built-ins/Atomics";
            format!("no {path} among the tests of {}: {example}", self.root.display())
        })
    }

    /// The text of a file of the suite.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(super) fn read(&self, file: &str) -> Result<String, String> {
        let path = self.root.join(file);
        fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))
    }

    /// The version of the suite, for readers of a snapshot: the commit, if git knows it.
    pub(super) fn version(&self) -> String {
        // Only of the suite's own repository, not of one that contains it.
        let commit = self.root.join(".git").exists().then(|| {
            let mut git = Command::new("git");
            git.arg("-C").arg(&self.root).args(["rev-parse", "--short=12", "HEAD"]).stderr(Stdio::null());
            let output = git.output().ok().filter(|output| output.status.success())?;
            Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        });
        commit.flatten().map_or_else(|| "of unknown commit".to_owned(), |commit| format!("commit {commit}"))
    }
}

const CLONE: &str = "Get one with: git clone --depth 1 https://github.com/tc39/test262";

fn collect(path: &Path, name: &str, found: &mut Vec<String>) -> std::io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            collect(&entry.path(), &format!("{name}/{}", entry.file_name().to_string_lossy()), found)?;
        }
    } else if name.ends_with(".js") && !name.contains("_FIXTURE") {
        // Files with `_FIXTURE` are imported by tests.
        found.push(name.to_owned());
    }
    Ok(())
}
