//! The barrier: a waiter passes it with the others, or takes its arrival back.

use std::sync::Arc;
use std::time::Duration;

use waitword::Barrier;

use super::{Seen, check, poll, queued, spawn};
use loom::future::block_on;

fn leads(barrier: &Barrier) -> usize {
    usize::from(barrier.wait().is_leader())
}

check!(each_generation_has_one_leader, 2, || {
    let barrier = Arc::new(Barrier::new(2));
    let thread = spawn(&barrier, leads);
    let task = spawn(&barrier, |barrier| usize::from(block_on(barrier.wait_async()).is_leader()));
    assert_eq!(thread.join().unwrap() + task.join().unwrap(), 1);
});

check!(a_barrier_is_used_again, 2, || {
    let barrier = Arc::new(Barrier::new(2));
    let twice = |barrier: &Barrier| [(); 2].map(|()| leads(barrier));
    let other = spawn(&barrier, twice);
    let (ours, theirs) = (twice(&barrier), other.join().unwrap());
    assert_eq!([0, 1].map(|generation| ours[generation] + theirs[generation]), [1; 2]);
});

check!(what_was_done_before_the_barrier_is_visible_after_it, 3, || {
    let shared = Arc::new((Barrier::new(2), Seen::default(), Seen::default()));
    let other = spawn(&shared, |(barrier, ours, theirs)| {
        ours.add();
        barrier.wait();
        assert_eq!(theirs.get(), 1);
    });
    let (barrier, theirs, ours) = &*shared;
    ours.add();
    barrier.wait();
    assert_eq!(theirs.get(), 1);
    other.join().unwrap();
});

// Two arrive whose time is up: both pass the barrier, or neither.
check!(one_is_in_time_if_and_only_if_the_other_is, 3, || {
    let barrier = Arc::new(Barrier::new(2));
    let other = spawn(&barrier, |barrier| barrier.wait_for(Duration::ZERO).is_ok());
    let in_time = block_on(barrier.wait_async().timeout(Duration::ZERO)).is_ok();
    assert_eq!(in_time, other.join().unwrap());
    assert_eq!(barrier.arrived(), 0);
});

// Three where two are enough, and all leave.
check!(a_dropped_wait_takes_its_arrival_back, 2, || {
    let barrier = Arc::new(Barrier::new(2));
    let leaves = queued(barrier.wait_async());
    let come_and_go = |barrier: &Barrier| {
        let _ = poll(Box::pin(barrier.wait_async()).as_mut());
    };
    let others = [(), ()].map(|()| spawn(&barrier, come_and_go));
    drop(leaves);
    others.into_iter().for_each(|other| other.join().unwrap());
    assert_eq!(barrier.arrived(), 0);
});
