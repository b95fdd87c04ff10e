//! Two parties that take turns. The turn is 0 or 1; a party waits while it is the other's turn, and then gives the turn back.

use std::future::{Future, poll_fn};
use std::mem;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use waitword_core::wait_async;

use crate::executor::block_on;
use crate::locks::Semaphore;
use crate::queues::Queues;
use crate::words::{OnWord, Parking, Waitword};
use crate::workload::Subject;

/// Taking turns as a thread or as a task, by the way that comes for free or by the other. At first the turn is 0.
pub(crate) trait Turns: Subject {
    /// Blocks while the turn is `turn`.
    fn wait_while(&self, turn: u32) {
        block_on(self.wait_while_async(turn));
    }

    /// Waits while the turn is `turn`.
    fn wait_while_async(&self, turn: u32) -> impl Future<Output = ()> + Send {
        async move { self.wait_while(turn) }
    }

    /// Stores the turn and wakes the party that waits for it.
    fn set(&self, turn: u32);
}

/// The turn is the word.
impl<P: Parking> Turns for OnWord<P> {
    fn wait_while(&self, turn: u32) {
        self.sleep_while(turn);
    }

    fn set(&self, turn: u32) {
        self.word.store(turn, Ordering::SeqCst);
        P::wake_one(&self.word);
    }
}

/// The same by ours alone, for tasks as well.
pub(crate) struct OnOurWord(OnWord<Waitword>);

impl Subject for OnOurWord {
    const NAME: &'static str = Waitword::NAME;

    fn new() -> Self {
        Self(OnWord::new())
    }
}

impl Turns for OnOurWord {
    fn wait_while(&self, turn: u32) {
        self.0.wait_while(turn);
    }

    async fn wait_while_async(&self, turn: u32) {
        while self.0.word.load(Ordering::SeqCst) == turn {
            let _ = wait_async(&self.0.word, turn).await;
        }
    }

    fn set(&self, turn: u32) {
        self.0.set(turn);
    }
}

/// Two semaphores, one for each turn: who sets a turn adds the permit that the party of that turn acquires.
pub(crate) struct BySemaphores<S>([S; 2]);

impl<S: Semaphore> Subject for BySemaphores<S> {
    const NAME: &'static str = S::NAME;

    fn new() -> Self {
        Self([S::with_permits(0), S::with_permits(0)])
    }
}

impl<S: Semaphore> Turns for BySemaphores<S> {
    fn wait_while(&self, turn: u32) {
        mem::forget(self.0[1 - turn as usize].acquire());
    }

    async fn wait_while_async(&self, turn: u32) {
        mem::forget(self.0[1 - turn as usize].acquire_async().await);
    }

    fn set(&self, turn: u32) {
        self.0[turn as usize].add_permit();
    }
}

/// The turn is a flag beside queues that know nothing of it: one for each party, so that neither takes the other's wake.
pub(crate) struct Flagged<Q> {
    turn: AtomicU32,
    queues: Q,
}

impl<Q: Queues> Flagged<Q> {
    fn is(&self, turn: u32) -> bool {
        self.turn.load(Ordering::SeqCst) == turn
    }
}

impl<Q: Queues> Subject for Flagged<Q> {
    const NAME: &'static str = Q::NAME;

    fn new() -> Self {
        Self { turn: AtomicU32::new(0), queues: Q::with_words(2) }
    }
}

impl<Q: Queues> Turns for Flagged<Q> {
    /// A notify that finds no waiter is stored, or the waiter is queued before the flag is checked again (event-listener).
    async fn wait_while_async(&self, turn: u32) {
        while self.is(turn) {
            let wait = self.queues.wait(turn as usize);
            if self.is(turn) {
                wait.await;
            }
        }
    }

    fn set(&self, turn: u32) {
        self.turn.store(turn, Ordering::SeqCst);
        self.queues.notify_one(1 - turn as usize);
    }
}

/// The limit: a flag, and a place for one waker per party.
pub(crate) struct WakerSlot {
    turn: AtomicU32,
    wakers: [Mutex<Option<Waker>>; 2],
}

impl WakerSlot {
    fn waker(&self, turn: u32) -> MutexGuard<'_, Option<Waker>> {
        self.wakers[turn as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subject for WakerSlot {
    const NAME: &'static str = "flag and waker slot (limit)";

    fn new() -> Self {
        Self { turn: AtomicU32::new(0), wakers: Default::default() }
    }
}

impl Turns for WakerSlot {
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

    fn set(&self, turn: u32) {
        self.turn.store(turn, Ordering::SeqCst);
        let waker = self.waker(1 - turn).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locks::peers::{
        AsyncLockSemaphore, FuturesIntrusiveSemaphore, SaaSemaphore, TokioSemaphore, WaitwordSemaphore,
    };
    use crate::queues::{EventListener, FuturesIntrusive, MaitakeQueue, TokioNotify};
    use crate::words::ParkingLotCore;
    #[cfg(target_os = "linux")]
    use crate::words::RawFutex;

    /// This thread asks, another answers.
    fn take_turns<T: Turns>(wait_while: impl Fn(&T, u32) + Sync) {
        const TURNS: usize = 200;
        let turns = T::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..TURNS {
                    wait_while(&turns, 0);
                    turns.set(0);
                }
            });
            for _ in 0..TURNS {
                turns.set(1);
                turns.wait_while(1);
            }
        });
    }

    /// As two threads, and as a thread and a task.
    fn works<T: Turns>() {
        take_turns::<T>(T::wait_while);
        take_turns::<T>(|turns, turn| block_on(turns.wait_while_async(turn)));
    }

    #[test]
    fn threads_and_tasks_take_turns() {
        #[cfg(target_os = "linux")]
        works::<OnWord<RawFutex>>();
        works::<OnWord<ParkingLotCore>>();
        works::<OnOurWord>();
        works::<BySemaphores<WaitwordSemaphore>>();
        works::<BySemaphores<SaaSemaphore>>();
        works::<BySemaphores<AsyncLockSemaphore>>();
        works::<BySemaphores<TokioSemaphore>>();
        works::<BySemaphores<FuturesIntrusiveSemaphore>>();
        works::<WakerSlot>();
        works::<Flagged<EventListener>>();
        works::<Flagged<TokioNotify>>();
        works::<Flagged<FuturesIntrusive>>();
        works::<Flagged<MaitakeQueue>>();
    }
}
