//! A pending upgrade is a property of its lock, wherever the table of waits has the queues of the two words of an `RwLock`.

use std::future::{Future, pending};
use std::mem;
use std::pin::Pin;
use std::sync::Mutex as StdMutex;
use std::task::Waker;

use waitword::{Mutex, RwLock, RwLockUpgradableReadGuard, RwLockWriteGuard};
use waitword_observe::{Access, Blocks, Holder, Lock, Seen, add_source, cycles as cycles_of, snapshot};

use crate::common::{cycles, ended, is_within, leak, observed, poll, waker};

/// So many that each order of the two queues is among them, as is each distance.
const LOCKS: usize = 64;

struct Waiting<'a>(Pin<Box<dyn Future<Output = ()> + 'a>>, Waker);

fn waits<'a>(task: impl Future<Output = ()> + 'a) -> Waiting<'a> {
    let mut waiting = Waiting(Box::pin(task), waker());
    assert!(poll(waiting.0.as_mut(), &waiting.1).is_pending());
    waiting
}

fn upgrade(lock: &RwLock<u32>) -> Waiting<'_> {
    waits(async {
        let read = lock.upgradable_read_async().await;
        drop(RwLockUpgradableReadGuard::upgrade_async(read).await);
    })
}

/// A reader that goes on, an upgrade that waits for it, and others that wait for both.
#[test]
fn an_upgrade_is_of_its_lock_and_waits_for_the_readers_alone() {
    let _turn = observed();
    let locks: Vec<RwLock<u32>> = (0..LOCKS as u32).map(RwLock::new).collect();
    for lock in &locks {
        let reader = waker();
        let _read = ended(lock.read_async(), &reader);
        let upgrade = upgrade(lock);
        let queued = [
            waits(async { drop(lock.write_async().await) }),
            waits(async { drop(lock.read_async().await) }),
            waits(async { drop(lock.upgradable_read_async().await) }),
        ];
        let seen = snapshot();
        let of: Vec<&Lock> = seen.locks.iter().filter(|seen| is_within(seen.name.address.0, lock)).collect();
        let [seen] = of[..] else { panic!("{of:?}") };
        assert_eq!(seen.upgrade.as_ref().map(|waiter| waiter.wants), Some(Access::Upgrade));
        let wants = [Access::Exclusive, Access::Shared, Access::Upgradable];
        assert_eq!(seen.waiters.iter().map(|waiter| waiter.wants).collect::<Vec<_>>(), wants);
        assert_eq!(seen.waiters.iter().map(|waiter| waiter.position).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(cycles(), []);
        drop((queued, upgrade));
    }
}

/// A reader waits for a mutex whose holder waits for a read of the lock, which the upgrade keeps from it.
#[test]
fn a_deadlock_through_an_upgrade_is_found() {
    let _turn = observed();
    let locks: Vec<RwLock<u32>> = (0..LOCKS as u32).map(RwLock::new).collect();
    for lock in &locks {
        let mutex = Mutex::new(());
        let (meets, first) = (RwLock::new(()), waker());
        let gate = ended(meets.write_async(), &first);
        let mut reader = waits(async {
            let _read = lock.read_async().await;
            drop(meets.read_async().await);
            drop(mutex.lock_async().await);
        });
        let upgrade = upgrade(lock);
        let other = waits(async {
            let _held = mutex.lock_async().await;
            drop(lock.read_async().await);
        });
        assert_eq!(cycles(), [], "the reader goes on");
        drop(gate);
        assert!(poll(reader.0.as_mut(), &reader.1).is_pending());
        let found = cycles();
        let [cycle] = &found[..] else { panic!("{found:?}") };
        assert_eq!(cycle.members.len(), 3, "{cycle:?}");
        let upgrades = |blocks: &Blocks| match blocks {
            Blocks::Upgrades { lock: of } => is_within(of.address.0, lock),
            _ => false,
        };
        assert_eq!(cycle.members.iter().filter(|member| upgrades(&member.blocks)).count(), 1);
        drop((reader, upgrade, other));
    }
}

/// What happens once a snapshot has seen the waiters, and before it sees the holders.
static MEANWHILE: StdMutex<Option<Box<dyn FnOnce() + Send>>> = StdMutex::new(None);

/// The upgrade ends within the second snapshot, which has the wait still, and the hold as that of a reader already.
#[test]
fn an_upgrade_that_becomes_a_read_within_a_snapshot_waits_for_nobody() {
    let _turn = observed();
    let _source = add_source(|| {
        let meanwhile = MEANWHILE.lock().unwrap().take();
        meanwhile.into_iter().for_each(|meanwhile| meanwhile());
        Seen { waiters: Vec::new(), complete: Box::new(|_, _| {}) }
    });
    let lock: &'static RwLock<u32> = leak(RwLock::new(0));
    let reader = waker();
    let read = ended(lock.read_async(), &reader);
    let task = waker();
    let mut upgrades = Box::pin(async move {
        let write = RwLockUpgradableReadGuard::upgrade_async(lock.upgradable_read_async().await).await;
        let _read = RwLockWriteGuard::downgrade(write);
        pending::<()>().await;
    });
    assert!(poll(upgrades.as_mut(), &task).is_pending());
    let first = snapshot();
    *MEANWHILE.lock().unwrap() = Some(Box::new(move || {
        drop(read);
        assert!(poll(upgrades.as_mut(), &task).is_pending());
        mem::forget((upgrades, task));
    }));
    let second = snapshot();
    let seen = second.locks.iter().find(|seen| is_within(seen.name.address.0, lock)).expect("it waits");
    let upgrade = seen.upgrade.as_ref().expect("it waits");
    let is_read = |holder: &Holder| holder.mode == Access::Shared && holder.actor == upgrade.actor;
    assert!(second.holders_of(seen.name.address).any(is_read), "it reads: {second:?}");
    assert_eq!(cycles_of(&first, &second), []);
}
