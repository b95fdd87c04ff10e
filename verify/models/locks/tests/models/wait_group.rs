//! The wait group: no zero is missed, and what was done before it is seen.

use std::sync::Arc;

use waitword::WaitGroup;

use super::{Seen, model, model_of_two, poll, queued, spawn};

model!(the_last_to_be_done_ends_the_wait_and_all_that_was_done_is_seen, |group: Arc<WaitGroup>| {
    let done = [0, 1].map(|_| {
        let (token, seen) = (group.add_owned(), Arc::new(Seen::default()));
        let worker = spawn(&seen, |seen| {
            seen.add();
            drop(token);
        });
        (seen, worker)
    });
    group.wait();
    for (seen, worker) in done {
        assert_eq!(seen.get(), 1);
        worker.join().unwrap();
    }
});

model_of_two!(a_zero_is_not_missed_when_the_count_rises_again, |group: Arc<WaitGroup>| {
    let token = group.add_owned();
    let mut wait = queued(group.wait_async());
    let other = spawn(&group, |group| {
        drop(token);
        std::mem::forget(group.add());
    });
    let early = poll(wait.as_mut()).is_ready();
    other.join().unwrap();
    assert!(early || poll(wait.as_mut()).is_ready());
});

model_of_two!(a_zero_does_not_end_a_wait_that_began_after_it, |group: Arc<WaitGroup>| {
    let token = group.add_owned();
    let mut before = queued(group.wait_async());
    let other = spawn(&group, |_| drop(token));
    // While the other is perhaps still waking the waiters of its zero.
    if group.count() == 0 {
        let token = group.add();
        let mut after = queued(group.wait_async());
        other.join().unwrap();
        assert!(poll(after.as_mut()).is_pending());
        drop(token);
        assert!(poll(after.as_mut()).is_ready());
    } else {
        other.join().unwrap();
    }
    assert!(poll(before.as_mut()).is_ready());
});

// Beside the token, only the waits own shares in the group.
model_of_two!(the_last_token_ends_the_waits_that_own_the_group, |group: Arc<WaitGroup>| {
    let token = group.add_owned();
    let (mut waits, dropped) = (queued(group.wait_owned_async()), queued(group.wait_owned_async()));
    let other = spawn(&Arc::new(()), |_| drop(token));
    drop((group, dropped));
    let early = poll(waits.as_mut()).is_ready();
    other.join().unwrap();
    assert!(early || poll(waits.as_mut()).is_ready());
});
