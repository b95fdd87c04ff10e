//! What no queue can be faster than.

use std::future::poll_fn;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use super::{AsyncTurns, Turns};
use crate::block_on::block_on;

/// The system's own wait queue on a word, without a check whether there are waiters.
#[cfg(target_os = "linux")]
pub(crate) struct RawFutex(AtomicU32);

#[cfg(target_os = "linux")]
impl Turns for RawFutex {
    const NAME: &'static str = "raw futex (limit)";

    fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    fn wait_while(&self, turn: u32) {
        while self.0.load(Ordering::SeqCst) == turn {
            crate::platform::futex_wait(&self.0, turn);
        }
    }

    fn set(&self, turn: u32) {
        self.0.store(turn, Ordering::SeqCst);
        crate::platform::futex_wake(&self.0);
    }
}

/// A flag, and a place for one waker per party.
pub(crate) struct WakerSlot {
    turn: AtomicU32,
    wakers: [Mutex<Option<Waker>>; 2],
}

impl WakerSlot {
    fn waker(&self, turn: u32) -> MutexGuard<'_, Option<Waker>> {
        self.wakers[turn as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turns for WakerSlot {
    const NAME: &'static str = "flag and waker slot (limit)";

    fn new() -> Self {
        Self { turn: AtomicU32::new(0), wakers: Default::default() }
    }

    fn wait_while(&self, turn: u32) {
        block_on(self.wait_while_async(turn));
    }

    fn set(&self, turn: u32) {
        self.turn.store(turn, Ordering::SeqCst);
        let waker = self.waker(1 - turn).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl AsyncTurns for WakerSlot {
    async fn wait_while_async(&self, turn: u32) {
        poll_fn(|cx| {
            let mut waker = self.waker(turn);
            if self.turn.load(Ordering::SeqCst) != turn {
                return Poll::Ready(());
            }
            *waker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}
