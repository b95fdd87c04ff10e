//! The queue from outside: order, counts, outcomes, for threads and futures mixed.

mod common;

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use common::{Probe, until};
use waitword_core::*;

#[test]
fn every_type_of_word_waits_and_is_notified() {
    fn check<W: Word>(word: &W, held: W::Value, other: W::Value)
    where
        for<'a> &'a W: Location<Word = W>,
    {
        assert_eq!(wait(word, other), Outcome::NotEqual);
        assert_eq!(wait_for(word, held, Duration::ZERO), Outcome::TimedOut);
        let mut waiting = pin!(wait_async(word, held));
        assert!(poll(waiting.as_mut()).is_pending());
        assert_eq!(notify_one(word), 1);
        assert_eq!(poll(waiting), Poll::Ready(Outcome::Notified));
        assert_eq!(Table::global().waiters(word), 0);
    }
    check(&AtomicI32::new(-1), -1, 1);
    check(&AtomicU32::new(u32::MAX), u32::MAX, 0);
    // The upper half is compared too.
    check(&AtomicI64::new(1 << 40), 1 << 40, 0);
    check(&AtomicU64::new(1 << 63), 1 << 63, 0);
}

#[test]
fn not_equal_comes_before_timed_out() {
    let word = AtomicI32::new(0);
    assert_eq!(wait_for(&word, 1, Duration::ZERO), Outcome::NotEqual);
    assert_eq!(poll(pin!(wait_async_for(&word, 1, Duration::ZERO))), Poll::Ready(Outcome::NotEqual));
}

#[test]
fn views_of_the_same_bytes_share_a_queue() {
    let word = AtomicI64::new(0);
    // The low half on a little-endian machine, the high half otherwise: what counts is the address.
    // SAFETY: in bounds, aligned, and only accessed atomically.
    let half = unsafe { AtomicI32::from_ptr(word.as_ptr().cast()) };
    // SAFETY: as above.
    let other_half = unsafe { AtomicI32::from_ptr(word.as_ptr().cast::<i32>().add(1)) };
    let mut long = pin!(wait_async(&word, 0));
    let mut short = pin!(wait_async(half, 0));
    let mut elsewhere = pin!(wait_async(other_half, 0));
    assert!(poll(long.as_mut()).is_pending());
    assert!(poll(short.as_mut()).is_pending());
    assert!(poll(elsewhere.as_mut()).is_pending());
    assert_eq!(notify_one(half), 1);
    assert_eq!(poll(long), Poll::Ready(Outcome::Notified));
    assert!(poll(short.as_mut()).is_pending());
    assert_eq!(notify_all(&word), 1);
    assert_eq!(poll(short), Poll::Ready(Outcome::Notified));
    assert_eq!(notify_all(other_half), 1);
    assert_eq!(poll(elsewhere), Poll::Ready(Outcome::Notified));
}

/// Every order of arrival of up to five waiters, each a thread or a future, woken by every sequence of counts that the
/// bits of `cuts` spell: they come out in the order in which they went in.
#[test]
fn fifo_over_threads_and_futures() {
    for waiters in 1..=5_usize {
        for kinds in 0..1_u32 << waiters {
            for cuts in [0, 0b10101, 0b01010, 0b11111] {
                fifo(waiters, kinds, cuts);
            }
        }
    }
}

fn fifo(waiters: usize, kinds: u32, cuts: u32) {
    let table = Table::with_shards(1);
    let word = AtomicI32::new(0);
    let woken = [const { AtomicUsize::new(0) }; 5];
    let woken_now = || woken.iter().map(|count| count.load(Ordering::SeqCst)).collect::<Vec<_>>();
    std::thread::scope(|scope| {
        let mut futures: Vec<(usize, Pin<Box<WaitAsync<_>>>)> = Vec::new();
        for waiter in 0..waiters {
            if kinds & 1 << waiter == 0 {
                let (table, word, woken) = (&table, &word, &woken[waiter]);
                scope.spawn(move || {
                    assert_eq!(wait(table.at(word), 0), Outcome::Notified);
                    woken.fetch_add(1, Ordering::SeqCst);
                });
            } else {
                let mut future = Box::pin(wait_async(table.at(&word), 0));
                assert!(poll(future.as_mut()).is_pending());
                futures.push((waiter, future));
            }
            until(|| table.waiters(&word) == waiter + 1);
        }
        let mut out = 0;
        while out < waiters {
            // A run of equal bits is one notify.
            let run = (out + 1..waiters).take_while(|next| cuts >> next & 1 == cuts >> out & 1).count() + 1;
            assert_eq!(notify_many(table.at(&word), run), run);
            out += run;
            for (waiter, future) in &mut futures {
                if woken[*waiter].load(Ordering::SeqCst) == 0 && poll(future.as_mut()).is_ready() {
                    woken[*waiter].store(1, Ordering::SeqCst);
                }
            }
            let expected: Vec<usize> = (0..5).map(|waiter| usize::from(waiter < out)).collect();
            until(|| woken_now() == expected);
            assert_eq!(table.waiters(&word), waiters - out);
        }
        assert_eq!(notify_all(table.at(&word)), 0);
    });
}

#[test]
fn notify_zero_wakes_nobody_and_more_than_there_are_wakes_all() {
    let word = AtomicI32::new(0);
    let mut waits: Vec<_> = (0..100).map(|_| Box::pin(wait_async(&word, 0))).collect();
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
    assert_eq!(notify_many(&word, 0), 0);
    assert_eq!(notify_many(&word, 70), 70);
    let ready = |wait: &mut Pin<Box<WaitAsync<_>>>| poll(wait.as_mut()).is_ready();
    assert!(waits[..70].iter_mut().all(ready));
    assert!(!waits[70..].iter_mut().any(ready));
    assert_eq!(notify_many(&word, 70), 30);
    assert!(waits[70..].iter_mut().all(ready));
}

#[test]
fn notify_all_takes_a_snapshot() {
    // A waker that waits again on the same word, from inside the wake: that wait is not woken by the same notify.
    type Wait = Pin<Box<WaitAsync<Arc<AtomicI32>>>>;
    struct Again {
        word: Arc<AtomicI32>,
        next: std::sync::Mutex<Option<Wait>>,
    }
    impl std::task::Wake for Again {
        fn wake(self: Arc<Self>) {
            let mut next = Box::pin(wait_async(Arc::clone(&self.word), 0));
            assert!(poll(next.as_mut()).is_pending());
            *self.next.lock().unwrap() = Some(next);
        }
    }
    let word = Arc::new(AtomicI32::new(0));
    // More than one batch, so that the notify takes the lock again after the first wakes.
    let agains: Vec<_> = (0..100)
        .map(|_| Arc::new(Again { word: Arc::clone(&word), next: std::sync::Mutex::new(None) }))
        .collect();
    let mut waits: Vec<_> = (0..100).map(|_| Box::pin(wait_async(&*word, 0))).collect();
    for (wait, again) in waits.iter_mut().zip(&agains) {
        let waker = Waker::from(Arc::clone(again));
        assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    assert_eq!(notify_all(&word), 100);
    assert_eq!(Table::global().waiters(&*word), 100);
    assert_eq!(notify_all(&word), 100);
    for again in &agains {
        let mut next = again.next.lock().unwrap().take().unwrap();
        assert_eq!(poll(next.as_mut()), Poll::Ready(Outcome::Notified));
    }
}

#[test]
fn dropped_waits_leave_the_queue_from_every_place_in_it() {
    for dropped in 0..1_u32 << 5 {
        let word = AtomicI32::new(0);
        let mut waits: Vec<_> = (0..5).map(|_| Some(Box::pin(wait_async(&word, 0)))).collect();
        assert!(waits.iter_mut().flatten().all(|wait| poll(wait.as_mut()).is_pending()));
        for (place, wait) in waits.iter_mut().enumerate() {
            if dropped >> place & 1 == 1 {
                *wait = None;
            }
        }
        let left: Vec<_> = waits.iter_mut().flatten().collect();
        assert_eq!(Table::global().waiters(&word), left.len());
        for wait in left {
            assert!(poll(wait.as_mut()).is_pending());
            assert_eq!(notify_one(&word), 1);
            assert_eq!(poll(wait.as_mut()), Poll::Ready(Outcome::Notified));
        }
        assert_eq!(notify_one(&word), 0);
    }
}

#[test]
fn cancel_says_whether_a_notify_was_lost() {
    let word = AtomicI32::new(0);
    let mut never_polled = pin!(wait_async(&word, 0));
    assert_eq!(never_polled.as_mut().cancel(), Cancelled::BeforeNotify);
    let mut waiting = pin!(wait_async(&word, 0));
    assert!(poll(waiting.as_mut()).is_pending());
    assert!(waiting.is_waiting());
    assert_eq!(waiting.as_mut().cancel(), Cancelled::BeforeNotify);
    assert!(!waiting.is_waiting());
    let mut notified = pin!(wait_async(&word, 0));
    assert!(poll(notified.as_mut()).is_pending());
    assert_eq!(notify_all(&word), 1);
    assert_eq!(notified.as_mut().cancel(), Cancelled::AfterNotify);
    assert_eq!(notified.as_mut().cancel(), Cancelled::BeforeNotify, "returned once");
    let mut done = pin!(wait_async(&word, 1));
    assert_eq!(poll(done.as_mut()), Poll::Ready(Outcome::NotEqual));
    assert_eq!(done.as_mut().cancel(), Cancelled::BeforeNotify);
}

#[test]
fn a_wait_polled_with_a_new_waker_wakes_the_last_one() {
    let word = AtomicI32::new(0);
    let (first, second) = (Probe::new(), Probe::new());
    let mut wait = pin!(wait_async(&word, 0));
    assert!(wait.as_mut().poll(&mut Context::from_waker(&first.waker())).is_pending());
    assert!(wait.as_mut().poll(&mut Context::from_waker(&second.waker())).is_pending());
    assert_eq!(first.held(), 0, "the old waker is dropped");
    assert_eq!(notify_one(&word), 1);
    assert_eq!((first.wakes(), second.wakes()), (0, 1));
}

#[test]
fn a_future_moves_between_threads() {
    let word = Arc::new(AtomicI32::new(0));
    let mut wait = Box::pin(wait_async(Arc::clone(&word), 0));
    for _ in 0..3 {
        wait = std::thread::spawn(move || {
            assert!(poll(wait.as_mut()).is_pending());
            wait
        })
        .join()
        .unwrap();
    }
    assert_eq!(notify_one(&word), 1);
    assert_eq!(poll(wait.as_mut()), Poll::Ready(Outcome::Notified));
}

#[test]
fn a_leaked_wait_stays_counted_and_harms_nobody() {
    let word = AtomicI32::new(0);
    let mut leaked = Box::pin(wait_async(&word, 0));
    assert!(poll(leaked.as_mut()).is_pending());
    // As `mem::forget`, but so that leak checkers have nothing to say.
    let leaked = std::mem::ManuallyDrop::new(leaked);
    let mut behind = pin!(wait_async(&word, 0));
    assert!(poll(behind.as_mut()).is_pending());
    assert_eq!(notify_all(&word), 2);
    assert_eq!(poll(behind), Poll::Ready(Outcome::Notified));
    drop(std::mem::ManuallyDrop::into_inner(leaked));
}

#[test]
fn tables_are_apart() {
    let word = AtomicI32::new(0);
    let (here, there) = (Table::new(), Table::with_shards(0));
    let mut wait = pin!(wait_async(here.at(&word), 0));
    assert!(poll(wait.as_mut()).is_pending());
    assert_eq!(notify_all(there.at(&word)), 0);
    assert_eq!(notify_all(&word), 0);
    assert_eq!(notify_all(here.at(&word)), 1);
}

/// 20,000 words in one shard: the buckets grow and shrink under the waits.
#[test]
fn many_words_each_find_their_own_waiter() {
    let table = Table::with_shards(1);
    let words: Vec<AtomicU32> = (0..20_000).map(|_| AtomicU32::new(0)).collect();
    let mut waits: Vec<_> = words.iter().map(|word| Box::pin(wait_async(table.at(word), 0))).collect();
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
    for (word, wait) in words.iter().zip(&mut waits).step_by(2) {
        assert_eq!(notify_all(table.at(word)), 1);
        assert_eq!(poll(wait.as_mut()), Poll::Ready(Outcome::Notified));
    }
    for (index, wait) in waits.into_iter().enumerate().rev() {
        assert_eq!(table.waiters(&words[index]), index % 2);
        drop(wait);
        assert_eq!(table.waiters(&words[index]), 0);
    }
}

#[test]
fn a_timeout_is_never_early_and_leaves_nothing_behind() {
    let word = AtomicI32::new(0);
    for timeout in [1, 3, 7].map(Duration::from_millis) {
        let start = Instant::now();
        assert_eq!(wait_for(&word, 0, timeout), Outcome::TimedOut);
        assert!(start.elapsed() >= timeout);
        let start = Instant::now();
        assert_eq!(smol::block_on(wait_async_for(&word, 0, timeout)), Outcome::TimedOut);
        assert!(start.elapsed() >= timeout);
    }
    assert_eq!(notify_all(&word), 0);
}

#[test]
fn deadlines_at_the_ends_of_time() {
    let word = AtomicI32::new(0);
    let long_ago = Instant::now();
    assert_eq!(wait_until(&word, 0, long_ago), Outcome::TimedOut);
    assert_eq!(poll(pin!(wait_async_until(&word, 0, long_ago))), Poll::Ready(Outcome::TimedOut));
    let mut for_ever = pin!(wait_async_for(&word, 0, Duration::MAX));
    assert!(poll(for_ever.as_mut()).is_pending());
    let mut nearly = pin!(wait_async_for(&word, 0, Duration::from_secs(u64::from(u32::MAX))));
    assert!(poll(nearly.as_mut()).is_pending());
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| wait_for(&word, 0, Duration::MAX));
        until(|| Table::global().waiters(&word) == 3);
        assert_eq!(notify_all(&word), 3);
        assert_eq!(thread.join().unwrap(), Outcome::Notified);
    });
    assert_eq!(poll(for_ever), Poll::Ready(Outcome::Notified));
    assert_eq!(poll(nearly), Poll::Ready(Outcome::Notified));
}

#[test]
fn an_interrupted_wait_has_left_the_queue() {
    let word = AtomicI32::new(0);
    std::thread::scope(|scope| {
        let (send, receive) = std::sync::mpsc::channel();
        let word = &word;
        let thread = scope.spawn(move || {
            let interrupt = Arc::new(Interrupt::for_current_thread());
            send.send(Arc::clone(&interrupt)).unwrap();
            let interrupted = wait_interruptible(word, 0, None, &interrupt);
            assert_eq!(notify_all(word), 0);
            interrupted
        });
        let interrupt = receive.recv().unwrap();
        until(|| Table::global().waiters(word) == 1);
        assert!(!interrupt.is_raised());
        interrupt.raise();
        assert_eq!(thread.join().unwrap(), Err(Interrupted));
    });
}

#[test]
fn what_an_agent_does_itself_rings_no_bell() {
    let word = AtomicI32::new(0);
    let rings = Arc::new(AtomicUsize::new(0));
    let inbox = Inbox::new({
        let rings = Arc::clone(&rings);
        move || {
            rings.fetch_add(1, Ordering::SeqCst);
        }
    });
    let (mut late, mut own) =
        (Box::pin(InboxWait::new(&inbox, &word, 1)), Box::pin(InboxWait::new(&inbox, &word, 2)));
    assert!(late.as_mut().enqueue(0) && late.as_mut().expire());
    assert!(own.as_mut().enqueue(0));
    assert_eq!(inbox.notify(&word, 1), 1);
    assert_eq!(rings.load(Ordering::SeqCst), 0);
    assert_eq!(inbox.pop(), Some((late.token(), Outcome::TimedOut)));
    assert_eq!(inbox.pop_here(), Some((own.token(), Outcome::Notified)));
}

#[test]
fn a_stray_unpark_wakes_nobody() {
    let word = AtomicI32::new(0);
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| wait(&word, 0));
        until(|| Table::global().waiters(&word) == 1);
        for _ in 0..100 {
            thread.thread().unpark();
            std::thread::yield_now();
        }
        assert_eq!(Table::global().waiters(&word), 1);
        word.store(1, Ordering::SeqCst);
        thread.thread().unpark();
        assert_eq!(Table::global().waiters(&word), 1, "a store without a notify wakes nobody");
        assert_eq!(notify_one(&word), 1);
        assert_eq!(thread.join().unwrap(), Outcome::Notified);
    });
}

#[test]
fn forbidden_to_block() {
    let word = AtomicI32::new(0);
    let forbidden = forbid_blocking();
    let nested = forbid_blocking();
    assert_eq!(wait(&word, 1), Outcome::NotEqual);
    assert_eq!(wait_for(&word, 0, Duration::ZERO), Outcome::TimedOut, "nothing to wait for");
    drop(nested);
    let panic = std::panic::catch_unwind(|| wait(&word, 0)).unwrap_err();
    assert!(panic.downcast_ref::<String>().unwrap().contains("wait_async"));
    drop(forbidden);
    assert_eq!(wait_for(&word, 0, Duration::ZERO), Outcome::TimedOut);
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// A signal wakes the first waiter that is not signalled yet, and changes no position.
#[test]
fn a_signal_takes_no_position() {
    let word = AtomicI32::new(0);
    let mut waits: Vec<_> = (0..3).map(|_| Box::pin(wait_async(&word, 0))).collect();
    let probes = [Probe::new(), Probe::new(), Probe::new()];
    let mut poll =
        |waiter: usize| waits[waiter].as_mut().poll(&mut Context::from_waker(&probes[waiter].waker()));
    let counts = || probes.each_ref().map(Probe::wakes);
    assert!((0..3).all(|waiter| poll(waiter).is_pending()));
    assert_eq!(signal_one(&word), 3);
    assert_eq!(signal_one(&word), 3);
    assert_eq!(counts(), [1, 1, 0], "a signalled waiter that has not responded is skipped");
    assert!(poll(0).is_pending());
    assert_eq!(signal_one(&word), 3);
    assert_eq!(counts(), [2, 1, 0]);
    assert_eq!(signal_one(&word), 3);
    assert_eq!(signal_one(&word), 0, "all have been signalled");
    assert_eq!(notify_one(&word), 1);
    assert_eq!(poll(0), Poll::Ready(Outcome::Notified), "the first is still the first");
    assert_eq!(counts(), [2, 1, 1], "and was woken by its signal");
    assert_eq!(notify_all(&word), 2);
}

/// The tail goes, whatever has happened to it or to others: signalled, skipped, moved there from another queue. The waiters
/// that stay keep their order.
#[test]
fn notify_last_takes_the_tail_and_no_other_position() {
    let table = Table::with_shards(1);
    let (word, other) = (AtomicU64::new(0), AtomicU64::new(0));
    let (at, from) = (table.at(&word), table.at(&other));
    assert_eq!(notify_last(at), 0, "the queue is empty");
    let mut here = [(); 4].map(|()| Box::pin(wait_async(at, 0)));
    let mut moved = [(); 2].map(|()| Box::pin(wait_async(from, 0)));
    assert!(here.iter_mut().chain(&mut moved).all(|wait| poll(wait.as_mut()).is_pending()));
    let to = std::ptr::from_ref(&word).addr();
    // It signals the first here.
    assert_eq!(requeue_while_equal(from, 0, to, usize::MAX), Ok(2));
    assert_eq!((table.waiters(&word), notify_last(from)), (6, 0));
    assert_eq!(notify_last(at), 1);
    assert!(poll(moved[1].as_mut()).is_ready() && poll(moved[0].as_mut()).is_pending());
    assert_eq!(notify_last(at), 1);
    assert!(poll(moved[0].as_mut()).is_ready());
    // All that are left are signalled, and the first three do not respond.
    assert_eq!([signal_one(at), signal_one(at), signal_one(at)], [4, 4, 4]);
    assert!(here.iter().all(|wait| wait.is_signalled()));
    for _ in 0..3 {
        table.signal_stalled();
    }
    assert_eq!(notify_last(at), 1);
    assert_eq!(poll(here[3].as_mut()), Poll::Ready(Outcome::Notified), "signalled before, notified now");
    // The one before it leaves by itself, and the next is the last.
    assert_eq!(here[2].as_mut().cancel(), Cancelled::AfterSignal);
    assert_eq!(notify_last(at), 1);
    assert!(poll(here[1].as_mut()).is_ready() && here[0].is_signalled());
    assert_eq!(notify_last(at), 1, "first and last in one");
    assert!(poll(here[0].as_mut()).is_ready());
    assert_eq!((notify_last(at), table.waiters(&word)), (0, 0));
}

#[test]
fn a_wait_knows_whether_it_was_notified_as_the_last() {
    let word = AtomicU64::new(u64::MAX);
    let wait = || {
        let mut wait = Box::pin(wait_async(&word, u64::MAX));
        assert!(poll(wait.as_mut()).is_pending());
        wait
    };
    let mut waits = [(); 4].map(|()| wait());
    assert!(!waits[3].as_mut().was_notified_last());
    assert_eq!((notify_last(&word), notify_one(&word), notify_last(&word)), (1, 1, 1));
    assert!(poll(waits[3].as_mut()).is_ready() && waits[3].as_mut().was_notified_last());
    assert!(poll(waits[0].as_mut()).is_ready() && !waits[0].as_mut().was_notified_last());
    assert_eq!(waits[2].as_mut().cancel(), Cancelled::AfterNotify);
    assert!(waits[2].as_mut().was_notified_last());
    assert_eq!(waits[1].as_mut().cancel(), Cancelled::BeforeNotify);
    assert!(!waits[1].as_mut().was_notified_last());
    // It expects all bits set, and is never queued.
    word.store(0, Ordering::SeqCst);
    let mut not_equal = Box::pin(wait_async(&word, u64::MAX));
    assert!(poll(not_equal.as_mut()).is_ready() && !not_equal.as_mut().was_notified_last());
}

#[test]
fn a_signal_ends_no_blocking_wait() {
    let word = AtomicI32::new(0);
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| wait(&word, 0));
        until(|| Table::global().waiters(&word) == 1);
        for _ in 0..3 {
            until(|| signal_one(&word) == 1);
        }
        assert_eq!(Table::global().waiters(&word), 1);
        until(|| notify_one(&word) == 1);
        assert_eq!(waiter.join().unwrap(), Outcome::Notified);
    });
}

/// Behind a signalled waiter that does not respond, the second pass after the signal signals the next.
#[test]
fn the_watchdog_signals_the_next_behind_an_unresponsive_waiter() {
    let (table, word) = (Table::with_shards(1), AtomicI32::new(0));
    let mut waits: Vec<_> = (0..3).map(|_| Box::pin(wait_async(table.at(&word), 0))).collect();
    let probes = [Probe::new(), Probe::new(), Probe::new()];
    let mut poll =
        |waiter: usize| waits[waiter].as_mut().poll(&mut Context::from_waker(&probes[waiter].waker()));
    let counts = || probes.each_ref().map(Probe::wakes);
    assert!((0..3).all(|waiter| poll(waiter).is_pending()));
    assert!(!table.signal_stalled(), "none was signalled");
    assert_eq!(signal_one(table.at(&word)), 3);
    assert!(table.signal_stalled());
    assert_eq!(counts(), [1, 0, 0]);
    assert!(table.signal_stalled());
    assert_eq!(counts(), [1, 1, 0]);
    assert!(table.signal_stalled());
    assert_eq!(counts(), [1, 1, 0], "the second has the same time to respond as the first had");
    assert!(poll(0).is_pending());
    assert!(!table.signal_stalled(), "the first has responded, and the next release will signal it");
    assert_eq!(signal_one(table.at(&word)), 3);
    (0..2).for_each(|_| assert!(table.signal_stalled()));
    assert_eq!(counts(), [2, 1, 1]);
    assert!(!table.signal_stalled(), "all have been signalled");
    waits.push(Box::pin(wait_async(table.at(&word), 0)));
    let late = Probe::new();
    assert!(waits[3].as_mut().poll(&mut Context::from_waker(&late.waker())).is_pending());
    assert!(table.signal_stalled());
    assert_eq!(late.wakes(), 1, "a later waiter is not forgotten");
    assert!(!table.signal_stalled());
}

/// A waiter that is alone in its queue is checked by a pass if `is_queue_stalled` was asked, and has the same time to respond as if another
/// waiter were queued behind it.
#[test]
fn a_queue_is_stalled_after_two_passes_without_a_response() {
    let (table, word) = (Table::with_shards(1), AtomicI32::new(0));
    let is_stalled = || is_queue_stalled(table.at(&word));
    assert!(is_stalled(), "the queue is empty");
    let probe = Probe::new();
    let mut wait = pin!(wait_async(table.at(&word), 0));
    let mut poll = || wait.as_mut().poll_signalled(&mut Context::from_waker(&probe.waker()));
    assert!(poll().is_pending());
    for _ in 0..3 {
        assert!(!is_stalled() && !table.signal_stalled(), "it was not even signalled");
    }
    for responds in [true, false] {
        assert_eq!(signal_one(table.at(&word)), 1);
        assert!(!table.signal_stalled() && !table.signal_stalled(), "not asked");
        for _ in 0..2 {
            assert!(!is_stalled());
            table.signal_stalled();
        }
        assert!(is_stalled());
        if responds {
            assert_eq!(poll(), Poll::Ready(None));
            assert!(poll().is_pending());
            assert!(!is_stalled() && !table.signal_stalled());
        }
    }
    let mut behind = pin!(wait_async(table.at(&word), 0));
    assert!(behind.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert!(!is_stalled(), "the new waiter was not signalled");
}

/// A waiter that requests a signal gets one from each pass as long as another is queued behind it or
/// `is_queue_stalled` is asked, and is noticed when it does not respond.
#[test]
fn the_watchdog_signals_a_head_that_requests_it() {
    let (table, word) = (Table::with_shards(1), AtomicI32::new(0));
    let mut waits: Vec<_> = (0..2).map(|_| Box::pin(wait_async(table.at(&word), 0))).collect();
    let probes = [Probe::new(), Probe::new()];
    let poll = |wait: &mut Pin<Box<WaitAsync<_>>>, waiter: usize| {
        wait.as_mut().poll_signalled(&mut Context::from_waker(&probes[waiter].waker()))
    };
    let counts = || probes.each_ref().map(Probe::wakes);
    assert!(poll(&mut waits[0], 0).is_pending());
    waits[0].as_mut().request_signal();
    assert!(!table.signal_stalled(), "no waiter is behind it");
    assert!(!is_queue_stalled(table.at(&word)) && !table.signal_stalled());
    assert_eq!((counts(), poll(&mut waits[0], 0)), ([1, 0], Poll::Ready(None)));
    assert!(poll(&mut waits[0], 0).is_pending());
    waits[0].as_mut().request_signal();
    assert!(poll(&mut waits[1], 1).is_pending());
    for signals in 2..5 {
        assert!(table.signal_stalled());
        assert_eq!(counts(), [signals, 0]);
        assert_eq!(poll(&mut waits[0], 0), Poll::Ready(None));
        assert!(poll(&mut waits[0], 0).is_pending(), "signalled once");
        waits[0].as_mut().request_signal();
        assert!(poll(&mut waits[0], 0).is_pending(), "a poll of its own changes nothing");
    }
    assert_eq!(signal_one(table.at(&word)), 2);
    assert_eq!(counts(), [5, 0], "it can be signalled as any other");
    assert_eq!(poll(&mut waits[0], 0), Poll::Ready(None));
    waits[0].as_mut().request_signal();
    // Signalled; overdue; skipped.
    (0..3).for_each(|_| assert!(table.signal_stalled()));
    assert_eq!(counts(), [6, 1]);
    drop(waits.remove(0));
    assert_eq!(poll(&mut waits[0], 1), Poll::Ready(None));
    waits[0].as_mut().request_signal();
    assert_eq!(notify_one(table.at(&word)), 1);
    waits[0].as_mut().request_signal();
    assert_eq!(poll(&mut waits[0], 1), Poll::Ready(Some(Outcome::Notified)));
}

/// The timer of the process makes the passes by itself.
#[test]
fn the_timer_runs_the_watchdog_of_the_process() {
    let word = AtomicI32::new(0);
    let mut unpolled = Box::pin(wait_async(&word, 0));
    assert_eq!(poll(unpolled.as_mut()), Poll::Pending);
    std::thread::scope(|scope| {
        for round in 0..3 {
            let next = scope.spawn(|| {
                let (mut waiting, parker) = (pin!(wait_async(&word, 0)), Parker::current());
                assert_eq!(waiting.as_mut().poll(&mut Context::from_waker(parker.waker())), Poll::Pending);
                while !waiting.is_signalled() {
                    parker.park();
                }
            });
            until(|| Table::global().waiters(&word) == 2);
            if round == 0 {
                assert_eq!(signal_one(&word), 2, "the first, which does not respond");
            }
            next.join().unwrap();
        }
    });
}
