//! Several locks at a time, in every way that is no potential deadlock.

use std::mem;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Waker};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::runtime::{Builder, Runtime};
use waitword::word::AsyncLock;
use waitword::{
    Condvar, Mutex, MutexGuard, OnceLock, OwnedMutexGuard, RwLock, RwLockUpgradableReadGuard,
    RwLockWriteGuard, Semaphore,
};

use crate::guards::Guards;

/// For waits that give up.
pub(crate) const SOON: Duration = Duration::from_micros(300);

#[derive(Default)]
struct Locks {
    /// These are taken from the first to the last.
    mutexes: [Mutex<u64>; 5],
    rwlocks: [RwLock<u64>; 3],
    bare: [AsyncLock; 3],
    /// Under the gate in any order.
    gate: Mutex<()>,
    gated: [Mutex<u64>; 2],
    /// Read in any order, written alone.
    read: [RwLock<u64>; 2],
    condvar: Condvar,
    notified: Mutex<u64>,
}

/// Threads, and tasks of a runtime with two threads and of one with one.
pub(crate) struct Orders {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    runtime: Runtime,
}

struct Shared {
    locks: Locks,
    guards: Guards,
    permits: Semaphore,
    ends: AtomicBool,
    steps: AtomicU64,
}

pub(crate) struct Random {
    state: u64,
    pub(crate) is_thread: bool,
}

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state % limit as u64) as usize
    }

    fn two(&mut self, of: usize) -> [usize; 2] {
        let first = self.below(of - 1);
        [first, first + 1 + self.below(of - first - 1)]
    }

    pub(crate) async fn yields(&self) {
        if self.is_thread { thread::yield_now() } else { tokio::task::yield_now().await }
    }
}

/// What a thread acquires by the first form, and a task by the second.
macro_rules! take {
    ($random:ident: $lock:expr, $blocks:ident | $awaits:ident within $limit:expr) => {
        if $random.is_thread { $lock.$blocks($limit) } else { $lock.$awaits().timeout($limit).await }
    };
    ($random:ident: $lock:expr, $blocks:ident | $awaits:ident $(, $argument:expr)?) => {
        if $random.is_thread { $lock.$blocks($($argument)?) } else { $lock.$awaits($($argument)?).await }
    };
}
pub(crate) use take;

impl Orders {
    pub(crate) fn start(seed: u64) -> Self {
        let shared = Arc::new(Shared {
            locks: Locks::default(),
            guards: Guards::new(),
            permits: Semaphore::new(3),
            ends: AtomicBool::new(false),
            steps: AtomicU64::new(0),
        });
        let player = |at: u64, is_thread: bool| {
            let state = seed.wrapping_add(at).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            Arc::clone(&shared).run(Random { state, is_thread })
        };
        let mut threads: Vec<_> = (0..3)
            .map(|at| {
                let runs = player(at, true);
                let runs = || runs.now_or_never().expect("a thread suspends nowhere");
                thread::Builder::new().name(format!("orders {at}")).spawn(runs).unwrap()
            })
            .collect();
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
        (3..6).for_each(|at| drop(runtime.spawn(player(at, false))));
        let tasks = [player(6, false), player(7, false)];
        threads.push(thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_time().build().unwrap();
            let tasks = tasks.map(|task| runtime.spawn(task));
            runtime.block_on(async {
                for task in tasks {
                    task.await.unwrap();
                }
            });
        }));
        Self { shared, threads, runtime }
    }

    /// Returns how many steps were taken.
    pub(crate) fn end(self) -> u64 {
        self.shared.ends.store(true, Ordering::Relaxed);
        self.threads.into_iter().for_each(|thread| thread.join().unwrap());
        drop(self.runtime);
        self.shared.steps.load(Ordering::Relaxed)
    }
}

impl Shared {
    async fn run(self: Arc<Self>, mut random: Random) {
        while !self.ends.load(Ordering::Relaxed) {
            self.steps.fetch_add(1, Ordering::Relaxed);
            match random.below(3) {
                0 => self.guards.step(&mut random).await,
                _ => self.step(&mut random).await,
            }
            if !random.is_thread {
                random.yields().await;
            }
        }
    }

    async fn step(&self, random: &mut Random) {
        let locks = &self.locks;
        match random.below(15) {
            0 => {
                let [one, other] = random.two(5);
                let mut one = take!(random: locks.mutexes[one], lock | lock_async);
                random.yields().await;
                *one += *take!(random: locks.mutexes[other], lock | lock_async);
            }
            1 => {
                // Against the order, and gives up.
                let [one, other] = random.two(5);
                let _held = take!(random: locks.mutexes[other], lock | lock_async);
                match random.below(2) {
                    0 => drop(locks.mutexes[one].try_lock()),
                    _ => drop(take!(random: locks.mutexes[one], lock_for | lock_async within SOON)),
                }
            }
            2 => {
                let _first = locks.mutexes[random.below(5)].try_lock();
                let [one, other] = random.two(3);
                let read = take!(random: locks.rwlocks[one], upgradable_read | upgradable_read_async);
                let read = RwLockWriteGuard::downgrade(upgraded(read, random).await);
                drop((take!(random: locks.rwlocks[other], write | write_async), read));
            }
            3 => {
                let [one, other] = random.two(3);
                let _read = take!(random: locks.rwlocks[one], read | read_async);
                random.yields().await;
                drop(take!(random: locks.rwlocks[other], write | write_async));
            }
            4 => {
                let _gate = take!(random: locks.gate, lock | lock_async);
                let one = random.below(2);
                let _held = take!(random: locks.gated[one], lock | lock_async);
                random.yields().await;
                *take!(random: locks.gated[1 - one], lock | lock_async) += 1;
            }
            5 => {
                let one = random.below(2);
                let _held = take!(random: locks.read[one], read | read_async);
                // Behind a writer, which waits for the other reader, a second read would be a deadlock.
                let _other = take!(random: locks.read[1 - one], read_for | read_async within SOON);
            }
            6 => drop(take!(random: locks.read[random.below(2)], write | write_async)),
            7 => fresh(random),
            8 if random.is_thread => self.send_away(random),
            8 => {
                // To another task, which releases it.
                let lock = Arc::new(Mutex::new(0));
                let guard: OwnedMutexGuard<u64> = Arc::clone(&lock).lock_owned_async().await;
                let other = tokio::spawn(async move { drop(guard) });
                drop(locks.mutexes[random.below(5)].lock_async().await);
                let _ = other.await;
            }
            9 => {
                let many = 1 + random.below(3);
                let _permits = take!(random: self.permits, acquire_many | acquire_many_async, many).unwrap();
                *take!(random: locks.notified, lock | lock_async) += 1;
            }
            10 => {
                let _held = take!(random: locks.mutexes[random.below(5)], lock | lock_async);
                let rwlock = &locks.rwlocks[random.below(3)];
                let read = take!(random: rwlock, upgradable_read | upgradable_read_async);
                *upgraded(read, random).await += 1;
            }
            11 if random.is_thread => {
                let mut notified = locks.notified.lock();
                let _ = locks.condvar.wait_for(&mut notified, SOON);
            }
            11 => {
                let guard = locks.notified.lock_async().await;
                let _ = locks.condvar.wait_async(guard).timeout(SOON).await;
            }
            12 => {
                *take!(random: locks.notified, lock | lock_async) += 1;
                locks.condvar.notify_all();
            }
            13 => {
                let [one, other] = random.two(3).map(|at| &locks.bare[at]);
                let _held = take!(random: locks.mutexes[random.below(5)], lock | lock_async);
                take!(random: one, lock | lock_async);
                random.yields().await;
                take!(random: other, lock | lock_async);
                other.unlock().unwrap();
                one.unlock().unwrap();
            }
            _ if random.is_thread => {
                let mut guard = locks.mutexes[random.below(5)].lock();
                MutexGuard::bump(&mut guard);
                MutexGuard::unlocked(&mut guard, || drop(locks.mutexes[0].lock()));
                MutexGuard::unlock_fair(guard);
            }
            _ => {
                // Dropped while it waits, or as it gets the lock.
                let _ = tokio::time::timeout(SOON, locks.mutexes[random.below(5)].lock_async()).await;
                let mut dropped = pin!(locks.mutexes[random.below(5)].lock_async());
                let _ = dropped.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            }
        }
    }

    /// Another thread releases what this one has acquired.
    fn send_away(&self, random: &mut Random) {
        let [one, other] = random.two(5);
        let (sender, receiver) = mpsc::channel::<MutexGuard<'_, u64>>();
        thread::scope(|scope| {
            scope.spawn(move || drop(receiver.recv().unwrap()));
            let _held = self.locks.mutexes[one].lock();
            sender.send(self.locks.mutexes[other].lock()).unwrap();
        });
    }
}

pub(crate) async fn upgraded<'a>(
    read: RwLockUpgradableReadGuard<'a, u64>,
    random: &Random,
) -> RwLockWriteGuard<'a, u64> {
    match random.is_thread {
        true => RwLockUpgradableReadGuard::upgrade(read),
        false => RwLockUpgradableReadGuard::upgrade_async(read).await,
    }
}

/// Locks where others were before, in an order that is only theirs. Some are leaked with their guard, and dropped.
fn fresh(random: &mut Random) {
    let locks = [Box::new(Mutex::new(0)), Box::new(Mutex::new(0))];
    let first = random.below(2);
    {
        let _held = locks[first].lock();
        *locks[1 - first].lock() += 1;
    }
    if random.below(4) == 0 {
        mem::forget(locks[first].lock());
    }
    let (cell, bare) = (Box::new(OnceLock::new()), Box::new(AsyncLock::new()));
    match random.below(3) {
        0 => assert!(cell.get_or_try_init(|| Err::<u64, u64>(*locks[1 - first].lock())).is_err()),
        1 => {
            bare.lock();
            let _ = cell.get_or_init(|| 1);
            bare.unlock().unwrap();
        }
        _ => {
            let init = || {
                bare.lock();
                bare.unlock().unwrap();
                1
            };
            thread::scope(|scope| {
                scope.spawn(|| cell.get_or_init(init));
                cell.get_or_init(init);
            });
        }
    }
    let rwlock = Box::new(RwLock::new(0));
    if random.below(2) == 0 {
        mem::forget(rwlock.read());
    }
}
