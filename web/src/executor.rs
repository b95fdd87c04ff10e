//! The executor of an agent with an event loop.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use crate::tools::sleep;

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
