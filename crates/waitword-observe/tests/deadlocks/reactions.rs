//! What a program does when it is stuck.

use std::process::exit;

use waitword_observe::{Report, abort_on_deadlock, on_deadlock};

use crate::harness::{output_of, shown};
use crate::tasks::abba_with_a_task;
use crate::threads::abba;

/// A program that is called when it is stuck, and ends by itself.
pub(crate) fn calls(stuck: fn() -> fn(&Report) -> bool) -> fn(&Report) -> bool {
    stuck();
    let called = on_deadlock(|cycle| {
        println!("<<<{} members, certain: {}>>>", cycle.members.len(), cycle.is_certain());
        exit(0);
    });
    called.unwrap();
    |_| false
}

#[test]
fn the_program_is_called_when_a_deadlock_is_found() {
    let output = output_of("calls");
    assert_eq!((shown(&output).as_str(), output.status.code()), ("2 members, certain: true", Some(0)));
}

/// A program that is aborted when it is stuck.
pub(crate) fn aborts() -> fn(&Report) -> bool {
    abba();
    abort_on_deadlock().unwrap();
    |_| false
}

#[test]
fn a_deadlock_aborts_where_that_was_asked_for() {
    let output = output_of("aborts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("waitword: deadlock: 2 members") && errors.contains("Mutex<char> \"ledger\""),
        "{errors}"
    );
    assert!(errors.contains("it is none if a borrowed guard is with another thread"), "{errors}");
    assert!(!output.status.success() && !errors.contains("not so"), "{output:?}");
}

/// A program that is told alone: one of the members is a task, which may await something else too.
pub(crate) fn prints() -> fn(&Report) -> bool {
    abort_on_deadlock().unwrap();
    calls(abba_with_a_task)
}

#[test]
fn a_cycle_that_may_end_is_told_and_neither_printed_nor_a_reason_to_abort() {
    let output = output_of("prints");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!errors.contains("waitword:") && !errors.contains("cycle"), "{errors}");
    assert_eq!((shown(&output).as_str(), output.status.code()), ("2 members, certain: false", Some(0)));
}
