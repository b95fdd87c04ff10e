//! Deadlines of async waits: one thread for the process, started with the first of them.
//!
//! The timer knows nothing of the queue. It wakes a future, and the future, polled, finds its deadline passed and asks
//! to leave (`cancel.rs`). So a deadline that ties with a notify is decided where all such ties are.
//!
//! A deadline is a node of the pinned [`Alarm`]; the timer's lock owns its links while it is in the heap.

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::task::Waker;
use std::thread::Thread;
use std::time::Instant;

use crate::heap::{Heap, Node};
use crate::sync::Mutex;
use crate::wake::{Wake, WakeBatch};

static TIMER: Timer =
    Timer { deadlines: Mutex::new(Deadlines { heap: Heap::new(), looks_at: None }), thread: OnceLock::new() };

/// Wakes a task at a given time: what a future with a deadline carries with it.
///
/// It holds one deadline at a time, allocates nothing, and forgets its deadline when it is dropped. All alarms of the
/// process are served by one thread, which calls the wakers: one that blocks holds up all deadlines after it.
///
/// ```
/// use std::future::poll_fn;
/// use std::pin::pin;
/// use std::task::Poll;
/// use std::time::{Duration, Instant};
/// use waitword_core::Alarm;
///
/// # smol::block_on(async {
/// let deadline = Instant::now() + Duration::from_millis(5);
/// let mut alarm = pin!(Alarm::new());
/// poll_fn(|cx| {
///     if Instant::now() >= deadline {
///         return Poll::Ready(());
///     }
///     alarm.as_mut().set(deadline, cx.waker());
///     Poll::Pending
/// })
/// .await;
/// # });
/// ```
pub struct Alarm {
    /// Whether the timer may have a pointer to the node: it was set, and not cleared since.
    set: bool,
    node: UnsafeCell<Node>,
    _pinned: PhantomPinned,
}

// SAFETY: while the node is in the heap it is reached only under the timer's lock; otherwise by the owner, through
// `Pin<&mut Self>`. A `Waker` is `Send`.
unsafe impl Send for Alarm {}
// SAFETY: `&Alarm` gives access to nothing but `set`, which only `Pin<&mut Self>` writes.
unsafe impl Sync for Alarm {}

impl Alarm {
    /// An alarm that is not set.
    pub const fn new() -> Self {
        Self { set: false, node: UnsafeCell::new(Node::new()), _pinned: PhantomPinned }
    }

    /// Has `waker` woken at `deadline` or soon after, instead of what was set before.
    ///
    /// # Panics
    /// If it is the first alarm of the process and the system cannot start a thread.
    pub fn set(self: Pin<&mut Self>, deadline: Instant, waker: &Waker) {
        let mut waker = Some(waker.clone());
        let thread = TIMER.thread();
        let (set, node) = self.project();
        *set = true;
        // SAFETY: pinned, and `clear` takes it out before its memory goes.
        let too_late = unsafe { TIMER.insert(node, deadline, &mut waker) };
        // First of all: others may count on the thread to look as early as this.
        if too_late {
            thread.unpark();
        }
        // The one before; foreign code, so after the lock.
        drop(waker);
    }

    /// Forgets what was set.
    pub fn clear(self: Pin<&mut Self>) {
        let (set, node) = self.project();
        if std::mem::take(set) {
            // SAFETY: it was set, so it is pinned and alive.
            drop(unsafe { TIMER.remove(node) });
        }
    }

    fn project(self: Pin<&mut Self>) -> (&mut bool, NonNull<Node>) {
        // SAFETY: nothing is moved; the node is only handed on as a pointer.
        let this = unsafe { self.get_unchecked_mut() };
        // A cell's pointer is never null.
        (&mut this.set, NonNull::new(this.node.get()).expect("the address of a field"))
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        // SAFETY: if it was set it was pinned, and it is not moved from here on.
        unsafe { Pin::new_unchecked(self) }.clear();
    }
}

impl Default for Alarm {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Alarm").field("set", &self.set).finish_non_exhaustive()
    }
}

struct Timer {
    deadlines: Mutex<Deadlines>,
    thread: OnceLock<Thread>,
}

struct Deadlines {
    heap: Heap,
    /// When the thread looks for itself, or is being unparked to; `None` if it does not.
    ///
    /// Not later than the earliest deadline. It may be earlier, when that one has been cleared: most are, and a look in
    /// vain now and then costs less than an unpark for each.
    looks_at: Option<Instant>,
}

impl Timer {
    /// The timer's thread, started now if it was not.
    fn thread(&'static self) -> &'static Thread {
        self.thread.get_or_init(|| {
            let builder = std::thread::Builder::new().name("waitword-timer".into());
            let spawned = builder.spawn(|| self.run());
            spawned
                .expect("deadlines of async waits need a thread, and the system gave none")
                .thread()
                .clone()
        })
    }

    /// Moves `node` to `deadline` and exchanges its waker. Returns whether the thread looks too late for it, and so has
    /// to be unparked.
    ///
    /// # Safety
    /// The node stays alive and where it is until [`remove`](Self::remove)d.
    unsafe fn insert(&self, mut node: NonNull<Node>, deadline: Instant, waker: &mut Option<Waker>) -> bool {
        let Deadlines { heap, looks_at } = &mut *self.deadlines.lock();
        // SAFETY: alive, says the caller, and the lock is held.
        unsafe {
            std::mem::swap(&mut node.as_mut().waker, waker);
            let linked = node.as_ref().linked;
            if linked && node.as_ref().deadline == Some(deadline) {
                return false;
            }
            if linked {
                heap.remove(node);
            }
            node.as_mut().deadline = Some(deadline);
            heap.insert(node);
        }
        let too_late = looks_at.is_none_or(|looks_at| deadline < looks_at);
        if too_late {
            *looks_at = Some(deadline);
        }
        too_late
    }

    /// Takes `node` out if it is in. Returns its waker, to be dropped without the lock.
    ///
    /// # Safety
    /// The node is alive.
    unsafe fn remove(&self, mut node: NonNull<Node>) -> Option<Waker> {
        let mut deadlines = self.deadlines.lock();
        // SAFETY: alive, says the caller, and the lock is held.
        unsafe {
            if node.as_ref().linked {
                deadlines.heap.remove(node);
            }
            node.as_mut().waker.take()
        }
    }

    /// The thread: wakes who is due, batch by batch, and sleeps until the next.
    fn run(&self) {
        loop {
            let mut batch = WakeBatch::new();
            let next = self.take_due(Instant::now(), &mut batch);
            if !batch.is_empty() {
                batch.ring();
                // There is no caller to tell; the panic hook has.
                batch.discard_panic();
                continue;
            }
            // An earlier deadline unparks us; its token survives if we are not parked yet.
            match next {
                Some(deadline) => crate::sync::thread::park_until(deadline),
                None => crate::sync::thread::park(),
            }
        }
    }

    /// Takes up to a batch of those due out. Returns the deadline of the next, which is when the thread looks again.
    fn take_due(&self, now: Instant, batch: &mut WakeBatch) -> Option<Instant> {
        let Deadlines { heap, looks_at } = &mut *self.deadlines.lock();
        *looks_at = loop {
            let Some(mut first) = heap.first() else { break None };
            // SAFETY: linked, so alive and the lock's: an alarm takes its node out under this lock before it goes.
            unsafe {
                let deadline = first.as_ref().deadline;
                if deadline > Some(now) || batch.is_full() {
                    break deadline;
                }
                heap.remove(first);
                first.as_mut().waker.take().into_iter().for_each(|waker| batch.push(Wake::Task(waker)));
            }
        };
        *looks_at
    }
}
