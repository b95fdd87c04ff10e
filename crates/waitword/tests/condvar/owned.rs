//! Waits that own a share in their condition variable: stored in structs, polled by hand, and dropped there.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::thread;
use std::time::{Duration, Instant};

use futures_util::Stream;
use futures_util::stream::StreamExt;
use waitword::future::*;
use waitword::*;

use crate::common::grid::at;
use crate::common::{Task, block_on, far};

/// What comes in, until there is nothing more to come.
#[derive(Default)]
struct Letters {
    in_tray: VecDeque<usize>,
    is_closed: bool,
}

impl Letters {
    fn must_wait(&mut self) -> bool {
        self.in_tray.is_empty() && !self.is_closed
    }
}

/// The wait that a reader keeps; one by one, it has the same type each time.
type Arrival = CondvarWaitWhile<Arc<Condvar>, OwnedMutexGuard<Letters>, fn(&mut Letters) -> bool>;

/// Reads them as a stream, each once, by any reader.
struct Reader {
    letters: Arc<Mutex<Letters>>,
    arrived: Arc<Condvar>,
    locking: Pin<Box<MutexLock<Arc<Mutex<Letters>>>>>,
    waiting: Option<Pin<Box<Arrival>>>,
}

impl Reader {
    fn new(letters: &Arc<Mutex<Letters>>, arrived: &Arc<Condvar>) -> Self {
        Self {
            letters: Arc::clone(letters),
            arrived: Arc::clone(arrived),
            locking: Box::pin(letters.lock_owned_async()),
            waiting: None,
        }
    }
}

impl Stream for Reader {
    type Item = usize;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<usize>> {
        let this = &mut *self;
        let waiting = match &mut this.waiting {
            Some(waiting) => waiting,
            None => {
                let guard = ready!(this.locking.as_mut().poll(cx));
                this.locking.set(this.letters.lock_owned_async());
                let must_wait: fn(&mut Letters) -> bool = Letters::must_wait;
                this.waiting.insert(Box::pin(this.arrived.wait_while_owned_async(guard, must_wait)))
            }
        };
        let mut letters = ready!(waiting.as_mut().poll(cx));
        this.waiting = None;
        Poll::Ready(letters.in_tray.pop_front())
    }
}

#[test]
fn streams_that_keep_their_waits_read_each_letter_once() {
    const LETTERS: usize = 500;
    let (letters, arrived) = (Arc::new(Mutex::new(Letters::default())), Arc::new(Condvar::new()));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let readers: Vec<_> =
        (0..4).map(|_| runtime.spawn(Reader::new(&letters, &arrived).collect::<Vec<_>>())).collect();
    // Gives up again and again, with a notify that it may have got.
    let restless = thread::spawn({
        let (letters, arrived) = (Arc::clone(&letters), Arc::clone(&arrived));
        move || {
            let (mut read, mut cx) = (Vec::new(), Context::from_waker(Waker::noop()));
            while !letters.lock().is_closed {
                let mut reader = Reader::new(&letters, &arrived);
                for _ in 0..2 {
                    if let Poll::Ready(letter) = reader.poll_next_unpin(&mut cx) {
                        read.extend(letter);
                    }
                    thread::yield_now();
                }
            }
            read
        }
    });
    for letter in 0..LETTERS {
        letters.lock().in_tray.push_back(letter);
        arrived.notify_one();
    }
    letters.lock().is_closed = true;
    arrived.notify_all();
    let mut read = restless.join().unwrap();
    read.extend(readers.into_iter().flat_map(|reader| runtime.block_on(reader).unwrap()));
    read.sort_unstable();
    assert_eq!(read, (0..LETTERS).collect::<Vec<_>>());
}

/// The wait is all that is left of the two, and goes with them: queued for the condition, and for the mutex.
#[test]
fn a_wait_keeps_its_condition_variable_and_its_mutex_until_it_has_left_the_queues() {
    for notified in [false, true] {
        let (mutex, changed) = (Arc::new(Mutex::new(0)), Arc::new(Condvar::new()));
        let mut task = Task::queued(changed.wait_owned_async(mutex.lock_owned()).deadline(far()));
        let weak = (Arc::downgrade(&mutex), Arc::downgrade(&changed));
        drop((mutex, changed));
        let (mutex, changed) = (weak.0.upgrade().unwrap(), weak.1.upgrade().unwrap());
        if notified {
            let guard = mutex.lock_owned();
            assert!(changed.notify_one());
            drop(changed);
            assert!(task.poll().is_pending(), "it waits for the mutex");
            drop((mutex, guard));
            let (guard, result) = task.finish();
            assert_eq!((*guard, result), (0, Ok(())));
        } else {
            drop((mutex, changed, task));
        }
        assert!(weak.0.upgrade().is_none() && weak.1.upgrade().is_none());
    }
}

/// Of threads, and of tasks in every form.
#[test]
fn timed_waits_give_up_with_the_mutex_held_and_never_too_early() {
    type Timed = fn(&Arc<Condvar>, &Arc<Mutex<()>>, Duration) -> Result<(), LockError>;
    macro_rules! forms {
        ($($name:literal: |$changed:ident, $guard:ident, $timeout:ident| $wait:expr;)+) => {
            [$(($name, (|$changed, mutex, $timeout| {
                #[allow(unused_mut, reason = "threads borrow it")]
                let mut $guard = mutex.lock_owned();
                let (_held, result) = $wait;
                assert!(mutex.is_locked());
                result
            }) as Timed)),+]
        };
    }
    let forms = forms! {
        "wait_for": |changed, guard, time| { let result = changed.wait_for(&mut guard, time); (guard, result) };
        "wait_until": |changed, guard, time| { let result = changed.wait_until(&mut guard, at(time)); (guard, result) };
        "wait_while_for": |changed, guard, time| { let result = changed.wait_while_for(&mut guard, time, |()| true); (guard, result) };
        "wait_while_until": |changed, guard, time| { let result = changed.wait_while_until(&mut guard, at(time), |()| true); (guard, result) };
        "wait_async_for": |changed, guard, time| block_on(changed.wait_async(guard).timeout(time));
        "wait_async_until": |changed, guard, time| block_on(changed.wait_async(guard).deadline(at(time)));
        "wait_while_async_for": |changed, guard, time| block_on(changed.wait_while_async(guard, |()| true).timeout(time));
        "wait_while_async_until": |changed, guard, time| block_on(changed.wait_while_async(guard, |()| true).deadline(at(time)));
        "wait_owned_async_for": |changed, guard, time| block_on(changed.wait_owned_async(guard).timeout(time));
        "wait_owned_async_until": |changed, guard, time| block_on(changed.wait_owned_async(guard).deadline(at(time)));
        "wait_while_owned_async_for": |changed, guard, time| block_on(changed.wait_while_owned_async(guard, |()| true).timeout(time));
        "wait_while_owned_async_until":
            |changed, guard, time| block_on(changed.wait_while_owned_async(guard, |()| true).deadline(at(time)));
    };
    let (mutex, changed) = (Arc::new(Mutex::new(())), Arc::new(Condvar::new()));
    for (name, form) in forms {
        for timeout in [0, 1, 15].map(Duration::from_millis) {
            let start = Instant::now();
            assert_eq!(form(&changed, &mutex, timeout), Err(LockError::TimedOut), "{name}");
            assert!(start.elapsed() >= timeout && !mutex.is_locked(), "{name}");
        }
    }
    drop(block_on(changed.wait_while_owned_async(mutex.lock_owned(), |()| false)));
    assert!(!mutex.is_locked());
}

#[test]
fn debug_shows_the_state() {
    let (mutex, changed) = (Arc::new(Mutex::new(())), Arc::new(Condvar::new()));
    let wait = Box::pin(changed.wait_owned_async(mutex.lock_owned()));
    assert_eq!(format!("{wait:?}"), "CondvarWait { waiting: false, .. }");
    drop(wait);
    let mut cx = Context::from_waker(Waker::noop());
    let mut wait =
        Box::pin(changed.wait_while_owned_async(mutex.lock_owned(), |()| true).timeout(Duration::MAX));
    assert!(wait.as_mut().poll(&mut cx).is_pending());
    assert_eq!(format!("{wait:?}"), "CondvarWaitWhile { waiting: true, .. }");
}
