//! The table of holders: what a snapshot reads whole was one hold's, and a hold that lasts is seen.

use std::panic::Location;

use loom::sync::Arc;
use loom::thread;
use waitword_core::observe::holders::{Entry, Records};

/// Two words with the same home.
const WORDS: [usize; 2] = [8, 16];

/// A hold of a thread: all that a record says depends on it.
fn hold(records: &Records, thread: u64, word: usize) -> Option<usize> {
    records.claim(word, thread * 1000, Location::caller(), thread << 8)
}

fn check(entry: Entry) {
    assert_eq!(entry.since, (entry.who >> 8) * 1000, "of two holds: {entry:?}");
}

fn model(body: impl Fn(Arc<Records>) + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(3));
    builder.check(move || body(Arc::new(Records::default())));
}

/// One releases, and the other takes the place of its record.
#[test]
fn a_record_is_read_whole_or_not_at_all() {
    model(|records| {
        let first = hold(&records, 1, WORDS[0]).unwrap();
        let other = {
            let records = Arc::clone(&records);
            thread::spawn(move || {
                records.free(first);
                hold(&records, 2, WORDS[1]);
            })
        };
        records.all().for_each(check);
        other.join().unwrap();
        assert_eq!(records.all().map(|entry| entry.word).collect::<Vec<_>>(), [WORDS[1]]);
    });
}

/// Two that hold words with the same home have a record each, and erase their own.
#[test]
fn two_holds_never_share_a_record() {
    model(|records| {
        let acquire = |records: &Records, thread: u64, word| {
            let site = Location::caller();
            hold(records, thread, word)
                .or_else(|| records.claim_elsewhere(word, thread * 1000, site, thread << 8))
                .unwrap()
        };
        let other = {
            let records = Arc::clone(&records);
            thread::spawn(move || {
                let at = acquire(&records, 2, WORDS[1]);
                records.free(at);
            })
        };
        acquire(&records, 1, WORDS[0]);
        let mine = |entry: &Entry| entry.word == WORDS[0];
        assert_eq!(records.all().inspect(|entry| check(*entry)).filter(mine).count(), 1);
        other.join().unwrap();
        assert_eq!(records.all().count(), 1);
    });
}
