//! A shard: one lock, and the queues of the words that hash to it.
//!
//! A [`Section`](super::section::Section) holds the lock; what may only be done under it is a method of the section. Memory is allocated and
//! freed after the lock: a section notes in the [`state`](Queues::state) what is to be done, and its end does that.

use std::fmt;
use std::ptr::NonNull;

use super::bucket::Bucket;
use super::key::{BITS, FIRST_BIT, Key};
use super::lock::Lock;
use super::node::{QUEUED, Waiter, next};
use crate::list::Detached;
use crate::observe::{CLOCK, PASS, extras, ticket_after, ticket_now};
use crate::sync::{MODEL, UnsafeCell, mutant};

/// The minimum number of buckets of a shard. One in a model, so that three words make it grow.
const FEWEST_BUCKETS: usize = if MODEL { 1 } else { 4 };

/// The maximum number of buckets: a key has no more bits for them.
const MOST_BUCKETS: usize = 1 << 24;

/// In [`Queues::state`]: there should be more buckets, or fewer.
const RESIZE: usize = 1;
/// In [`Queues::state`]: a waiter is queued behind one that is signalled or requests a signal, so the watchdog has to run.
pub(super) const WATCH: usize = RESIZE << 1;
/// In [`Queues::state`]: all that is to be done after the lock.
pub(super) const TODO: usize = RESIZE | WATCH;

const _: () = assert!(TODO < 1 << FIRST_BIT, "an occupancy bit has another meaning, too");

/// Whether the watchdog's next pass over the table of the process is set up (`watchdog.rs`). Written when contention comes and goes.
#[cfg(not(waitword_loom))]
pub(crate) static PASSES: std::sync::atomic::AtomicU8 = std::sync::atomic::AtomicU8::new(IDLE);
/// No pass is set up.
#[cfg(not(waitword_loom))]
pub(crate) const IDLE: u8 = 0;
/// The next pass has been set up, or one is under way.
#[cfg(not(waitword_loom))]
pub(crate) const RUNNING: u8 = 1;
/// There will be no pass.
#[cfg(not(waitword_loom))]
pub(crate) const DISABLED: u8 = 2;

/// Held by a snapshot of any table: a shard has one [`Place`].
#[cfg(not(waitword_loom))]
pub(super) static SNAPSHOTS: crate::sync::Mutex<()> = crate::sync::Mutex::new(());

#[cfg(waitword_loom)]
crate::sync::lazy_static! {
    pub(super) static ref SNAPSHOTS: crate::sync::Mutex<()> = crate::sync::Mutex::new(());
}

/// Aligned so that two shards share no cache line, nor a pair of lines that the processor fetches together. Fields are in the order of use:
/// most sections need only the first such pair.
#[repr(C, align(128))]
pub(crate) struct Shard {
    pub(super) lock: Lock,
    pub(super) queues: UnsafeCell<Queues>,
    /// Starts the watchdog. Only the shards of the process's table have one.
    watchdog: Option<fn()>,
}

// SAFETY: `queues` and the nodes linked there are reached only by the holder of `lock` (I2).
unsafe impl Send for Shard {}
// SAFETY: as for `Send` (I2).
unsafe impl Sync for Shard {}

impl Shard {
    pub(crate) fn new(watchdog: Option<fn()>) -> Self {
        Self { lock: Lock::new(), queues: UnsafeCell::new(Queues::new()), watchdog }
    }

    /// Unlocks, and returns what is to be done then.
    #[inline(always)]
    pub(super) fn unlock(&self) -> usize {
        // SAFETY: the caller holds the lock (I2).
        let state = self.queues.with_mut(|queues| unsafe { (*queues).state });
        let todo = state & TODO;
        if todo != 0 {
            // SAFETY: as above.
            self.queues.with_mut(|queues| unsafe { (*queues).state = state & !TODO });
        }
        self.lock.unlock(state & !TODO);
        todo
    }

    /// Does what a section has left. Does not unwind.
    #[cold]
    pub(super) fn follow_up(&self, todo: usize) {
        if todo & RESIZE != 0 {
            self.resize();
        }
        if todo & WATCH != 0
            && let Some(start) = self.watchdog
        {
            start();
        }
    }

    /// Gives the shard as many buckets as it should have, unless another thread was faster. They are allocated and freed without the lock.
    ///
    /// If there is no memory, the old buckets stay. (Nothing may unwind here, because linked nodes are on stacks further up.)
    fn resize(&self) {
        while let Some(size) = self.locked(|queues| queues.better_size()) {
            let Some(mut spare) = empty_buckets(size) else { return };
            self.locked(|queues| {
                if queues.better_size() == Some(size) {
                    queues.rehash(&mut spare);
                }
            });
        }
    }

    fn locked<R>(&self, access: impl FnOnce(&mut Queues) -> R) -> R {
        self.lock.lock();
        // SAFETY: we hold the lock (I2).
        let result = self.queues.with_mut(|queues| access(unsafe { &mut *queues }));
        // The caller does what is to be done.
        self.unlock();
        result
    }
}

fn empty_buckets(size: usize) -> Option<Box<[Bucket]>> {
    let mut buckets = Vec::new();
    buckets.try_reserve_exact(size).ok()?;
    buckets.resize_with(size, Bucket::default);
    Some(buckets.into_boxed_slice())
}

#[repr(C)]
pub(crate) struct Queues {
    pub(crate) buckets: Box<[Bucket]>,
    /// One less than the number of buckets, a power of two. If there are more words than buckets, there should be more buckets.
    mask: usize,
    /// Which words may have waiters: unlocking stores this in the state of the lock. In place of that state's own bits, what is to be done
    /// then: [`RESIZE`], [`WATCH`].
    pub(super) state: usize,
    /// How many words have a queue.
    pub(super) words: usize,
    /// If there are fewer words than this, there should be fewer buckets.
    few: usize,
    /// The ticket of the waiter that was enqueued last.
    last_ticket: u64,
    /// A waiter may be queued behind one that is signalled or requests a signal (`watchdog.rs`).
    pub(crate) watched: bool,
    /// Where a snapshot continues.
    pub(super) place: Place,
    /// The lists of waiters that notifies have detached and not completed yet, as a chain.
    pub(super) detached: Option<NonNull<Detached>>,
    /// For each bit, the number of words with this bit that have a queue.
    words_of: [u32; FIRST_BIT + BITS],
}

impl Queues {
    fn new() -> Self {
        Self {
            buckets: (0..FEWEST_BUCKETS).map(|_| Bucket::default()).collect(),
            mask: FEWEST_BUCKETS - 1,
            state: 0,
            words: 0,
            few: 0,
            last_ticket: 0,
            watched: false,
            words_of: [0; FIRST_BIT + BITS],
            place: Place::default(),
            detached: None,
        }
    }

    #[inline]
    pub(super) fn bucket(&mut self, key: Key) -> &mut Bucket {
        // SAFETY: below the number of buckets.
        unsafe { self.buckets.get_unchecked_mut(key.bucket(self.mask)) }
    }

    /// Puts `node` at the tail of the queue of `key`.
    ///
    /// # Safety
    /// The caller holds the lock of the shard, as for every function here; the node is unlinked and the caller's.
    #[inline(always)]
    pub(super) unsafe fn append(&mut self, key: Key, node: NonNull<Waiter>) {
        let mut ticket = ticket_after(self.last_ticket);
        if extras() != 0 {
            ticket = self.with_extras(ticket);
        }
        self.last_ticket = ticket;
        // SAFETY: as the caller guarantees (I2).
        match unsafe { self.bucket(key).push(key, ticket, node) } {
            None => self.word_came(key),
            // SAFETY: alive, as all in a queue (I1).
            Some(head) => self.watch(unsafe { head.as_ref() }.state() != QUEUED),
        }
    }

    /// What an enqueue has to do while there are [`extras`]. Returns the ticket, at least `next`.
    #[cold]
    fn with_extras(&mut self, next: u64) -> u64 {
        if extras() & PASS != 0 {
            self.state |= WATCH;
        }
        if extras() & CLOCK != 0 { ticket_now().max(next) } else { next }
    }

    /// Takes `node` out of the queue of `head`, which is that of `key`.
    ///
    /// # Safety
    /// As [`append`](Self::append); the node is in that queue.
    #[inline(always)]
    pub(super) unsafe fn remove(&mut self, key: Key, head: NonNull<Waiter>, node: NonNull<Waiter>) {
        // SAFETY: as the caller guarantees (I2).
        unsafe {
            self.place.leaves(head, node);
            if self.bucket(key).remove(head, node) {
                self.word_gone(key);
            }
        }
    }

    /// Moves the first `count` waiters of the queue of `head`, which is that of `key`, to `detached`. Returns how many.
    ///
    /// # Safety
    /// As [`append`](Self::append); `count` is not 0, and `detached` is the caller's.
    pub(super) unsafe fn detach(
        &mut self,
        key: Key,
        head: NonNull<Waiter>,
        count: usize,
        detached: std::pin::Pin<&Detached>,
    ) -> usize {
        // SAFETY: as the caller guarantees (I2).
        unsafe {
            let (counted, gone) = self.bucket(key).detach(head, count, detached.list());
            let head = if gone { None } else { self.bucket(key).find(key) };
            self.place.detached(key, head);
            if gone {
                self.word_gone(key);
            }
            detached.next.set(self.detached.replace(NonNull::from(detached.get_ref())));
            counted
        }
    }

    /// `key` has a queue now.
    #[inline(always)]
    fn word_came(&mut self, key: Key) {
        if self.words > self.mask {
            self.state |= RESIZE;
        }
        self.words += 1;
        let bit = key.bit();
        self.words_of[bit] += 1;
        mutant!("occupancy-bit" => return);
        self.state |= 1 << bit;
    }

    /// `key` has no queue any more.
    #[inline(always)]
    fn word_gone(&mut self, key: Key) {
        self.words -= 1;
        if self.words < self.few {
            self.state |= RESIZE;
        }
        let bit = key.bit();
        self.words_of[bit] -= 1;
        if self.words_of[bit] == 0 {
            self.state &= !(1 << bit);
        }
    }

    /// Notes whether a waiter is queued behind one that is signalled or requests a signal.
    #[inline(always)]
    pub(super) fn watch(&mut self, watched: bool) {
        if watched {
            self.watched = true;
            self.state |= WATCH;
        }
    }

    /// How many buckets there should be, if there are more or fewer.
    fn better_size(&self) -> Option<usize> {
        let size = self.buckets.len();
        if self.words > size && size < MOST_BUCKETS {
            Some(4 * size)
        } else if self.words < self.few {
            Some((size / 4).max(FEWEST_BUCKETS))
        } else {
            None
        }
    }

    /// Moves all queues to `spare` and exchanges the two.
    fn rehash(&mut self, spare: &mut Box<[Bucket]>) {
        for bucket in &mut self.buckets {
            // SAFETY: `self` is reached through the lock (I2); a queue is moved as a whole, and its key is nowhere else.
            unsafe {
                while let Some((key, head)) = bucket.take_queue() {
                    spare[key.bucket(spare.len() - 1)].put_queue(key, head);
                }
            }
        }
        std::mem::swap(&mut self.buckets, spare);
        let size = self.buckets.len();
        self.mask = size - 1;
        self.few = if size == FEWEST_BUCKETS { 0 } else { size.div_ceil(8) };
        self.place.rehashes += 1;
        // A queue may have moved to a bucket that a pass of the watchdog has already checked: another pass is due.
        self.watched = true;
    }

    /// No word has a queue: the buckets were emptied.
    #[cfg(all(unix, not(waitword_loom)))]
    pub(super) fn forget_words(&mut self) {
        (self.words, self.state, self.words_of) = (0, 0, [0; FIRST_BIT + BITS]);
    }
}

/// Where a snapshot continues, if one is under way: at a waiter that is in a queue.
#[derive(Debug, Default)]
pub(super) struct Place {
    pub(super) next: Option<NonNull<Waiter>>,
    /// How often all queues have been moved.
    pub(super) rehashes: u64,
}

impl Place {
    /// `node` is about to leave the queue of `head`.
    ///
    /// # Safety
    /// Both are in that queue, under a lock that the caller holds (I2).
    #[inline(always)]
    unsafe fn leaves(&mut self, head: NonNull<Waiter>, node: NonNull<Waiter>) {
        mutant!("snapshot-removed" => return self.next = None);
        if self.next == Some(node) {
            // SAFETY: as the caller guarantees.
            self.next = unsafe { behind(head, node) };
        }
    }

    /// Waiters at the front of the queue of `key` have been detached; `head` is the head that it has now.
    ///
    /// # Safety
    /// The caller holds the lock, and did while they were detached (I2).
    unsafe fn detached(&mut self, key: Key, head: Option<NonNull<Waiter>>) {
        mutant!("snapshot-detached" => return);
        // SAFETY: queued until just now, under the lock that the caller holds (I2), so alive (I1).
        let is_of_key = |node: &NonNull<Waiter>| unsafe { node.as_ref() }.key() == key;
        if let Some(node) = self.next.filter(is_of_key) {
            // Tickets rise from the head on: what is before the new head was detached.
            // SAFETY: as above, of both.
            let stays = |head: &NonNull<Waiter>| unsafe { !node.as_ref().is_before(head.as_ref()) };
            self.next = head.map(|head| if stays(&head) { node } else { head });
        }
    }
}

/// The waiter behind `node` in the queue of `head`, if it is not the tail.
///
/// # Safety
/// Both are in the same queue, under a lock that the caller holds (I2).
pub(super) unsafe fn behind(head: NonNull<Waiter>, node: NonNull<Waiter>) -> Option<NonNull<Waiter>> {
    // SAFETY: as the caller guarantees.
    let behind = unsafe { next(node) };
    (behind != head).then_some(behind)
}

impl fmt::Debug for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shard").field("lock", &self.lock).finish_non_exhaustive()
    }
}
