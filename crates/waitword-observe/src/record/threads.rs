//! Threads by numbers that are not given again: those that have held a lock while holders were recorded. Also those that have ended
//! since, as long as a record names them.

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};
use std::thread::{self, Thread};

use crate::sync::Mutex;

/// A thread with a number.
#[derive(Clone, Debug)]
pub(crate) struct Numbered {
    pub(crate) thread: Thread,
    pub(crate) has_ended: bool,
}

/// The number of a thread of which nothing is known.
pub(crate) const UNKNOWN: u64 = 1;

struct Numbers {
    by_number: BTreeMap<u64, Numbered>,
    last: u64,
    /// How many have ended since those were forgotten that are of no use, and how many of them there may be.
    ended: usize,
    most_ended: usize,
}

static NUMBERS: Mutex<Numbers> = Mutex::new(Numbers::new());

/// So many threads that have ended are remembered, whether they left a lock held or not; or as many as had to be kept.
const ENDED: usize = 64;

impl Numbers {
    const fn new() -> Self {
        Self { by_number: BTreeMap::new(), last: UNKNOWN, ended: 0, most_ended: ENDED }
    }

    /// A number for one more. As many have to end as are kept before `recorded` is asked again, so a thread costs the same after
    /// thousands that are recorded for ever.
    fn add(&mut self, thread: Thread, recorded: impl FnOnce() -> BTreeSet<u64>) -> u64 {
        if self.ended >= self.most_ended {
            let recorded = recorded();
            self.by_number.retain(|number, numbered| !numbered.has_ended || recorded.contains(number));
            (self.ended, self.most_ended) = (0, self.by_number.len().max(ENDED));
        }
        self.last += 1;
        self.by_number.insert(self.last, Numbered { thread, has_ended: false });
        self.last
    }

    fn end(&mut self, number: u64) {
        if let Some(numbered) = self.by_number.get_mut(&number) {
            numbered.has_ended = true;
            self.ended += 1;
        }
    }
}

/// A thread that has a number, which it marks as one of a thread that has ended when it does.
struct This {
    number: Cell<u64>,
    thread: OnceCell<Thread>,
}

impl Drop for This {
    fn drop(&mut self) {
        NUMBERS.lock().end(self.number.get());
    }
}

thread_local! {
    static THIS: This = const { This { number: Cell::new(UNKNOWN), thread: OnceCell::new() } };
}

/// The calling thread, if it has a number and is not about to end.
pub(crate) fn this() -> Option<Thread> {
    THIS.try_with(|this| this.thread.get().cloned()).ok()?
}

/// A number for the calling thread, which has none. `recorded` says which are of use still of those that have ended.
pub(crate) fn number_of_this_thread(recorded: impl FnOnce() -> BTreeSet<u64>) -> u64 {
    let number = THIS.try_with(|this| {
        let thread = this.thread.get_or_init(thread::current).clone();
        let number = NUMBERS.lock().add(thread, recorded);
        this.number.set(number);
        number
    });
    // A destructor of another thread-local, after ours is gone.
    number.unwrap_or(UNKNOWN)
}

/// The thread with this number, if that is remembered.
pub(crate) fn thread_of(number: u64) -> Option<Thread> {
    NUMBERS.lock().by_number.get(&number).map(|numbered| numbered.thread.clone())
}

/// All that have a number.
pub(crate) fn numbered() -> BTreeMap<u64, Numbered> {
    NUMBERS.lock().by_number.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All of them leave a guard that nobody drops.
    #[test]
    fn those_that_are_kept_for_ever_are_not_looked_through_for_each_that_ends() {
        let (mut numbers, mut looked_at) = (Numbers::new(), 0);
        for _ in 0..10_000 {
            let last = numbers.last;
            let number = numbers.add(thread::current(), || {
                looked_at += last;
                (0..=last).collect()
            });
            numbers.end(number);
        }
        assert_eq!(numbers.by_number.len(), 10_000);
        assert!(looked_at < 3 * 10_000, "{looked_at}");
        // Those that are of no use are forgotten all the same.
        for _ in 0..10_001 {
            let number = numbers.add(thread::current(), BTreeSet::new);
            numbers.end(number);
        }
        assert!(numbers.by_number.len() <= 10_000, "{}", numbers.by_number.len());
    }
}
