//! Sources that panic. In a process of its own: other tests set panic hooks that make reports, and ask the sources.

use std::future::Future as _;
use std::pin::pin;
use std::sync::atomic::AtomicU32;
use std::task::{Context, Waker};

use waitword_observe::{Seen, Trace, add_source, add_trace_source, snapshot, traced};

#[test]
fn a_source_that_panics_costs_nobody_their_snapshot() {
    let _looks = add_source(|| panic!("a source panics as it looks"));
    let _completes = add_source(|| Seen {
        waiters: Vec::new(),
        complete: Box::new(|_, _| panic!("a source panics as it completes a snapshot")),
    });
    let word = AtomicU32::new(0);
    let mut waiting = pin!(waitword_core::wait_async(&word, 0));
    assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    for _ in 0..2 {
        assert_eq!(snapshot().waiters(), 1);
    }
}

#[test]
fn a_source_that_panics_costs_nobody_their_trace() {
    let _panics = add_trace_source(|_, _| panic!("a source panics as it completes a trace"));
    let _adds = add_trace_source(|trace: &mut Trace, _| trace.dropped += 3);
    assert_eq!(traced(true).finish().dropped, 3);
}
