//! Each point of `docs/observable.md` has a clause, and a test that has its number in its name.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

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
