//! Who was in the way of an acquirer whose time was up: copied out of the record into three words, so that an error can carry it.
//!
//! The holder may release the lock right after it was looked up, or may have done so between the timeout and the look: then there is no
//! record, or that of the next holder. All that is said is true of some moment at the end of the wait.

use std::fmt;
use std::thread::Thread;

use crate::observe::site::PackedSite;
use crate::observe::{Actor, Site, WaitsFor};
use crate::time::Duration;

/// Who held a lock when the time of an acquirer was up; or that nobody is known ([`NONE`](Self::NONE)).
///
/// It is a copy, of three words, that says what was so then. Always [`NONE`](Self::NONE) without the feature `observe`, and while holders are
/// not recorded.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct HeldBy {
    /// The identity of a task, or its number and one; 0: a thread.
    task: usize,
    /// 0: nobody is known.
    thread: u32,
    site: PackedSite,
    /// Hundredths of a second.
    held: u32,
    /// How many others are in the way, and whether the guard may be elsewhere.
    others: u16,
    is_elsewhere: bool,
    is_identified: bool,
}

impl HeldBy {
    /// Nobody is known.
    pub const NONE: Self = Self {
        task: 0,
        thread: 0,
        site: PackedSite::NONE,
        held: 0,
        others: 0,
        is_elsewhere: false,
        is_identified: false,
    };

    /// Whether somebody is known.
    pub fn is_known(&self) -> bool {
        self.thread != 0
    }

    /// What acquired the lock: a thread, or a task by its number or the data pointer of its waker. Of several holders the one that has held it longest.
    /// `None`: nobody is known, or a thread that has ended.
    pub fn actor(&self) -> Option<Actor> {
        match (self.task, self.is_identified) {
            (0, _) => self.thread().map(Actor::Thread),
            (task, false) => Some(Actor::Task(task)),
            (number, true) => Some(Actor::Identified(number as u64 - 1)),
        }
    }

    /// The thread on which it was acquired, if that has not ended long ago.
    pub fn thread(&self) -> Option<Thread> {
        imp::thread(u64::from(self.thread))
    }

    /// Where it was acquired.
    pub fn site(&self) -> Option<&'static Site> {
        self.site.get()
    }

    /// For how long it had been held when the time was up, to 10 ms.
    pub fn held(&self) -> Duration {
        Duration::from_millis(u64::from(self.held) * 10)
    }

    /// How many others held it, too: readers, or holders of permits.
    pub fn others(&self) -> usize {
        usize::from(self.others)
    }

    /// Whether the guard may be with another than the one that acquired it.
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

/// For building locks: who is in the way of an acquirer that wants this of the lock with the word, and whose time is up.
#[cold]
pub fn held_by(word: usize, waits_for: WaitsFor) -> HeldBy {
    imp::held_by(word, waits_for)
}

#[cfg(all(feature = "observe", not(any(waitword_loom, waitword_shuttle))))]
mod imp {
    use super::*;
    use crate::observe::holders::hold::Hold;
    use crate::observe::holders::record::{Entry, TASK};
    use crate::observe::holders::recorder::{recorded, time};
    use crate::observe::holders::seen::is_sent;
    use crate::thread::numbered::{UNKNOWN, thread_of};
    use crate::time::Instant;

    pub(super) fn held_by(word: usize, waits_for: WaitsFor) -> HeldBy {
        let mut others = 0_u16;
        let mut oldest: Option<Entry> = None;
        let in_the_way = |entry: &Entry| entry.hold().is_some_and(|hold| excludes(hold, waits_for));
        for entry in recorded(word).filter(in_the_way) {
            others = others.saturating_add(u16::from(oldest.is_some()));
            if oldest.is_none_or(|oldest| entry.what < oldest.what) {
                oldest = Some(entry);
            }
        }
        oldest.map_or(HeldBy::NONE, |entry| {
            let held = time(entry.what)
                .map_or(Duration::ZERO, |since| Instant::now().saturating_duration_since(since));
            // A number that finds no room is none.
            let number = usize::try_from(entry.number).ok().filter(|number| *number != 0);
            let is_task = entry.what & TASK != 0;
            HeldBy {
                task: if is_task { number.unwrap_or(entry.task) } else { 0 },
                is_identified: is_task && number.is_some(),
                thread: u32::try_from(entry.thread).unwrap_or(UNKNOWN as u32),
                site: PackedSite::new(Some(entry.site)),
                held: u32::try_from(held.as_millis() / 10).unwrap_or(u32::MAX),
                others,
                is_elsewhere: is_sent(&entry),
            }
        })
    }

    /// Whether a lock that is held so cannot be had so. A hold of another kind of lock excludes nothing: that lock was in this memory before.
    fn excludes(held: Hold, wanted: WaitsFor) -> bool {
        match held {
            Hold::Mutex => wanted == WaitsFor::Mutex,
            Hold::Read => matches!(wanted, WaitsFor::Write | WaitsFor::Upgrade),
            Hold::UpgradableRead => matches!(wanted, WaitsFor::Write | WaitsFor::UpgradableRead),
            Hold::Write => matches!(wanted, WaitsFor::Read | WaitsFor::Write | WaitsFor::UpgradableRead),
            Hold::Permits => wanted == WaitsFor::Semaphore,
            Hold::Initialiser => wanted == WaitsFor::OnceLock,
            Hold::AsyncLock => wanted == WaitsFor::AsyncLock,
        }
    }

    pub(super) fn thread(number: u64) -> Option<Thread> {
        thread_of(number)
    }
}

#[cfg(not(all(feature = "observe", not(any(waitword_loom, waitword_shuttle)))))]
mod imp {
    use super::*;

    pub(super) fn held_by(_word: usize, _waits_for: WaitsFor) -> HeldBy {
        HeldBy::NONE
    }

    pub(super) fn thread(_number: u64) -> Option<Thread> {
        None
    }
}

const _: () = assert!(size_of::<HeldBy>() <= 16 + size_of::<usize>());
