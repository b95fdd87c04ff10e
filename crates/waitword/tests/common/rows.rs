//! The table of locks: a row for each thing that can be waited for.
#![allow(dead_code, reason = "each test file uses another part")]
#![deny(unfulfilled_lint_expectations)]

use std::convert::Infallible;
use std::future::Future as _;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use smol::future::yield_now;
use waitword::word::AsyncLock;
use waitword::*;
use waitword_core::observe::WaitsFor;

use super::common::law::*;
use super::common::waiters;

pub(crate) fn mutex() -> Row<Mutex<()>> {
    let ways = ways! { lock: Mutex<()> => lock;
        attempts [try_lock, try_lock_owned] ();
        blocks [lock, lock_for, lock_until => lock_async] ();
        blocks [lock_owned => lock_owned_async] ();
        awaits [lock_async, lock_owned_async] ();
    };
    Row::new(WaitsFor::Mutex, ways, Arc::default, |lock| opener(lock.lock()))
}

got! {
    Mutex<()>: MutexGuard<'a, ()>, OwnedMutexGuard<()> => |mutex, _guard| mutex.is_locked() && mutex.try_lock().is_none()
}

/// Of a guard that lets go of its mutex while it runs something, the wait for it afterwards.
pub(crate) fn unlocked() -> Row<Mutex<()>> {
    let ways = ways! { lock: Mutex<()> => lock;
        awaits_untimed [lock_and_let_go] ();
    };
    Row { ways, others: mutex().ways, ..mutex() }
}

trait LockAndLetGo {
    fn lock_and_let_go(&self) -> impl Future<Output = MutexGuard<'_, ()>> + Send;
}

impl LockAndLetGo for Mutex<()> {
    async fn lock_and_let_go(&self) -> MutexGuard<'_, ()> {
        MutexGuard::unlocked_async(self.lock_async().timeout(FAR).await.unwrap(), async || ()).await.0
    }
}

pub(crate) const FAR: Duration = Duration::from_secs(3600);

pub(crate) fn reader() -> Row<RwLock<()>> {
    let ways = ways! { lock: RwLock<()> => lock;
        attempts [try_read, try_read_owned] ();
        blocks [read, read_for, read_until => read_async] ();
        blocks [read_owned => read_owned_async] ();
        awaits [read_async, read_owned_async] ();
    };
    Row::new(WaitsFor::Read, ways, Arc::default, |lock| opener(lock.write()))
}

pub(crate) fn upgradable_reader() -> Row<RwLock<()>> {
    let ways = ways! { lock: RwLock<()> => lock;
        attempts [try_upgradable_read, try_upgradable_read_owned] ();
        blocks [upgradable_read, upgradable_read_for, upgradable_read_until => upgradable_read_async] ();
        blocks [upgradable_read_owned => upgradable_read_owned_async] ();
        awaits [upgradable_read_async, upgradable_read_owned_async] ();
    };
    Row::new(WaitsFor::UpgradableRead, ways, Arc::default, |lock| opener(lock.upgradable_read()))
}

/// Behind a reader.
pub(crate) fn writer() -> Row<RwLock<()>> {
    let ways = ways! { lock: RwLock<()> => lock;
        attempts [try_write, try_write_owned] ();
        blocks [write, write_for, write_until => write_async] ();
        blocks [write_owned => write_owned_async] ();
        awaits [write_async, write_owned_async] ();
    };
    Row::new(WaitsFor::Write, ways, Arc::default, |lock| opener(lock.read()))
}

/// Behind a writer.
pub(crate) fn writers() -> Row<RwLock<()>> {
    Row { close: |lock| opener(lock.write()), ..writer() }
}

/// Of an upgradable reader, beside a reader.
pub(crate) fn upgrade() -> Row<RwLock<()>> {
    use {OwnedRwLockUpgradableReadGuard as Owned, RwLockUpgradableReadGuard as Upgradable};
    let ways = ways! { lock: RwLock<()> => lock;
        by [try_upgrade] (Attempt(|lock, _| Upgradable::try_upgrade(lock.upgradable_read()).ok().ended(lock)));
        by [upgrade]
            (Thread(|lock, _| Upgradable::upgrade(lock.upgradable_read()).ended(lock), Some("`upgrade_async`")));
        by [upgrade_for] (Thread(|lock, time| Upgradable::upgrade_for(lock.upgradable_read(), time).ended(lock), None));
        by [upgrade_until]
            (Thread(|lock, time| Upgradable::upgrade_until(lock.upgradable_read(), at(time)).ended(lock), None));
        awaiting [upgrade_async] (Upgradable::upgrade_async(lock.upgradable_read()));
        awaiting [upgrade_owned_async] (Owned::upgrade_async(lock.upgradable_read_owned()));
    };
    Row {
        others: writer().ways,
        ..Row::new(WaitsFor::Upgrade, ways, Arc::default, |lock| opener(lock.read()))
    }
}

/// Readers and writers wait behind a writer, and `beside` them others that read or write.
fn of_both_kinds(beside: Vec<Way<RwLock<()>>>) -> Row<RwLock<()>> {
    let of = |mut row: Row<RwLock<()>>, place: usize| {
        let place = row.ways.iter().position(|way| way.is_task()).unwrap() + place;
        row.ways.swap_remove(place)
    };
    // The fifth is an owned one with a deadline.
    let ways = vec![of(reader(), 0), of(writer(), 0), of(reader(), 5), of(upgradable_reader(), 0)];
    Row { ways, others: writer().ways, beside, ..writers() }
}

pub(crate) fn both_kinds_beside_readers() -> Row<RwLock<()>> {
    of_both_kinds(reader().ways)
}

pub(crate) fn both_kinds_beside_writers() -> Row<RwLock<()>> {
    of_both_kinds(writer().ways)
}

got! {
    RwLock<()>: RwLockReadGuard<'a, ()>, OwnedRwLockReadGuard<()> =>
    |lock, _guard| lock.try_read_recursive().is_some() && lock.try_write().is_none()
}
got! {
    RwLock<()>: RwLockUpgradableReadGuard<'a, ()>, OwnedRwLockUpgradableReadGuard<()> =>
    |lock, _guard| lock.try_read_recursive().is_some() && lock.try_upgradable_read().is_none() && lock.try_write().is_none()
}
got! {
    RwLock<()>: RwLockWriteGuard<'a, ()>, OwnedRwLockWriteGuard<()> =>
    |lock, _guard| lock.is_write_locked() && lock.try_read().is_none()
}

/// Of one permit, which is held.
pub(crate) fn permit() -> Row<Semaphore> {
    let ways = ways! { semaphore: Semaphore => semaphore;
        attempts [try_acquire, try_acquire_owned] ();
        blocks [acquire, acquire_for, acquire_until => acquire_async] ();
        blocks [acquire_owned => acquire_owned_async] ();
        awaits [acquire_async, acquire_owned_async] ();
    };
    Row {
        stays_open: |semaphore| semaphore.available_permits() == 1,
        ..Row::new(
            WaitsFor::Semaphore,
            ways,
            || Arc::new(Semaphore::new(1)),
            |semaphore| opener(semaphore.acquire()),
        )
    }
}

/// Of three permits, of which one is held.
pub(crate) fn permits() -> Row<Semaphore> {
    let ways = ways! { semaphore: Semaphore => semaphore;
        attempts [try_acquire_many, try_acquire_many_owned] (3);
        blocks [acquire_many => acquire_many_async] (3);
        blocks [acquire_many_owned => acquire_many_owned_async] (3);
        awaits [acquire_many_async, acquire_many_owned_async] (3);
    };
    let three = || Arc::new(Semaphore::new(3));
    Row {
        ways,
        open: three,
        closed: three,
        stays_open: |semaphore| semaphore.available_permits() == 3,
        ..permit()
    }
}

got! {
    Semaphore: SemaphorePermit<'a>, OwnedSemaphorePermit =>
    |semaphore, permits| semaphore.available_permits() == 0 && matches!(permits.num_permits(), 1 | 3)
}

pub(crate) fn async_lock() -> Row<AsyncLock> {
    let ways = ways! { lock: AsyncLock => lock;
        attempts [try_lock] ();
        blocks [lock, lock_for, lock_until => lock_async] ();
        awaits [lock_async] ();
    };
    Row::new(WaitsFor::AsyncLock, ways, Arc::default, |lock| {
        lock.lock();
        opener(Unlocks(lock))
    })
}

/// Has taken the lock without a guard.
struct Unlocks<'a>(&'a AsyncLock);

impl Drop for Unlocks<'_> {
    fn drop(&mut self) {
        self.0.unlock().unwrap();
    }
}

impl<'a> Got<'a, AsyncLock> for () {
    fn ended(self, lock: &'a Arc<AsyncLock>) -> Ended<'a> {
        assert!(lock.is_locked() && !lock.try_lock());
        Ok(held(Unlocks(lock)))
    }
}

/// Of callbacks, which run with it and release it.
pub(crate) fn callback() -> Row<AsyncLock> {
    struct Ran;
    got!(AsyncLock: Ran => |lock, _ran| !lock.is_locked());
    let ways = ways! { lock: AsyncLock => lock;
        awaits_untimed [execute_locked] (|| Ran);
        awaits_untimed [execute_locked_async] (async || Ran);
    };
    Row { ways, others: async_lock().ways, ..async_lock() }
}

pub(crate) fn event() -> Row<Event> {
    let mut ways = ways! { event: Event => event;
        attempts [try_wait] ();
        blocks [wait, wait_for, wait_until => wait_async] ();
        awaits [wait_async, wait_owned_async] ();
    };
    macro_rules! listens {
        ($listen:ident => $instead:literal) => {
            ways.extend(ways! { event: Event => event;
                by [try_wait] (Attempt(|event, _| pin!(event.$listen()).try_wait().ended(event)));
                by [wait] (Thread(|event, _| pin!(event.$listen()).wait().ended(event), Some($instead)));
                by [wait_for] (Thread(|event, time| pin!(event.$listen()).wait_for(time).ended(event), None));
                by [wait_until] (Thread(|event, time| pin!(event.$listen()).wait_until(at(time)).ended(event), None));
            })
        };
    }
    listens!(listen => "`Event::wait_async`");
    listens!(listen_owned => "`Event::wait_owned_async`");
    Row {
        open: || {
            let event = Event::new();
            event.notify_one();
            Arc::new(event)
        },
        stays_open: |_| false,
        waiters: Event::waiters,
        // Whether a wait that panicked has had its wakeup or not: it is not stored twice, and a later one is.
        is_as_before: |event| {
            event.notify_one();
            event.try_wait() && !event.try_wait()
        },
        ..Row::new(WaitsFor::Event, ways, Arc::default, |event| Box::new(|| _ = event.notify_one()))
    }
}

got!(Event: () => |_event, _got| true);

pub(crate) fn wait_group() -> Row<WaitGroup> {
    let ways = ways! { group: WaitGroup => group;
        attempts [try_wait] ();
        blocks [wait, wait_for, wait_until => wait_async] ();
        awaits [wait_async, wait_owned_async] ();
    };
    Row {
        waiters: WaitGroup::waiters,
        ..Row::new(WaitsFor::WaitGroup, ways, Arc::default, |group| opener(group.add()))
    }
}

got!(WaitGroup: () => |group, _got| group.count() == 0);

pub(crate) fn barrier() -> Row<Barrier> {
    let ways = ways! { barrier: Barrier => barrier;
        attempts [try_wait] ();
        blocks [wait, wait_for, wait_until => wait_async] ();
        awaits [wait_async, wait_owned_async] ();
    };
    Row {
        stays_open: |barrier| barrier.parties() == 1,
        closed: || Arc::new(Barrier::new(2)),
        waiters: Barrier::arrived,
        ..Row::new(
            WaitsFor::Barrier,
            ways,
            || Arc::new(Barrier::new(1)),
            |barrier| Box::new(|| assert!(barrier.try_wait().expect("the other is there").is_leader())),
        )
    }
}

// Of two parties the other one leads.
got!(Barrier: BarrierWaitResult => |barrier, result| result.is_leader() == (barrier.parties() != 2));

/// Of a value that others make.
pub(crate) fn cell() -> Row<OnceLock<i32>> {
    let ways = ways! { cell: OnceLock<i32> => cell;
        attempts [get] ();
        blocks [wait, wait_for, wait_until => wait_async] ();
        awaits [wait_async] ();
    };
    Row {
        open: || Arc::new(OnceLock::with_value(1)),
        waiters: OnceLock::waiters,
        ..Row::new(WaitsFor::OnceLock, ways, Arc::default, |cell| Box::new(|| cell.set(2).unwrap()))
    }
}

/// Of the turn to make one.
pub(crate) fn initialiser() -> Row<OnceLock<i32>> {
    let ways = ways! { cell: OnceLock<i32> => cell;
        attempts [get] ();
        blocks [get_or_init => get_or_init_async] (next);
        blocks [get_or_try_init => get_or_try_init_async] (fine);
        awaits_untimed [get_or_init_async] (async || next());
        awaits_untimed [get_or_try_init_async] (async || fine());
    };
    Row {
        ways,
        close: |cell| {
            // A task whose initialiser awaits once, and has the turn.
            let mut first = Box::pin(cell.get_or_init_async(async || {
                yield_now().await;
                1
            }));
            let mut cx = Context::from_waker(Waker::noop());
            assert!(first.as_mut().poll(&mut cx).is_pending());
            Box::new(move || {
                assert_eq!(first.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(&1))
            })
        },
        ..cell()
    }
}

/// Another value each time that an initialiser runs.
fn next() -> i32 {
    static NEXT: AtomicI32 = AtomicI32::new(10);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn fine() -> Result<i32, Infallible> {
    Ok(next())
}

got!(OnceLock<i32>: &'a i32 => |cell, value| cell.get() == Some(value));

/// A condition variable with its mutex, and as many tokens as there are notifies that have counted a wait which has not ended so far.
#[derive(Default)]
pub(crate) struct Room {
    pub(crate) mutex: Arc<Mutex<()>>,
    pub(crate) changed: Arc<Condvar>,
    tokens: AtomicUsize,
}

/// Of a notify of one.
pub(crate) fn condvar() -> Row<Room> {
    let ways = ways! { room: Room => room.changed;
        by [wait] (Thread(|room, _| room.blocks(|guard| { room.changed.wait(guard); Ok(()) }), Some("`wait_async`")));
        by [wait_for] (Thread(|room, time| room.blocks(|guard| room.changed.wait_for(guard, time)), None));
        by [wait_until] (Thread(|room, time| room.blocks(|guard| room.changed.wait_until(guard, at(time))), None));
        by [wait_while] (Thread(|room, _| {
            room.blocks(|guard| { room.changed.wait_while(guard, room.is_empty()); Ok(()) })
        }, Some("`wait_async`")));
        by [wait_while_for] (Thread(|room, time| {
            room.blocks(|guard| room.changed.wait_while_for(guard, time, room.is_empty()))
        }, None));
        by [wait_while_until] (Thread(|room, time| {
            room.blocks(|guard| room.changed.wait_while_until(guard, at(time), room.is_empty()))
        }, None));
        lazily [wait_async] (room.changed.wait_async(room.mutex.lock_async().await));
        lazily [wait_while_async] (room.changed.wait_while_async(room.mutex.lock_async().await, room.is_empty()));
        lazily [wait_async] (room.changed.wait_async(room.mutex.lock_owned_async().await));
        lazily [wait_while_async] (room.changed.wait_while_async(room.mutex.lock_owned_async().await, room.is_empty()));
        lazily [wait_owned_async] (room.changed.wait_owned_async(room.mutex.lock_owned_async().await));
        lazily [wait_while_owned_async]
            (room.changed.wait_while_owned_async(room.mutex.lock_owned_async().await, room.is_empty()));
    };
    Row {
        others: ways! { room: Room => room.mutex;
            attempts [try_lock, try_lock_owned] ();
            blocks [lock, lock_for, lock_until => lock_async] ();
            awaits [lock_async, lock_owned_async] ();
        },
        waiters: Room::waiters,
        is_as_before: |room| room.waiters_for_mutex() == 0,
        words: |room| addresses(&*room.changed),
        ..Row::new(WaitsFor::Condvar, ways, Arc::default, |room| Box::new(|| _ = room.notify_one()))
    }
}

/// Of a notify of all, which moves tasks to the mutex's queue: behind its holder.
pub(crate) fn moved() -> Row<Room> {
    fn notify(room: &Arc<Room>) {
        let _held = room.mutex.lock();
        room.notify_all();
    }
    Row { close: |room| Box::new(|| notify(room)), again: notify, ..condvar() }
}

/// The same while the mutex is free.
pub(crate) fn moved_to_a_free_mutex() -> Row<Room> {
    Row { close: |room| Box::new(|| _ = room.notify_all()), again: |room| _ = room.notify_all(), ..condvar() }
}

got! {
    Room: MutexGuard<'a, ()>, OwnedMutexGuard<()> => |room, _guard| room.mutex.is_locked() && room.mutex.try_lock().is_none()
}

/// What a wait ends with, the guard in any case.
impl<'a, G: Got<'a, Room>> Got<'a, Room> for (G, Result<(), LockError>) {
    fn ended(self, room: &'a Arc<Room>) -> Ended<'a> {
        let guard = self.0.ended(room);
        self.1?;
        room.take_token();
        guard
    }
}

impl Room {
    /// Notifies one waiter. None comes or leaves meanwhile.
    pub(crate) fn notify_one(&self) -> usize {
        self.notify(self.waiters().min(1), |changed| usize::from(changed.notify_one()))
    }

    /// Notifies all waiters. None comes or leaves meanwhile.
    pub(crate) fn notify_all(&self) -> usize {
        self.notify(self.waiters(), Condvar::notify_all)
    }

    fn notify(&self, expected: usize, notify: impl FnOnce(&Condvar) -> usize) -> usize {
        // Before the notified waiters check for them.
        self.tokens.fetch_add(expected, Ordering::Relaxed);
        let notified = notify(&self.changed);
        assert_eq!(notified, expected);
        notified
    }

    pub(crate) fn tokens(&self) -> usize {
        self.tokens.load(Ordering::Relaxed)
    }

    /// Whether to wait: at least once, because a token that is there belongs to an earlier waiter.
    fn is_empty(&self) -> impl FnMut(&mut ()) -> bool + Send + '_ {
        let mut waited = false;
        move |_| !std::mem::replace(&mut waited, true) || self.tokens() == 0
    }

    /// Waits as a thread.
    fn blocks<'a>(
        self: &'a Arc<Self>,
        wait: impl FnOnce(&mut MutexGuard<'a, ()>) -> Result<(), LockError>,
    ) -> Ended<'a> {
        let mut guard = self.mutex.lock();
        let result = wait(&mut guard);
        (guard, result).ended(self)
    }

    /// With the mutex held.
    fn take_token(&self) {
        let before = self.tokens.fetch_sub(1, Ordering::Relaxed);
        assert_ne!(before, 0, "a wait has ended that no notify had counted");
    }

    /// How many are queued and have not been notified.
    pub(crate) fn waiters(&self) -> usize {
        waiters(&*self.changed)
    }

    /// How many are queued for the mutex: notified waiters, and others.
    pub(crate) fn waiters_for_mutex(&self) -> usize {
        waiters(&*self.mutex)
    }
}
