//! The checks in which Node is known to be wrong.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

pub(crate) struct Deviations {
    checks: BTreeSet<(usize, String)>,
    met: RefCell<BTreeSet<(usize, String)>>,
}

impl Deviations {
    /// Reads the list; what its lines are, it says itself.
    pub(crate) fn read(list: &Path) -> Self {
        let (mut checks, mut point) = (BTreeSet::new(), None);
        let text = fs::read_to_string(list).unwrap();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.strip_prefix("    ") {
                Some(check) => {
                    checks.insert((point.expect("a check belongs to a point"), check.to_owned()));
                }
                None => {
                    let (number, reason) =
                        line.split_once(' ').unwrap_or_else(|| panic!("no reason: {line}"));
                    assert!(!reason.is_empty());
                    point = Some(number.parse().unwrap_or_else(|_| panic!("begin with a point: {line}")));
                }
            }
        }
        Self { checks, met: RefCell::default() }
    }

    /// The lines that a program of the points printed, without those that are not compared.
    pub(crate) fn without<'a>(&self, script: &Path, stdout: &'a str) -> Vec<&'a str> {
        let name = script.file_stem().unwrap().to_string_lossy();
        let point: usize = name.split('_').nth(1).unwrap().parse().unwrap();
        let deviates = |line: &&str| {
            // `ok  what was asked: what came out`; what was asked may have colons too.
            let of_line = |(number, check): &&(usize, String)| {
                *number == point && line.get(4..).is_some_and(|rest| rest.starts_with(&format!("{check}: ")))
            };
            let found = self.checks.iter().find(of_line);
            self.met.borrow_mut().extend(found.cloned());
            found.is_some()
        };
        stdout.lines().filter(|line| !deviates(line)).collect()
    }

    /// Fails if the list has a check that no program makes.
    pub(crate) fn all_were_met(&self) {
        assert_eq!(*self.met.borrow(), self.checks);
    }
}
