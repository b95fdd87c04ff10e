//! What pages say of programs is so: each point of `docs/observable.md` has a clause, and a test that has its number in its name; the table
//! of `docs/host.md` has what the modules of Node export.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{ended, run, waitword};

const POINTS: usize = 55;

#[test]
fn every_point_has_a_clause_and_a_test() {
    let all: BTreeSet<usize> = (1..=POINTS).collect();
    assert_eq!(with_clauses(&read(&root().join("docs/observable.md"))), all);

    let mut tested = BTreeSet::new();
    for folder in ["waitword-agents", "waitword-quickjs/tests", "waitword-cli/tests"] {
        tests_below(&root().join("crates").join(folder), &mut tested);
    }
    assert_eq!(tested, all);
}

/// The numbers of the points that end with a clause in parentheses.
fn with_clauses(page: &str) -> BTreeSet<usize> {
    let points = page.lines().filter_map(|line| line.split_once(". "));
    let has_clause = |text: &str| text.trim_end_matches(['.', ',', ';']).ends_with(')');
    points.filter(|(_, text)| has_clause(text)).filter_map(|(number, _)| number.parse().ok()).collect()
}

/// The numbers of scripts, and of functions in files of Rust.
fn tests_below(folder: &Path, numbers: &mut BTreeSet<usize>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            tests_below(&path, numbers);
        } else if path.extension().is_some_and(|end| end == "rs") {
            for function in read(&path).split("fn point_").skip(1) {
                numbers.extend(numbers_of(function));
            }
        } else if let Some((_, name)) = path.to_string_lossy().rsplit_once("point_") {
            numbers.extend(numbers_of(name));
        }
    }
}

/// Those of `07_08_what_it_says`.
fn numbers_of(name: &str) -> impl Iterator<Item = usize> {
    name.split('_').map_while(|word| word.parse().ok())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_table_of_modules_is_what_they_export() {
    let page = include_str!("../../../../docs/host.md");
    let rows = page.lines().skip_while(|line| !line.starts_with("| module |")).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let mut documented = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let names = cells[0].split(", ").map(|name| name.trim_matches('`'));
        documented.extend(names.map(|name| format!("{name}: {}", cells[1])));
    }
    assert!(!documented.is_empty());
    let lines: Vec<&str> = documented.iter().map(String::as_str).collect();
    run(
        "offered",
        &[],
        r#"
        for (const name of require("node:module").builtinModules) {
          console.log(`${name}: ${Object.keys(require(`node:${name}`)).sort().join(" ")}`);
        }
        "#,
    )
    .with_code(0)
    .printed(&lines)
    .quietly();
}

/// The help and the page say the same of what a worker needs.
#[test]
fn help_and_page_agree_on_what_an_agent_starts_with() {
    let says = "what each agent starts with (about 600 KiB; a new agent needs 1 MiB)";
    let help = ended(waitword().args(["run", "--help"])).stdout;
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&help).contains(says), "{help}");
    assert!(words(&read(&root().join("docs/host.md"))).contains(says));
}

/// And without words it is help, which fails.
#[test]
fn the_version_is_that_of_the_crate() {
    let version = concat!("waitword ", env!("CARGO_PKG_VERSION"));
    ended(waitword().arg("--version")).with_code(0).printed(&[version]);
    ended(&mut waitword()).with_code(2).complained(&["Usage: waitword"]);
    ended(waitword().args(["run", ""]))
        .with_code(2)
        .complained(&["the name of the file is empty", "Usage: waitword run [OPTIONS] <FILE> [ARG]..."]);
}
