//! The records of all threads: a shelf for each thread, on which it alone claims, and which any thread reads.
//!
//! A shelf has chunks, each twice as large as the one before. They are never freed: a record lives for ever, and is found without a lock. A
//! thread claims the records of a chunk in turn. As a rule the next record is free, because holds are short and the thread has claimed all
//! other records of the chunk since. Otherwise the thread searches the shelf from where a record was free last, and adds a chunk if none is
//! free. So even a thread that holds ten thousand locks has checked a few records for each, on average.
//!
//! When a thread ends, another takes over its shelf, with the records of the holds that have not ended. However many guards threads that have
//! ended forgot, a thread starts its search behind their records.
//!
//! One shelf is common: to threads beyond the number of shelves, to those whose thread-locals are destroyed, and to an allocator that acquires
//! locks while its thread adds a chunk. On it, one thread at a time claims a record.

use std::cell::Cell;
use std::iter;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use waitword_core::lock;

use super::record::{Entry, Record};

/// The number of shelves: the common one, and one per thread, for as many threads at a time.
pub(crate) const SHELVES: usize = 1024;

/// The index of the common shelf.
pub(crate) const COMMON: usize = 0;

/// How many records the first chunk has.
const FIRST: usize = 8;

const CHUNKS: usize = 24;

static TABLE: [Shelf; SHELVES] = [const { Shelf::new() }; SHELVES];

/// All shelves in use are before this one.
static USED: AtomicUsize = AtomicUsize::new(1);

/// Locked to claim on the common shelf.
static CLAIMS: Mutex<()> = Mutex::new(());

struct Shelf {
    chunks: [OnceLock<Box<[Record]>>; CHUNKS],
    /// The index after the record that was last found free.
    behind: AtomicUsize,
}

/// What the table knows of the calling thread.
pub(crate) struct Here {
    /// The number of this thread, which no other thread gets; 0: it has none yet.
    pub(crate) number: Cell<u64>,
    shelf: Cell<usize>,
    /// The chunk from which it claims, and which record is next.
    chunk: Cell<&'static [Record]>,
    next: Cell<usize>,
}

/// The number of a thread about which nothing is known.
pub(crate) const UNKNOWN: u64 = 1;

thread_local! {
    pub(crate) static HERE: Here = const {
        Here {
            number: Cell::new(0),
            shelf: Cell::new(COMMON),
            chunk: Cell::new(&[]),
            next: Cell::new(0),
        }
    };
}

impl Shelf {
    const fn new() -> Self {
        Self { chunks: [const { OnceLock::new() }; CHUNKS], behind: AtomicUsize::new(0) }
    }

    /// The chunk with this record, and where in the chunk it is.
    fn chunk(&self, at: usize) -> Option<(&[Record], usize)> {
        let number = (at / FIRST + 1).ilog2();
        let chunk = self.chunks.get(number as usize)?.get()?;
        Some((chunk, at - FIRST * ((1 << number) - 1)))
    }

    /// The chunks that there are.
    fn chunks(&self) -> impl Iterator<Item = &[Record]> {
        self.chunks.iter().map_while(OnceLock::get).map(|chunk| &**chunk)
    }

    /// Claims any record of a chunk. `None`: none is free.
    fn claim(&'static self, entry: &Entry) -> Option<(&'static [Record], usize)> {
        let size = self.chunks().map(<[_]>::len).sum();
        let behind = self.behind.load(Ordering::Relaxed);
        let claims = |at: &usize| self.chunk(*at).is_some_and(|(chunk, at)| chunk[at].claim(entry));
        let found = (behind..size).chain(0..behind.min(size)).find(claims);
        let at = found.or_else(|| self.add_chunk().and_then(|()| Some(size).filter(claims)))?;
        self.behind.store(at + 1, Ordering::Relaxed);
        self.chunk(at)
    }

    fn add_chunk(&self) -> Option<()> {
        // An allocator that acquires a lock, and so calls this, would recurse.
        let number = HERE.with(|here| here.number.get());
        let (at, chunk) = self.chunks.iter().enumerate().find(|(_, chunk)| chunk.get().is_none())?;
        (number != UNKNOWN).then(|| {
            let records = as_unknown(|| new_chunk(at));
            chunk.get_or_init(|| records);
        })
    }
}

/// Calls the allocator. A lock that the allocator acquires meanwhile is recorded as one of an unknown thread.
pub(super) fn as_unknown<R>(allocates: impl FnOnce() -> R) -> R {
    HERE.with(|here| {
        let (number, chunk) = (here.number.replace(UNKNOWN), here.chunk.take());
        let result = allocates();
        here.number.set(number);
        here.chunk.set(chunk);
        result
    })
}

impl Here {
    /// From now on the thread has this number and this shelf.
    pub(super) fn set(&self, number: u64, shelf: usize) {
        USED.fetch_max(shelf + 1, Ordering::AcqRel);
        self.number.set(number);
        self.shelf.set(shelf);
        self.chunk.set(&[]);
    }

    /// The index of its shelf; the common one, if it is not known.
    pub(super) fn shelf(&self) -> usize {
        if self.number.get() == UNKNOWN { COMMON } else { self.shelf.get() }
    }
}

/// Adds chunks to the common shelf, for threads that cannot allocate.
pub(crate) fn start() {
    for (at, chunk) in TABLE[COMMON].chunks.iter().enumerate().take(3) {
        chunk.get_or_init(|| new_chunk(at));
    }
}

fn new_chunk(number: usize) -> Box<[Record]> {
    (0..FIRST << number).map(|_| Record::new()).collect()
}

/// Adds a record of a hold, if the next one of this thread is free.
#[inline(always)]
pub(crate) fn add_next(entry: &Entry) -> Option<&'static Record> {
    let (chunk, next) = HERE.with(|here| (here.chunk.get(), here.next.get()));
    let record = chunk.get(next).filter(|record| record.claim(entry))?;
    HERE.with(|here| here.next.set(if next + 1 < chunk.len() { next + 1 } else { 0 }));
    Some(record)
}

/// Adds a record of a hold. `None`: no record is free.
pub(crate) fn add(entry: &Entry) -> Option<&'static Record> {
    add_next(entry).or_else(|| HERE.with(|here| add_anywhere(here, entry)))
}

fn add_anywhere(here: &Here, entry: &Entry) -> Option<&'static Record> {
    let shelf = here.shelf();
    if shelf == COMMON {
        // An unknown thread may be in an allocator that was called while this is locked.
        let is_unknown = here.number.get() == UNKNOWN;
        let _one = if is_unknown { CLAIMS.try_lock().ok()? } else { lock(&CLAIMS) };
        let (chunk, at) = TABLE[COMMON].claim(entry)?;
        return Some(&chunk[at]);
    }
    let (chunk, at) = TABLE[shelf].claim(entry)?;
    here.chunk.set(chunk);
    here.next.set(if at + 1 < chunk.len() { at + 1 } else { 0 });
    Some(&chunk[at])
}

/// The records of `word`.
pub(crate) fn of_word(word: usize) -> impl Iterator<Item = (&'static Record, Entry)> {
    let own = HERE.with(|here| here.shelf.get());
    let others = (0..USED.load(Ordering::Acquire)).filter(move |shelf| *shelf != own);
    let of_word = move |record: &&Record| record.may_be_of(word);
    // Those of this thread first.
    let records = iter::once(own).chain(others).flat_map(|shelf| TABLE[shelf].chunks().flatten());
    let read = records.filter(of_word).filter_map(|record| Some((record, record.read()?)));
    read.filter(move |(_, entry)| entry.word == word)
}

/// All holds that last for the whole call, each once.
pub(crate) fn all() -> impl Iterator<Item = (&'static Record, Entry)> {
    let used = TABLE.iter().take(USED.load(Ordering::Acquire));
    let records = used.flat_map(Shelf::chunks).flatten();
    records.filter_map(|record| Some((record, record.read()?)))
}

#[cfg(test)]
mod tests {
    use std::panic::Location;
    use std::thread;

    use waitword::observe::holders::Hold;

    use super::*;
    use crate::record::thread_number;

    fn claimed(word: usize) -> &'static Record {
        let (thread, site) = (thread_number(), Location::caller());
        let (hold, permits, at, task) = (Hold::Mutex, 1, 0, None);
        let [is_elsewhere, is_forgotten] = [false; 2];
        let entry =
            Entry { word, hold, permits, site, at, thread, task, is_elsewhere, is_forgotten, turn: 0 };
        add(&entry).expect("there is memory")
    }

    /// How many records the shelf of this thread has.
    fn size() -> usize {
        TABLE[HERE.with(Here::shelf)].chunks().map(<[_]>::len).sum()
    }

    #[test]
    fn a_thread_claims_in_turn_and_has_no_more_than_twice_what_it_needs() {
        let claims = || {
            let records: Vec<_> = (1..=100).map(|word| claimed(8 * word)).collect();
            let mut places: Vec<usize> = records.iter().map(|record| record.address()).collect();
            places.sort_unstable();
            places.dedup();
            let had = size();
            assert!(places.len() == 100 && (100..=200).contains(&had), "{had}");
            records.into_iter().for_each(Record::free);
            let mut last = 0;
            for word in 1..=500 {
                let record = claimed(8 * word);
                record.free();
                assert_ne!(std::mem::replace(&mut last, record.address()), record.address(), "in turn");
            }
            assert_eq!(size(), had);
        };
        thread::spawn(claims).join().unwrap();
    }

    /// However many guards were forgotten by threads that have ended, a thread finds its first record at once.
    #[test]
    fn threads_that_have_ended_leave_their_shelf_and_holds_that_last_delay_no_thread() {
        let start = || {
            let claims = || (claimed(64), HERE.with(Here::shelf), size());
            thread::spawn(claims).join().unwrap()
        };
        let held: Vec<_> = (0..1_000).map(|_| start()).collect();
        assert!(held.iter().all(|(_, shelf, _)| *shelf < 100), "one thread at a time");
        let most = held.iter().map(|(.., size)| *size).max().unwrap();
        assert!((1_000 / 100..=4 * 1_000).contains(&most), "{most}");
        for (record, ..) in held {
            assert_eq!(record.read().map(|entry| entry.word), Some(64));
            record.free();
        }
        for _ in 0..1_000 {
            let (record, _, size) = start();
            record.free();
            assert!(size <= most, "{size}");
        }
    }
}
