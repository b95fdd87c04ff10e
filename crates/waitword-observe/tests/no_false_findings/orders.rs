//! Several locks at a time, in every way that is no potential deadlock.

use std::mem;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Waker};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use waitword::{
    AsyncLock, Condvar, Mutex, MutexGuard, OnceLock, OwnedMutexGuard, RwLock, RwLockUpgradableReadGuard,
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

pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    fn two(&mut self, of: usize) -> [usize; 2] {
        let first = self.below(of - 1);
        [first, first + 1 + self.below(of - first - 1)]
    }
}

impl Orders {
    pub(crate) fn start(seed: u64) -> Self {
        let shared = Arc::new(Shared {
            locks: Locks::default(),
            guards: Guards::new(),
            permits: Semaphore::new(3),
            ends: AtomicBool::new(false),
            steps: AtomicU64::new(0),
        });
        let random = |at: u64| Random(seed.wrapping_add(at).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut threads: Vec<_> = (0..3)
            .map(|at| {
                let (shared, random) = (Arc::clone(&shared), random(at));
                let name = format!("orders {at}");
                thread::Builder::new().name(name).spawn(move || shared.as_thread(random)).unwrap()
            })
            .collect();
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
        for at in 3..6 {
            runtime.spawn(Arc::clone(&shared).as_task(random(at)));
        }
        let alone = Arc::clone(&shared);
        let tasks = [random(6), random(7)];
        threads.push(thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_time().build().unwrap();
            let tasks = tasks.map(|random| runtime.spawn(Arc::clone(&alone).as_task(random)));
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
    fn goes_on(&self) -> bool {
        self.steps.fetch_add(1, Ordering::Relaxed);
        !self.ends.load(Ordering::Relaxed)
    }

    fn as_thread(&self, mut random: Random) {
        while self.goes_on() {
            match random.below(3) {
                0 => self.guards.step(&mut random),
                _ => self.step(&mut random),
            }
        }
    }

    fn step(&self, random: &mut Random) {
        let locks = &self.locks;
        match random.below(14) {
            0 => {
                let [one, other] = random.two(5);
                let mut one = locks.mutexes[one].lock();
                *one += *locks.mutexes[other].lock();
            }
            1 => {
                // Against the order, and gives up.
                let [one, other] = random.two(5);
                let _held = locks.mutexes[other].lock();
                match random.below(2) {
                    0 => drop(locks.mutexes[one].try_lock()),
                    _ => drop(locks.mutexes[one].lock_for(SOON)),
                }
            }
            2 => {
                let _first = locks.mutexes[random.below(5)].try_lock();
                let [one, other] = random.two(3);
                let read = locks.rwlocks[one].upgradable_read();
                let write = RwLockUpgradableReadGuard::upgrade(read);
                let read = RwLockWriteGuard::downgrade(write);
                drop((locks.rwlocks[other].write(), read));
            }
            3 => {
                let _gate = locks.gate.lock();
                let one = random.below(2);
                let _held = locks.gated[one].lock();
                *locks.gated[1 - one].lock() += 1;
            }
            4 => {
                let one = random.below(2);
                let _held = locks.read[one].read();
                // Behind a writer, which waits for the other reader, a second read would be a deadlock.
                let _other = locks.read[1 - one].read_for(SOON);
            }
            5 => drop(locks.read[random.below(2)].write()),
            6 => fresh(random),
            7 => self.send_away(random),
            8 => {
                let _permits = self.permits.acquire_many(1 + random.below(3)).unwrap();
                *locks.notified.lock() += 1;
            }
            9 => {
                let mut notified = locks.notified.lock();
                let _ = locks.condvar.wait_for(&mut notified, SOON);
            }
            10 => {
                *locks.notified.lock() += 1;
                locks.condvar.notify_all();
            }
            11 => {
                let _held = locks.mutexes[random.below(5)].lock();
                let read = locks.rwlocks[random.below(3)].upgradable_read();
                *RwLockUpgradableReadGuard::upgrade(read) += 1;
            }
            12 => {
                let [one, other] = random.two(3).map(|at| &locks.bare[at]);
                let _held = locks.mutexes[random.below(5)].lock();
                one.lock();
                other.lock();
                other.unlock().unwrap();
                one.unlock().unwrap();
            }
            _ => {
                let mut guard = locks.mutexes[random.below(5)].lock();
                MutexGuard::bump(&mut guard);
                MutexGuard::unlocked(&mut guard, || drop(locks.mutexes[0].lock()));
                MutexGuard::unlock_fair(guard);
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

    async fn as_task(self: Arc<Self>, mut random: Random) {
        while self.goes_on() {
            match random.below(3) {
                0 => self.guards.step_async(&mut random).await,
                _ => self.step_async(&mut random).await,
            }
            tokio::task::yield_now().await;
        }
    }

    async fn step_async(&self, random: &mut Random) {
        let locks = &self.locks;
        match random.below(12) {
            0 => {
                let [one, other] = random.two(5);
                let mut one = locks.mutexes[one].lock_async().await;
                tokio::task::yield_now().await;
                *one += *locks.mutexes[other].lock_async().await;
            }
            1 => {
                let [one, other] = random.two(5);
                let _held = locks.mutexes[other].lock_async().await;
                drop(locks.mutexes[one].lock_async_for(SOON).await);
            }
            2 => {
                // Dropped while it waits, or as it gets the lock.
                let _ = tokio::time::timeout(SOON, locks.mutexes[random.below(5)].lock_async()).await;
            }
            3 => {
                let mut dropped = pin!(locks.mutexes[random.below(5)].lock_async());
                let _ = dropped.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            }
            4 => {
                let [one, other] = random.two(3);
                let _read = locks.rwlocks[one].read_async().await;
                tokio::task::yield_now().await;
                drop(locks.rwlocks[other].write_async().await);
            }
            5 => {
                let _gate = locks.gate.lock_async().await;
                let one = random.below(2);
                let _held = locks.gated[one].lock_async().await;
                tokio::task::yield_now().await;
                *locks.gated[1 - one].lock_async().await += 1;
            }
            6 => {
                // To another task, which releases it.
                let lock = Arc::new(Mutex::new(0));
                let guard: OwnedMutexGuard<u64> = Arc::clone(&lock).lock_owned_async().await;
                let other = tokio::spawn(async move { drop(guard) });
                drop(locks.mutexes[random.below(5)].lock_async().await);
                let _ = other.await;
            }
            7 => {
                let _permits = self.permits.acquire_async().await.unwrap();
                *locks.notified.lock_async().await += 1;
            }
            8 => {
                let guard = locks.notified.lock_async().await;
                let _ = locks.condvar.wait_async_for(guard, SOON).await;
            }
            9 => {
                let [one, other] = random.two(3).map(|at| &locks.bare[at]);
                one.lock_async().await;
                tokio::task::yield_now().await;
                other.lock_async().await;
                other.unlock().unwrap();
                one.unlock().unwrap();
            }
            10 => {
                let _held = locks.mutexes[random.below(5)].lock_async().await;
                let read = locks.rwlocks[random.below(3)].upgradable_read_async().await;
                *RwLockUpgradableReadGuard::upgrade_async(read).await += 1;
            }
            _ => fresh(random),
        }
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
