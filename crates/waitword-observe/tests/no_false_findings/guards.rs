//! Guards that change, and guards that go elsewhere: upgrades and downgrades, owned and mapped guards, guards that are sent; and waits that
//! end otherwise than by the lock, in a `timeout` or a `select!`.

use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Waker};
use std::thread;

use tokio::time::{sleep, timeout};
use waitword::{
    Mutex, MutexGuard, OwnedMutexGuard, OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard,
    OwnedRwLockWriteGuard, RwLock, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard,
};
use waitword_observe::{Finding, LockName, Name, name};

use crate::orders::{Random, SOON, take, upgraded};

const CROSSED: &str = "crossed";

/// These are taken against each other as well, by waits that end otherwise, and released elsewhere. So there are cycles, and orders of locks,
/// of which a report has to say that they may end.
pub(crate) struct Guards {
    mutexes: [Arc<Mutex<u64>>; 2],
    rwlock: Arc<RwLock<(u64, u64)>>,
    sent: Arc<RwLock<u64>>,
    _names: [Name; 4],
    /// Changed by those that hold nothing else.
    changed: RwLock<u64>,
}

/// Whether all locks of the finding are crossed, and it says what may end it.
pub(crate) fn is_of_crossed(finding: &Finding) -> bool {
    let is_crossed = |lock: &LockName| lock.name.as_deref() == Some(CROSSED);
    match finding {
        Finding::Cycle(cycle) => {
            let mut waits = cycle.members.iter().filter_map(|member| member.waits.as_ref());
            !cycle.is_certain() && waits.all(|wait| is_crossed(&wait.lock))
        }
        Finding::PotentialDeadlock(order) => order.members.iter().all(|member| is_crossed(&member.holds)),
        _ => false,
    }
}

impl Guards {
    pub(crate) fn new() -> Self {
        let mutexes = [Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0))];
        let rwlock = Arc::new(RwLock::new((0, 0)));
        let sent = Arc::new(RwLock::new(0));
        let [one, other] = [&mutexes[0], &mutexes[1]].map(|mutex| name(&**mutex, CROSSED));
        let _names = [one, other, name(&*rwlock, CROSSED), name(&*sent, CROSSED)];
        Self { mutexes, rwlock, sent, _names, changed: RwLock::new(0) }
    }

    /// One of the mutexes, and the other.
    fn two(&self, random: &mut Random) -> [Arc<Mutex<u64>>; 2] {
        let one = random.below(2);
        [one, 1 - one].map(|at| Arc::clone(&self.mutexes[at]))
    }

    pub(crate) async fn step(&self, random: &mut Random) {
        match random.below(7) {
            0 => self.change(random).await,
            1 => {
                // Against each other; one gives up.
                let [one, other] = self.two(random);
                let _held = take!(random: one, lock | lock_async);
                random.yields().await;
                drop(take!(random: other, lock_for | lock_async within SOON));
            }
            2 if random.is_thread => match random.below(3) {
                0 => *self.changed.write() += 1,
                1 => assert!(*self.changed.read() < u64::MAX),
                _ => drop(RwLockUpgradableReadGuard::downgrade(self.changed.upgradable_read())),
            },
            2 => {
                // An upgrade that is dropped while it waits gives the read up.
                let read = self.changed.upgradable_read_async().await;
                let _ = timeout(SOON, RwLockUpgradableReadGuard::upgrade_async(read)).await;
            }
            3 if random.is_thread => {
                // Its parts, released by the thread itself.
                let [one, _] = self.two(random);
                let part = MutexGuard::map(one.lock(), |value| value);
                thread::yield_now();
                drop(part);
                drop(RwLockWriteGuard::map(self.rwlock.write(), |(first, _)| first));
                drop(RwLockReadGuard::map(self.rwlock.read(), |(_, second)| second));
            }
            3 => {
                let [one, other] = self.two(random);
                let _held = one.lock_async().await;
                tokio::select! {
                    guard = other.lock_async() => drop(guard),
                    guard = self.rwlock.write_async() => drop(guard),
                    () = sleep(SOON) => {}
                }
            }
            4 | 6 if random.is_thread => self.send_owned(random),
            4 => {
                // To a task, which waits before it releases it, while this one waits for it.
                let [one, other] = self.two(random);
                let part = OwnedMutexGuard::map(Arc::clone(&one).lock_owned_async().await, |value| value);
                let sent = tokio::spawn(async move {
                    let _part = part;
                    let _ = timeout(SOON, other.lock_async()).await;
                });
                drop(one.lock_async().await);
                sent.await.unwrap();
            }
            5 if random.is_thread => send_borrowed(&self.sent, random),
            5 => {
                // Begun by this task, and awaited by another.
                let [one, _] = self.two(random);
                let mut waits = Box::pin(one.lock_owned_async());
                if waits.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
                    tokio::spawn(async move { drop(waits.await) }).await.unwrap();
                }
            }
            _ => {
                let read = Arc::clone(&self.rwlock).upgradable_read_owned_async().await;
                let sent = tokio::spawn(async move {
                    let write = OwnedRwLockUpgradableReadGuard::upgrade_async(read).await;
                    tokio::task::yield_now().await;
                    drop(OwnedRwLockWriteGuard::downgrade_to_upgradable(write));
                });
                let mut read = pin!(self.rwlock.read_async());
                tokio::select! {
                    guard = &mut read => drop(guard),
                    () = sleep(SOON) => {}
                }
                sent.await.unwrap();
            }
        }
    }

    /// One guard in all the ways that its lock can be held, which begin at one line and in the same 10 ms.
    async fn change(&self, random: &mut Random) {
        let read = take!(random: self.changed, upgradable_read | upgradable_read_async);
        let write = match (random.below(3), random.is_thread) {
            (0, true) => RwLockUpgradableReadGuard::upgrade_for(read, SOON),
            (0, false) => RwLockUpgradableReadGuard::upgrade_async(read).timeout(SOON).await,
            _ => Ok(upgraded(read, random).await),
        };
        if !random.is_thread {
            random.yields().await;
        }
        let read = write.map_or_else(|refused| refused.guard, RwLockWriteGuard::downgrade_to_upgradable);
        let mut write = upgraded(read, random).await;
        *write += 1;
        drop(RwLockWriteGuard::downgrade(write));
    }

    /// Another thread releases it, or a part of it, while this one waits for the same lock, or for the other.
    fn send_owned(&self, random: &mut Random) {
        let [one, other] = self.two(random);
        let sent = match random.below(4) {
            0 => {
                let guard = one.lock_owned();
                thread::spawn(move || drop(guard))
            }
            1 => {
                let part = OwnedMutexGuard::map(one.lock_owned(), |value| value);
                thread::spawn(move || drop(part))
            }
            2 => {
                let write = self.rwlock.write_owned();
                let part = OwnedRwLockWriteGuard::map(write, |(first, _)| first);
                thread::spawn(move || drop(part))
            }
            _ => {
                let read = self.rwlock.upgradable_read_owned();
                thread::spawn(move || {
                    let write = OwnedRwLockUpgradableReadGuard::upgrade(read);
                    let read = OwnedRwLockWriteGuard::downgrade(write);
                    drop(OwnedRwLockReadGuard::map(read, |(_, second)| second));
                })
            }
        };
        match random.below(3) {
            0 => *one.lock() += 1,
            1 => drop(other.lock_for(SOON)),
            _ => drop(self.rwlock.read()),
        }
        sent.join().unwrap();
    }
}

/// Another thread upgrades and releases what this one has acquired. That it has the borrowed guard is not known before it upgrades; so this
/// one reads, which waits for an upgrade alone, or gives up.
fn send_borrowed(lock: &RwLock<u64>, random: &mut Random) {
    let other = Mutex::new(0);
    let (sender, receiver) = mpsc::channel::<RwLockUpgradableReadGuard<'_, u64>>();
    thread::scope(|scope| {
        let other = &other;
        scope.spawn(move || {
            let _held = other.lock();
            let read = receiver.recv().unwrap();
            *RwLockUpgradableReadGuard::upgrade(read) += 1;
        });
        sender.send(lock.upgradable_read()).unwrap();
        match random.below(2) {
            0 => drop(lock.write_for(SOON)),
            _ => assert!(*lock.read() < u64::MAX),
        }
    });
}
