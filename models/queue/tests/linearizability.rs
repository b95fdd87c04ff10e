//! Random histories of threads and tasks, checked for linearizability: whatever overlapped, there is an order of all
//! operations, in agreement with what came before what, in which a queue without concurrency gives the same answers.
//!
//! A wait is two operations, because it cannot end before another one begins: it *enqueues*, and later it *asks*
//! how it ended, or leaves. (A queue whose "take" has to wait is what the literature calls a dual data structure.)
//!
//! `cargo xtask shuttle` runs them, and prints its command line.
#![cfg(waitword_shuttle)]

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use shuttle::rand::{Rng, thread_rng};
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::sync::Arc;
use shuttle::sync::atomic::{AtomicI32, Ordering};
use shuttle::{Config, Runner, thread};
use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};
use waitword_core::*;

const WORDS: usize = 2;

/// Three threads with tasks do at random whatever there is to do, and two sleep until the end of it.
#[test]
fn every_history_is_linearizable() {
    let run = || {
        let shared = Arc::new(Shared::default());
        // The search tries operations of lower names first, so those that overlap with all others come last.
        let sleepers = [6, 7].map(|me| shared.spawn(me, move |shared| shared.sleep(me)));
        let tasks = [0, 1, 2].map(|me| shared.spawn(me, move |shared| shared.do_anything(me)));
        tasks.into_iter().for_each(|thread| thread.join().unwrap());
        for word in 0..WORDS {
            shared.store(5, word, 1);
            shared.notify(5, word, usize::MAX);
        }
        sleepers.into_iter().for_each(|thread| thread.join().unwrap());
        let history = shared.history.lock().unwrap();
        assert!(history.is_consistent(), "no order explains this: {history:#?}");
    };
    let config = || {
        let mut config = Config::new();
        config.silence_warnings = true;
        config
    };
    Runner::new(RandomScheduler::new(1_500), config()).run(run);
    Runner::new(PctScheduler::new(3, 1_000), config()).run(run);
}

/// The queue without concurrency. A wait is in the queue of its word, or notified, or neither.
#[derive(Clone, Debug, Default, PartialEq)]
struct Plain {
    words: [i32; WORDS],
    queues: [VecDeque<Wait>; WORDS],
    notified: Vec<Wait>,
}

/// A wait's name: its thread, and which of the thread's waits it is.
type Wait = (usize, usize);

#[derive(Clone, Debug, PartialEq)]
enum Op {
    Store {
        word: usize,
        value: i32,
    },
    /// Enqueues on the word, if that is 0.
    Enter {
        word: usize,
        wait: Wait,
    },
    /// Asks how it ended.
    Ask {
        wait: Wait,
    },
    Leave {
        wait: Wait,
    },
    Notify {
        word: usize,
        count: usize,
    },
}

#[derive(Clone, Debug, PartialEq)]
enum Ret {
    Stored,
    Entered(bool),
    Notified(bool),
    Left(Cancelled),
    Woken(usize),
}

impl SequentialSpec for Plain {
    type Op = Op;
    type Ret = Ret;

    fn invoke(&mut self, op: &Op) -> Ret {
        match *op {
            Op::Store { word, value } => {
                self.words[word] = value;
                Ret::Stored
            }
            Op::Enter { word, wait } => {
                let equal = self.words[word] == 0;
                self.queues[word].extend(equal.then_some(wait));
                Ret::Entered(equal)
            }
            Op::Ask { wait } => Ret::Notified(self.notified.contains(&wait)),
            Op::Leave { wait } if self.notified.contains(&wait) => Ret::Left(Cancelled::AfterNotify),
            Op::Leave { wait } => {
                self.queues.iter_mut().for_each(|queue| queue.retain(|&other| other != wait));
                Ret::Left(Cancelled::BeforeNotify)
            }
            Op::Notify { word, count } => {
                let queue = &mut self.queues[word];
                let count = count.min(queue.len());
                self.notified.extend(queue.drain(..count));
                Ret::Woken(count)
            }
        }
    }
}

struct Shared {
    table: Table,
    words: [AtomicI32; WORDS],
    /// Not shuttle's lock: writing down is no step of the model.
    history: Mutex<LinearizabilityTester<usize, Plain>>,
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            table: Table::with_shards(1),
            words: [AtomicI32::new(0), AtomicI32::new(0)],
            history: Mutex::new(LinearizabilityTester::new(Plain::default())),
        }
    }
}

impl Shared {
    fn spawn(
        self: &Arc<Self>,
        me: usize,
        body: impl FnOnce(&Self) + Send + 'static,
    ) -> thread::JoinHandle<()> {
        let shared = Arc::clone(self);
        thread::Builder::new().name(me.to_string()).spawn(move || body(&shared)).unwrap()
    }

    /// Three steps, at random. Waits that are still pending at the end leave.
    fn do_anything(&self, me: usize) {
        let mut waits: Vec<(Wait, Pin<Box<WaitAsync<At<'_, AtomicI32>>>>)> = Vec::new();
        for step in 0..3 {
            let word = usize::from(thread_rng().gen_ratio(1, 4));
            match thread_rng().gen_range(0..8) {
                0..3 => {
                    let (name, mut wait) =
                        ((me, step), Box::pin(wait_async(self.table.at(&self.words[word]), 0)));
                    let entered = self.note(me, Op::Enter { word, wait: name }, || {
                        Ret::Entered(poll(wait.as_mut()).is_pending())
                    });
                    waits.extend((entered == Ret::Entered(true)).then_some((name, wait)));
                }
                3..5 => waits.retain_mut(|(name, wait)| {
                    let ask = Op::Ask { wait: *name };
                    self.note(me, ask, || Ret::Notified(poll(wait.as_mut()).is_ready()))
                        == Ret::Notified(false)
                }),
                5 => waits.pop().into_iter().for_each(|wait| self.leave(me, wait)),
                _ => self.notify(me, word, [1, 2, usize::MAX][thread_rng().gen_range(0..3)]),
            }
        }
        waits.into_iter().for_each(|wait| self.leave(me, wait));
    }

    /// A blocked thread cannot say when it entered: at some time until it returns.
    fn sleep(&self, me: usize) {
        let (word, wait) = (me % WORDS, (me, 0));
        let mut outcome = None;
        self.note(me, Op::Enter { word, wait }, || {
            let ended = waitword_core::wait(self.table.at(&self.words[word]), 0);
            outcome = Some(ended);
            Ret::Entered(ended != Outcome::NotEqual)
        });
        if outcome == Some(Outcome::Notified) {
            self.note(me, Op::Ask { wait }, || Ret::Notified(true));
        }
    }

    fn leave(&self, me: usize, (name, mut wait): (Wait, Pin<Box<WaitAsync<At<'_, AtomicI32>>>>)) {
        self.note(me, Op::Leave { wait: name }, || Ret::Left(wait.as_mut().cancel()));
    }

    fn store(&self, me: usize, word: usize, value: i32) {
        self.note(me, Op::Store { word, value }, || {
            self.words[word].store(value, Ordering::SeqCst);
            Ret::Stored
        });
    }

    fn notify(&self, me: usize, word: usize, count: usize) {
        let notify = || Ret::Woken(notify_many(self.table.at(&self.words[word]), count));
        self.note(me, Op::Notify { word, count }, notify);
    }

    /// Does it, and writes down when it began, when it ended and what came of it.
    fn note(&self, me: usize, op: Op, act: impl FnOnce() -> Ret) -> Ret {
        self.history.lock().unwrap().on_invoke(me, op).unwrap();
        let ret = act();
        self.history.lock().unwrap().on_return(me, ret.clone()).unwrap();
        ret
    }
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}
