//! A ring of events, read while it is written: what is read was written as a whole.

use loom::sync::Arc;
use loom::thread;

use crate::observe::ring::Ring;

/// Twice as many as there are slots: the younger one of two is kept, unless the fourth is under way.
const EVENTS: u64 = 4;

/// More events than slots, so that the writer overwrites what is read.
#[test]
fn what_is_read_beside_a_writer_is_whole() {
    crate::check(3, || {
        let ring = Arc::new(Ring::new(2));
        let writer = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || (1..=EVENTS).for_each(|event| ring.write([event; _], None)))
        };
        let reader = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || check(&ring))
        };
        writer.join().unwrap();
        reader.join().unwrap();
        let (written, events) = ring.read(0);
        // The older one of two may be overwritten by the next event at any time.
        assert_eq!((written, events.len(), events[0].0), (EVENTS, 1, EVENTS - 1));
    });
}

fn check(ring: &Ring) {
    let (written, events) = ring.read(0);
    assert!(written <= EVENTS);
    for (index, words, _) in &events {
        assert!(words.iter().all(|word| *word == index + 1), "event {index} is {words:?}");
    }
    assert!(events.is_sorted_by_key(|(index, ..)| *index));
}
