//! What scripts see of memory, of `Atomics` and of functions, as tables: the scripts beside this file.
//!
//! A table begins with what each of its rows finds. `//# NAME` begins a section, which is a test. A row is a script, over one line or more,
//! with `//>` behind it and what it gives as text: its completion value, or the name of the error that it throws. Each row has an agent of
//! its own, and in a table with `//@ two realms` it gives the same in a second realm. In a section with `//@ cannot block` the agent
//! cannot block, as a page's main thread cannot.
//!
//! All find `one` and `same`, two SharedArrayBuffers on the same 16 bytes, and `sibling`, the global object of another realm.

#[path = "../common/mod.rs"]
mod common;

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use waitword_quickjs::{JsAgent, Realm, SharedBlock};

use common::{agent, agent_that_cannot_block};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables");
    let mut tables: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    tables.retain(|path| path.extension().is_some_and(|end| end == "js"));
    tables.sort();
    let trials = tables
        .iter()
        .flat_map(|path| sections(path))
        .map(|section| Trial::test(section.name.clone(), move || section.check()));
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

#[derive(Default)]
struct Section {
    name: String,
    /// What each row finds.
    before: String,
    has_two_realms: bool,
    cannot_block: bool,
    /// Scripts, and what they give.
    rows: Vec<(String, String)>,
}

/// The sections of a table.
fn sections(path: &Path) -> Vec<Section> {
    let text = fs::read_to_string(path).unwrap();
    let (before, rest) =
        text.split_once("\n//# ").unwrap_or_else(|| panic!("{}: no section", path.display()));
    let table = path.file_stem().unwrap().display();
    let section = |text: &str| {
        let (name, rows) = text.split_once('\n').unwrap();
        let mut section = Section {
            name: format!("{table}/{name}"),
            before: before.to_owned(),
            has_two_realms: before.contains("//@ two realms"),
            ..Section::default()
        };
        let mut row = String::new();
        for line in rows.lines() {
            if line == "//@ cannot block" {
                section.cannot_block = true;
            } else if let Some((script, gives)) = line.split_once("//>") {
                row += script;
                section.rows.push((std::mem::take(&mut row), gives.trim().to_owned()));
            } else if !line.starts_with("//") {
                row.extend([line, "\n"]);
            }
        }
        assert_eq!(row.trim(), "", "{}: what does this row give?", section.name);
        assert!(!section.rows.is_empty(), "{}: no row", section.name);
        section
    };
    rest.split("\n//# ").map(section).collect()
}

impl Section {
    fn check(&self) -> Result<(), Failed> {
        let mut wrong = String::new();
        for (script, expected) in &self.rows {
            let js = if self.cannot_block { agent_that_cannot_block() } else { agent() };
            let other = prepared(&js);
            let mut realms = vec![("", js.realm())];
            if self.has_two_realms {
                realms.push((" in the second realm", &other));
            }
            for (place, realm) in realms {
                let given = given(realm, &self.before, script);
                if given != *expected {
                    writeln!(wrong, "{}\n    gives {given}{place}, and not {expected}", script.trim())?;
                }
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.into()) }
    }
}

/// Makes the globals of the two realms of an agent, the second of which is returned.
fn prepared(js: &JsAgent) -> Realm {
    let other = js.new_realm().unwrap();
    let block = SharedBlock::new(16).unwrap();
    js.set_global("one", block.clone()).unwrap();
    js.set_global("same", block).unwrap();
    let (here, there) = (js.realm().global(), other.global());
    for name in ["one", "same"] {
        other.set(&there, name, &js.realm().get(&here, name).unwrap()).unwrap();
    }
    js.realm().set(&here, "sibling", &there).unwrap();
    other.set(&there, "sibling", &here).unwrap();
    other
}

/// What a script gives in a realm, as text.
fn given(realm: &Realm, before: &str, script: &str) -> String {
    let evaluated = realm.eval("before.js", before).and_then(|_| {
        realm.eval("row.js", &format!("try {{ String(eval({script:?})) }} catch (error) {{ error.name }}"))
    });
    match evaluated {
        Ok(value) => realm.to_string(&value).unwrap_or_else(|_| "no text".to_owned()),
        Err(exception) => realm.describe(&exception).to_string(),
    }
}
