//! Sources of waiters that are not in the global table, and their register.

use std::collections::BTreeMap;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use waitword_core::lock;
use waitword_core::observe::WaiterSeen;
use waitword_core::time::Instant;

use crate::model::Snapshot;

/// The waiters that a source adds to a snapshot.
pub struct Seen {
    /// The waiters of tables other than the global one: for each word in the order of its queue, as `Table::snapshot` returns them.
    pub waiters: Vec<WaiterSeen>,
    /// Completes the snapshot, which has all waiters by then, with what else the source knows: names, sites, holders. Ages count up to the
    /// given time, that of the snapshot. The snapshot's entry of a word is the [`Lock`](crate::Lock) with the word's address.
    pub complete: Complete,
}

type Complete = Box<dyn FnOnce(&mut Snapshot, Instant)>;

impl fmt::Debug for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seen").field("waiters", &self.waiters).finish_non_exhaustive()
    }
}

type Look = Arc<dyn Fn() -> Seen + Send + Sync>;

static SOURCES: Register<Look> = Register::new();

/// Sources of one kind.
pub(crate) struct Register<T>(Mutex<(u64, BTreeMap<u64, T>)>);

impl<T: Clone> Register<T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new((0, BTreeMap::new())))
    }

    /// Adds a source. `remove` is [`Self::remove`] of the register.
    pub(crate) fn add(&self, source: T, remove: fn(u64)) -> Source {
        let (last, all) = &mut *lock(&self.0);
        *last += 1;
        all.insert(*last, source);
        Source { key: *last, remove }
    }

    pub(crate) fn remove(&self, key: u64) {
        let source = lock(&self.0).1.remove(&key);
        // Foreign code drops what the source owns: without the lock.
        drop(source);
    }

    pub(crate) fn all(&self) -> Vec<T> {
        lock(&self.0).1.values().cloned().collect()
    }
}

/// Adds the waiters that `look` returns to each snapshot, until the returned [`Source`] is dropped.
///
/// For locks in memory with a `Table` of its own; `waitword run` adds the agents of its program this way. `look` runs whenever a snapshot is
/// taken, on that thread, and must not acquire a lock under which a snapshot might be taken. A panic of `look` or of
/// [`complete`](Seen::complete) is caught, and the snapshot lacks what that call would have added.
///
/// ```
/// use std::sync::{Arc, atomic::AtomicU32};
/// use waitword_core::Table;
/// use waitword_observe::{Address, Seen, add_source};
///
/// let (table, word) = (Arc::new(Table::new()), AtomicU32::new(0));
/// let address = Address(std::ptr::from_ref(&word).addr() as u64);
/// let seen = table.clone();
/// let _source = add_source(move || Seen {
///     waiters: seen.snapshot(),
///     complete: Box::new(move |snapshot, _| {
///         let ours = snapshot.locks.iter_mut().filter(|lock| lock.name.address == address);
///         ours.for_each(|lock| lock.name.name = Some("ours".into()));
///     }),
/// });
///
/// let mut waiting = std::pin::pin!(waitword_core::wait_async(table.at(&word), 0));
/// # let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
/// # use std::future::Future;
/// assert!(waiting.as_mut().poll(&mut cx).is_pending());
/// assert_eq!(waitword_observe::snapshot().locks[0].name.name.as_deref(), Some("ours"));
/// ```
pub fn add_source(look: impl Fn() -> Seen + Send + Sync + 'static) -> Source {
    SOURCES.add(Arc::new(look), |key| SOURCES.remove(key))
}

/// A source of waiters or of events. Dropping it removes the source; a snapshot or trace that is being made may still call it.
#[must_use = "dropping it removes the source; to keep the source, call `forever`"]
#[derive(Debug)]
pub struct Source {
    key: u64,
    remove: fn(u64),
}

impl Source {
    /// Keeps the source until the process ends.
    pub fn forever(self) {
        std::mem::forget(self);
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        (self.remove)(self.key);
    }
}

/// Asks all sources. Returns what completes the snapshot.
pub(crate) fn see(waiters: &mut Vec<WaiterSeen>) -> Vec<Complete> {
    let all = SOURCES.all();
    let looks = all.iter().filter_map(|look| {
        let seen = unless_it_panics(|| look())?;
        waiters.extend(seen.waiters);
        Some(seen.complete)
    });
    looks.collect()
}

/// Calls foreign code and catches its panic, which the panic hook has printed. A report without what that code would have added is better
/// than none, and the threads that look for deadlocks have to survive.
pub(crate) fn unless_it_panics<T>(call: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(given) => Some(given),
        Err(payload) => {
            // Its destructor is foreign code as well. What that panics with is leaked.
            mem::forget(catch_unwind(AssertUnwindSafe(|| drop(payload))));
            None
        }
    }
}
