//! Following holders: a listener is told each acquisition and each release, on the thread where it happens, and the drop of each lock.
//!
//! For checks that must miss nothing, such as that of the order of locks: a trace keeps the youngest events alone. The steps of one hold come
//! in order: acquired when the record has been made, released before it is erased, so its place in the table names the hold between.
//!
//! The listener is foreign code that runs while the lock is held. What it acquires itself is not told.

use std::cell::Cell;
use std::sync::{Mutex, OnceLock};
use std::task::Waker;

use super::holders::{Hold, recorded_thread};
use super::origin::{Caller, WaitsFor};
use super::site::Site;
use super::{asked, tasks};
use crate::sync::lock;
use crate::thread::is_of_thread;

/// What acquired a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Acquirer {
    /// A task or a thread that [`identify`](super::identify) gave this number.
    Identified(u64),
    /// A thread, by a number that no other thread gets.
    Thread(u64),
    /// A task, by the data pointer of its waker, which another one may get when it has ended.
    Task(usize),
}

/// A step in the life of a hold, or of a lock.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Step {
    /// A lock was acquired.
    Acquired {
        /// The hold, until its release.
        hold: usize,
        /// The address of the word.
        word: usize,
        /// How it is held.
        mode: Hold,
        /// Where it was acquired.
        site: &'static Site,
        /// What acquired it.
        by: Acquirer,
        /// The acquirer would not have waited for ever.
        gives_up: bool,
    },
    /// What nobody holds by having it was waited for, or would have been: the value of a cell whose initialiser runs, or that the readers leave
    /// one that upgrades.
    Awaited {
        /// The address of the word.
        word: usize,
        /// What it was.
        waits_for: WaitsFor,
        /// Where.
        site: &'static Site,
        /// What waits.
        by: Acquirer,
    },
    /// The hold goes on in another way.
    Changed {
        /// The hold.
        hold: usize,
        /// How it is held from now on.
        mode: Hold,
    },
    /// The lock is about to be released.
    Released {
        /// The hold.
        hold: usize,
        /// What releases it: this thread, or what it is identified as. A task is not known otherwise.
        by: Acquirer,
    },
    /// The lock with this word goes. Another may be made in its place.
    Dropped {
        /// The address of the word.
        word: usize,
    },
}

type Listener = fn(&Step);

static LISTENER: OnceLock<Listener> = OnceLock::new();
static IS_ON: Mutex<bool> = Mutex::new(false);

/// From now on `listener` is told each step, while holders are recorded ([`start_holders`](super::holders::start_holders)). It must not
/// panic. The first listener of the process counts; returns whether this is it.
pub fn follow(listener: Listener) -> bool {
    let mut is_on = lock(&IS_ON);
    let is_it = std::ptr::fn_addr_eq(*LISTENER.get_or_init(|| listener), listener);
    if !std::mem::replace(&mut *is_on, true) {
        asked::begin(asked::FOLLOWED);
    }
    is_it
}

/// The listener is told nothing more, but what is being told.
pub fn stop_following() {
    if std::mem::take(&mut *lock(&IS_ON)) {
        asked::end(asked::FOLLOWED);
    }
}

/// For building locks: a thread, or the task that is polled with this waker, waits without a deadline for what it will not hold by having it
/// ([`Step::Awaited`]).
#[inline(always)]
pub fn awaited(word: usize, waits_for: WaitsFor, caller: Caller, task: Option<&Waker>) {
    if asked::is_followed() {
        tell_awaited(word, waits_for, caller.site(), task);
    }
}

#[cold]
#[inline(never)]
fn tell_awaited(word: usize, waits_for: WaitsFor, site: &'static Site, task: Option<&Waker>) {
    let task = task.filter(|task| !is_of_thread(task) && !tasks::is_anonymous(task));
    let otherwise = match task {
        Some(task) => Acquirer::Task(task.data().addr()),
        None => Acquirer::Thread(recorded_thread()),
    };
    tell(|| Step::Awaited { word, waits_for, site, by: acquirer(otherwise) });
}

/// What runs on this thread: what it is identified as, or the acquirer that is known otherwise.
pub(super) fn acquirer(otherwise: Acquirer) -> Acquirer {
    tasks::of_this_thread().map_or(otherwise, Acquirer::Identified)
}

/// Tells a step, unless the listener makes it.
#[cold]
pub(super) fn tell(step: impl FnOnce() -> Step) {
    thread_local! {
        static TELLS: Cell<bool> = const { Cell::new(false) };
    }
    let Some(listener) = LISTENER.get() else { return };
    if !TELLS.replace(true) {
        listener(&step());
        TELLS.set(false);
    }
}
