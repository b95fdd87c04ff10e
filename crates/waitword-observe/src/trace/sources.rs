//! Events that the locks of the process do not write.

use std::sync::Arc;

use waitword_core::time::Instant;

use super::events::Trace;
use crate::sources::{Register, Source, unless_it_panics};

type Complete = Arc<dyn Fn(&mut Trace, Instant) + Send + Sync>;

static COMPLETES: Register<Complete> = Register::new();

/// From now on each [`Trace`] of this process is completed by `complete`, until the returned [`Source`] is dropped: it adds events, and takes
/// away those that it knows better. `waitword run` adds what the agents of its program did so, with the lines of their scripts.
///
/// `complete` is given the trace, without the [`Tracing`](crate::Tracing) having ended, and when it began; an event has the time since then.
/// Afterwards the events are put in order. A panic of it ends there.
///
/// ```
/// use std::time::Instant;
/// use waitword_observe::{Trace, add_trace_source, traced};
///
/// let _source = add_trace_source(|trace: &mut Trace, _began: Instant| trace.dropped += 3);
/// assert_eq!(traced(true).finish().dropped, 3);
/// ```
pub fn add_trace_source(complete: impl Fn(&mut Trace, Instant) + Send + Sync + 'static) -> Source {
    COMPLETES.add(Arc::new(complete), |key| COMPLETES.remove(key))
}

/// Lets all sources complete a trace that began then.
pub(super) fn complete(trace: &mut Trace, began: Instant) {
    for complete in COMPLETES.all() {
        unless_it_panics(|| complete(trace, began));
    }
    trace.events.sort_by_key(|event| event.at);
}
