//! A thread that may sleep, as its notifiers see it; and the tree in which many sleeping threads are woken.
//!
//! # A tree of wakers
//! Waking a sleeping thread is a system call of 2 to 5 µs, and as long again passes until that thread runs. If a notifier woke 64 threads
//! by itself, the last of them would wait for all of these calls, while CPUs are idle. So the notifier wakes two, and gives each half of
//! the rest. A woken thread first wakes two of the threads that it was given, and gives these the rest. So no thread wakes more than two of
//! a batch, and the last one of 32 is woken after five steps.
//!
//! ```text
//!                    notifier
//!              ┌────────┴────────┐
//!              1                 2            each is given every other one of the rest,
//!          ┌───┴───┐         ┌───┴───┐        so that the order of wakes is nearly that of the queue
//!          3       5         4       6
//! ```
//! The outcomes are stored before the first wake, in the order of the queue. Only the wakes are dealt out, and only those of threads that
//! sleep in a [`Parker`](super::Parker). A woken thread that gets no CPU (a low priority, a cgroup's quota) delays the threads below it: in
//! a batch at most 15.
//!
//! # The race
//! A thread may leave its park at any time: its deadline comes, or another notifier unparks it. Broken:
//! ```text
//!   notifier                                 thread 1
//!   ────────────────────────────────         ────────────────────────────────
//!   thread 1 sleeps                          its deadline comes
//!                                            leaves its park: was given nothing
//!   gives it 3 and 5; unparks it             never parks again: 3 and 5 sleep for ever
//! ```
//! *Mended:* the notifier sets `GIVEN` by a compare-and-exchange that finds the thread `ASLEEP`, and the way out of the park clears `ASLEEP`.
//! ```text
//!   notifier                                 thread 1
//!   ────────────────────────────────         ────────────────────────────────
//!   ASLEEP: sets GIVEN; unparks it           clears ASLEEP, finds GIVEN: wakes 3 and 5
//!   or
//!                                            clears ASLEEP, does not find GIVEN
//!   finds it awake: wakes 3 and 5
//! ```
//! Between clearing `ASLEEP` and the wakes the thread calls nothing that unwinds or blocks.
//!
//! **Two notifiers of one thread** cannot both link it. The second finds `LINKED` set and leaves the wake to the first, which clears
//! `LINKED` *before* it unparks the thread (or has the thread clear it, if it gives it others). So what the second notifier stored happens
//! before the thread leaves its park.
//! ```text
//!   notifier 1                               notifier 2
//!   ────────────────────────────────         ────────────────────────────────
//!   sets LINKED (A)
//!                                            stores an outcome
//!                                            sets LINKED, which was set (B): done
//!   clears LINKED; unparks the thread
//!                     the thread clears ASLEEP, or LINKED (C), and sees (B): it finds the outcome
//! ```
//! A blocking wait reads its outcome without the shard's lock, so it relies on the orderings of (B) and (C) alone. (A future that is polled
//! again takes the lock.)
//!
//! # Invariants
//! - **P1** `below` belongs to the notifier that set `LINKED`, until that sets `GIVEN` or clears `LINKED`; then to the thread, from when it
//!   finds `GIVEN` until it clears both.
//! - **P2** The data of a waker with our [`VTABLE`] is a share (one reference) of a sleeper, made by `Arc::into_raw`.

use std::mem::{ManuallyDrop, take};
use std::ptr;
use std::sync::Arc;
use std::task::{RawWaker, RawWakerVTable, Waker};

use super::spin::{self, SleepCost};
use crate::sync::atomic::{AtomicU8, Ordering};
use crate::sync::thread::{self, Thread};
use crate::sync::{MODEL, UnsafeCell, mutant, order};

/// The thread sleeps, or is about to, or has just woken up.
const ASLEEP: u8 = 1;
/// A notifier is about to wake it.
const LINKED: u8 = 2;
/// The thread wakes those below it when it wakes up.
const GIVEN: u8 = 4;

/// How many threads one thread wakes. In a model one, so that two threads make a tree.
const WAKES: usize = if MODEL { 1 } else { 2 };

/// The roots of trees of threads.
type Tops = [Option<Arc<Sleeper>>; WAKES];

/// A thread, as its notifiers see it.
#[derive(Debug)]
pub(super) struct Sleeper {
    pub(super) thread: Thread,
    /// [`ASLEEP`], [`LINKED`] and [`GIVEN`].
    state: AtomicU8,
    /// Of its sleeps, measured by its notifiers.
    pub(super) cost: SleepCost,
    /// The threads that this one has to wake (P1).
    below: UnsafeCell<Tops>,
}

// SAFETY: `below` is reached only by its owner (P1), and holds what is `Send` and `Sync` but for such a cell.
unsafe impl Send for Sleeper {}
// SAFETY: as for `Send` (P1); the rest is an atomic, and a handle that is `Sync`.
unsafe impl Sync for Sleeper {}

impl Sleeper {
    pub(super) fn current() -> Self {
        Self {
            thread: thread::current(),
            state: AtomicU8::new(0),
            cost: SleepCost::unknown(),
            below: UnsafeCell::new(Tops::default()),
        }
    }

    /// Parks the calling thread, whose sleeper this is, and wakes the threads that it was given meanwhile.
    pub(super) fn while_asleep(&self, park: impl FnOnce()) {
        self.state.fetch_or(ASLEEP, Ordering::Relaxed);
        park();
        // Pairs with `give`: from here on this thread is given nothing. (C) acquires what a notifier stored that found it linked.
        let was_given = self.state.fetch_and(!ASLEEP, order!(Acquire, "given-acquire")) & GIVEN != 0;
        if was_given {
            // SAFETY: given to this thread (P1).
            let below = unsafe { self.below.with_mut(|below| take(&mut *below)) };
            // (C) once more, as it was linked until now; and releases `below`.
            mutant!("given-release" => {
                self.state.fetch_and(!(LINKED | GIVEN), Ordering::Acquire);
                return Self::wake_all(below, |sleeper| sleeper.thread.unpark());
            });
            self.state.fetch_and(!(LINKED | GIVEN), order!(AcqRel, "given-unlink" => Release));
            mutant!("given-wake" => return);
            // None of them is about to answer this thread, so it learns nothing about spinning from their wakes.
            Self::wake_all(below, |sleeper| sleeper.thread.unpark());
        }
    }

    /// In the child of a fork, on its only thread, whose sleeper this is: the notifier that had linked it does not exist, and so does not wake
    /// it. A token ends the next park instead.
    #[cfg(all(unix, not(waitword_loom)))]
    pub(super) fn in_child(&self) {
        if self.state.swap(0, Ordering::Relaxed) & LINKED != 0 {
            // SAFETY: its owner, a notifier, does not exist (P1). What it was about to give is forgotten: those threads do not exist either.
            std::mem::forget(unsafe { self.below.with_mut(|below| take(&mut *below)) });
            self.thread.unpark();
        }
    }

    /// Ends the next park of the calling thread, whose sleeper this is: it runs, so there is nobody to wake.
    pub(super) fn leave_token(&self) {
        mutant!("leave-token" => return);
        self.thread.unpark();
    }

    /// Wakes it, from another thread. A system call if it sleeps.
    pub(super) fn unpark(&self) {
        spin::wake(&self.cost, self.is_asleep(), || self.thread.unpark());
    }

    /// Whether the thread sleeps; the answer may be out of date.
    fn is_asleep(&self) -> bool {
        self.state.load(Ordering::Relaxed) & ASLEEP != 0
    }

    /// Makes the caller the notifier that wakes it. `false`: another one is about to.
    fn link(&self) -> bool {
        // (A) acquires `below` from its owner before (P1), (B) releases what this notifier stored.
        mutant!("link-release" => return self.state.fetch_or(LINKED, Ordering::Acquire) & LINKED == 0);
        self.state.fetch_or(LINKED, order!(AcqRel, "link-acquire" => Release)) & LINKED == 0
    }

    /// By the notifier that linked the thread, which wakes it next.
    fn unlink(&self) {
        // Releases `below`.
        self.state.fetch_and(!LINKED, order!(Release, "unlink-release"));
    }

    /// By the notifier that linked the thread: has it wake those below it when it wakes up. `false`: it is awake.
    fn give(&self) -> bool {
        mutant!("give-to-sleeping" => {
            self.state.fetch_or(GIVEN, Ordering::Release);
            return true;
        });
        let (asleep, order) = (ASLEEP | LINKED, order!(Release, "give-release"));
        self.state.compare_exchange(asleep, asleep | GIVEN, order, Ordering::Relaxed).is_ok()
    }

    /// Wakes the trees, whose threads the caller has linked, or was given.
    fn wake_all(tops: Tops, unpark: fn(&Self)) {
        for sleeper in tops.into_iter().flatten() {
            // SAFETY: the threads of the trees are linked, and not given to anybody else (P1).
            let is_leaf = unsafe { sleeper.below.with_mut(|below| (*below)[0].is_none()) };
            if !is_leaf && sleeper.give() {
                unpark(&sleeper);
                continue;
            }
            // SAFETY: as above (P1).
            let below = unsafe { sleeper.below.with_mut(|below| take(&mut *below)) };
            sleeper.unlink();
            unpark(&sleeper);
            Self::wake_all(below, unpark);
        }
    }

    pub(super) fn into_waker(self: Arc<Self>) -> Waker {
        // SAFETY: the functions of the vtable keep the contract of a waker: each handles one share (P2).
        unsafe { Waker::from_raw(raw(self)) }
    }
}

/// Threads that their notifier is about to wake, no more than a batch.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    tops: Tops,
    len: usize,
}

impl Threads {
    /// Whether there is no thread to wake.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds the thread that `waker` wakes, if it sleeps; wakes it if it is awake.
    ///
    /// # Panics
    /// If it is not the waker of a thread ([`is_of_thread`]).
    pub(crate) fn add(&mut self, waker: Waker) {
        assert!(is_of_thread(&waker), "not the waker of a thread");
        // SAFETY: our vtable, and its share is ours now (P2).
        let sleeper = unsafe { Arc::from_raw(ManuallyDrop::new(waker).data().cast::<Sleeper>()) };
        if !sleeper.is_asleep() {
            sleeper.unpark();
        } else if sleeper.link() {
            // SAFETY: all threads here are linked by us, and not given yet (P1).
            unsafe { insert(&mut self.tops, self.len, sleeper) };
            self.len += 1;
        }
    }

    /// Wakes them.
    pub(crate) fn wake_all(self) {
        Sleeper::wake_all(self.tops, Sleeper::unpark);
    }
}

/// Adds `sleeper` to trees with `len` threads in all: the trees take threads in turn, and so do the subtrees of each.
///
/// # Safety
/// The caller has linked all of these threads, and given them to nobody (P1).
unsafe fn insert(tops: &mut Tops, len: usize, sleeper: Arc<Sleeper>) {
    match &mut tops[len % WAKES] {
        Some(top) => {
            let in_this_tree = len / WAKES - 1;
            // SAFETY: as the caller guarantees; a thread is linked once, so it is not in the tree that this borrows.
            unsafe { top.below.with_mut(|below| insert(&mut *below, in_this_tree, sleeper)) };
        }
        none => *none = Some(sleeper),
    }
}

/// Whether `waker` wakes a thread, in its [`Parker`](super::Parker).
#[inline]
pub(crate) fn is_of_thread(waker: &Waker) -> bool {
    ptr::eq(waker.vtable(), &raw const VTABLE)
}

/// A static: its address tells our wakers from others.
static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_share);

fn raw(sleeper: Arc<Sleeper>) -> RawWaker {
    RawWaker::new(Arc::into_raw(sleeper).cast(), &VTABLE)
}

unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: the waker's share stays, and another is made (P2).
    raw(unsafe { Arc::clone(&ManuallyDrop::new(Arc::from_raw(data.cast::<Sleeper>()))) })
}

unsafe fn wake(data: *const ()) {
    // SAFETY: the share of a waker that is used up (P2).
    unsafe { Arc::from_raw(data.cast::<Sleeper>()) }.unpark();
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the waker's share outlives this call (P2).
    unsafe { &*data.cast::<Sleeper>() }.unpark();
}

unsafe fn drop_share(data: *const ()) {
    // SAFETY: the share of a waker that is dropped (P2).
    drop(unsafe { Arc::from_raw(data.cast::<Sleeper>()) });
}

#[cfg(all(test, not(waitword_loom)))]
mod tests {
    use super::*;
    use crate::thread::is_spin_due;

    /// Only a thread that was awake may answer at once.
    #[test]
    fn a_notifier_learns_whether_the_thread_that_it_wakes_was_asleep() {
        for (state, answers_soon) in [(ASLEEP, false), (0, true)] {
            let learns = move || {
                let sleeper = Sleeper::current();
                sleeper.state.store(state, Ordering::Relaxed);
                sleeper.unpark();
                assert_eq!(is_spin_due(), answers_soon);
            };
            std::thread::spawn(learns).join().unwrap();
        }
    }

    /// Its notifier does not exist in the child: another one has to be able to wake the thread.
    #[cfg(unix)]
    #[test]
    fn a_thread_that_was_linked_when_it_forked_can_be_woken_in_the_child() {
        let woken = std::thread::spawn(|| {
            let sleeper = Arc::new(Sleeper::current());
            assert!(sleeper.link() && !sleeper.link());
            sleeper.in_child();
            // What was under way counts as a wake.
            sleeper.while_asleep(thread::park);
            assert!(sleeper.link(), "as if another notifier were about to wake it");
        });
        woken.join().unwrap();
    }
}
