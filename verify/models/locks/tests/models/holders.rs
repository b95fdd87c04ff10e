//! The records of holders: what a snapshot reads whole was one hold's, a hold that lasts is seen, and one that is seen twice in the same turn
//! and mode lasted all the time between.

use std::panic::Location;
use std::sync::Arc;

use loom::sync::atomic::{AtomicBool, Ordering};
use waitword::observe::holders::Hold;

use crate::record::{Entry, Record};

/// Of the same word, with a number that all fields tell.
fn entry(number: u64) -> Entry {
    Entry {
        word: 8,
        hold: Hold::UpgradableRead,
        permits: number as usize,
        site: Location::caller(),
        at: number << 8,
        thread: number,
        task: None,
        is_elsewhere: false,
        is_forgotten: false,
        turn: 0,
    }
}

fn claim(record: &Record, number: u64) {
    assert!(record.claim(&entry(number)));
}

fn check(read: Option<Entry>) {
    if let Some(read) = read {
        let whole = Entry { turn: read.turn, site: read.site, ..entry(read.thread) };
        assert_eq!(read, whole, "of two holds");
    }
}

fn model(body: impl Fn(Arc<Record>) + Sync + Send + 'static) {
    model_with(3, body);
}

fn model_with(preemptions: usize, body: impl Fn(Arc<Record>) + Sync + Send + 'static) {
    crate::check(preemptions, move || {
        let record = Arc::new(Record::new());
        claim(&record, 1);
        body(record);
    });
}

/// Another thread releases, and the record is claimed again.
fn released_elsewhere(record: Arc<Record>) {
    let other = crate::spawn(&record, Record::free);
    let owner = crate::spawn(&record, |record| record.claim(&entry(2)));
    check(record.read());
    other.join().unwrap();
    let claimed = owner.join().unwrap();
    assert_eq!(record.read().map(|read| read.thread), claimed.then_some(2));
}

/// The record stands for the same word again, as if nothing had happened.
fn claimed_twice(record: Arc<Record>) {
    let owner = crate::spawn(&record, |record| {
        for number in [2, 3] {
            record.free();
            claim(record, number);
        }
    });
    check(record.read());
    owner.join().unwrap();
    assert_eq!(record.read().map(|read| read.thread), Some(3));
}

/// Between two snapshots the holder does something, and then all is as before: by word, time and place it seems to be the same hold.
fn seen_before_and_after(meanwhile: fn(&Record)) {
    model(move |record| {
        let begins = Arc::new(AtomicBool::new(false));
        let began = Arc::clone(&begins);
        let owner = crate::spawn(&record, move |record| {
            began.swap(true, Ordering::AcqRel);
            meanwhile(record);
        });
        let seen = || record.read().map(|read| (read.turn, read.hold));
        let before = seen();
        // Changes it, so that the owner, if it begins later, does so after what was seen.
        let is_before = !begins.fetch_or(false, Ordering::AcqRel);
        owner.join().unwrap();
        let after = seen().expect("held");
        assert!(!is_before || before.expect("held") != after, "of two holds");
        assert_eq!(seen(), Some(after), "it lasts");
    });
}

tests! {
    a_record_is_read_whole_or_not_at_all: model(released_elsewhere);
    // Two, because of its length: three take 44 s of CPU time.
    a_record_is_not_read_across_two_holds_of_one_word: model_with(2, claimed_twice);
    a_hold_that_ended_and_one_that_began_are_two: seen_before_and_after(|record| {
        record.free();
        claim(record, 1);
    });
    a_hold_that_was_another_between_is_another: seen_before_and_after(|record| {
        for hold in [Hold::Write, Hold::UpgradableRead] {
            record.change(&Entry { hold, ..record.read().expect("held") });
        }
    });
    a_hold_that_lasts_is_seen_while_it_changes: model(|record| {
        let owner = crate::spawn(&record, |record| {
            record.change(&Entry { hold: Hold::Write, ..record.read().expect("held") });
        });
        assert!(record.read().is_some_and(|read| read.thread == 1));
        owner.join().unwrap();
    });
}
