//! What a script may observe, point by point, as scripts see it: each is a program that checks itself. The numbers are those of
//! `docs/observable.md`. `tests/node` runs the same programs on Node.

#[path = "../cli/program.rs"]
#[allow(dead_code)]
mod program;
mod scripts;
mod table;

use scripts::{run_here, scripts};

macro_rules! points {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                let ran = run_here(&scripts::folder().join(concat!(stringify!($name), ".js"))).with_code(0).quietly();
                let holds = |line: &str| line.starts_with("ok  ");
                assert!(!ran.stdout.is_empty() && ran.stdout.lines().all(holds), "{}", ran.stdout);
            }
        )*

        #[test]
        fn no_script_is_forgotten() {
            let names = scripts(&scripts::folder()).map(|path| path.file_stem().unwrap().to_string_lossy().into_owned());
            assert_eq!(names.collect::<Vec<_>>(), [$(stringify!($name)),*]);
        }
    };
}

points! {
    point_01_the_array_is_checked_before_anything_is_coerced
    point_02_only_int32_and_bigint64_are_waited_on_and_notified
    point_03_waits_on_unshared_memory_fail_before_the_index_is_coerced
    point_04_the_length_is_taken_before_the_index_is_coerced
    point_05_the_value_is_coerced_by_the_type_of_the_elements
    point_06_the_timeout_is_a_number_and_fractions_count
    point_07_an_agent_that_cannot_block_is_told_after_the_coercions
    point_08_nothing_is_checked_again_after_the_coercions
    point_09_the_count_is_an_integer_not_below_zero
    point_10_notify_on_unshared_memory_is_zero_after_its_coercions
    point_11_notify_returns_how_many_it_removed
    point_12_waiters_stand_by_block_and_byte
    point_13_both_types_share_the_list_of_a_byte
    point_14_lists_survive_a_grow
    point_15_one_list_for_all_agents
    point_16_no_store_and_notify_is_missed
    point_17_a_word_is_compared_whole
    point_18_what_came_before_a_notify_is_seen_by_whom_it_wakes
    point_22_not_equal_at_once
    point_23_a_timeout_of_zero_ends_at_once
    point_24_nothing_but_a_notify_wakes
    point_25_as_many_ok_as_notify_said
    point_27_no_wait_ends_early
    point_28_a_store_without_a_notify_wakes_nobody
    point_29_the_result_is_a_fresh_ordinary_object
    point_30_not_equal_comes_before_timed_out
    point_31_any_time_above_zero_makes_a_promise
    point_32_the_promise_is_the_intrinsic_one
    point_34_scripts_run_before_the_critical_section_not_in_it
    point_35_the_deadline_is_a_job_of_the_agent
    point_36_a_deadline_after_a_notify_does_nothing
    point_37_a_blocked_agent_has_promises_too
    point_38_an_agent_notifies_its_own
    point_39_first_in_first_out_over_all_agents
    point_40_own_promises_are_resolved_inside_notify
    point_41_each_promise_of_another_agent_is_a_job
    point_42_own_promises_come_before_those_notified_elsewhere
    point_43_a_waiter_after_the_removal_is_not_woken
    point_44_counts_beyond_the_list_and_zero
    point_45_the_waiters_of_a_dead_agent_are_gone
    point_46_a_host_can_end_a_blocked_agent
    point_47_a_deadline_comes_though_the_memory_is_gone
    point_48_a_promise_that_can_be_settled_is_kept
    point_49_a_settled_wait_still_runs
    point_49_a_wait_with_a_deadline_keeps_the_program_alive
    point_50_an_agent_that_does_not_stop_stops_nobody
    point_51_the_end_of_an_agent_can_be_learned_of
    point_52_agents_that_block_have_a_thread_each
    point_53_the_functions_as_objects
}
