//! A ring of events: one thread writes, any thread reads meanwhile, and neither waits for the other.
//!
//! The writer overwrites the oldest event. A reader copies the events, and then checks how far the writer has come: what the writer may
//! have overwritten meanwhile is dropped, and counted.
//!
//! ```text
//!   writer, event i                            reader
//!   ──────────────────────────────             ──────────────────────────────
//!   (written == i)                             end = written                      acquires the events before `end`
//!   fence(Release)                       A     copy the slots of start..end       relaxed: perhaps torn
//!   slot[i % N] = event, relaxed               fence(Acquire)                B
//!   written = i + 1, release                   now = written
//!                                              keep only those with now < index + N
//! ```
//! If the copy has a word of event `i`, then the fence B comes after the fence A, so `now >= i`: the copy of event `i - N`, which was in
//! that slot, is dropped. Without A or B the reader may keep two halves of different events.

use waitword_core::observe::Site;

use crate::site_ptr::AtomicSite;
use crate::sync::atomic::{AtomicU64, Ordering, fence};
use crate::sync::{MODEL, mutant, order};

/// How many words a slot has beside the site; their meaning is up to the writer and the reader. In a model two are enough to be torn.
pub(crate) const WORDS: usize = if MODEL { 2 } else { 5 };

/// An event with its number.
pub(crate) type Record = (u64, [u64; WORDS], Option<&'static Site>);

struct Slot {
    words: [AtomicU64; WORDS],
    site: AtomicSite,
}

/// The youngest events, from one writer at a time.
pub(crate) struct Ring {
    slots: Box<[Slot]>,
    /// How many events have been written.
    written: AtomicU64,
}

impl Ring {
    /// An empty ring of `slots` slots.
    pub(crate) fn new(slots: usize) -> Self {
        let slot = |_| Slot { words: std::array::from_fn(|_| AtomicU64::new(0)), site: AtomicSite::none() };
        Self { slots: (0..slots.max(1)).map(slot).collect(), written: AtomicU64::new(0) }
    }

    /// How many events have been written.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Acquire)
    }

    /// Writes an event over the oldest. One thread at a time.
    #[inline]
    pub(crate) fn write(&self, words: [u64; WORDS], site: Option<&'static Site>) {
        let index = self.written.load(Ordering::Relaxed);
        fence(order!(Release, "ring-write-fence" => Acquire)); // A
        let slot = &self.slots[(index % self.slots.len() as u64) as usize];
        for (to, word) in slot.words.iter().zip(words) {
            to.store(word, Ordering::Relaxed);
        }
        slot.site.store(site);
        self.written.store(index + 1, order!(Release, "ring-written"));
    }

    /// How many events have been written, and those from number `first` on that are still there, the oldest first.
    pub(crate) fn read(&self, first: u64) -> (u64, Vec<Record>) {
        let size = self.slots.len() as u64;
        let end = self.written.load(Ordering::Acquire);
        let start = first.max(end.saturating_sub(size));
        let copy = |index: u64| {
            let slot = &self.slots[(index % size) as usize];
            let words = std::array::from_fn(|at| slot.words[at].load(Ordering::Relaxed));
            (index, words, slot.site.load())
        };
        let mut events: Vec<_> = (start..end).map(copy).collect();
        fence(order!(Acquire, "ring-read-fence" => Release)); // B
        let now = self.written.load(Ordering::Relaxed);
        mutant!("ring-overwritten" => return (end, events));
        events.retain(|(index, ..)| now < index + size);
        (end, events)
    }
}
