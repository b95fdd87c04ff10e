//! Threads by numbers that are not given again: those that have held a lock while holders were recorded. Also of those that have ended
//! since, as long as a record names them.

use std::cell::Cell;
use std::collections::BTreeMap;
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
    ended: usize,
}

static NUMBERS: Mutex<Numbers> = Mutex::new(Numbers { by_number: BTreeMap::new(), last: UNKNOWN, ended: 0 });

/// So many threads that have ended are remembered, whether they left a lock held or not.
const ENDED: usize = 64;

/// Marks the number of its thread as one of a thread that has ended.
struct End(Cell<u64>);

impl Drop for End {
    fn drop(&mut self) {
        let mut numbers = NUMBERS.lock();
        if let Some(numbered) = numbers.by_number.get_mut(&self.0.get()) {
            numbered.has_ended = true;
            numbers.ended += 1;
        }
    }
}

thread_local! {
    static END: End = const { End(Cell::new(UNKNOWN)) };
}

/// A number for the calling thread, which has none. `is_recorded` says whether the number of one that has ended is of use still.
pub(crate) fn number_of_this_thread(is_recorded: impl Fn(u64) -> bool) -> u64 {
    let number = END.try_with(|end| {
        let thread = thread::current();
        let mut numbers = NUMBERS.lock();
        if numbers.ended >= ENDED {
            numbers.by_number.retain(|number, numbered| !numbered.has_ended || is_recorded(*number));
            numbers.ended = 0;
        }
        numbers.last += 1;
        let number = numbers.last;
        numbers.by_number.insert(number, Numbered { thread, has_ended: false });
        end.0.set(number);
        number
    });
    // A destructor of another thread-local, after ours is gone.
    number.unwrap_or(UNKNOWN)
}

/// All that have a number.
pub(crate) fn numbered() -> BTreeMap<u64, Numbered> {
    NUMBERS.lock().by_number.clone()
}
