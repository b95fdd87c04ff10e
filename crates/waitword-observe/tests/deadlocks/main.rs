//! Real locks, threads and tasks that are stuck: the whole report of a process of its own, with times masked. A process ends with its
//! threads stuck, as they are for ever.
//!
//! In what is expected, `<mark>` is the line of the same file that ends with `// mark`.

mod guards;
mod harness;
mod notifies;
mod reactions;
mod tasks;
mod threads;
mod types;

/// Runs in the process of a scenario.
#[test]
#[ignore = "started by the others, in a process of its own"]
fn scenario() {
    harness::run(|scenario| match scenario {
        "abba" => threads::abba(),
        "task" => tasks::abba_with_a_task(),
        "types" => types::types(),
        "twins" => types::twins(),
        "twice" => threads::twice(),
        "held" => tasks::held(),
        "executor" => tasks::executor(),
        "reads" => threads::reads(),
        "initialisers" => threads::initialisers(),
        "upgrade" => threads::upgrade(),
        "permits" => guards::permits(),
        "notified" => notifies::notified_waits_for_the_mutex(),
        "notify" => notifies::lost_notify(),
        "async lock" => guards::async_lock(),
        "owned" => guards::owned(),
        "sent" => guards::sent(),
        "futurelock" => tasks::futurelock(),
        "calls" => reactions::calls(threads::abba),
        "aborts" => reactions::aborts(),
        "prints" => reactions::prints(),
        other => panic!("{other}"),
    });
}
