//! Two parties that take turns: the contenders of the round trips.
//!
//! The turn is a word that is 0 or 1. A party waits while it is the other's turn, and then hands it back.

mod flagged;
mod limits;
mod parking_lot_core;
mod waitword;

use std::future::Future;

pub(crate) use flagged::{Events, Flagged};
#[cfg(target_os = "linux")]
pub(crate) use limits::RawFutex;
pub(crate) use limits::WakerSlot;
pub(crate) use parking_lot_core::ParkingLotCore;
pub(crate) use waitword::Waitword;

/// Taking turns as a thread.
pub(crate) trait Turns: Send + Sync + Sized + 'static {
    /// How the tables call it.
    const NAME: &'static str;

    /// The turn is 0.
    fn new() -> Self;

    /// Blocks while the turn is `turn`.
    fn wait_while(&self, turn: u32);

    /// Makes it the turn of whoever waits while it is not.
    fn set(&self, turn: u32);
}

/// Taking turns as a task.
pub(crate) trait AsyncTurns: Turns {
    /// Waits while the turn is `turn`.
    fn wait_while_async(&self, turn: u32) -> impl Future<Output = ()> + Send;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_on::block_on;
    use crate::queues::{FuturesIntrusive, MaitakeQueue, TokioNotify};

    const TURNS: usize = 200;

    fn threads<T: Turns>() {
        let turns = T::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..TURNS {
                    turns.wait_while(0);
                    turns.set(0);
                }
            });
            for _ in 0..TURNS {
                turns.set(1);
                turns.wait_while(1);
            }
        });
    }

    fn thread_and_task<T: AsyncTurns>() {
        let turns = T::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                block_on(async {
                    for _ in 0..TURNS {
                        turns.wait_while_async(0).await;
                        turns.set(0);
                    }
                });
            });
            for _ in 0..TURNS {
                turns.set(1);
                turns.wait_while(1);
            }
        });
    }

    #[test]
    fn threads_take_turns() {
        threads::<Waitword>();
        threads::<ParkingLotCore>();
        threads::<Events>();
        #[cfg(target_os = "linux")]
        threads::<RawFutex>();
    }

    #[test]
    fn threads_and_tasks_take_turns() {
        thread_and_task::<Waitword>();
        thread_and_task::<WakerSlot>();
        thread_and_task::<Events>();
        thread_and_task::<Flagged<TokioNotify>>();
        thread_and_task::<Flagged<FuturesIntrusive>>();
        thread_and_task::<Flagged<MaitakeQueue>>();
    }
}
