//! Model checks of the state words, with the real queue below them. Their source files are compiled here a second time,
//! with the checker's atomics.
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release -p waitword --test models`: every interleaving, up to the bound.
//! `RUSTFLAGS="--cfg shuttle" cargo test --release -p waitword --test models`: random ones, without a bound.
//!
//! Under loom a thread should sleep once. An `unpark` that comes late, when the thread has gone on, there also ends its
//! sleep at a mutex, a condition variable or a join ("expected to be able to acquire lock", or a deadlock that is none): with a bound
//! of three, and threads that wait again after they were woken, it comes to that. So the bound is two.
#![cfg(any(loom, shuttle))]
#![allow(dead_code, reason = "what is only for the typed parts is not modelled")]

#[cfg(loom)]
use loom as checker;
#[cfg(all(shuttle, not(loom)))]
use shuttle as checker;

mod sync {
    pub(crate) use crate::checker::sync::atomic;
}
#[path = "../src/barrier/raw.rs"]
mod barrier;
#[path = "../src/condition/mod.rs"]
mod condition;
#[path = "../src/error.rs"]
mod error;
#[path = "../src/event/raw.rs"]
mod event;
#[path = "../src/once/raw.rs"]
mod once;
#[path = "../src/wait_group/raw.rs"]
mod wait_group;

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use barrier::{Passed, RawBarrier};
use checker::sync::Arc;
use checker::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use checker::thread;
use condition::{Condition, WaitFor, block};
use event::{EventWaiter, RawEvent};
use once::{RawOnce, RawTurn, TurnWaiter, ValueWaiter};
use wait_group::RawWaitGroup;
use waitword_core::{Location, Table, Word};

#[cfg(loom)]
fn model(body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(body);
}

#[cfg(all(shuttle, not(loom)))]
fn model(body: impl Fn() + Sync + Send + 'static) {
    shuttle::check_random(body, 5_000);
}

/// A word with a table of its own.
struct Here<W> {
    word: W,
    table: Table,
}

impl<W> Here<W> {
    fn new(word: W) -> Self {
        Self { word, table: Table::with_shards(1) }
    }
}

// SAFETY: word and table are inline, and the same for as long as the value lives.
unsafe impl<W: Word> Location for Here<W> {
    type Word = W;
    fn word(&self) -> &W {
        &self.word
    }
    fn table(&self) -> &Table {
        &self.table
    }
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// A body that is run by another thread, on what both share.
fn spawn<T: Send + Sync + 'static, R: Send + 'static>(
    shared: &Arc<T>,
    run: impl FnOnce(&T) -> R + Send + 'static,
) -> thread::JoinHandle<R> {
    let shared = Arc::clone(shared);
    thread::spawn(move || run(&shared))
}

mod events {
    use super::*;

    type Event = RawEvent<Here<AtomicU64>>;
    type Waiting<'a> = Pin<Box<WaitFor<EventWaiter<'a, Here<AtomicU64>>>>>;

    fn event() -> Arc<Event> {
        Arc::new(RawEvent::on(Here::new(AtomicU64::new(0))))
    }

    fn in_line(event: &Event) -> Waiting<'_> {
        let mut wait = Box::pin(WaitFor::new(event.waiter()));
        assert!(poll(wait.as_mut()).is_pending());
        wait
    }

    #[test]
    fn one_notify_is_enough_for_one_wait() {
        model(|| {
            let event = event();
            let waiter = spawn(&event, |event| block(&mut event.waiter(), ""));
            event.notify_one();
            waiter.join().unwrap();
            assert!(!event.take());
        });
    }

    #[test]
    fn two_notifies_wake_two_that_are_in_line() {
        model(|| {
            let event = event();
            let (mut one, mut two) = (in_line(&event), in_line(&event));
            let other = spawn(&event, |event| event.notify_one());
            event.notify_one();
            other.join().unwrap();
            assert!(poll(one.as_mut()).is_ready() && poll(two.as_mut()).is_ready());
            assert!(!event.take());
        });
    }

    /// The race in the header: one leaves, another comes, and nothing is lost on either.
    #[test]
    fn a_wakeup_is_neither_lost_nor_doubled_between_one_who_leaves_and_one_who_comes() {
        model(|| {
            let event = event();
            let leaves = in_line(&event);
            let comes = spawn(&event, |event| block(&mut event.waiter(), ""));
            let notifies = spawn(&event, |event| event.notify_one());
            drop(leaves);
            comes.join().unwrap();
            notifies.join().unwrap();
            assert!(!event.take(), "one notify, one wakeup");
        });
    }

    #[test]
    fn a_wakeup_that_is_dropped_goes_to_the_next_in_line() {
        model(|| {
            let event = event();
            let (one, mut two) = (in_line(&event), in_line(&event));
            let notifies = spawn(&event, |event| event.notify_one());
            drop(one);
            notifies.join().unwrap();
            assert!(poll(two.as_mut()).is_ready());
            assert!(!event.take());
        });
    }

    #[test]
    fn a_wakeup_that_is_dropped_is_stored_if_nobody_is_in_line() {
        model(|| {
            let event = event();
            let one = in_line(&event);
            let notifies = spawn(&event, |event| event.notify_one());
            drop(one);
            notifies.join().unwrap();
            assert!(event.take());
        });
    }

    #[test]
    fn two_notifies_beside_one_who_waits_leave_one_stored() {
        model(|| {
            let event = event();
            let mut waits = in_line(&event);
            let other = spawn(&event, |event| event.notify_one());
            event.notify_one();
            other.join().unwrap();
            assert!(poll(waits.as_mut()).is_ready());
            assert!(event.take());
        });
    }

    /// Who comes while all are woken is woken too, or not; but nothing is stored, and nobody who came later is touched.
    #[test]
    fn notify_all_wakes_who_waits_and_stores_nothing() {
        model(|| {
            let event = event();
            let mut waits = in_line(&event);
            let notifies = spawn(&event, |event| event.notify_all());
            let mut comes = Box::pin(WaitFor::new(event.waiter()));
            let early = poll(comes.as_mut()).is_ready();
            notifies.join().unwrap();
            assert!(poll(waits.as_mut()).is_ready());
            assert!(!event.take());
            if !early && poll(comes.as_mut()).is_pending() {
                event.notify_one();
                assert!(poll(comes.as_mut()).is_ready());
            }
            assert!(!event.take());
        });
    }

    /// One who came after the new round is not called by the notify that began it; dropped, it has nothing to pass on.
    #[test]
    fn notify_all_leaves_no_wakeup_behind_with_one_who_is_dropped() {
        model(|| {
            let event = event();
            let waits = in_line(&event);
            let comes = spawn(&event, |event| {
                let mut comes = Box::pin(WaitFor::new(event.waiter()));
                let _ = poll(comes.as_mut());
            });
            event.notify_all();
            comes.join().unwrap();
            drop(waits);
            assert!(!event.take());
        });
    }

    #[test]
    fn notify_all_beside_notify_one_leaves_one_at_most() {
        model(|| {
            let event = event();
            let (mut one, mut two) = (in_line(&event), in_line(&event));
            let notifies = spawn(&event, |event| event.notify_one());
            event.notify_all();
            notifies.join().unwrap();
            assert!(poll(one.as_mut()).is_ready() && poll(two.as_mut()).is_ready());
            event.take();
            assert!(!event.take());
        });
    }

    /// Also if the wakeup was stored by somebody else before.
    #[test]
    fn what_was_done_before_a_notify_is_seen_by_who_takes_the_wakeup() {
        model(|| {
            let shared = Arc::new((RawEvent::on(Here::new(AtomicU64::new(0))), AtomicUsize::new(0)));
            shared.0.notify_one();
            let notifies = spawn(&shared, |(event, written)| {
                written.store(1, Ordering::Relaxed);
                event.notify_one();
            });
            let (event, written) = &*shared;
            block(&mut event.waiter(), "");
            if written.load(Ordering::Relaxed) == 0 {
                // Taken before it was stored again.
                block(&mut event.waiter(), "");
                assert_eq!(written.load(Ordering::Relaxed), 1);
            }
            notifies.join().unwrap();
        });
    }
}

mod wait_groups {
    use super::*;

    type WaitGroup = RawWaitGroup<Here<AtomicU64>>;

    fn group(tokens: usize) -> Arc<WaitGroup> {
        let group = RawWaitGroup::on(AtomicU64::new(0), Here::new(AtomicU64::new(0)));
        (0..tokens).for_each(|_| group.add().unwrap());
        Arc::new(group)
    }

    #[test]
    fn the_last_to_be_done_ends_the_wait_and_all_that_was_done_is_seen() {
        model(|| {
            let counts = (AtomicUsize::new(0), AtomicUsize::new(0));
            let shared =
                Arc::new((RawWaitGroup::on(AtomicU64::new(0), Here::new(AtomicU64::new(0))), counts));
            shared.0.add().unwrap();
            shared.0.add().unwrap();
            let one = spawn(&shared, |(group, written)| {
                written.0.store(1, Ordering::Relaxed);
                group.done();
            });
            let two = spawn(&shared, |(group, written)| {
                written.1.store(1, Ordering::Relaxed);
                group.done();
            });
            block(&mut shared.0.waiter(), "");
            let (one_wrote, two_wrote) = &shared.1;
            assert_eq!((one_wrote.load(Ordering::Relaxed), two_wrote.load(Ordering::Relaxed)), (1, 1));
            one.join().unwrap();
            two.join().unwrap();
        });
    }

    #[test]
    fn a_zero_is_not_missed_when_the_count_rises_again() {
        model(|| {
            let group = group(1);
            let waiter = {
                let mut wait = Box::pin(WaitFor::new(group.waiter()));
                assert!(poll(wait.as_mut()).is_pending());
                let other = spawn(&group, |group| {
                    group.done();
                    group.add().unwrap();
                });
                let early = poll(wait.as_mut()).is_ready();
                other.join().unwrap();
                early || poll(wait.as_mut()).is_ready()
            };
            assert!(waiter);
            group.done();
        });
    }

    #[test]
    fn a_zero_does_not_end_the_wait_of_one_who_came_after_it() {
        model(|| {
            let group = group(1);
            let mut before = Box::pin(WaitFor::new(group.waiter()));
            assert!(poll(before.as_mut()).is_pending());
            let other = spawn(&group, |group| group.done());
            // While the other is perhaps still waking those who waited for its zero.
            if group.count() == 0 {
                group.add().unwrap();
                let mut after = Box::pin(WaitFor::new(group.waiter()));
                assert!(poll(after.as_mut()).is_pending());
                other.join().unwrap();
                assert!(poll(after.as_mut()).is_pending());
                group.done();
                assert!(poll(after.as_mut()).is_ready());
            } else {
                other.join().unwrap();
            }
            assert!(poll(before.as_mut()).is_ready());
        });
    }
}

mod barriers {
    use super::*;

    type Barrier = RawBarrier<Here<AtomicU64>>;

    fn barrier(parties: u64) -> Arc<Barrier> {
        Arc::new(RawBarrier::on(parties, AtomicU64::new(0), Here::new(AtomicU64::new(0))))
    }

    fn leads(barrier: &Barrier) -> usize {
        usize::from(block(&mut barrier.waiter(), "") == Passed::Leader)
    }

    #[test]
    fn each_generation_has_one_leader() {
        model(|| {
            let barrier = barrier(2);
            let both = [(); 2].map(|()| spawn(&barrier, leads));
            assert_eq!(both.into_iter().map(|one| one.join().unwrap()).sum::<usize>(), 1);
        });
    }

    #[cfg(not(loom))]
    #[test]
    fn a_barrier_is_used_again_and_again() {
        model(|| {
            let barrier = barrier(2);
            let thrice = |barrier: &Barrier| [(); 3].map(|()| leads(barrier));
            let other = spawn(&barrier, thrice);
            let (ours, theirs) = (thrice(&barrier), other.join().unwrap());
            assert_eq!([0, 1, 2].map(|generation| ours[generation] + theirs[generation]), [1; 3]);
        });
    }

    #[test]
    fn what_was_done_before_the_barrier_is_seen_behind_it() {
        model(|| {
            let barrier = RawBarrier::on(2, AtomicU64::new(0), Here::new(AtomicU64::new(0)));
            let shared = Arc::new((barrier, AtomicUsize::new(0), AtomicUsize::new(0)));
            let other = spawn(&shared, |(barrier, ours, theirs)| {
                ours.store(1, Ordering::Relaxed);
                block(&mut barrier.waiter(), "");
                assert_eq!(theirs.load(Ordering::Relaxed), 1);
            });
            let (barrier, theirs, ours) = &*shared;
            ours.store(1, Ordering::Relaxed);
            block(&mut barrier.waiter(), "");
            assert_eq!(theirs.load(Ordering::Relaxed), 1);
            other.join().unwrap();
        });
    }

    #[test]
    fn who_leaves_was_in_time_if_and_only_if_the_other_came_through() {
        model(|| {
            let barrier = barrier(2);
            let mut leaves = barrier.waiter();
            assert!(leaves.check().is_err());
            let other = spawn(&barrier, |barrier| {
                let mut comes = barrier.waiter();
                let passed = comes.check().ok();
                if passed.is_none() {
                    assert_eq!(comes.give_up(false), None);
                }
                passed
            });
            let in_time = leaves.give_up(false);
            assert_eq!(in_time.is_some(), other.join().unwrap().is_some());
            assert_eq!(barrier.arrived(), 0);
        });
    }

    /// Three where two are enough, and one of them leaves.
    #[test]
    fn the_others_meet_when_one_leaves() {
        model(|| {
            let barrier = barrier(2);
            let mut leaves = Box::pin(WaitFor::new(barrier.waiter()));
            assert!(poll(leaves.as_mut()).is_pending());
            let [one, two] = [(), ()].map(|()| {
                spawn(&barrier, |barrier| {
                    let mut comes = Box::pin(WaitFor::new(barrier.waiter()));
                    if poll(comes.as_mut()).is_ready() {
                        return true;
                    }
                    drop(comes);
                    false
                })
            });
            drop(leaves);
            let (one, two) = (one.join().unwrap(), two.join().unwrap());
            assert_eq!(barrier.arrived(), 0, "{one} {two}");
        });
    }
}

mod cells {
    use super::*;

    type Once = RawOnce<Here<AtomicU32>>;

    fn once() -> Arc<(Once, AtomicUsize)> {
        Arc::new((RawOnce::on(Here::new(AtomicU32::new(0))), AtomicUsize::new(0)))
    }

    /// Sets the cell unless it is set. Whoever has the turn is alone.
    fn init((once, value): &(Once, AtomicUsize)) -> usize {
        if let Some(turn) = block(&mut TurnWaiter(once), "") {
            assert_eq!(value.load(Ordering::Relaxed), 0);
            value.store(1, Ordering::Relaxed);
            turn.complete();
        }
        value.load(Ordering::Relaxed)
    }

    #[test]
    fn one_initialiser_runs_and_all_see_what_it_did() {
        model(|| {
            let cell = once();
            let (one, two) = (spawn(&cell, init), spawn(&cell, init));
            assert_eq!(init(&cell), 1);
            assert_eq!((one.join().unwrap(), two.join().unwrap()), (1, 1));
        });
    }

    #[test]
    fn a_turn_that_is_lost_passes_on() {
        model(|| {
            let cell = once();
            let turn: Option<RawTurn<'_, _>> = cell.0.try_turn();
            let (one, two) =
                (spawn(&cell, init), spawn(&cell, |(once, _)| block(&mut ValueWaiter(once), "")));
            drop(turn);
            one.join().unwrap();
            two.join().unwrap();
            assert!(cell.0.is_set());
        });
    }

    /// The one who was called first is never polled.
    #[test]
    fn a_task_that_is_not_polled_does_not_keep_the_turn() {
        model(|| {
            let cell = once();
            let turn = cell.0.try_turn();
            let mut unpolled = Box::pin(WaitFor::new(TurnWaiter(&cell.0)));
            assert!(poll(unpolled.as_mut()).is_pending());
            let other = spawn(&cell, init);
            drop(turn);
            assert_eq!(other.join().unwrap(), 1);
        });
    }

    #[test]
    fn who_waits_for_the_value_sees_it() {
        model(|| {
            let cell = once();
            let setter = spawn(&cell, |(once, value)| {
                let turn = once.try_turn().unwrap();
                value.store(7, Ordering::Relaxed);
                turn.complete();
            });
            block(&mut ValueWaiter(&cell.0), "");
            assert_eq!(cell.1.load(Ordering::Relaxed), 7);
            setter.join().unwrap();
        });
    }
}
