//! The records of this thread: a ring, from which it claims one after the other.
//!
//! [`claim`] takes the next record if that is free. As a rule it is: holds are short, and before the turn of a record comes again, as many
//! others begin as there are records. Otherwise [`claim_any`] searches the whole ring for a free one, and doubles the ring if there is
//! none. So even a thread that holds ten thousand locks has checked a few records for each, on average.

use std::cell::Cell;
use std::ptr;

use waitword_core::observe::Site;

use super::record::{Entry, Record, RecordRef};
use super::recorder::{NUMBER, TABLE, UNKNOWN, number};
use super::records::{Block, FIRST};

thread_local! {
    /// The record to claim next.
    static NEXT: Cell<RecordRef> = const { Cell::new(RecordRef::NEVER_FREE) };

    static OWN: Own = const { Own { records: Cell::new(0), blocks: Cell::new(None) } };
}

struct Own {
    /// How many records there are.
    records: Cell<usize>,
    /// The blocks with the records: a list.
    blocks: Cell<Option<&'static Block>>,
}

/// The thread ends. Thread-locals that are destroyed later may still acquire locks: these get common records.
impl Drop for Own {
    fn drop(&mut self) {
        NEXT.set(RecordRef::NEVER_FREE);
        while let Some(block) = self.blocks.get() {
            // Before it is left: the thread that adopts the block links it into a list of its own.
            self.blocks.set(block.next());
            TABLE.leave(block);
        }
    }
}

/// Claims the next record of the ring: see [`Record::claim`].
#[inline(always)]
pub(crate) fn claim(word: usize, what: u64, site: &'static Site, permits: usize) -> Option<&'static Record> {
    let record = NEXT.get().get();
    let is_mine = record.claim(word, what, site, permits);
    if is_mine {
        NEXT.set(record.next());
    }
    is_mine.then_some(record)
}

/// Claims any free record of this thread, or a common one. `None`: there is none.
pub(crate) fn claim_any(entry: &Entry) -> Option<&'static Record> {
    let claim = |record: &&'static Record| record.claim_for(entry);
    let found = ring().find(claim).or_else(|| more().filter(claim));
    match found {
        Some(record) => NEXT.set(record.next()),
        None => return TABLE.claim_common(entry),
    }
    found
}

fn ring() -> impl Iterator<Item = &'static Record> {
    let first = NEXT.get().get();
    let next = move |record: &&'static Record| {
        let next = record.next().get();
        (!ptr::eq(next, first)).then_some(next)
    };
    std::iter::successors(Some(first), next)
}

/// Doubles the number of records.
#[cold]
fn more() -> Option<&'static Record> {
    let number = number();
    if number == UNKNOWN {
        return None;
    }
    // A lock that an allocator acquires meanwhile is one of an unknown thread, and gets a common record.
    NUMBER.set(UNKNOWN);
    let added = OWN.try_with(|own| {
        let (had, wanted) = (own.records.get(), own.records.get().max(FIRST));
        // Not under the table's lock: the allocator may be one that waits.
        let added = || TABLE.add(Box::new(Block::new(wanted)), number);
        let block = TABLE.adopt(number, wanted).unwrap_or_else(added);
        block.set_next(own.blocks.replace(Some(block)));
        let added = block.first();
        own.records.set(had + wanted);
        if had > 0 {
            let last = NEXT.get().get();
            let behind = last.next();
            last.set_next(added.next());
            added.set_next(behind);
        }
        added
    });
    NUMBER.set(number);
    added.ok()
}

#[cfg(test)]
mod tests {
    use std::panic::Location;
    use std::thread;

    use super::*;

    fn claimed(word: usize) -> &'static Record {
        let (thread, site) = (number(), Location::caller());
        let entry = Entry { word, what: 0, thread, site, task: 0, number: 0, permits: 1 };
        claim_any(&entry).expect("there is memory")
    }

    fn all() -> usize {
        TABLE.records().count()
    }

    /// Their records are adopted by later threads, except those that still stand for a hold.
    #[test]
    fn threads_that_have_ended_leave_their_records() {
        let held = thread::spawn(|| claimed(64)).join().unwrap();
        let before = all();
        for word in 1..=200 {
            let record = thread::spawn(move || claimed(128 * word)).join().unwrap();
            assert!(!ptr::eq(record, held));
            record.free();
        }
        let added = all() - before;
        assert!(added < 200 * FIRST / 2, "{added} for one thread at a time");
        held.free();
    }

    #[test]
    fn a_thread_claims_in_turn_and_has_no_more_than_twice_what_it_needs() {
        let mut records: Vec<_> = (1..=100).map(|word| claimed(8 * word)).collect();
        let at = |record: &&'static Record| ptr::from_ref(*record).addr();
        let mut places: Vec<usize> = records.iter().map(at).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 100);
        assert_eq!(ring().count(), 128);
        assert!(claim(8, 0, Location::caller(), 1).is_some(), "the next one is free");
        records.drain(..).for_each(Record::free);
        assert_eq!(ring().filter(|record| !record.is_free()).count(), 1);
    }
}
