//! The table of the last notifies: what is read whole was one notify, and the last one stays.

use std::panic::Location;

use loom::sync::Arc;
use loom::sync::atomic::AtomicU64;
use loom::thread;
use waitword_core::observe::{Kept, NotifyTable};

/// A notify of which each part says the same.
fn kept(word: usize, at: u64) -> Kept {
    Kept { word, at, thread: at, task: at, site: Location::caller(), woken: at as usize }
}

fn model(body: impl Fn(Arc<NotifyTable>) + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(3));
    builder.check(move || body(Arc::new(NotifyTable::default())));
}

fn check(kept: Kept) {
    assert!([kept.thread, kept.task, kept.woken as u64] == [kept.at; 3], "of two notifies: {kept:?}");
    assert_eq!(kept.word, if kept.at < 10 { 8 } else { 16 }, "of another word: {kept:?}");
}

/// Another notifies the same word while it is read.
#[test]
fn a_notify_is_read_whole_or_not_at_all() {
    model(|table| {
        table.keep(&kept(8, 1), &AtomicU64::new(0));
        let other = {
            let table = Arc::clone(&table);
            thread::spawn(move || table.keep(&kept(8, 2), &AtomicU64::new(0)))
        };
        table.all().for_each(check);
        other.join().unwrap();
        assert_eq!(table.all().map(|kept| kept.at).collect::<Vec<_>>(), [2]);
    });
}

/// One object goes while another of the same slot is notified, and this is read.
#[test]
fn a_notify_that_displaces_another_is_its_own_word_s() {
    model(|table| {
        table.keep(&kept(8, 1), &AtomicU64::new(0));
        let other = {
            let table = Arc::clone(&table);
            thread::spawn(move || table.keep(&kept(16, 10), &AtomicU64::new(0)))
        };
        table.forget(8);
        table.all().for_each(check);
        other.join().unwrap();
        table.all().for_each(check);
        assert!(table.all().all(|kept| kept.word != 8));
    });
}
