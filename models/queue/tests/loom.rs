//! Model checks: every interleaving (up to the preemption bound), and what the memory model allows between.
//!
//! `cargo xtask loom` runs them, and prints its command line.
#![cfg(waitword_loom)]

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use loom::sync::Arc;
use loom::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use loom::thread;
use waitword_core::*;

struct Shared {
    table: Table,
    words: [AtomicI32; 3],
    woken: AtomicUsize,
}

impl Shared {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            table: Table::with_shards(1),
            words: [AtomicI32::new(0), AtomicI32::new(0), AtomicI32::new(0)],
            woken: AtomicUsize::new(0),
        })
    }

    fn at(&self, word: usize) -> At<'_, AtomicI32> {
        self.table.at(&self.words[word])
    }
}

fn model(body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    // Overridden by LOOM_MAX_PREEMPTIONS.
    builder.preemption_bound = builder.preemption_bound.or(Some(3));
    builder.check(body);
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Races 1 and 2: a store, however weak, and a notify after it are never missed. loom reports a thread that stays
/// parked as a deadlock.
#[test]
fn a_store_then_notify_is_never_missed() {
    for order in [Ordering::SeqCst, Ordering::Relaxed] {
        model(move || {
            let shared = Shared::new();
            let waiter = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || wait(shared.at(0), 0))
            };
            shared.words[0].store(1, order);
            let woken = notify_one(shared.at(0));
            let outcome = waiter.join().unwrap();
            assert_eq!(outcome == Outcome::Notified, woken == 1);
            assert_ne!(outcome, Outcome::TimedOut);
        });
    }
}

/// The same for a task, which is polled again when it was woken.
#[test]
fn a_store_then_notify_never_misses_a_task() {
    model(|| {
        let shared = Shared::new();
        let task = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || loom::future::block_on(wait_async(shared.at(0), 0)))
        };
        shared.words[0].store(1, Ordering::Relaxed);
        let woken = notify_all(shared.at(0));
        assert_eq!(task.join().unwrap() == Outcome::Notified, woken == 1);
    });
}

/// What the notifier wrote before is seen by those it woke: fences and lock give the order, not the word.
#[test]
fn a_wake_publishes_what_was_written_before() {
    model(|| {
        let shared = Shared::new();
        let waiter = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                if wait(shared.at(0), 0) == Outcome::Notified {
                    assert_eq!(shared.words[1].load(Ordering::Relaxed), 7);
                }
            })
        };
        shared.words[1].store(7, Ordering::Relaxed);
        shared.words[0].store(1, Ordering::Relaxed);
        notify_one(shared.at(0));
        waiter.join().unwrap();
    });
}

/// The same for a task that reads its outcome by itself: no lock and no wake orders its poll after the notify.
#[test]
fn an_outcome_publishes_what_was_written_before() {
    model(|| {
        let shared = Shared::new();
        let task = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let mut wait = pin!(wait_async(shared.at(0), 0));
                let notified = poll(wait.as_mut()) == Poll::Ready(Outcome::Notified)
                    || wait.cancel() == Cancelled::AfterNotify;
                let seen = shared.words[1].load(Ordering::Relaxed);
                assert!(!notified || seen == 7);
            })
        };
        shared.words[1].store(7, Ordering::Relaxed);
        notify_one(shared.at(0));
        task.join().unwrap();
    });
}

/// Race 3: whoever has the lock first decides between notify and cancel, for both.
#[test]
fn notified_if_and_only_if_counted() {
    model(|| {
        let shared = Shared::new();
        let mut wait = Box::pin(wait_async(shared.at(0), 0));
        assert!(poll(wait.as_mut()).is_pending());
        let notifier = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || notify_one(shared.at(0)))
        };
        let cancelled = wait.as_mut().cancel();
        drop(wait);
        assert_eq!(cancelled == Cancelled::AfterNotify, notifier.join().unwrap() == 1);
        assert_eq!(notify_all(shared.at(0)), 0);
    });
}

/// Race 4: the first leaves while one is notified; the wake goes to exactly one of the two.
#[test]
fn a_head_that_leaves_and_the_waiter_behind_it() {
    model(|| {
        let shared = Shared::new();
        let (mut first, mut second) =
            (Box::pin(wait_async(shared.at(0), 0)), Box::pin(wait_async(shared.at(0), 0)));
        assert!(poll(first.as_mut()).is_pending());
        assert!(poll(second.as_mut()).is_pending());
        let notifier = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || notify_one(shared.at(0)))
        };
        let first_had_it = first.as_mut().cancel() == Cancelled::AfterNotify;
        drop(first);
        assert_eq!(notifier.join().unwrap(), 1);
        assert_eq!(poll(second.as_mut()).is_ready(), !first_had_it);
    });
}

/// Race 5: two notifies, two sleepers; the second notify does not find the first one's sleeper.
#[test]
fn two_notifies_wake_two_waiters() {
    model(|| {
        let shared = Shared::new();
        let (mut first, mut second) =
            (Box::pin(wait_async(shared.at(0), 0)), Box::pin(wait_async(shared.at(0), 0)));
        assert!(poll(first.as_mut()).is_pending());
        assert!(poll(second.as_mut()).is_pending());
        let notifier = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || notify_one(shared.at(0)))
        };
        assert_eq!(notify_one(shared.at(0)), 1);
        assert_eq!(notifier.join().unwrap(), 1);
        assert!(poll(first.as_mut()).is_ready() && poll(second.as_mut()).is_ready());
    });
}

/// Race 6: a waiter that comes while a notify is under way is counted by it or still waits, never both or neither.
#[test]
fn notify_all_takes_a_snapshot() {
    model(|| {
        let shared = Shared::new();
        let mut early = Box::pin(wait_async(shared.at(0), 0));
        assert!(poll(early.as_mut()).is_pending());
        let notifier = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || notify_all(shared.at(0)))
        };
        let mut late = Box::pin(wait_async(shared.at(0), 0));
        let _ = poll(late.as_mut());
        let counted = notifier.join().unwrap();
        assert!(poll(early.as_mut()).is_ready());
        assert_eq!(late.as_mut().cancel() == Cancelled::AfterNotify, counted == 2);
    });
}

/// Race 7: a notify of all, in several batches; meanwhile somebody waits again on the same word, and then the last one
/// leaves, which may be detached behind a queue that has a new head.
#[test]
fn leaving_while_detached_and_waiting_again() {
    model(|| {
        let shared = Shared::new();
        let mut waits: Vec<_> = (0..3).map(|_| Box::pin(wait_async(shared.at(0), 0))).collect();
        assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
        let notifier = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || notify_all(shared.at(0)))
        };
        let mut again = Box::pin(wait_async(shared.at(0), 0));
        let _ = poll(again.as_mut());
        let mut last = waits.pop().unwrap();
        let last_had_it = last.as_mut().cancel() == Cancelled::AfterNotify;
        drop(last);
        let counted = notifier.join().unwrap();
        let again_had_it = again.as_mut().cancel() == Cancelled::AfterNotify;
        assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_ready()));
        assert_eq!(counted, 2 + usize::from(last_had_it) + usize::from(again_had_it));
    });
}

/// A poll with another waker races with the notify: the task is told through the one or finds it out by itself.
#[test]
fn a_changed_waker_and_a_notify() {
    model(|| {
        let shared = Shared::new();
        let mut wait = Box::pin(wait_async(shared.at(0), 0));
        assert!(poll(wait.as_mut()).is_pending());
        let notifier = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || notify_one(shared.at(0)))
        };
        assert_eq!(loom::future::block_on(wait), Outcome::Notified);
        assert_eq!(notifier.join().unwrap(), 1);
    });
}

/// Race 9: an agent's deadline against a notify from elsewhere; the wait comes out of the inbox once.
#[test]
fn an_agents_deadline_and_a_notify() {
    model(|| {
        let shared = Shared::new();
        let bell = Arc::clone(&shared);
        let inbox = Inbox::new(move || {
            bell.woken.fetch_add(1, Ordering::Relaxed);
        });
        let mut wait = Box::pin(InboxWait::new(&inbox, shared.at(0), 1));
        assert!(wait.as_mut().enqueue(0));
        let notifier = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || notify_one(shared.at(0)))
        };
        let expired = wait.as_mut().expire();
        let counted = notifier.join().unwrap();
        assert_eq!(counted, usize::from(!expired));
        assert_eq!(shared.woken.load(Ordering::Relaxed), counted);
        let outcome = if expired { Outcome::TimedOut } else { Outcome::Notified };
        assert_eq!(inbox.pop(), Some((wait.token(), outcome)));
        assert_eq!(inbox.pop(), None);
    });
}

/// An agent dies while a notify settles its wait.
#[test]
fn an_agent_dies_while_it_is_notified() {
    model(|| {
        let shared = Shared::new();
        let inbox = Inbox::new(|| {});
        let mut wait = Box::pin(InboxWait::new(&inbox, shared.at(0), 1));
        assert!(wait.as_mut().enqueue(0));
        let notifier = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || notify_one(shared.at(0)))
        };
        drop(wait);
        assert_eq!(inbox.pop(), None);
        drop(inbox);
        assert!(notifier.join().unwrap() <= 1);
        assert_eq!(notify_one(shared.at(0)), 0);
    });
}

/// Race 11: two agents with waits on two words of one shard, each notified by the other.
#[test]
fn two_agents_notify_each_other() {
    model(|| {
        let shared = Shared::new();
        let mine = Inbox::new(|| {});
        let mut wait = Box::pin(InboxWait::new(&mine, shared.at(0), 1));
        assert!(wait.as_mut().enqueue(0));
        let other = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let inbox = Inbox::new(|| {});
                let mut wait = Box::pin(InboxWait::new(&inbox, shared.at(1), 2));
                assert!(wait.as_mut().enqueue(0));
                assert_eq!(inbox.notify(shared.at(0), 1), 1);
                usize::from(inbox.pop().is_some())
            })
        };
        let counted = mine.notify(shared.at(1), 1);
        assert!(counted >= other.join().unwrap());
        assert_eq!(mine.pop(), Some((wait.token(), Outcome::Notified)));
    });
}

/// Race 13: the buckets grow while a wait on another word is notified and a third is cancelled.
#[test]
fn buckets_grow_under_waits() {
    model(|| {
        let shared = Shared::new();
        let mut first = Box::pin(wait_async(shared.at(0), 0));
        let mut second = Box::pin(wait_async(shared.at(1), 0));
        assert!(poll(first.as_mut()).is_pending());
        assert!(poll(second.as_mut()).is_pending());
        let notifier = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || notify_all(shared.at(0)))
        };
        let mut third = Box::pin(wait_async(shared.at(2), 0));
        assert!(poll(third.as_mut()).is_pending());
        assert_eq!(second.as_mut().cancel(), Cancelled::BeforeNotify);
        assert_eq!(notifier.join().unwrap(), 1);
        assert!(poll(first.as_mut()).is_ready());
        assert_eq!(notify_all(shared.at(2)), 1);
    });
}

/// A blocking wait that is interrupted as it is notified.
#[test]
fn an_interrupt_and_a_notify() {
    model(|| {
        let shared = Shared::new();
        let (send, receive) = loom::sync::mpsc::channel();
        let waiter = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let interrupt = Arc::new(Interrupt::for_current_thread());
                send.send(Arc::clone(&interrupt)).unwrap();
                wait_interruptible(shared.at(0), 0, None, &interrupt)
            })
        };
        let interrupt = receive.recv().unwrap();
        interrupt.raise();
        let counted = notify_one(shared.at(0));
        let outcome = waiter.join().unwrap();
        assert_eq!(outcome == Ok(Outcome::Notified), counted == 1);
        assert_ne!(outcome, Ok(Outcome::NotEqual));
    });
}

/// An interrupt alone ends the wait, wherever the waiter is between its look at the flag and its sleep.
#[test]
fn an_interrupt_is_never_missed() {
    model(|| {
        let shared = Shared::new();
        let (send, receive) = loom::sync::mpsc::channel();
        let waiter = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let interrupt = Arc::new(Interrupt::for_current_thread());
                send.send(Arc::clone(&interrupt)).unwrap();
                wait_interruptible(shared.at(0), 0, None, &interrupt)
            })
        };
        receive.recv().unwrap().raise();
        assert_eq!(waiter.join().unwrap(), Err(Interrupted));
        assert_eq!(notify_all(shared.at(0)), 0);
    });
}

/// Race 16: the last leaves while it is notified; the wake goes to exactly one of the two.
#[test]
fn a_tail_that_leaves_and_the_waiter_before_it() {
    model(|| {
        let shared = Shared::new();
        let (mut first, mut last) =
            (Box::pin(wait_async(shared.at(0), 0)), Box::pin(wait_async(shared.at(0), 0)));
        assert!(poll(first.as_mut()).is_pending());
        assert!(poll(last.as_mut()).is_pending());
        let notifier = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || notify_last(shared.at(0)))
        };
        let last_had_it = last.as_mut().cancel() == Cancelled::AfterNotify;
        drop(last);
        assert_eq!(notifier.join().unwrap(), 1);
        assert_eq!(poll(first.as_mut()).is_ready(), !last_had_it);
    });
}

/// Race 16: a notify of all, in several batches; meanwhile one waits again, the last is notified, and one leaves that may be
/// detached: behind a queue whose tail has gone.
#[test]
fn notify_last_beside_a_notify_of_all() {
    model(|| {
        let shared = Shared::new();
        let mut waits: Vec<_> = (0..3).map(|_| Box::pin(wait_async(shared.at(0), 0))).collect();
        assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
        let notifier = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || notify_all(shared.at(0)))
        };
        let mut again = Box::pin(wait_async(shared.at(0), 0));
        let _ = poll(again.as_mut());
        let by_last = notify_last(shared.at(0));
        let left = waits.pop().unwrap().as_mut().cancel() == Cancelled::AfterNotify;
        let by_all = notifier.join().unwrap();
        assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_ready()));
        assert!(poll(again.as_mut()).is_ready(), "if the other did not count it, it was the last");
        assert_eq!(by_all + by_last, 3 + usize::from(left));
    });
}

/// A pinned wait on the stack, polled once and dropped by the end of the scope.
#[test]
fn a_dropped_wait_and_a_notify() {
    model(|| {
        let shared = Shared::new();
        let notifier = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || notify_all(shared.at(0)))
        };
        {
            let mut wait = pin!(wait_async(shared.at(0), 0));
            let _ = poll(wait.as_mut());
        }
        assert!(notifier.join().unwrap() <= 1);
        assert_eq!(notify_all(shared.at(0)), 0);
    });
}

/// A signal takes the waker, and the notify after it has none to wake: acknowledging the signal finds the outcome.
#[test]
fn a_notify_after_a_signal_is_not_missed() {
    model(|| {
        let shared = Shared::new();
        let waiter = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || wait(shared.at(0), 0))
        };
        signal_one(shared.at(0));
        shared.words[0].store(1, Ordering::Relaxed);
        let woken = notify_one(shared.at(0));
        assert_eq!(waiter.join().unwrap() == Outcome::Notified, woken == 1);
    });
}
