//! The article's lock, on a word of the wasm memory that JavaScript shares.
//!
//! The queue is the engine's: `Atomics.wait` of a worker, in Rust or in JavaScript, and `Atomics.waitAsync` of a page are waiters of one
//! FIFO. The states and their transitions are those of [`waitword::word::AsyncLock`], and its functions ([`states`]); the npm package
//! `waitword` follows the same table.
//!
//! # A future that is dropped
//! Its `waitAsync` cannot be taken back, so the engine may give a notify to a waiter that is gone. Broken:
//! ```text
//!   page                                     worker
//!   ───────────────────────────────          ───────────────────────────────
//!   waitAsync                                holds the lock; another waits behind the page
//!   drops the future
//!                                            unlock: → FREE, notify: the page's wait ends
//!   nobody takes the lock, and the waiter behind sleeps for ever
//! ```
//! *Mended:* the callback outlives the future, and when it is called after it, it **forwards** the wakeup, as in the last row of that table:
//! if the lock is free, it notifies the next one; if another has taken it, that one has to notify when it unlocks.
//!
//! A wait with a deadline is one that the engine ends by itself: it leaves the engine's queue, and eats nothing.
//!
//! # A waiter that does not answer
//! A notify can also reach a page that is busy, or a worker that was terminated: Chromium keeps its wait in the queue for a while, and
//! nobody forwards for it. So waiters **recheck**, as in the npm package: after [`FIRST_RECHECK`], then after intervals that double up to
//! [`LAST_RECHECK`]. A future rechecks in its place; if it takes the lock by that, its wait in the engine is like that of a dropped
//! one. A thread leaves the engine's queue for it, and goes on at the tail.

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::AtomicI32;
use std::task::{Context, Poll, Waker};

use waitword::time::{Duration, Instant};
use waitword::word::states::{self, CONTENDED, FREE};
use waitword::{LockError, NotLocked};
use wasm_bindgen::prelude::*;

use crate::engine::{self, Waited};

/// How long a future waits between two tries where the engine has no `Atomics.waitAsync`.
const RETRY: Duration = Duration::from_millis(4);

/// After how long a waiter first rechecks without having been notified.
const FIRST_RECHECK: Duration = Duration::from_millis(20);
/// The longest time between two rechecks.
const LAST_RECHECK: Duration = Duration::from_secs(1);

/// A mutex on one word that Rust and JavaScript share. The page's JavaScript, its Rust tasks, and workers in either language wait in one queue.
///
/// It has the interface of [`waitword::word::AsyncLock`]. If no JavaScript takes part, prefer that type: its futures need no `waitAsync`
/// each, and a future that is not polled does not delay other waiters for long.
///
/// JavaScript reaches the lock as the word [`index`](Self::index) of an `Int32Array` over the module's memory, with the states of the npm
/// package `waitword`: `0` free, `1` locked, `2` locked and there may be waiters.
///
/// ```ignore
/// static LOCK: AsyncLock = AsyncLock::new();
///
/// // On the page:
/// LOCK.lock_async().await;
/// // In a worker:
/// LOCK.lock();
/// // Both:
/// LOCK.unlock()?;
/// ```
///
/// # Fairness
/// Waiters are notified in FIFO order. A release is not a handoff: another acquirer may take the lock before the notified waiter runs. A page
/// that is notified while it is busy attempts to take the lock when it returns to its event loop. Until then any acquirer may take it, and the
/// waiters behind the page find it free when they recheck: after 20 ms, then at intervals that double up to 1 s. A blocked thread that rechecks
/// moves to the tail of the queue.
#[repr(transparent)]
pub struct AsyncLock {
    word: AtomicI32,
}

impl AsyncLock {
    /// Creates an unlocked lock.
    pub const fn new() -> Self {
        Self { word: AtomicI32::new(FREE) }
    }

    /// Returns the index of the lock's word in an `Int32Array` over the whole memory of the module (`wasm_bindgen::memory()`).
    pub fn index(&self) -> u32 {
        self.word.as_ptr().addr() as u32 / 4
    }

    /// Attempts to acquire the lock without waiting. Returns whether it was acquired.
    #[inline]
    pub fn try_lock(&self) -> bool {
        states::try_lock(&self.word)
    }

    /// Acquires the lock, blocking this agent until it is available.
    ///
    /// # Panics
    /// If it is held and this agent must not block.
    #[track_caller]
    pub fn lock(&self) {
        match self.block(None) {
            Ok(()) => {}
            Err(_) => panic!("this agent must not block: use `AsyncLock::lock_async` here"),
        }
    }

    /// Attempts to acquire the lock, blocking this agent for at most `timeout`.
    ///
    /// # Errors
    /// - [`LockError::TimedOut`] if the lock was not acquired within `timeout`.
    /// - [`LockError::BlockingForbidden`] if the lock is held and this agent must not block.
    pub fn lock_for(&self, timeout: Duration) -> Result<(), LockError> {
        self.block(Instant::now().checked_add(timeout))
    }

    fn block(&self, deadline: Option<Instant>) -> Result<(), LockError> {
        if self.try_lock() {
            return Ok(());
        }
        if !waitword::may_block() {
            return Err(LockError::BlockingForbidden);
        }
        let mut interval = FIRST_RECHECK;
        while !states::take_or_mark(&self.word) {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Err(LockError::TimedOut);
            }
            let span = left.map_or(interval, |left| left.min(interval));
            if let Waited::TimedOut = engine::wait(&self.word, CONTENDED, Some(span)) {
                interval = longer(interval);
            }
        }
        Ok(())
    }

    /// Acquires the lock without blocking this agent. The future makes its first attempt when it is first polled.
    ///
    /// The lock must be `'static`, because the engine's wait may outlive the future.
    ///
    /// # Cancellation
    /// Dropping the future loses no wakeup. The engine may still notify its wait; that wakeup is forwarded to the next waiter when this agent
    /// returns to its event loop.
    pub fn lock_async(&'static self) -> LockAsync {
        LockAsync { lock: self, deadline: None, wait: None, interval: FIRST_RECHECK }
    }

    /// Releases the lock and notifies the first waiter in the queue, if there is one. Any agent may release it.
    ///
    /// # Errors
    /// [`NotLocked`] if the lock is not held.
    #[inline]
    pub fn unlock(&self) -> Result<(), NotLocked> {
        if states::unlock(&self.word)? {
            engine::notify_one(&self.word);
        }
        Ok(())
    }

    /// Returns whether the lock is held at this moment.
    pub fn is_locked(&self) -> bool {
        states::state(&self.word) != FREE
    }

    /// Passes on a wakeup that nobody has used.
    fn forward(&self) {
        if states::forward(&self.word) {
            engine::notify_one(&self.word);
        }
    }
}

impl Default for AsyncLock {
    fn default() -> Self {
        Self::new()
    }
}

/// Formats the current state. Does not wait.
impl fmt::Debug for AsyncLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = states::name(states::state(&self.word));
        f.debug_struct("AsyncLock").field("state", &format_args!("{state}")).finish()
    }
}

/// A wait of the engine, which its callback and its future share.
#[derive(Debug)]
enum Wait {
    /// `is_due`: to recheck.
    Waiting { waker: Waker, is_due: bool },
    /// The engine has ended it; `true`: by a notify.
    Ended(bool),
    /// The future was dropped, or has taken the lock without it.
    Abandoned,
}

impl Wait {
    /// In `after`, the future is to recheck, if it still waits then.
    fn recheck(wait: &Rc<RefCell<Self>>, after: Duration) {
        let wait = Rc::downgrade(wait);
        let on_time = move || {
            let Some(wait) = wait.upgrade() else { return };
            let waker = match &mut *wait.borrow_mut() {
                Self::Waiting { waker, is_due } => {
                    *is_due = true;
                    waker.clone()
                }
                Self::Ended(_) | Self::Abandoned => return,
            };
            waker.wake();
        };
        engine::set_timeout(Closure::once_into_js(on_time).unchecked_ref(), after.as_secs_f64() * 1e3);
    }
}

/// The interval after this one.
fn longer(interval: Duration) -> Duration {
    LAST_RECHECK.min(interval * 2)
}

/// The future of [`AsyncLock::lock_async`].
#[must_use = "futures do nothing unless polled"]
#[derive(Debug)]
pub struct LockAsync {
    lock: &'static AsyncLock,
    deadline: Option<Instant>,
    wait: Option<Rc<RefCell<Wait>>>,
    interval: Duration,
}

/// The future of [`LockAsync::timeout`] and [`LockAsync::deadline`]: [`LockError::TimedOut`] if the lock was not acquired in time.
#[must_use = "futures do nothing unless polled"]
#[derive(Debug)]
pub struct LockAsyncUntil(LockAsync);

impl Future for LockAsync {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.acquire(cx).map(|taken| debug_assert!(taken, "there is no deadline"))
    }
}

impl Future for LockAsyncUntil {
    type Output = Result<(), LockError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.acquire(cx).map(|taken| if taken { Ok(()) } else { Err(LockError::TimedOut) })
    }
}

impl LockAsync {
    /// Limits the wait to `timeout`, counted from this call. A timeout beyond the range of [`Instant`] never expires.
    pub fn timeout(mut self, timeout: Duration) -> LockAsyncUntil {
        self.deadline = Instant::now().checked_add(timeout);
        LockAsyncUntil(self)
    }

    /// Limits the wait to `deadline`.
    pub fn deadline(mut self, deadline: Instant) -> LockAsyncUntil {
        self.deadline = Some(deadline);
        LockAsyncUntil(self)
    }

    /// Ready with whether the lock was taken.
    fn acquire(&mut self, cx: &Context<'_>) -> Poll<bool> {
        match &self.wait {
            None if self.lock.try_lock() => return Poll::Ready(true),
            None => {}
            Some(shared) => {
                let mut wait = shared.borrow_mut();
                match &mut *wait {
                    Wait::Waiting { is_due: true, .. } if states::take_or_mark(&self.lock.word) => {
                        *wait = Wait::Abandoned;
                        return Poll::Ready(true);
                    }
                    Wait::Waiting { waker, is_due } => {
                        waker.clone_from(cx.waker());
                        if std::mem::replace(is_due, false) {
                            self.interval = longer(self.interval);
                            Wait::recheck(shared, self.interval);
                        }
                        return Poll::Pending;
                    }
                    Wait::Ended(_) => {}
                    Wait::Abandoned => unreachable!("by the end of this future"),
                }
            }
        }
        self.wait = None;
        loop {
            if states::take_or_mark(&self.lock.word) {
                return Poll::Ready(true);
            }
            let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Poll::Ready(false);
            }
            if self.wait(left, cx) {
                return Poll::Pending;
            }
        }
    }

    /// Begins a wait of the engine, unless the lock has changed.
    fn wait(&mut self, timeout: Option<Duration>, cx: &Context<'_>) -> bool {
        let wait = Rc::new(RefCell::new(Wait::Waiting { waker: cx.waker().clone(), is_due: false }));
        let (lock, shared) = (self.lock, Rc::clone(&wait));
        let ended = move |result: JsValue| {
            let is_notified = matches!(Waited::from_string(&result), Waited::Notified);
            match shared.replace(Wait::Ended(is_notified)) {
                Wait::Waiting { waker, .. } => waker.wake(),
                Wait::Abandoned if is_notified => lock.forward(),
                Wait::Abandoned | Wait::Ended(_) => {}
            }
        };
        if engine::has_wait_async() {
            let Waited::Pending(promise) = engine::wait_async(&lock.word, CONTENDED, timeout) else {
                return false;
            };
            engine::then(&promise, Closure::once_into_js(ended).unchecked_ref());
            Wait::recheck(&wait, self.interval);
        } else {
            let retry = RETRY.min(timeout.unwrap_or(RETRY)).as_secs_f64() * 1e3;
            engine::set_timeout(Closure::once_into_js(ended).unchecked_ref(), retry);
        }
        self.wait = Some(wait);
        true
    }
}

impl Drop for LockAsync {
    fn drop(&mut self) {
        // Ended by a notify, but not polled since: that is passed on as well.
        if let Some(wait) = &self.wait
            && let Wait::Ended(true) = wait.replace(Wait::Abandoned)
        {
            self.lock.forward();
        }
    }
}
