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

/// The article's lock, shared with JavaScript: a page's plain JavaScript, workers in JavaScript and Rust wait in one queue.
///
/// It has the interface of [`waitword::word::AsyncLock`], which is the one to take where JavaScript has no part in it: its
/// futures cost no `waitAsync` each, and one that is not polled delays nobody for long.
///
/// JavaScript reaches the lock as word [`index`](Self::index) of an `Int32Array` over the memory of the module, and follows the same states
/// (`0` free, `1` locked, `2` locked with waiters), as the npm package `waitword` does.
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
/// Waiters are notified in FIFO order. A release is no handoff: an acquirer that comes at that moment may be faster. A page that is notified
/// while it is busy takes the lock when it returns to its event loop; until then the lock is free for any acquirer, and those behind the
/// page find that out when they recheck: after 20 ms, and then after intervals that double up to a second. A thread goes to the tail of the
/// queue for that.
#[repr(transparent)]
pub struct AsyncLock {
    word: AtomicI32,
}

impl AsyncLock {
    /// A free lock.
    pub const fn new() -> Self {
        Self { word: AtomicI32::new(FREE) }
    }

    /// Its place in an `Int32Array` over the whole memory of the module (`wasm_bindgen::memory()`).
    pub fn index(&self) -> u32 {
        self.word.as_ptr().addr() as u32 / 4
    }

    /// Takes the lock if it is free.
    #[inline]
    pub fn try_lock(&self) -> bool {
        states::try_lock(&self.word)
    }

    /// Takes the lock, and blocks until it is free.
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

    /// As [`lock`](Self::lock); gives up after `timeout`.
    ///
    /// # Errors
    /// [`LockError::TimedOut`]; [`LockError::BlockingForbidden`] if it is held and this agent must not block.
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

    /// Takes the lock: a future. It first tries when it is polled.
    ///
    /// The lock is `'static`, because the engine remembers a wait when the future is long gone.
    ///
    /// # Cancellation
    /// To drop the future before it is ready loses no wakeup: the engine may notify its wait all the same, and that is passed on to the
    /// next waiter when this agent returns to its event loop.
    pub fn lock_async(&'static self) -> LockAsync {
        LockAsync { lock: self, deadline: None, wait: None, interval: FIRST_RECHECK }
    }

    /// Releases the lock, and notifies the waiter that has waited longest, if there is one. Any agent may release it.
    ///
    /// # Errors
    /// [`NotLocked`] when the lock is free.
    #[inline]
    pub fn unlock(&self) -> Result<(), NotLocked> {
        if states::unlock(&self.word)? {
            engine::notify_one(&self.word);
        }
        Ok(())
    }

    /// Whether the lock is held at this moment.
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

/// Shows the state at this moment. Does not wait.
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

/// What [`AsyncLock::lock_async`] returns.
#[must_use = "futures do nothing unless polled"]
#[derive(Debug)]
pub struct LockAsync {
    lock: &'static AsyncLock,
    deadline: Option<Instant>,
    wait: Option<Rc<RefCell<Wait>>>,
    interval: Duration,
}

/// What [`LockAsync::timeout`] and [`LockAsync::deadline`] return: [`LockError::TimedOut`] if the lock was not free by then.
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
    /// Gives up after `timeout`, counted from this call. A timeout beyond what [`Instant`] can hold never expires.
    pub fn timeout(mut self, timeout: Duration) -> LockAsyncUntil {
        self.deadline = Instant::now().checked_add(timeout);
        LockAsyncUntil(self)
    }

    /// Gives up at `deadline`.
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
