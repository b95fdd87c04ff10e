//! Who held a lock when the wait of an acquirer timed out: copied out of the record into three words, one copy per thread, so that an error
//! need not carry it.
//!
//! The holder may release the lock right after the look-up. If it did so between the timeout and the look-up, there is no record, or that
//! of the next holder. So the copy was true at some moment near the end of the wait.

use std::fmt;
use std::thread::Thread;

use waitword_core::OnceLock;
use waitword_core::observe::{Actor, PackedSite, Site};
use waitword_core::time::Duration;

/// The thread with this number, from the observer.
static THREADS: OnceLock<fn(u32) -> Option<Thread>> = OnceLock::new();

pub(super) fn set_threads(threads: fn(u32) -> Option<Thread>) {
    THREADS.get_or_init(|| threads);
}

#[cfg(feature = "observe")]
thread_local! {
    /// The holder of the lock in the last wait of this thread that has timed out.
    static LAST: std::cell::Cell<HeldBy> = const { std::cell::Cell::new(HeldBy::NONE) };
}

/// Notes the holder for [`last`].
#[inline(always)]
pub(super) fn note(holder: impl FnOnce() -> HeldBy) {
    #[cfg(feature = "observe")]
    LAST.set(holder());
    #[cfg(not(feature = "observe"))]
    let _ = holder;
}

/// The holder of the lock in the last wait of this thread that has timed out, if one is known.
pub(crate) fn last() -> Option<HeldBy> {
    #[cfg(feature = "observe")]
    return Some(LAST.get()).filter(HeldBy::is_known);
    #[cfg(not(feature = "observe"))]
    None
}

/// The holder of a lock at the deadline of an acquirer, or [`NONE`](Self::NONE) if no holder is known.
///
/// It is a copy of what was true at the deadline, three words in size. Without the feature `observe`, and while holders are not
/// recorded, it is always [`NONE`](Self::NONE).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct HeldBy {
    /// The identity of a task, or its number plus one; 0: a thread.
    task: usize,
    /// 0: no holder is known.
    thread: u32,
    site: PackedSite,
    /// Hundredths of a second.
    held: u32,
    /// How many other holders there are, and whether the guard may be elsewhere.
    others: u16,
    is_elsewhere: bool,
    is_identified: bool,
}

impl HeldBy {
    /// No holder is known.
    pub const NONE: Self = Self {
        task: 0,
        thread: 0,
        site: PackedSite::NONE,
        held: 0,
        others: 0,
        is_elsewhere: false,
        is_identified: false,
    };

    /// For an observer: creates a holder from its thread's number, which is not 0, the site of the acquisition, and how long it had been held.
    pub fn new(thread: u32, site: &'static Site, held: Duration) -> Self {
        let held = u32::try_from(held.as_millis() / 10).unwrap_or(u32::MAX);
        Self { thread, site: PackedSite::new(Some(site)), held, ..Self::NONE }
    }

    /// For an observer: returns this with a task as the holder, by its number, or else by the data pointer of its waker.
    pub fn by_task(self, number: Option<u64>, waker: usize) -> Self {
        // A number that does not fit counts as none.
        let number = number.and_then(|number| usize::try_from(number).ok()?.checked_add(1));
        Self { task: number.unwrap_or(waker), is_identified: number.is_some(), ..self }
    }

    /// For an observer: returns this with a number of other holders.
    pub fn beside(self, others: usize) -> Self {
        Self { others: u16::try_from(others).unwrap_or(u16::MAX), ..self }
    }

    /// For an observer: returns this with the given answer to [`may_be_elsewhere`](Self::may_be_elsewhere).
    pub fn sent(self, may_be_elsewhere: bool) -> Self {
        Self { is_elsewhere: may_be_elsewhere, ..self }
    }

    /// Returns `true` if a holder is known.
    pub fn is_known(&self) -> bool {
        self.thread != 0
    }

    /// Returns the actor that acquired the lock: a thread, or a task by its number or the data pointer of its waker. Of several holders, it is
    /// the one that has held the lock longest. Returns `None` if no holder is known, or the holder is a thread that has ended.
    pub fn actor(&self) -> Option<Actor> {
        match (self.task, self.is_identified) {
            (0, _) => self.thread().map(Actor::Thread),
            (task, false) => Some(Actor::Task(task)),
            (number, true) => Some(Actor::Identified(number as u64 - 1)),
        }
    }

    /// Returns the thread on which the lock was acquired; `None` if that thread has ended and is no longer recorded.
    pub fn thread(&self) -> Option<Thread> {
        THREADS.get().and_then(|thread| thread(self.thread))
    }

    /// Returns the call site of the acquisition.
    pub fn site(&self) -> Option<&'static Site> {
        self.site.get()
    }

    /// Returns how long the lock had been held at the deadline, in steps of 10 ms.
    pub fn held(&self) -> Duration {
        Duration::from_millis(u64::from(self.held) * 10)
    }

    /// Returns the number of other holders: readers, or holders of permits.
    pub fn others(&self) -> usize {
        usize::from(self.others)
    }

    /// Returns `true` if the guard may have been sent to another thread or task than the one that acquired the lock.
    pub fn may_be_elsewhere(&self) -> bool {
        self.is_elsewhere
    }
}

/// `held 2.10 s by thread "gc", taken at src/cache.rs:52`, or `nobody is known to hold it`.
impl fmt::Display for HeldBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_known() {
            return f.write_str("nobody is known to hold it");
        }
        let seconds = self.held().as_secs_f64();
        match self.is_elsewhere {
            false => write!(f, "held {seconds:.2} s by ")?,
            true => f.write_str("acquired by ")?,
        }
        match self.actor() {
            Some(Actor::Thread(thread)) => match thread.name() {
                Some(name) => write!(f, "thread {name:?}")?,
                None => write!(f, "a thread without a name, {:?}", thread.id())?,
            },
            None => f.write_str("a thread that has ended")?,
            Some(Actor::Identified(number)) => write!(f, "task {number}")?,
            Some(_) => f.write_str("a task")?,
        }
        if self.is_elsewhere {
            write!(f, " {seconds:.2} s ago")?;
        }
        if let Some(site) = self.site() {
            write!(f, ", taken at {}:{}", site.file(), site.line())?;
        }
        match self.others {
            0 => Ok(()),
            1 => f.write_str(", and by another"),
            others => write!(f, ", and by {others} others"),
        }
    }
}

impl fmt::Debug for HeldBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HeldBy({self})")
    }
}

const _: () = assert!(size_of::<HeldBy>() <= 16 + size_of::<usize>());
