//! The barrier: whoever has arrived comes through with the others, or takes its arrival back.

use std::sync::Arc;
use std::time::Duration;

use waitword::Barrier;

use super::checker::future::block_on;
use super::{Seen, in_line, model, model_of_two, poll, spawn};

fn leads(barrier: &Barrier) -> usize {
    usize::from(barrier.wait().is_leader())
}

#[test]
fn each_generation_has_one_leader() {
    model(|| {
        let barrier = Arc::new(Barrier::new(2));
        let thread = spawn(&barrier, leads);
        let task = spawn(&barrier, |barrier| usize::from(block_on(barrier.wait_async()).is_leader()));
        assert_eq!(thread.join().unwrap() + task.join().unwrap(), 1);
    });
}

#[test]
fn a_barrier_is_used_again() {
    model(|| {
        let barrier = Arc::new(Barrier::new(2));
        let twice = |barrier: &Barrier| [(); 2].map(|()| leads(barrier));
        let other = spawn(&barrier, twice);
        let (ours, theirs) = (twice(&barrier), other.join().unwrap());
        assert_eq!([0, 1].map(|generation| ours[generation] + theirs[generation]), [1; 2]);
    });
}

#[test]
fn what_was_done_before_the_barrier_is_seen_behind_it() {
    model_of_two(|| {
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
}

/// Two arrive, and their time is up: both have met, or neither.
#[test]
fn who_leaves_was_in_time_if_and_only_if_the_other_came_through() {
    model_of_two(|| {
        let barrier = Arc::new(Barrier::new(2));
        let other = spawn(&barrier, |barrier| barrier.wait_for(Duration::ZERO).is_ok());
        let in_time = block_on(barrier.wait_async_for(Duration::ZERO)).is_ok();
        assert_eq!(in_time, other.join().unwrap());
        assert_eq!(barrier.arrived(), 0);
    });
}

/// Three where two are enough, and all leave.
#[test]
fn whoever_is_dropped_takes_its_arrival_back() {
    model(|| {
        let barrier = Arc::new(Barrier::new(2));
        let leaves = in_line(barrier.wait_async());
        let come_and_go = |barrier: &Barrier| {
            let _ = poll(Box::pin(barrier.wait_async()).as_mut());
        };
        let others = [(), ()].map(|()| spawn(&barrier, come_and_go));
        drop(leaves);
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!(barrier.arrived(), 0);
    });
}
