//! Runs the tests that Miri can run. Its virtual clock makes every run the same.

use crate::line::{Stop, run};
use crate::skips::SKIPS;
use crate::tool::{MIRI, NIGHTLY};

/// Runs Miri, which takes a quarter of an hour.
pub(crate) fn miri() -> Result<(), Stop> {
    if !NIGHTLY.is_there() || !MIRI.is_there() {
        SKIPS.skip("Miri", format!("no toolchain has it; to get it: {}", MIRI.2));
        return Ok(());
    }
    let skipped: Vec<_> =
        [TOO_LONG, NOT_EMULATED, TOO_SLOW].concat().iter().map(|it| format!("--skip {it}")).collect();
    for (package, tests) in TESTS {
        let tests = tests.replace(' ', " --test ");
        // The timer's thread outlives the tests, which Miri would report as a leak.
        let miri =
            "MIRIFLAGS=-Zmiri-ignore-leaks cargo +nightly miri test --no-fail-fast --target-dir target/miri";
        run(&format!("{miri} -p {package} --lib --test {tests} -- {}", skipped.join(" ")))?;
    }
    Ok(())
}

/// The tests with pointers into waiters; not those of types, messages and many threads.
const TESTS: [(&str, &str); 3] = [
    ("waitword-core", "blocking_wakers hostile queue"),
    ("waitword", "laws locks no_allocation"),
    ("waitword-agents", "agents points"),
];

/// Tests with thousands of rounds or waiters. An entry is a part of the names of the tests.
const TOO_LONG: &[&str] = &[
    "threads_and_tasks_let_go",
    "threads_and_tasks_meet_again",
    "threads_behind_unpolled_futures",
    "dropped::threads_behind_a_wait_dropped",
    "no_schedule_of_",
    "select_whose_handler_wants_",
    "tasks_behind_unpolled_futures::moved",
    "::moved_to_a_free_mutex",
    "waiters_behind_a_wait_that_has_rechecked_in_vain",
    "a_set_of_futures_that_is_not_polled_meanwhile",
    "streams_that_keep_their_waits_",
    "poll_readies_that_keep_their_waits_",
    "messages_beside_an_event_",
    "the_numbers_that_are_kept_are_limited",
    "shard::",
    "table::tests",
    "spin::tests",
    "wheel::tests",
    "barging_window::tests",
    "raw_mutex::tests::a_thread_beside_tasks_",
    "too_many_permits_are_at_no_time_in_the_word",
    "a_future_that_moves_while_it_is_notified",
    "a_thread_that_exits_with_the_table_full",
    "waits_of_every_kind_allocate_nothing",
    "nodes_carry_their_slots",
    "waits_on_memory_that_nobody_knows",
    "a_thread_is_queued_from_the_enqueue",
    "section::point_",
    "point_25_",
    "point_47_",
];

/// Tests that need what Miri does not emulate: smol's reactor, or the list of this process's threads.
const NOT_EMULATED: &[&str] = &[
    "a_waker_that_blocks_has_a_thread_and_gives_it_back",
    "no_thread_wakes_up_while_nothing_is_due",
    "an_owned_wait_keeps_its_group",
];

/// Tests that expect a step to take less than a few milliseconds, which it exceeds on Miri's clock.
const TOO_SLOW: &[&str] = &[
    "the_watchdog_runs_past_waiters",
    "locks_on_one_word_are_one_lock",
    "a_writer_that_gives_up_lets_those_behind_it_in",
    "point_24_",
    "threads_and_tasks_share_one_queue",
];
