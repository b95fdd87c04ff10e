//! Both corner cases of the article, and their neighbours: the word changes between any two accesses of the waiter.

use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

use waitword::word::*;

use crate::common::Task;

/// What happens to the word behind the waiter's back, each time at another moment.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Meddling {
    /// The holder releases.
    Release,
    /// The holder releases, and a third takes the lock at once.
    ReleaseAndRetake,
}

/// A word that is meddled with at the `moment`th access to it.
struct Meddled {
    word: AtomicI32,
    accesses: AtomicUsize,
    moment: usize,
    meddling: Meddling,
    /// What the holder found when it released: it calls somebody afterwards if that was `CONTENDED`.
    released: AtomicI32,
}

// SAFETY: the word is inline, and the global table is always the same.
unsafe impl Location for Meddled {
    type Word = AtomicI32;

    fn word(&self) -> &AtomicI32 {
        if self.accesses.fetch_add(1, Ordering::SeqCst) == self.moment {
            self.released.store(self.word.swap(0, Ordering::SeqCst), Ordering::SeqCst);
            if self.meddling == Meddling::ReleaseAndRetake {
                assert_eq!(self.word.swap(1, Ordering::SeqCst), 0);
            }
        }
        &self.word
    }

    fn table(&self) -> &Table {
        Table::global()
    }
}

/// Both corner cases of the article, and their neighbours: whatever happens between any two accesses of the waiter to
/// the word, it gets the lock without a recheck of its own.
#[test]
fn released_or_retaken_between_any_two_accesses_of_the_waiter() {
    for meddling in [Meddling::Release, Meddling::ReleaseAndRetake] {
        for moment in 0.. {
            let at = Meddled {
                word: AtomicI32::new(1),
                accesses: AtomicUsize::new(0),
                moment,
                meddling,
                released: AtomicI32::new(-1),
            };
            let lock = AsyncLock::on(&at);
            let mut waiter = Task::new(lock.lock_async());
            let mut polled = waiter.poll();
            let released = at.released.load(Ordering::SeqCst);
            if released == 2 {
                notify_one(&at);
            }
            if released != -1 && meddling == Meddling::ReleaseAndRetake {
                assert!(polled.is_pending(), "two hold it, at {moment}");
                // Woken or not, it finds the lock taken, and waits for the third.
                if waiter.is_woken() {
                    polled = waiter.poll();
                    assert!(polled.is_pending());
                }
                AsyncLock::on(&at.word).unlock().unwrap();
            }
            if released == -1 {
                assert!(polled.is_pending(), "the last moment is after the poll");
                assert_eq!(moment, 3, "more or fewer than: try, mark, compare and enqueue");
                break;
            }
            if polled.is_pending() {
                assert!(waiter.is_woken(), "{meddling:?} at {moment}: not woken");
                polled = waiter.poll();
            }
            assert!(polled.is_ready(), "{meddling:?} at {moment}");
            assert_ne!(at.word.load(Ordering::SeqCst), 0);
        }
    }
}
