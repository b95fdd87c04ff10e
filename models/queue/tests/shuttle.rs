//! Models that are too large for loom, under random schedules: more threads, several words, several batches.
//!
//! `cargo xtask shuttle` runs them, and prints its command line.
#![cfg(waitword_shuttle)]

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::sync::Arc;
use shuttle::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use shuttle::thread::{self, JoinHandle};
use shuttle::{Config, Runner};
use waitword_core::*;

const WORDS: usize = 8;

struct Shared {
    table: Table,
    words: [AtomicI32; WORDS],
    /// What the notifies of all threads returned.
    counted: AtomicUsize,
    /// Waits that ended as notified, or were given up after it.
    notified: AtomicUsize,
    /// Threads that are through.
    done: AtomicUsize,
}

impl Shared {
    fn at(&self, word: usize) -> At<'_, AtomicI32> {
        self.table.at(&self.words[word])
    }

    fn notify(&self, word: usize, count: usize) {
        let woken = notify_many(self.at(word), count);
        assert!(woken <= count);
        self.counted.fetch_add(woken, Ordering::SeqCst);
    }

    fn note(&self, notified: bool) {
        self.notified.fetch_add(usize::from(notified), Ordering::SeqCst);
    }

    /// Runs `body` beside the others.
    fn spawn(self: &Arc<Self>, body: impl FnOnce(&Arc<Self>) + Send + 'static) -> JoinHandle<()> {
        let shared = Arc::clone(self);
        thread::spawn(move || {
            body(&shared);
            shared.done.fetch_add(1, Ordering::SeqCst);
        })
    }

    /// Notifies all waiters until all threads are through, and does the sums.
    fn finish(&self, threads: Vec<JoinHandle<()>>) {
        while self.done.load(Ordering::SeqCst) < threads.len() {
            (0..WORDS).for_each(|word| self.notify(word, usize::MAX));
            thread::yield_now();
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(self.counted.load(Ordering::SeqCst), self.notified.load(Ordering::SeqCst));
        assert!(self.words.iter().all(|word| self.table.waiters(word) == 0));
    }
}

fn model(body: impl Fn(&Arc<Shared>) + Send + Sync + Copy + 'static) {
    let run = move || {
        let words = std::array::from_fn(|_| AtomicI32::new(0));
        let zero = || AtomicUsize::new(0);
        let table = Table::with_shards(1);
        body(&Arc::new(Shared { table, words, counted: zero(), notified: zero(), done: zero() }));
    };
    let config = || {
        let mut config = Config::new();
        // It warns of every ordering that is not sequentially consistent; loom has checked these.
        config.silence_warnings = true;
        config
    };
    Runner::new(RandomScheduler::new(2_000), config()).run(run);
    // Few switches at the worst places find what many at random ones do not.
    Runner::new(PctScheduler::new(3, 1_000), config()).run(run);
}

/// The conservation law: threads and tasks on three words, notifies of one, of two and of all, and waits given up.
#[test]
fn the_sum_of_all_notifies_is_the_number_of_notified() {
    model(|shared| {
        let mut threads: Vec<_> = (0..3)
            .map(|word| {
                shared.spawn(move |shared| {
                    for word in [word, 0] {
                        shared.note(wait(shared.at(word), 0) == Outcome::Notified);
                    }
                })
            })
            .collect();
        threads.push(shared.spawn(|shared| {
            shared.note(shuttle::future::block_on(wait_async(shared.at(0), 0)) == Outcome::Notified);
        }));
        // A timeout, in a model, is a thread that cancels.
        threads.push(shared.spawn(|shared| {
            for word in [0, 1] {
                let mut wait = Box::pin(wait_async(shared.at(word), 0));
                let ready = poll(wait.as_mut()).is_ready();
                assert!(!ready);
                thread::yield_now();
                shared
                    .note(poll(wait.as_mut()).is_ready() || wait.as_mut().cancel() == Cancelled::AfterNotify);
            }
        }));
        threads.push(shared.spawn(|shared| {
            shared.notify(0, 2);
            shared.notify(1, 1);
            shared.notify(0, usize::MAX);
        }));
        shared.finish(threads);
    });
}

/// No waiter sleeps on a word that has changed: there is one store and one notify for all. (shuttle reports threads that
/// stay blocked.)
#[test]
fn an_opened_gate_lets_every_waiter_through() {
    model(|shared| {
        let mut threads: Vec<_> = (0..3)
            .map(|_| {
                let shared = Arc::clone(shared);
                thread::spawn(move || {
                    while shared.words[0].load(Ordering::SeqCst) == 0 {
                        let _ = wait(shared.at(0), 0);
                    }
                })
            })
            .collect();
        threads.push(thread::spawn({
            let shared = Arc::clone(shared);
            move || {
                let mut wait = Box::pin(wait_async(shared.at(0), 0));
                // Polled again with another waker, if it is not through at once.
                if poll(wait.as_mut()).is_pending() {
                    assert_eq!(shuttle::future::block_on(wait), Outcome::Notified);
                }
            }
        }));
        shared.words[0].store(1, Ordering::SeqCst);
        let woken = notify_all(shared.at(0));
        assert!(woken <= threads.len());
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// Two notifies dequeue four batches from one queue, while some waiters leave from the middle and others come.
#[test]
fn batches_with_waiters_that_leave_and_late_ones() {
    model(|shared| {
        let (send, receive) = shuttle::sync::mpsc::channel();
        let threads = vec![
            shared.spawn(move |shared| {
                // Seven are queued before anything else happens. A `'static` location is one that is shared.
                let place = |word| Place { shared: Arc::clone(shared), word };
                let mut queue: Vec<_> = (0..7).map(|_| Box::pin(wait_async(place(0), 0))).collect();
                assert!(queue.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
                let leavers = vec![queue.remove(5), queue.remove(3), queue.remove(0)];
                send.send(leavers).unwrap();
                for mut wait in queue.into_iter().rev() {
                    let notified =
                        poll(wait.as_mut()).is_ready() || wait.as_mut().cancel() == Cancelled::AfterNotify;
                    shared.note(notified);
                }
            }),
            shared.spawn(move |shared| {
                for mut wait in receive.recv().unwrap() {
                    shared.note(wait.as_mut().cancel() == Cancelled::AfterNotify);
                }
            }),
            shared.spawn(|shared| {
                shared.notify(0, 3);
            }),
            shared.spawn(|shared| {
                let late: Vec<_> = (0..3).map(|_| Box::pin(wait_async(shared.at(0), 0))).collect();
                for mut wait in late {
                    let entered = poll(wait.as_mut()).is_pending();
                    assert!(entered);
                    shared.note(wait.as_mut().cancel() == Cancelled::AfterNotify);
                }
            }),
        ];
        shared.notify(0, usize::MAX);
        shared.finish(threads);
    });
}

/// FIFO across batches and notifies of all sizes: the notified waiters were queued before all others.
#[test]
fn no_waiter_is_notified_before_an_earlier_one() {
    model(|shared| {
        let mut queue: Vec<_> = (0..6).map(|_| Box::pin(wait_async(shared.at(0), 0))).collect();
        assert!(queue.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
        let notifiers = [1, 3].map(|count| shared.spawn(move |shared| shared.notify(0, count)));
        let notified: Vec<bool> = queue.iter_mut().rev().map(|wait| poll(wait.as_mut()).is_ready()).collect();
        // Polled from the back: once one is notified, all before it are counted.
        assert!(notified.is_sorted(), "{notified:?}");
        notified.iter().for_each(|&notified| shared.note(notified));
        for (wait, _) in queue.iter_mut().rev().zip(notified).filter(|&(_, notified)| !notified) {
            shared.note(wait.as_mut().cancel() == Cancelled::AfterNotify);
        }
        drop(queue);
        shared.finish(notifiers.into());
    });
}

/// Every thread waits on words of its own and notifies those of the next, while the buckets grow and shrink.
#[test]
fn growth_under_three_threads() {
    model(|shared| {
        let threads = (0..3)
            .map(|own| {
                shared.spawn(move |shared| {
                    let words = [own, own + 3, (own + 6) % WORDS];
                    let mut waits: Vec<_> = words.map(|word| Box::pin(wait_async(shared.at(word), 0))).into();
                    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
                    shared.notify((own + 1) % 3, usize::MAX);
                    for mut wait in waits {
                        shared.note(wait.as_mut().cancel() == Cancelled::AfterNotify);
                    }
                })
            })
            .collect();
        shared.finish(threads);
    });
}

/// Futures that are dropped anywhere in the queue, while one behind them waits.
#[test]
fn dropped_waits_consume_no_notify() {
    model(|shared| {
        let mut threads: Vec<_> = (0..3)
            .map(|_| {
                let shared = Arc::clone(shared);
                thread::spawn(move || {
                    for word in [0, 1, 0] {
                        let mut wait = Box::pin(wait_async(shared.at(word), 0));
                        let _ = poll(wait.as_mut());
                    }
                })
            })
            .collect();
        threads.push(thread::spawn({
            let shared = Arc::clone(shared);
            move || assert!((0..2).all(|word| notify_many(shared.at(word), 2) <= 2))
        }));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let mut last = Box::pin(wait_async(shared.at(0), 0));
        assert!(poll(last.as_mut()).is_pending());
        assert_eq!(notify_all(shared.at(0)), 1);
        assert!(poll(last.as_mut()).is_ready());
        assert!(shared.words.iter().all(|word| shared.table.waiters(word) == 0));
    });
}

/// An agent with waits on two words whose deadlines pass, and which dies with some of them still pending, while two
/// others notify it.
#[test]
fn an_agent_with_deadlines_dies() {
    model(|shared| {
        let rings = Arc::new(AtomicUsize::new(0));
        let agent = shared.spawn({
            let rings = Arc::clone(&rings);
            move |shared| {
                let inbox = Inbox::new(move || {
                    rings.fetch_add(1, Ordering::SeqCst);
                });
                let mut waits: Vec<_> =
                    (0..6).map(|wait| Box::pin(InboxWait::new(&inbox, shared.at(wait % 2), wait))).collect();
                assert!(waits.iter_mut().all(|wait| wait.as_mut().enqueue(0)));
                let expired =
                    waits[..3].iter_mut().filter_map(|wait| wait.as_mut().expire().then(|| wait.token()));
                let expired: Vec<usize> = expired.collect();
                let own = inbox.notify(shared.at(0), 1);
                assert_eq!(std::iter::from_fn(|| inbox.pop_here()).count(), own);
                for (token, outcome) in std::iter::from_fn(|| inbox.pop()) {
                    assert_eq!(outcome == Outcome::TimedOut, expired.contains(&token));
                }
                drop(waits);
                assert_eq!(inbox.pop(), None);
            }
        });
        let others = [0, 1].map(|word| {
            let shared = Arc::clone(shared);
            thread::spawn(move || notify_many(shared.at(word), 2))
        });
        let counted: usize = others.into_iter().map(|thread| thread.join().unwrap()).sum();
        agent.join().unwrap();
        assert!(rings.load(Ordering::SeqCst) <= counted);
        assert!(shared.words.iter().all(|word| shared.table.waiters(word) == 0));
    });
}

/// Interrupts and notifies for three sleepers on one word: each wait ends by one of the two, and once.
#[test]
fn interrupts_among_sleepers() {
    model(|shared| {
        let (send, receive) = shuttle::sync::mpsc::channel();
        let threads = (0..3)
            .map(|_| {
                let send = send.clone();
                shared.spawn(move |shared| {
                    let interrupt = Arc::new(Interrupt::for_current_thread());
                    send.send(Arc::clone(&interrupt)).unwrap();
                    let outcome = wait_interruptible(shared.at(0), 0, None, &interrupt);
                    assert!(outcome == Ok(Outcome::Notified) || outcome == Err(Interrupted));
                    shared.note(outcome.is_ok());
                })
            })
            .collect();
        let interrupts: Vec<_> = (0..3).map(|_| receive.recv().unwrap()).collect();
        interrupts[1].raise();
        shared.notify(0, 1);
        interrupts[0].raise();
        interrupts[2].raise();
        shared.finish(threads);
    });
}

/// Nothing but the interrupts wakes the waiters.
#[test]
fn interrupts_alone() {
    model(|shared| {
        let (send, receive) = shuttle::sync::mpsc::channel();
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let (shared, send) = (Arc::clone(shared), send.clone());
                thread::spawn(move || {
                    let interrupt = Arc::new(Interrupt::for_current_thread());
                    send.send(Arc::clone(&interrupt)).unwrap();
                    assert_eq!(wait_interruptible(shared.at(0), 0, None, &interrupt), Err(Interrupted));
                })
            })
            .collect();
        (0..3).for_each(|_| receive.recv().unwrap().raise());
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(shared.table.waiters(&shared.words[0]), 0);
    });
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// A word that a future can own.
struct Place {
    shared: Arc<Shared>,
    word: usize,
}

// SAFETY: word and table are part of what is shared, which the place keeps alive.
#[allow(unsafe_code)]
unsafe impl Location for Place {
    type Word = AtomicI32;

    fn word(&self) -> &AtomicI32 {
        &self.shared.words[self.word]
    }

    fn table(&self) -> &Table {
        &self.shared.table
    }
}
