//! The number that an executor gives to the task of a waker.
//!
//! A waiter has a waker, and a waker has an address, which means nothing to people. So when a task begins to wait, the program's function
//! ([`identify`](crate::identify)) is called for its number, on the task's thread and with no lock held, and the number is stored by the
//! address. If another task gets the address later, the function is called again when that task waits, so an address never keeps the number
//! of a task that has ended.
//!
//! The function is also called when a task acquires a lock. The task may end while its guard is elsewhere, and the task that has its address
//! then is not the holder. So the record of a hold has the number, not only the address.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::task::Waker;
use std::thread;

use waitword_core::{OnceLock, lock};

use crate::sources::unless_it_panics;

pub(crate) type Identify = fn() -> Option<u64>;

static IDENTIFY: OnceLock<Identify> = OnceLock::new();

/// So that tasks of different shards do not contend.
const SHARDS: usize = 16;

/// How many tasks of a shard are known.
const MOST: usize = 1 << 14;

static KNOWN: [Mutex<BTreeMap<usize, u64>>; SHARDS] = [const { Mutex::new(BTreeMap::new()) }; SHARDS];

/// Sets the program's function. Only the first call counts; returns whether this is the first.
pub(crate) fn set(identify: Identify) -> bool {
    let mut is_first = false;
    IDENTIFY.get_or_init(|| {
        is_first = true;
        identify
    });
    is_first
}

pub(crate) fn are_tasks_identified() -> bool {
    IDENTIFY.get().is_some()
}

/// The number of the task that waits under this identity ([`Actor::Task`](waitword_core::observe::Actor::Task)), if it has one.
pub(crate) fn task_number(identity: usize) -> Option<u64> {
    with_shard(identity, |known| known.get(&identity).copied())
}

/// The number of the task that this thread polls, if it has one.
pub(crate) fn of_this_thread() -> Option<u64> {
    IDENTIFY.get().and_then(ask)
}

/// Calls the program's function. It is called within waits and releases, which rely on nothing unwinding.
fn ask(identify: &Identify) -> Option<u64> {
    if may_ask() { unless_it_panics(identify).flatten() } else { None }
}

/// Whether the program's function is called here: not while the thread panics, because a panic within the panic hook cannot be caught.
pub(crate) fn may_ask() -> bool {
    !thread::panicking()
}

/// The task that is polled with this waker begins to wait.
pub(crate) fn polled(waker: &Waker) {
    number_of(waker);
}

/// The number of the task that is polled with this waker, if it has one.
pub(crate) fn number_of(waker: &Waker) -> Option<u64> {
    let identify = IDENTIFY.get()?;
    // `Waker::noop` has a null pointer.
    if waker.data().is_null() {
        return None;
    }
    let number = ask(identify);
    keep(waker.data().addr(), number);
    number
}

/// The number of a task as stored in records: 0 is none.
pub(crate) fn kept_number(number: Option<u64>) -> u64 {
    number.map_or(0, |number| number.wrapping_add(1))
}

#[cold]
fn keep(identity: usize, number: Option<u64>) {
    with_shard(identity, |known| match number {
        Some(number) => {
            known.insert(identity, number);
            if known.len() > MOST {
                known.pop_first();
            }
        }
        None => drop(known.remove(&identity)),
    });
}

fn with_shard<T>(identity: usize, work: impl FnOnce(&mut BTreeMap<usize, u64>) -> T) -> T {
    // Tasks are allocations: their lowest bits are the same.
    let shard = &KNOWN[(identity >> 6) % SHARDS];
    work(&mut lock(shard))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_the_number_of_the_last_task_that_waited_there() {
        keep(0x1040, Some(14));
        assert_eq!(task_number(0x1040), Some(14));
        keep(0x1040, Some(15));
        assert_eq!(task_number(0x1040), Some(15));
        keep(0x1040, None);
        assert_eq!(task_number(0x1040), None);
    }

    #[test]
    fn the_numbers_that_are_kept_are_limited() {
        let all = || (0..MOST + 100).map(|task| (task << 10) | 0x3c0);
        all().for_each(|task| keep(task, Some(1)));
        assert_eq!(all().filter(|task| task_number(*task).is_some()).count(), MOST);
    }
}
