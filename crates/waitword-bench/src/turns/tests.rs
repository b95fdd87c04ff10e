//! Each contender takes turns, on threads and as tasks.

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
