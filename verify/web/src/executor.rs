//! The executor of an agent with an event loop.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;
use std::time::Duration;

use waitword::{Event, OnceLock};
use waitword_web::spawn;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};

use crate::tools::{sleep, until};

/// Ready at the second poll, and woken before it.
async fn yield_now() {
    let mut is_second = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut is_second, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Such a task would keep a page from drawing for ever, if each turn came in a microtask.
pub(crate) async fn a_task_that_wakes_itself_leaves_the_event_loop_its_turn(_: u32) {
    let is_over = Rc::new(Cell::new(false));
    let theirs = Rc::clone(&is_over);
    waitword_web::spawn_local(async move {
        while !theirs.get() {
            yield_now().await;
        }
    });
    // Three turns of the event loop: timers.
    for _ in 0..3 {
        sleep(Duration::from_millis(1)).await;
    }
    is_over.set(true);
}

#[wasm_bindgen(module = "/report.js")]
extern "C" {
    #[wasm_bindgen(js_name = countRings)]
    fn count_rings();

    #[wasm_bindgen(js_name = rings)]
    fn rings() -> u32;
}

/// A worker wakes ten tasks while a turn polls another one, which is not over before they are woken:
/// ```text
///   page                                     worker
///   ───────────────────────────────          ───────────────────────────────
///   turn: word := QUIET; polls a task
///                                            wakes ten: QUIET → RUNG once, notify finds nobody
///   the task, and the turn, end
///   listens: "not-equal", another turn
/// ```
/// This test waits on another executor: a ring of the page's own would bring that turn as well.
pub(crate) async fn many_rings_in_a_turn_are_one_and_bring_another(_: u32) {
    const TASKS: u32 = 10;
    #[derive(Default)]
    struct Shared {
        begun: AtomicU32,
        first: Event,
        is_in_turn: OnceLock<()>,
        others: Event,
        rung: OnceLock<u32>,
        woken: AtomicU32,
    }
    let shared = Arc::new(Shared::default());
    for _ in 0..TASKS {
        let theirs = Arc::clone(&shared);
        waitword_web::spawn_local(async move {
            theirs.begun.fetch_add(1, Ordering::SeqCst);
            theirs.others.wait_async().await;
            theirs.woken.fetch_add(1, Ordering::SeqCst);
        });
    }
    let theirs = Arc::clone(&shared);
    waitword_web::spawn_local(async move {
        theirs.begun.fetch_add(1, Ordering::SeqCst);
        theirs.first.wait_async().await;
        theirs.is_in_turn.set(()).unwrap();
        while theirs.rung.get().is_none() {
            std::hint::spin_loop();
        }
    });
    until(|| shared.begun.load(Ordering::SeqCst) == TASKS + 1).await;
    let theirs = Arc::clone(&shared);
    let worker = spawn(move || {
        count_rings();
        theirs.first.notify_one();
        theirs.is_in_turn.wait();
        let before = rings();
        theirs.others.notify_all();
        theirs.rung.set(rings() - before).unwrap();
    });
    let theirs = Arc::clone(&shared);
    let watch = future_to_promise(async move {
        until(|| theirs.woken.load(Ordering::SeqCst) == TASKS).await;
        Ok(JsValue::UNDEFINED)
    });
    JsFuture::from(watch).await.unwrap();
    assert_eq!(shared.rung.get(), Some(&1), "rings");
    worker.join_async().await.unwrap();
}
