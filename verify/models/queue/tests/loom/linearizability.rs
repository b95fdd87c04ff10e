//! Histories of two threads, checked for linearizability: whatever overlapped, there is an order of all operations, in agreement with what
//! came before what, in which a queue without concurrency gives the same answers. What each thread does is drawn at random; then loom
//! goes through every way in which the two can overlap.
//!
//! A wait is two operations, because it cannot end before another one begins: it *enqueues*, and later it *asks*
//! how it ended, or leaves. (A queue whose "take" has to wait is what the literature calls a dual data structure.)

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use loom::sync::atomic::{AtomicUsize, Ordering};
use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};
use waitword_core::*;

use super::{Shared, Wait, model_within, poll, spawn};

const WORDS: usize = 2;
const STEPS: usize = 4;

/// In every fourth program one of the two is a thread that sleeps.
#[test]
fn every_history_is_linearizable() {
    for program in 0..100 {
        model_within(2, move |shared| {
            let history = History::default();
            let other = spawn(shared, {
                let history = history.clone();
                move |shared| match program % 4 {
                    0 => history.sleep(1, shared),
                    _ => history.do_anything(1, shared, Random::new(2 * program + 1)),
                }
            });
            history.do_anything(0, shared, Random::new(2 * program));
            // For one that sleeps still.
            history.store(0, shared, 0);
            history.notify(0, shared, 0, usize::MAX);
            other.join().unwrap();
            let history = history.done.lock().unwrap();
            assert!(history.is_consistent(), "no order explains this: {history:#?}");
        });
    }
}

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as usize % limit
    }
}

/// The queue without concurrency. A wait is in the queue of its word, or notified, or neither.
#[derive(Clone, Debug, Default, PartialEq)]
struct Plain {
    words: [i32; WORDS],
    queues: [VecDeque<Name>; WORDS],
    notified: Vec<Name>,
}

/// A wait's name: its thread, and which of the thread's waits it is.
type Name = (usize, usize);

#[derive(Clone, Debug, PartialEq)]
enum Op {
    Store {
        word: usize,
        value: i32,
    },
    /// Enqueues on the word, if that is 0.
    Enter {
        word: usize,
        wait: Name,
    },
    /// Asks how it ended.
    Ask {
        wait: Name,
    },
    Leave {
        wait: Name,
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

/// What has been done so far. Not under loom's lock: writing it down is no step of the model.
#[derive(Clone)]
struct History {
    done: Arc<Mutex<LinearizabilityTester<usize, Plain>>>,
    /// An operation that ends before another one begins happens before it.
    clock: loom::sync::Arc<AtomicUsize>,
}

impl Default for History {
    fn default() -> Self {
        let done = Arc::new(Mutex::new(LinearizabilityTester::new(Plain::default())));
        Self { done, clock: loom::sync::Arc::new(AtomicUsize::new(0)) }
    }
}

impl History {
    /// Some steps, at random. Waits that are still pending at the end leave.
    fn do_anything(&self, me: usize, shared: &Shared, mut random: Random) {
        let mut waits: Vec<(Name, Wait<'_>)> = Vec::new();
        for step in 0..STEPS {
            let word = usize::from(random.below(4) == 0);
            match random.below(9) {
                0..3 => {
                    let (name, mut wait) = ((me, step), shared.wait(word));
                    let enter = Op::Enter { word, wait: name };
                    let entered = self.note(me, enter, || Ret::Entered(poll(wait.as_mut()).is_pending()));
                    waits.extend((entered == Ret::Entered(true)).then_some((name, wait)));
                }
                3..5 => waits.retain_mut(|(name, wait)| {
                    let ask = Op::Ask { wait: *name };
                    self.note(me, ask, || Ret::Notified(poll(wait.as_mut()).is_ready()))
                        == Ret::Notified(false)
                }),
                5 => waits.pop().into_iter().for_each(|wait| self.leave(me, wait)),
                6 => self.store(me, shared, word),
                _ => self.notify(me, shared, word, [1, 2, usize::MAX][random.below(3)]),
            }
        }
        waits.into_iter().for_each(|wait| self.leave(me, wait));
    }

    /// A blocked thread cannot say when it entered: at some time until it returns.
    fn sleep(&self, me: usize, shared: &Shared) {
        let (word, wait) = (0, (me, 0));
        let mut outcome = None;
        self.note(me, Op::Enter { word, wait }, || {
            let ended = waitword_core::wait(shared.at(word), 0);
            outcome = Some(ended);
            Ret::Entered(ended != Outcome::NotEqual)
        });
        if outcome == Some(Outcome::Notified) {
            self.note(me, Op::Ask { wait }, || Ret::Notified(true));
        }
    }

    fn leave(&self, me: usize, (wait, mut left): (Name, Wait<'_>)) {
        self.note(me, Op::Leave { wait }, || Ret::Left(left.as_mut().cancel()));
    }

    fn store(&self, me: usize, shared: &Shared, word: usize) {
        self.note(me, Op::Store { word, value: 1 }, || {
            shared.words[word].store(1, Ordering::SeqCst);
            Ret::Stored
        });
    }

    fn notify(&self, me: usize, shared: &Shared, word: usize, count: usize) {
        let notify = || Ret::Woken(notify_many(shared.at(word), count));
        self.note(me, Op::Notify { word, count }, notify);
    }

    /// Does it, and writes down when it began, when it ended and what came of it.
    fn note(&self, me: usize, op: Op, act: impl FnOnce() -> Ret) -> Ret {
        self.done.lock().unwrap().on_invoke(me, op).unwrap();
        self.clock.fetch_add(1, Ordering::AcqRel);
        let ret = act();
        self.clock.fetch_add(1, Ordering::AcqRel);
        self.done.lock().unwrap().on_return(me, ret.clone()).unwrap();
        ret
    }
}
