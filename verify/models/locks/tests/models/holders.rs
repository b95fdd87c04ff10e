//! The records of holders: what a snapshot reads whole was one hold's, a hold that lasts is seen, and one that is seen twice with the same
//! number lasted all the time between.

use std::panic::Location;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

use crate::observe::record::{Entry, Record};
use crate::observe::records::{Block, Records};

const WORDS: [usize; 2] = [8, 16];

/// All that a record says depends on its word, above the bits of the flags.
fn what(word: usize) -> u64 {
    word as u64 * 1000 << 8
}

fn claim(record: &Record, word: usize) {
    assert!(record.claim(word, what(word), Location::caller(), 1));
}

fn check_hold((_, entry): (&Record, Entry)) {
    assert_eq!(entry.what, what(entry.word), "of two holds: {entry:?}");
}

fn check((record, entry): (&Record, Entry)) {
    check_hold((record, entry));
    assert_eq!(entry.thread, entry.word as u64, "of two threads: {entry:?}");
}

/// The one record of a thread, which holds words with its number alone.
fn add(records: &Records, thread: usize) -> &'static Record {
    add_block(records, thread).first()
}

fn add_block(records: &Records, thread: usize) -> &'static Block {
    records.add(Box::new(Block::new(1)), thread as u64)
}

fn model(body: impl Fn(Arc<Records>) + Sync + Send + 'static) {
    crate::check(3, move || body(Arc::new(Records::default())));
}

// Another releases, and the thread claims its record again.
model!(a_record_is_read_whole_or_not_at_all, |records| {
    let record = add(&records, 0);
    claim(record, WORDS[0]);
    let other = thread::spawn(move || record.free());
    let owner = thread::spawn(move || {
        let _ = record.claim(WORDS[1], what(WORDS[1]), Location::caller(), 1);
    });
    records.all().for_each(check_hold);
    other.join().unwrap();
    owner.join().unwrap();
    records.all().for_each(check_hold);
});

// The record stands for the same word again, as if nothing had happened.
model!(a_record_is_not_read_across_two_holds_of_one_word, |records| {
    let record = add(&records, 0);
    claim(record, WORDS[0]);
    let owner = thread::spawn(move || {
        for word in [WORDS[1], WORDS[0]] {
            record.free();
            claim(record, word);
        }
    });
    records.all().for_each(check_hold);
    owner.join().unwrap();
    assert_eq!(records.all().inspect(|seen| check_hold(*seen)).count(), 1);
});

// A thread ends, its guard is dropped by another, and a third one adopts its records.
model!(records_are_adopted_when_their_last_hold_has_ended, |records| {
    let block = add_block(&records, WORDS[0]);
    let record = block.first();
    claim(record, WORDS[0]);
    records.leave(block);
    let other = {
        let records = Arc::clone(&records);
        thread::spawn(move || {
            let adopted = records.adopt(WORDS[1] as u64, 1);
            if let Some(adopted) = adopted {
                claim(adopted.first(), WORDS[1]);
            }
            adopted.is_some()
        })
    };
    let release = thread::spawn(move || record.free());
    records.all().for_each(check);
    let adopted = other.join().unwrap();
    release.join().unwrap();
    let seen: Vec<_> = records.all().inspect(|seen| check(*seen)).map(|(_, entry)| entry.word).collect();
    assert_eq!(seen, if adopted { vec![WORDS[1]] } else { vec![] });
});

// A hold that lasts during the whole snapshot is in it, also if other threads add records meanwhile.
model!(a_hold_that_lasts_is_seen, |records| {
    claim(add(&records, WORDS[0]), WORDS[0]);
    let other = {
        let records = Arc::clone(&records);
        thread::spawn(move || claim(add(&records, WORDS[1]), WORDS[1]))
    };
    let lasting = records.all().inspect(|seen| check(*seen)).filter(|(_, entry)| entry.word == WORDS[0]);
    assert_eq!(lasting.count(), 1);
    other.join().unwrap();
    assert_eq!(records.all().count(), 2);
});

/// Between two snapshots the holder does something, and then all is as before: by word, time and place it seems to be the same hold.
fn seen_before_and_after(meanwhile: fn(&Record)) {
    model(move |records| {
        let record = records.add(Box::new(Block::new(1)), 0).first();
        claim(record, WORDS[0]);
        let begins = Arc::new(AtomicBool::new(false));
        let began = Arc::clone(&begins);
        let owner = thread::spawn(move || {
            began.swap(true, Ordering::AcqRel);
            meanwhile(record);
        });
        let seen = |(_, entry, number)| (entry, number);
        let before = records.all_numbered().map(seen).next();
        // Changes it, so that the owner, if it begins later, does so after what was seen.
        let is_before = !begins.fetch_or(false, Ordering::AcqRel);
        // It may be in the middle, and takes no number away.
        let _during = records.all_numbered().count();
        owner.join().unwrap();
        let after = records.all_numbered().map(seen).next().expect("held");
        if is_before {
            let (entry, number) = before.expect("held");
            assert_eq!(entry, after.0);
            assert_ne!(number, after.1, "of two holds");
        }
        assert_eq!(records.all_numbered().map(seen).next(), Some(after), "it lasts");
    });
}

#[test]
fn a_hold_that_ended_and_one_that_began_are_two() {
    seen_before_and_after(|record| {
        record.free();
        claim(record, WORDS[0]);
    });
}

/// It upgrades, and downgrades.
#[test]
fn a_hold_that_was_another_between_is_another() {
    seen_before_and_after(|record| {
        let entry = Entry {
            word: WORDS[0],
            what: what(WORDS[0]),
            thread: 0,
            site: Location::caller(),
            task: 0,
            number: 0,
            permits: 0,
        };
        record.change(&entry, 3);
        record.change(&entry, 0);
    });
}
