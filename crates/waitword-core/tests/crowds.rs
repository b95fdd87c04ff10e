//! Random crowds, larger than a batch and on more words than there are buckets, against the plainest model: a deque per word.

mod common;

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use common::random;
use waitword_core::*;

const WORDS: usize = 40;

/// Whichever waiters enqueue, leave or are notified, anywhere in the queue, the queues and their lengths are the model's, and
/// wakes come in its order: also for notifies of several batches, and while the buckets grow and shrink.
#[test]
fn the_table_does_what_a_deque_per_word_does() {
    for crowd in 0..30 {
        let mut random = random(crowd);
        let table = Table::with_shards(1);
        let words: [AtomicU32; WORDS] = std::array::from_fn(|_| AtomicU32::new(0));
        let woken = Arc::new(Mutex::new(Vec::new()));
        let mut lines: [VecDeque<(usize, Wait)>; WORDS] = std::array::from_fn(|_| VecDeque::new());
        for name in 0..2_000 {
            // Few words in turn and many, so that the number of words goes up and down.
            let bound = if name / 500 % 2 == 0 { 3 } else { WORDS };
            let place = random.below(bound);
            let (word, line) = (&words[place], &mut lines[place]);
            match random.below(100) {
                0..75 => {
                    let mut wait = Box::pin(wait_async(table.at(word), 0));
                    assert!(poll(&mut wait, &waker(&woken, name)).is_pending());
                    line.push_back((name, wait));
                }
                75..90 if !line.is_empty() => {
                    let (_, mut wait) = line.remove(random.below(line.len())).unwrap();
                    assert!(poll(&mut wait, Waker::noop()).is_pending());
                    assert_eq!(wait.as_mut().cancel(), Cancelled::BeforeNotify);
                }
                kind => {
                    let count = if kind < 98 { random.below(80) } else { usize::MAX };
                    let mut notified: Vec<_> = line.drain(..count.min(line.len())).collect();
                    assert_eq!(notify_many(table.at(word), count), notified.len());
                    let names: Vec<_> = notified.iter().map(|&(name, _)| name).collect();
                    assert_eq!(std::mem::take(&mut *woken.lock().unwrap()), names);
                    for (_, wait) in &mut notified {
                        assert_eq!(poll(wait, Waker::noop()), Poll::Ready(Outcome::Notified));
                    }
                }
            }
            assert_eq!(table.waiters(word), lines[place].len());
        }
        assert!(words.iter().zip(&lines).all(|(word, line)| table.waiters(word) == line.len()));
    }
}

type Wait<'a> = Pin<Box<WaitAsync<At<'a, AtomicU32>>>>;

fn poll(wait: &mut Wait<'_>, waker: &Waker) -> Poll<Outcome> {
    wait.as_mut().poll(&mut Context::from_waker(waker))
}

/// Writes its name down when it is woken.
struct Named {
    name: usize,
    woken: Arc<Mutex<Vec<usize>>>,
}

impl Wake for Named {
    fn wake(self: Arc<Self>) {
        self.woken.lock().unwrap().push(self.name);
    }
}

fn waker(woken: &Arc<Mutex<Vec<usize>>>, name: usize) -> Waker {
    Waker::from(Arc::new(Named { name, woken: Arc::clone(woken) }))
}
