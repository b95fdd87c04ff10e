//! Tests of `waitword` on wasm32 with atomics, in workers that block and on a main agent that awaits: a page, or Node's main thread.
//!
//! `suite.mjs` calls [`run_test`] for each name in [`test_names`]. A test that fails panics, which is a trap; `driver.mjs` sees that as
//! the end of the run.

mod executor;
mod locks;
#[path = "../../../crates/waitword-core/tests/model/mod.rs"]
mod model;
mod queue;
mod reports;
mod shared_lock;
mod terminated;
mod threads;
mod tools;

use std::pin::Pin;

use js_sys::Promise;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(module = "/report.js")]
extern "C" {
    #[wasm_bindgen(js_name = reportPanic)]
    fn report_panic(message: &str);
}

#[wasm_bindgen(start)]
fn start_instance() {
    std::panic::set_hook(Box::new(|info| report_panic(&info.to_string())));
}

/// Starts the main agent. `by_messages`: as if the engine had no `Atomics.waitAsync`.
#[wasm_bindgen(js_name = startMain)]
pub fn start_main(by_messages: bool) -> bool {
    if by_messages {
        waitword_web::use_messages();
    }
    // Node's main thread might block. Here it is to do as a page does.
    waitword_web::start_without_blocking().can_block
}

/// Starts the worker for deadlines.
#[wasm_bindgen(js_name = startTimer)]
pub fn start_timer() {
    drop(waitword_web::spawn(waitword_web::run_timer));
}

type Test = Pin<Box<dyn Future<Output = ()>>>;

/// All tests, each with how much of it there is: the same for a soak, many times over.
fn tests() -> Vec<(&'static str, fn(u32) -> Test)> {
    macro_rules! tests {
        ($($module:ident :: $name:ident),* $(,)?) => {
            vec![$((concat!(stringify!($module), "::", stringify!($name)), |scale| Box::pin($module::$name(scale)))),*]
        };
    }
    tests![
        executor::a_task_that_wakes_itself_leaves_the_event_loop_its_turn,
        executor::many_rings_in_a_turn_are_one_and_bring_another,
        locks::no_count_is_lost_and_nobody_meets,
        locks::no_count_is_lost_on_the_executor_of_wasm_bindgen,
        locks::a_timeout_on_the_page_comes_and_not_early,
        locks::a_timeout_in_a_worker_comes_and_not_early,
        locks::a_dropped_future_passes_the_lock_on,
        locks::a_task_that_is_not_polled_delays_a_worker_for_a_moment,
        locks::the_page_is_told_that_it_must_not_block,
        locks::an_agent_asks_the_engine_whether_it_may_block,
        locks::readers_and_a_writer,
        locks::permits_are_neither_lost_nor_made,
        locks::a_condition_between_page_and_worker,
        locks::an_event_reaches_the_page,
        locks::a_value_is_made_once,
        queue::conservation,
        queue::histories_go_as_the_model_says,
        reports::the_page_reads_what_workers_write,
        shared_lock::rust_and_javascript_lose_no_count,
        shared_lock::a_dropped_future_forwards_its_wakeup,
        shared_lock::a_waiter_that_does_not_answer_delays_others_for_a_moment,
        shared_lock::a_wakeup_of_a_dropped_future_is_forwarded,
        shared_lock::a_deadline_comes_and_eats_nothing,
        terminated::while_it_waits,
        terminated::while_it_waits_in_the_engines_queue,
        terminated::while_it_holds,
        terminated::its_handle_says_so,
        terminated::a_page_outlasts_a_worker_without_a_cpu,
        terminated::workers_give_way_to_a_page,
    ]
}

#[wasm_bindgen(js_name = testNames)]
pub fn test_names() -> Vec<String> {
    tests().into_iter().map(|(name, _)| name.to_owned()).collect()
}

#[wasm_bindgen(js_name = runTest)]
pub fn run_test(name: &str, scale: u32) -> Promise {
    let (_, test) = tests().into_iter().find(|test| test.0 == name).expect("one of the names");
    waitword_web::promise(async move {
        test(scale).await;
        Ok(JsValue::UNDEFINED)
    })
}

/// How often, for how many microseconds, and for how many at most the page has spun.
#[wasm_bindgen]
pub fn spins() -> Vec<f64> {
    let (times, all, longest) = waitword_web::spins();
    vec![times.into(), all.as_secs_f64() * 1e6, longest.as_secs_f64() * 1e6]
}
