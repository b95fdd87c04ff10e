//! The threads that have waited, by the identity of what wakes them: so that a snapshot tells threads from tasks, and names them.

pub(crate) use imp::known_threads;
pub(super) use imp::{enter, leave};

#[cfg(not(any(waitword_loom, waitword_shuttle)))]
mod imp {
    use std::collections::BTreeMap;
    use std::task::Waker;
    use std::thread::Thread;

    use crate::sync::Mutex;

    static KNOWN: Mutex<BTreeMap<usize, Thread>> = Mutex::new(BTreeMap::new());

    /// All of them, by the data pointers of their wakers.
    pub(crate) fn known_threads() -> BTreeMap<usize, Thread> {
        KNOWN.lock().clone()
    }

    /// From now on, `waker` is known to wake `thread`. Once for each parker and interrupt that is made, not for each wait.
    pub(in crate::thread) fn enter(waker: &Waker, thread: &Thread) {
        KNOWN.lock().insert(waker.data().addr(), thread.clone());
    }

    /// The waker is about to go.
    pub(in crate::thread) fn leave(waker: &Waker) {
        KNOWN.lock().remove(&waker.data().addr());
    }
}

/// The threads of a model have no names.
#[cfg(any(waitword_loom, waitword_shuttle))]
mod imp {
    use std::task::Waker;

    use crate::sync::thread::Thread;

    pub(crate) fn known_threads() -> std::collections::BTreeMap<usize, std::thread::Thread> {
        Default::default()
    }

    pub(in crate::thread) fn enter(_: &Waker, _: &Thread) {}

    pub(in crate::thread) fn leave(_: &Waker) {}
}
