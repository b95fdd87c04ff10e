//! The tasks of one agent that are ready to be polled: a stack that any agent pushes onto without a lock.
//!
//! # Invariants
//! - **Q1** A [`Wakeup`] is on the stack, or being pushed, from the swap of `is_ready` that returned `false` until its agent has popped
//!   it; `next` belongs to who does either.
//! - **Q2** A pointer on the stack is a share in its wakeup, made by `Arc::into_raw`.

use std::cell::UnsafeCell;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::task::Wake;

use crate::bell::Bell;

/// What wakes a task: its number, and the way to its agent. The future itself never leaves the agent.
#[derive(Debug)]
pub(crate) struct Wakeup {
    pub(crate) task: usize,
    bell: &'static Bell,
    ready: &'static Ready,
    is_ready: AtomicBool,
    next: UnsafeCell<*const Wakeup>,
}

// SAFETY: `next` has one owner at a time (Q1); the rest is `Send`.
unsafe impl Send for Wakeup {}
// SAFETY: as for `Send` (Q1).
unsafe impl Sync for Wakeup {}

impl Wakeup {
    pub(crate) fn new(task: usize, bell: &'static Bell, ready: &'static Ready) -> Arc<Self> {
        let (is_ready, next) = (AtomicBool::new(false), UnsafeCell::new(ptr::null()));
        Arc::new(Self { task, bell, ready, is_ready, next })
    }

    /// The task is about to be polled: a wake from now on makes it ready again.
    pub(crate) fn begin(&self) {
        self.is_ready.swap(false, Ordering::SeqCst);
    }
}

impl Wake for Wakeup {
    fn wake(self: Arc<Self>) {
        if !self.is_ready.swap(true, Ordering::SeqCst) {
            let bell = self.bell;
            self.ready.push(self);
            bell.ring();
        }
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Most wakes of a task that is ready already end here, without a share.
        if !self.is_ready.load(Ordering::SeqCst) {
            Arc::clone(self).wake();
        }
    }
}

/// The stack.
#[derive(Debug, Default)]
pub(crate) struct Ready(AtomicPtr<Wakeup>);

impl Ready {
    /// Pushes a wakeup that is not on the stack.
    fn push(&self, wakeup: Arc<Wakeup>) {
        let wakeup = Arc::into_raw(wakeup);
        let mut top = self.0.load(Ordering::Relaxed);
        loop {
            // SAFETY: not on the stack yet, so it is ours (Q1), and alive (Q2).
            unsafe { *(*wakeup).next.get() = top };
            match self.0.compare_exchange_weak(top, wakeup.cast_mut(), Ordering::SeqCst, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    /// Takes all, the one that was pushed first in front.
    pub(crate) fn take(&self) -> Vec<Arc<Wakeup>> {
        let mut top = self.0.swap(ptr::null_mut(), Ordering::SeqCst).cast_const();
        let mut taken = Vec::new();
        while !top.is_null() {
            // SAFETY: it was on the stack, and is popped once (Q2).
            let wakeup = unsafe { Arc::from_raw(top) };
            // SAFETY: popped, and not begun yet (Q1).
            top = unsafe { *wakeup.next.get() };
            taken.push(wakeup);
        }
        taken.reverse();
        taken
    }
}
