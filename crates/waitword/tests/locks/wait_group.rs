//! The wait group: tokens, and a count that rises again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use waitword::*;

use crate::common::{Task, far, until, waits};

#[test]
fn a_wait_ends_with_the_last_token_and_not_before() {
    let group = Arc::new(WaitGroup::new());
    let (first, last) = (group.add(), group.add());
    thread::scope(|scope| {
        let waiter = waits(scope, || group.waiters() == 1, || group.wait());
        drop(first);
        assert_eq!((group.count(), group.waiters()), (1, 1));
        drop(last);
        waiter.join().unwrap();
    });
}

#[test]
fn a_zero_ends_the_wait_though_the_count_rises_again_before_the_waiter_checks() {
    let group = Arc::new(WaitGroup::new());
    let token = group.add();
    let mut polled = Task::queued(group.wait_async());
    let unpolled = group.wait_async();
    let unpolled_owned = group.wait_owned_async();
    drop(token);
    let again = group.add();
    assert!(polled.is_woken() && polled.poll().is_ready());
    assert!(Task::new(unpolled).poll().is_ready(), "made before the zero");
    assert!(Task::new(unpolled_owned).poll().is_ready(), "made before the zero");
    // Made after it.
    let mut later = Task::queued(group.wait_async());
    drop(again);
    assert!(later.poll().is_ready());
}

#[test]
fn a_clone_of_a_token_is_one_more() {
    let group = Arc::new(WaitGroup::new());
    let (borrowed, owned) = (group.add(), group.add_owned());
    let clones = (borrowed.clone(), owned.clone());
    assert_eq!(group.count(), 4);
    drop((borrowed, owned));
    assert_eq!(group.count(), 2);
    drop(clones);
    assert!(group.try_wait());
}

#[test]
fn a_worker_that_panics_or_is_cancelled_is_done() {
    let group = Arc::new(WaitGroup::new());
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _token = group.add();
        panic!("at work");
    }));
    assert!(panicked.is_err() && group.try_wait());
    let token = group.add_owned();
    let task = Task::queued(async move {
        let _token = token;
        std::future::pending::<()>().await;
    });
    assert_eq!(group.count(), 1);
    drop(task);
    assert!(group.try_wait());
}

#[test]
fn a_wait_that_is_dropped_takes_no_other_wakeup() {
    for dropped in 0..3 {
        let group = Arc::new(WaitGroup::new());
        let token = group.add();
        let mut tasks: Vec<_> = (0..3)
            .map(|place| match place % 2 {
                0 => Task::queued(group.wait_async().deadline(far())),
                _ => Task::queued(group.wait_owned_async().deadline(far())),
            })
            .collect();
        drop(tasks.remove(dropped));
        assert_eq!(group.waiters(), 2);
        drop(token);
        drop(tasks.remove(0));
        assert!(tasks[0].is_woken() && tasks[0].poll().is_ready());
    }
}

#[test]
fn a_zero_before_the_poll_counts_though_the_time_is_up() {
    let group = WaitGroup::new();
    let token = group.add();
    let (mut task, deadline) =
        Task::queued_until(Duration::from_millis(2), |deadline| group.wait_async().deadline(deadline));
    drop(token);
    let _again = group.add();
    until(|| Instant::now() > deadline);
    assert!(task.poll() == std::task::Poll::Ready(Ok(())));
}

/// The last share in the group may be that of the token that a wait waits for.
#[test]
fn a_token_keeps_its_group_until_it_has_notified() {
    let group = Arc::new(WaitGroup::new());
    let token = group.add_owned();
    let waits = [(); 2].map(|()| Task::new(smol::spawn(group.wait_owned_async())));
    until(|| group.waiters() == 2);
    let weak = Arc::downgrade(&group);
    drop(group);
    drop(token);
    waits.into_iter().for_each(Task::finish);
    until(|| weak.upgrade().is_none());
}

#[test]
fn debug_shows_the_state_and_never_waits() {
    let group = Arc::<WaitGroup>::default();
    let token = group.add();
    assert_eq!(format!("{group:?}"), "WaitGroup { count: 1 }");
    assert_eq!(format!("{token:?}"), "WaitGroupToken { group: WaitGroup { count: 1 } }");
    assert_eq!(format!("{:?}", group.wait_async()), "WaitGroupWait { waiting: false, .. }");
    assert_eq!(format!("{:?}", group.wait_owned_async()), "WaitGroupWait { waiting: false, .. }");
    let until = group.wait_owned_async().timeout(Duration::ZERO);
    assert_eq!(format!("{until:?}"), "WaitGroupWait { waiting: false, .. }");
}
