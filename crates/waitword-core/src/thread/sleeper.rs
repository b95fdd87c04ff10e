//! A thread that may sleep, as its notifiers see it; and the tree in which many sleeping threads are woken.
//!
//! # A tree of wakers
//! To wake a sleeping thread is a system call of 2 to 5 µs, and as long again passes until that thread runs. A notifier that woke 64
//! threads by itself would delay the last of them by all of these calls, while the threads that it has woken leave CPUs idle.
//! So it wakes two, and gives each half of the rest. A thread that wakes up first wakes two of those that it was given, and gives
//! these the rest; so no thread wakes more than two of a batch, and the last one of 32 is woken after five steps.
//!
//! ```text
//!                    notifier
//!              ┌────────┴────────┐
//!              1                 2            each is given every other one of the rest,
//!          ┌───┴───┐         ┌───┴───┐        so that the order of wakes is nearly that of the queue
//!          3       5         4       6
//! ```
//! The outcomes are stored before the first wake, in the order of the queue. Only the wakes are dealt out, and only those of threads
//! that sleep in a [`Parker`](super::Parker). A woken thread that gets no CPU (a low priority, a cgroup's quota) delays those below
//! it: in a batch at most 15.
//!
//! A thread that was woken in a crowd sleeps in a room next time, if it has no deadline (`room.rs`). There, one system call wakes several, and
//! the tree is a flat one (`call.rs`).
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
//! *Mended:* giving is a compare-and-exchange of `ASLEEP`, and the way out of the park swaps the same word.
//! ```text
//!   notifier                                 thread 1
//!   ────────────────────────────────         ────────────────────────────────
//!   ASLEEP → "3, 5"; unparks it              swap → AWAKE: has "3, 5", and wakes them
//!   or
//!                                            swap → AWAKE: has nothing
//!   finds AWAKE: keeps 3 and 5
//! ```
//! Between the swap and the wakes it calls nothing that unwinds or blocks.
//!
//! **Two notifiers of one thread** cannot both link it. The second finds it linked and leaves it to the first, which unlinks
//! it *before* the unpark: so that unpark comes after what the second notifier stored.
//! ```text
//!   notifier 1                               notifier 2
//!   ────────────────────────────────         ────────────────────────────────
//!   linked: false → true (A)
//!                                            stores an outcome
//!                                            linked: true → true (B): done
//!   linked: true → false (C), sees (B)
//!   unparks the thread: it finds the outcome
//! ```
//! A blocking wait reads its outcome without the shard's lock, so the orderings of (B) and (C) are all that it has. (A future that is
//! polled again takes the lock.)
//!
//! # Invariants
//! - **P1** `next` belongs to the owner of the chain that the sleeper is linked in: from the swap of `linked` that returned `false`
//!   to the one that stores it.
//! - **P2** A `state` that is neither `AWAKE` nor `ASLEEP` is a share in the first sleeper of a chain, made by `Arc::into_raw`.
//!   The swap that takes it out owns it, and the chain.
//! - **P3** The data of a waker with our [`VTABLE`] is a share in a sleeper, made by `Arc::into_raw`.

use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::task::{RawWaker, RawWakerVTable, Waker};

use crate::time::Instant;

use super::call::{CALLERS, Calls, Given};
use super::room::{CROWD, Call, Seat};
use super::spin;
use super::token::{Sleep, Token};
use crate::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use crate::sync::thread::{self, Thread};
use crate::sync::{MODEL, UnsafeCell, futex, mutant, order};

const AWAKE: *mut Sleeper = ptr::null_mut();
/// It sleeps alone, or is about to, or has just woken up. Not the address of a sleeper, which is aligned.
const ASLEEP: *mut Sleeper = ptr::without_provenance_mut(1);

/// A thread, as its notifiers see it.
#[derive(Debug)]
pub(super) struct Sleeper {
    pub(super) thread: Thread,
    token: Token,
    /// Whether it was woken in a crowd last: then it takes a seat in a room next time.
    is_in_crowd: AtomicBool,
    /// [`AWAKE`], [`ASLEEP`], or asleep and given the first of a chain of threads (P2).
    state: AtomicPtr<Sleeper>,
    /// The same in a room.
    call: Given,
    /// Whether it is in a chain.
    linked: AtomicBool,
    /// The next one there.
    next: UnsafeCell<Option<Arc<Sleeper>>>,
}

// SAFETY: `next` is reached only by the owner of the chain (P1), and a chain may change threads: all else in it is `Send`.
unsafe impl Send for Sleeper {}
// SAFETY: as for `Send` (P1); the rest is atomics, and a handle that is `Sync`.
unsafe impl Sync for Sleeper {}

impl Sleeper {
    pub(super) fn current() -> Self {
        Self {
            thread: thread::current(),
            token: Token::new(),
            is_in_crowd: AtomicBool::new(false),
            state: AtomicPtr::new(AWAKE),
            call: Given::new(),
            linked: AtomicBool::new(false),
            next: UnsafeCell::new(None),
        }
    }

    /// Parks the calling thread, whose sleeper this is, until woken or for no reason.
    pub(super) fn park(&self) {
        match self.is_in_crowd.load(Ordering::Relaxed) && futex::EXISTS {
            true => self.sleep_in_room(),
            false => self.sleep_alone(thread::park),
        }
    }

    /// As [`park`](Self::park), until `deadline` at the latest.
    pub(super) fn park_until(&self, deadline: Instant) {
        self.sleep_alone(|| thread::park_until(deadline));
    }

    /// Sleeps in a room, and makes the call that it was given meanwhile.
    fn sleep_in_room(&self) {
        // No seat is taken for a sleep that ends before it begins.
        if self.token.take() {
            return;
        }
        let seat = Seat::take();
        let changes = seat.changes();
        if !self.token.begin(Sleep::Seated(seat)) {
            return;
        }
        self.call.open();
        mutant!("room-changes-first" => {
            seat.sleep(seat.changes());
            self.call.close();
            return self.token.end();
        });
        seat.sleep(changes);
        let call = self.call.close();
        self.token.end();
        mutant!("given-call" => return);
        call.map(Call::wake);
    }

    /// Sleeps by `park`, and wakes the threads that it was given meanwhile.
    fn sleep_alone(&self, park: impl FnOnce()) {
        if !self.token.begin(Sleep::Alone) {
            return;
        }
        self.state.store(ASLEEP, Ordering::Relaxed);
        park();
        // Pairs with the exchange in `give`.
        let given = self.state.swap(AWAKE, order!(Acquire, "given-acquire"));
        self.token.end();
        if given != ASLEEP {
            mutant!("given-wake" => return);
            // SAFETY: neither `AWAKE`, which only this thread stores, nor `ASLEEP` (P2).
            let given = unsafe { WakeChain::from_first(Arc::from_raw(given)) };
            // These are not the partners of this thread: it learns nothing from them.
            given.wake(Self::end_sleep);
        }
    }

    /// Called by the thread itself, which runs. Its next park ends at once, here or in the standard library.
    pub(super) fn leave_token(&self) {
        // In a room it would not see the other token. If it is told so only later, it is woken after that, and rechecks.
        if self.is_in_crowd.load(Ordering::Relaxed) {
            mutant!("leave-token-in-room" => return self.thread.unpark());
            self.token.notify();
        }
        mutant!("leave-token" => return);
        self.thread.unpark();
    }

    /// Called by others, for this thread alone. A system call if it sleeps.
    pub(super) fn unpark(&self) {
        self.was_in_crowd(false);
        self.wake();
    }

    fn wake(&self) {
        spin::wake(self.token.sleep().is_some(), || self.end_sleep());
    }

    fn end_sleep(&self) {
        self.end_sleep_by(|seat| {
            seat.call().wake();
        });
    }

    /// By `call`, if it sleeps on a seat.
    fn end_sleep_by(&self, call: impl FnOnce(Seat)) {
        match self.token.notify() {
            Some(Sleep::Alone) => self.thread.unpark(),
            Some(Sleep::Seated(seat)) => call(seat),
            None => {}
        }
    }

    /// It is woken, in a crowd or not.
    fn was_in_crowd(&self, in_crowd: bool) {
        // In a model it says so itself.
        if !MODEL && self.is_in_crowd.load(Ordering::Relaxed) != in_crowd {
            self.is_in_crowd.store(in_crowd, Ordering::Relaxed);
        }
    }

    #[cfg(any(waitword_loom, waitword_shuttle))]
    pub(super) fn join_crowd(&self) {
        self.is_in_crowd.store(true, Ordering::Relaxed);
    }

    /// Has this thread wake `chain` when it wakes up. Returns the chain if it is awake, or was given another.
    fn give(&self, mut chain: WakeChain) -> WakeChain {
        let Some(first) = chain.first.take() else { return chain };
        let first = Arc::into_raw(first).cast_mut();
        mutant!("give-to-sleeping" => {
            self.state.store(first, Ordering::Release);
            return WakeChain::default();
        });
        match self.state.compare_exchange(ASLEEP, first, order!(Release, "give-release"), Ordering::Relaxed) {
            Ok(_) => WakeChain::default(),
            Err(_) => {
                // SAFETY: made above, and still ours (P2).
                chain.first = Some(unsafe { Arc::from_raw(first) });
                chain
            }
        }
    }

    /// Wakes it as the owner of the chain that it was popped from.
    fn unlink_and(&self, unpark: impl FnOnce(&Self)) {
        self.unlink();
        unpark(self);
    }

    /// The caller may link it into a chain, and owns it then: it is in none, and nobody else's.
    fn link(&self) -> bool {
        // (A) acquires `next` from its owner before (P1), (B) releases what this notifier stored.
        mutant!("link-release" => return !self.linked.swap(true, Ordering::Acquire));
        !self.linked.swap(true, order!(AcqRel, "link-acquire" => Release))
    }

    /// Before its owner wakes it.
    fn unlink(&self) {
        // (C) acquires what a notifier stored that found it linked, and releases `next`.
        mutant!("unlink-release" => {
            self.linked.swap(false, Ordering::Acquire);
            return;
        });
        self.linked.swap(false, order!(AcqRel, "unlink-acquire" => Release));
    }

    pub(super) fn into_waker(self: Arc<Self>) -> Waker {
        // SAFETY: the functions of the vtable keep the contract of a waker: each handles one share (P3).
        unsafe { Waker::from_raw(raw(self)) }
    }
}

/// Threads that their notifier is about to wake, no more than a batch.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    alone: WakeChain,
    /// The first that sleep in rooms, and the others.
    callers: [Option<Arc<Sleeper>>; CALLERS],
    seated: Calls,
}

impl Threads {
    /// Whether there is no thread to wake.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.alone.first.is_none() && self.callers[0].is_none()
    }

    /// Adds the thread that `waker` wakes, if it sleeps; wakes it if it is awake. Its batch has so many waiters.
    ///
    /// # Panics
    /// If it is not the waker of a thread ([`is_of_thread`]).
    pub(crate) fn add(&mut self, waker: Waker, batch: usize) {
        assert!(is_of_thread(&waker), "not the waker of a thread");
        // SAFETY: our vtable, and its share is ours now (P3).
        let sleeper = unsafe { Arc::from_raw(ManuallyDrop::new(waker).data().cast::<Sleeper>()) };
        sleeper.was_in_crowd(batch >= CROWD);
        match sleeper.token.sleep() {
            None => sleeper.wake(),
            Some(Sleep::Alone) if sleeper.link() => self.alone.push(sleeper),
            Some(Sleep::Alone) => {}
            // It is nobody's partner in taking turns, so nothing is learned from it.
            Some(Sleep::Seated(_)) => self.call(sleeper),
        }
    }

    /// Adds one that sleeps in a room: the first few are to call the others.
    fn call(&mut self, sleeper: Arc<Sleeper>) {
        match self.callers.iter_mut().find(|caller| caller.is_none()) {
            Some(caller) => *caller = Some(sleeper),
            // Woken already, but for the call.
            None => sleeper.end_sleep_by(|seat| self.seated.add(seat)),
        }
    }

    /// Wakes them.
    pub(crate) fn wake_all(mut self) {
        let mut calls = Calls::default();
        for caller in self.callers.into_iter().flatten() {
            if let Some(call) = self.seated.share()
                && !caller.call.give(call)
            {
                call.wake();
            }
            caller.end_sleep_by(|seat| calls.add(seat));
        }
        calls.wake();
        self.seated.wake();
        self.alone.wake(Sleeper::wake);
    }
}

/// Sleeping threads that their owner is about to wake.
#[derive(Debug, Default)]
struct WakeChain {
    first: Option<Arc<Sleeper>>,
    last: Option<NonNull<Sleeper>>,
}

impl WakeChain {
    /// Wakes all threads by `unpark`, two at a time: these wake the others, if they sleep.
    fn wake(mut self, unpark: impl Fn(&Sleeper)) {
        while let Some(first) = self.pop() {
            // In a model each wakes one, so that two threads make a tree.
            let second = if MODEL { None } else { self.pop() };
            let [odd, even] =
                if second.is_some() { self.deal() } else { [std::mem::take(&mut self), Self::default()] };
            self = first.give(odd);
            first.unlink_and(&unpark);
            if let Some(second) = second {
                self.append(second.give(even));
                second.unlink_and(&unpark);
            }
        }
    }

    /// Every other one.
    fn deal(&mut self) -> [Self; 2] {
        let mut parts = <[Self; 2]>::default();
        while let Some(sleeper) = self.pop() {
            parts[0].push(sleeper);
            parts.swap(0, 1);
        }
        parts
    }

    fn append(&mut self, mut other: Self) {
        while let Some(sleeper) = other.pop() {
            self.push(sleeper);
        }
    }

    /// The chain that `first` begins, which the caller owns.
    fn from_first(first: Arc<Sleeper>) -> Self {
        let mut chain = Self::default();
        chain.append(Self { first: Some(first), last: None });
        chain
    }

    /// Links a sleeper that is linked in no other chain.
    fn push(&mut self, sleeper: Arc<Sleeper>) {
        // SAFETY: it is linked by us, or was popped from a chain of ours (P1).
        unsafe { sleeper.next.with_mut(|next| *next = None) };
        match self.last.replace(NonNull::from(&*sleeper)) {
            None => self.first = Some(sleeper),
            // SAFETY: the last of this chain, which owns a share in it; and its `next` (P1).
            Some(last) => unsafe { last.as_ref().next.with_mut(|next| *next = Some(sleeper)) },
        }
    }

    /// Unlinks the first. It counts as linked until its owner wakes it.
    fn pop(&mut self) -> Option<Arc<Sleeper>> {
        let first = self.first.take()?;
        // SAFETY: linked in this chain, which is ours (P1).
        self.first = first.next.with_mut(|next| unsafe { (*next).take() });
        if self.first.is_none() {
            self.last = None;
        }
        Some(first)
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
    // SAFETY: the waker's share stays, and another is made (P3).
    raw(unsafe { Arc::clone(&ManuallyDrop::new(Arc::from_raw(data.cast::<Sleeper>()))) })
}

unsafe fn wake(data: *const ()) {
    // SAFETY: the share of a waker that is used up (P3).
    unsafe { Arc::from_raw(data.cast::<Sleeper>()) }.unpark();
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the waker's share outlives this call (P3).
    unsafe { &*data.cast::<Sleeper>() }.unpark();
}

unsafe fn drop_share(data: *const ()) {
    // SAFETY: the share of a waker that is dropped (P3).
    drop(unsafe { Arc::from_raw(data.cast::<Sleeper>()) });
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn until(what: &str, condition: impl Fn() -> bool) {
        let start = Instant::now();
        while !condition() {
            assert!(start.elapsed() < Duration::from_secs(60), "it never {what}");
            std::thread::yield_now();
        }
    }

    /// A thread that sleeps again and again is woken in several ways.
    #[test]
    fn who_was_woken_in_a_crowd_sleeps_in_a_room_until_it_is_woken_alone() {
        let (send, received) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let (sleeper, is_over) = (Arc::new(Sleeper::current()), Arc::new(AtomicBool::new(false)));
            send.send((Arc::clone(&sleeper), Arc::clone(&is_over))).unwrap();
            while !is_over.load(Ordering::SeqCst) {
                sleeper.park();
            }
        });
        let (sleeper, is_over) = received.recv().unwrap();
        let sleeps_alone = || until("slept alone", || sleeper.token.sleep() == Some(Sleep::Alone));
        let sits = || {
            until("took a seat", || matches!(sleeper.token.sleep(), Some(Sleep::Seated(_))) == futex::EXISTS)
        };
        let wake_in_batch = |batch| {
            let mut threads = Threads::default();
            threads.add(Arc::clone(&sleeper).into_waker(), batch);
            threads.wake_all();
        };
        sleeps_alone();
        wake_in_batch(CROWD - 1);
        sleeps_alone();
        wake_in_batch(CROWD);
        sits();
        wake_in_batch(CROWD);
        sits();
        wake_in_batch(CROWD - 1);
        sleeps_alone();
        wake_in_batch(CROWD);
        sits();
        sleeper.unpark();
        sleeps_alone();
        is_over.store(true, Ordering::SeqCst);
        sleeper.unpark();
        thread.join().unwrap();
    }
}
