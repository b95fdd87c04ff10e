//! `docs/conformance.md` has a row for each point, and names tests that are there.

use std::fs;
use std::path::{Path, PathBuf};

const POINTS: usize = 55;

#[test]
fn every_point_has_a_clause_and_a_test() {
    let rows = rows();
    let numbers: Vec<_> = rows.iter().map(|row| row.number).collect();
    assert_eq!(numbers, (1..=POINTS).collect::<Vec<_>>());
    for Row { number, clause, tests } in rows {
        assert!(!clause.is_empty() && !tests.is_empty(), "point {number}");
        for test in tests {
            // A function in a file of Rust, or a script.
            let (file, name) = test.split_once("::").unwrap_or((&test, test.rsplit('/').next().unwrap()));
            assert!(names(name, number), "point {number} is not among the numbers in {name}");
            let text = read(&root().join("crates").join(file));
            let is_there = !test.contains("::") || text.contains(&format!("fn {name}("));
            assert!(is_there, "point {number}: no test {name} in {file}");
        }
    }
}

/// A test that the table does not know would be looked for in vain.
#[test]
fn the_table_has_every_script() {
    let listed: Vec<_> = rows().into_iter().flat_map(|row| row.tests).collect();
    let folder = "waitword-cli/tests/scripts/points";
    for script in fs::read_dir(root().join("crates").join(folder)).unwrap() {
        let script = script.unwrap().file_name().into_string().unwrap();
        let test = format!("{folder}/{script}");
        assert!(listed.contains(&test) || script == "support", "{test}");
    }
}

struct Row {
    number: usize,
    clause: String,
    tests: Vec<String>,
}

/// The lines of the table that begin with a number.
fn rows() -> Vec<Row> {
    let page = read(&root().join("docs/conformance.md"));
    let cells = page.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    cells
        .filter_map(|cells| {
            let [_, number, clause, tests, _] = cells[..] else { return None };
            let tests = tests.split('`').skip(1).step_by(2).map(str::to_owned).collect();
            Some(Row { number: number.parse().ok()?, clause: clause.to_owned(), tests })
        })
        .collect()
}

/// Whether `point_07_08_what_it_says` has this number.
fn names(test: &str, number: usize) -> bool {
    let words = test.strip_prefix("point_").into_iter().flat_map(|rest| rest.split('_'));
    words.map_while(|word| word.parse::<usize>().ok()).any(|each| each == number)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
