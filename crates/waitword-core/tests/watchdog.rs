//! What starts the watchdog of the process and what keeps it running: each by itself, in a process in which nothing else does.
#![cfg(not(target_family = "wasm"))]

#[path = "common/alone.rs"]
mod alone;
mod common;

use std::pin::Pin;
use std::sync::atomic::AtomicI32;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::Instant;

use common::{poll, until};
use waitword_core::*;

type Word = &'static AtomicI32;
type Wait = Pin<Box<WaitAsync<Word>>>;

fn word() -> Word {
    Box::leak(Box::new(AtomicI32::new(0)))
}

fn queued(word: Word) -> Wait {
    queued_with(word, Waker::noop())
}

fn queued_with(word: Word, waker: &Waker) -> Wait {
    let mut wait = Box::pin(wait_async(word, 0));
    assert!(wait.as_mut().poll_signalled(&mut Context::from_waker(waker)).is_pending());
    wait
}

/// Runs `start` while the watchdog is idle. It has to start it, and that has to have the effect; for which alone it may stop.
#[track_caller]
fn starts<R>(start: impl FnOnce() -> R, effect: impl Fn(&R) -> bool) {
    assert!(!is_watchdog_running(), "it runs already");
    let before = Instant::now();
    let started = start();
    let is_started = is_watchdog_running() || effect(&started);
    // On a slow machine it may have passed and stopped: before the effect, if that needs another start.
    assert!(is_started || before.elapsed() >= STALL_TIMEOUT, "it has not been started");
    until(|| effect(&started));
}

macro_rules! alone {
    ($($(#[$doc:meta])* fn $name:ident() $scenario:block)*) => { $(
        $(#[$doc])*
        #[test]
        fn $name() {
            alone::passes_alone(stringify!($name), || $scenario);
        }
    )* };
}

alone! {
    /// In all the ways in which the table of the process starts it.
    fn not_what_is_queued_in_a_table_of_ones_own() {
        let (table, words) = (Table::new(), [AtomicI32::new(0), AtomicI32::new(0)]);
        let at = |word: usize| table.at(&words[word]);
        let queued = |word| {
            let mut wait = Box::pin(wait_async(at(word), 0));
            assert!(poll(wait.as_mut()).is_pending());
            wait
        };
        let mut waits = [0, 0, 1, 1].map(queued);
        assert_eq!(signal_one(at(0)), 2);
        let _behind = queued(0);
        waits[2].as_mut().request_signal();
        assert!(!is_queue_stalled(at(1)));
        assert_eq!(requeue_while_equal(at(1), 0, words[0].as_ptr().addr(), 1), Ok(1));
        assert!(!is_watchdog_running());
        assert!(table.signal_stalled(), "there is something to watch");
    }

    fn a_signal_that_leaves_a_waiter_behind() {
        let word = word();
        let (_first, behind) = (queued(word), queued(word));
        starts(|| assert_eq!(signal_one(word), 2), |()| behind.is_signalled());
    }

    fn a_waiter_that_enqueues_behind_a_signalled_one() {
        let word = word();
        let _first = queued(word);
        assert_eq!(signal_one(word), 1);
        starts(|| queued(word), |behind| behind.is_signalled());
    }

    fn a_waiter_that_enqueues_behind_one_that_requests_a_signal() {
        let word = word();
        let mut first = queued(word);
        first.as_mut().request_signal();
        starts(|| queued(word), |_behind| first.is_signalled());
    }

    fn a_request_for_a_signal_with_a_waiter_behind() {
        let word = word();
        let (mut first, _behind) = (queued(word), queued(word));
        let first = Mutex::new(first.as_mut());
        starts(|| first.lock().unwrap().as_mut().request_signal(), |()| first.lock().unwrap().is_signalled());
    }

    fn a_question_whether_a_queue_is_stalled() {
        let word = word();
        let _first = queued(word);
        assert_eq!(signal_one(word), 1);
        starts(|| assert!(!is_queue_stalled(word)), |()| is_queue_stalled(word));
    }

    /// Moved in several stays under the locks.
    fn waiters_that_are_moved_to_another_queue() {
        let (from, to) = (word(), word());
        let waits: Vec<_> = (0..100).map(|_| queued(from)).collect();
        let requeue = || requeue_while_equal(from, 0, to.as_ptr().addr(), usize::MAX);
        starts(|| assert_eq!(requeue(), Ok(100)), |()| waits[0].is_signalled() && waits[1].is_signalled());
    }

    /// One behind the other, each of which does not respond; and again when it has stopped.
    fn it_goes_on_until_all_are_signalled_and_starts_again() {
        let word = word();
        let waits: Vec<_> = (0..4).map(|_| queued(word)).collect();
        starts(|| assert_eq!(signal_one(word), 4), |()| waits.iter().all(|wait| wait.is_signalled()));
        until(|| !is_watchdog_running());
        starts(|| queued(word), |late| late.is_signalled());
    }

    /// In many shards: each stay that finds a waiter is followed by its wake.
    fn a_pass_goes_on_behind_the_wakes() {
        let words: Vec<_> = (0..64).map(|_| word()).collect();
        let waits: Vec<_> = words.iter().map(|word| [queued(word), queued(word)]).collect();
        let signal = || assert!(words.iter().all(|word| signal_one(*word) == 2));
        starts(signal, |()| waits.iter().all(|[_, behind]| behind.is_signalled()));
    }

    /// A waker that is called between two stays of a pass enqueues behind a signalled waiter of the first. That finds the watchdog
    /// running; and the pass finds nothing in the shards to come.
    fn a_waiter_that_enqueues_where_a_pass_has_been() {
        static LATE: Mutex<Option<Wait>> = Mutex::new(None);

        struct Enqueues(Word);

        impl Wake for Enqueues {
            fn wake(self: Arc<Self>) {
                LATE.lock().unwrap().get_or_insert_with(|| queued(self.0));
            }
        }

        // Many: behind the last shard of all there is no stay.
        let words: Vec<_> = (0..64).map(|_| word()).collect();
        let mut waits: Vec<_> =
            words.iter().map(|word| queued_with(word, &Waker::from(Arc::new(Enqueues(word))))).collect();
        waits.iter_mut().for_each(|wait| wait.as_mut().request_signal());
        // Each is alone in its queue: the next pass signals it, and then there is nothing left to watch.
        let ask = || words.iter().for_each(|word| _ = is_queue_stalled(*word));
        starts(ask, |()| LATE.lock().unwrap().as_ref().is_some_and(|late| late.is_signalled()));
    }
}

/// In a shard with many buckets, of which a pass checks a few in each stay.
#[test]
fn a_pass_checks_every_bucket() {
    let (table, words) = (Table::with_shards(1), [const { AtomicI32::new(0) }; 1000]);
    let mut waits: Vec<_> =
        words.iter().map(|word| [(); 2].map(|()| Box::pin(wait_async(table.at(word), 0)))).collect();
    assert!(waits.iter_mut().flatten().all(|wait| poll(wait.as_mut()).is_pending()));
    assert!(words.iter().all(|word| signal_one(table.at(word)) == 2));
    // In a stay that finds too many for a batch, the rest are signalled by the next pass.
    while table.signal_stalled() {}
    assert!(waits.iter().all(|[_, behind]| behind.is_signalled()));
    assert!(words.iter().all(|word| notify_all(table.at(word)) == 2));
}
