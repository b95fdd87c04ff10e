//! Snapshots show each waiter with the caller of the method that waits, and with what it waits for: for every way to wait.

use std::future::Future;
use std::mem::size_of_val;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use waitword::word::Table;
use waitword::{
    AsyncLock, Barrier, Condvar, Event, LazyLock, Mutex, OnceLock, RwLock,
    RwLockUpgradableReadGuard as Upgradable, Semaphore, WaitGroup,
};
use waitword_core::observe::{Actor, WaiterSeen, WaitsFor};

const LONG: Duration = Duration::from_secs(600);

fn far() -> Instant {
    Instant::now() + LONG
}

/// Drops what a wait has returned, a guard or nothing.
fn done<T>(_: T) {}

/// The waiters queued on a word of `lock`.
fn waiters<T: ?Sized>(lock: &T) -> Vec<WaiterSeen> {
    let begin = std::ptr::from_ref(lock).cast::<u8>().addr();
    let words = begin..begin + size_of_val(lock);
    let all = Table::global().snapshot();
    all.into_iter().filter(|waiter| words.contains(&waiter.word)).collect()
}

fn check(waiter: &WaiterSeen, waits_for: WaitsFor, line: u32) {
    let site = waiter.site.expect("a lock's waiter has a site");
    assert_eq!((site.file(), site.line()), (file!(), line), "the site of a wait for {waits_for:?}");
    assert_eq!(waiter.waits_for, waits_for, "at line {line}");
}

fn task(future: Pin<&mut impl Future>, lock: &impl ?Sized, waits_for: WaitsFor, line: u32) {
    assert!(future.poll(&mut Context::from_waker(Waker::noop())).is_pending(), "line {line} does not wait");
    let [waiter] = &waiters(lock)[..] else { panic!("one waiter, at line {line}") };
    check(waiter, waits_for, line);
    assert!(matches!(waiter.actor, Actor::Task(_)));
}

/// The future waits for `$lock`, which is held, and is dropped.
macro_rules! task {
    ($waits_for:ident, $lock:expr, $future:expr) => {
        task(pin!($future), &$lock, WaitsFor::$waits_for, line!())
    };
}

/// The call blocks a thread on `$lock`, which `$hold` holds, until `$release`.
macro_rules! blocked {
    ($waits_for:ident, $lock:expr, $hold:expr, $release:expr, $wait:expr) => {{
        let held = $hold;
        thread::scope(|scope| {
            let blocked = thread::Builder::new().name("blocked".into());
            blocked.spawn_scoped(scope, || done($wait)).unwrap();
            let waiter = loop {
                match waiters(&$lock).pop() {
                    Some(waiter) => break waiter,
                    None => thread::yield_now(),
                }
            };
            $release(held);
            check(&waiter, WaitsFor::$waits_for, line!());
            assert!(matches!(&waiter.actor, Actor::Thread(thread) if thread.name() == Some("blocked")));
        });
    }};
}

#[test]
fn mutex() {
    let lock = Arc::new(Mutex::new(()));
    blocked!(Mutex, *lock, lock.lock(), drop, lock.lock());
    blocked!(Mutex, *lock, lock.lock(), drop, lock.lock_for(LONG));
    blocked!(Mutex, *lock, lock.lock(), drop, lock.lock_until(far()));
    blocked!(Mutex, *lock, lock.lock(), drop, lock.lock_owned());
    blocked!(Mutex, *lock, lock.lock(), drop, lock.lock_owned_for(LONG));
    blocked!(Mutex, *lock, lock.lock(), drop, lock.lock_owned_until(far()));
    let _held = lock.lock();
    task!(Mutex, *lock, lock.lock_async());
    task!(Mutex, *lock, lock.lock_async_for(LONG));
    task!(Mutex, *lock, lock.lock_async_until(far()));
    task!(Mutex, *lock, lock.lock_owned_async());
    task!(Mutex, *lock, lock.lock_owned_async_for(LONG));
    task!(Mutex, *lock, lock.lock_owned_async_until(far()));
}

#[test]
fn rwlock() {
    let lock = Arc::new(RwLock::new(()));
    blocked!(Read, *lock, lock.write(), drop, lock.read());
    blocked!(Read, *lock, lock.write(), drop, lock.read_for(LONG));
    blocked!(Read, *lock, lock.write(), drop, lock.read_until(far()));
    blocked!(Read, *lock, lock.write(), drop, lock.read_owned());
    blocked!(Read, *lock, lock.write(), drop, lock.read_owned_for(LONG));
    blocked!(Read, *lock, lock.write(), drop, lock.read_owned_until(far()));
    blocked!(Write, *lock, lock.read(), drop, lock.write());
    blocked!(Write, *lock, lock.read(), drop, lock.write_for(LONG));
    blocked!(Write, *lock, lock.read(), drop, lock.write_until(far()));
    blocked!(Write, *lock, lock.read(), drop, lock.write_owned());
    blocked!(Write, *lock, lock.read(), drop, lock.write_owned_for(LONG));
    blocked!(Write, *lock, lock.read(), drop, lock.write_owned_until(far()));
    blocked!(UpgradableRead, *lock, lock.write(), drop, lock.upgradable_read());
    blocked!(UpgradableRead, *lock, lock.write(), drop, lock.upgradable_read_for(LONG));
    blocked!(UpgradableRead, *lock, lock.write(), drop, lock.upgradable_read_owned_until(far()));
    let held = lock.write();
    task!(Read, *lock, lock.read_async());
    task!(Read, *lock, lock.read_async_for(LONG));
    task!(Read, *lock, lock.read_async_until(far()));
    task!(Read, *lock, lock.read_owned_async());
    task!(Read, *lock, lock.read_owned_async_for(LONG));
    task!(Read, *lock, lock.read_owned_async_until(far()));
    task!(Write, *lock, lock.write_async());
    task!(Write, *lock, lock.write_async_for(LONG));
    task!(Write, *lock, lock.write_async_until(far()));
    task!(Write, *lock, lock.write_owned_async());
    task!(UpgradableRead, *lock, lock.upgradable_read_async());
    task!(UpgradableRead, *lock, lock.upgradable_read_owned_async_for(LONG));
    drop(held);
    let reads = lock.read();
    task!(Upgrade, *lock, Upgradable::upgrade_async(lock.upgradable_read()));
    task!(Upgrade, *lock, Upgradable::upgrade_async_for(lock.upgradable_read(), LONG));
    task!(Upgrade, *lock, Upgradable::upgrade_async_until(lock.upgradable_read(), far()));
    drop(reads);
    blocked!(Upgrade, *lock, lock.read(), drop, Upgradable::upgrade(lock.upgradable_read()));
    blocked!(Upgrade, *lock, lock.read(), drop, Upgradable::upgrade_for(lock.upgradable_read(), LONG));
}

#[test]
fn semaphore() {
    let lock = Arc::new(Semaphore::new(2));
    let all = || lock.acquire_many(2).unwrap();
    blocked!(Semaphore, *lock, all(), drop, lock.acquire().unwrap());
    blocked!(Semaphore, *lock, all(), drop, lock.acquire_for(LONG).unwrap());
    blocked!(Semaphore, *lock, all(), drop, lock.acquire_until(far()).unwrap());
    blocked!(Semaphore, *lock, all(), drop, lock.acquire_many(2).unwrap());
    blocked!(Semaphore, *lock, all(), drop, lock.acquire_many_for(2, LONG).unwrap());
    blocked!(Semaphore, *lock, all(), drop, lock.acquire_many_until(2, far()).unwrap());
    blocked!(Semaphore, *lock, all(), drop, lock.acquire_owned().unwrap());
    blocked!(Semaphore, *lock, all(), drop, lock.acquire_owned_for(LONG).unwrap());
    blocked!(Semaphore, *lock, all(), drop, lock.acquire_many_owned(2).unwrap());
    blocked!(Semaphore, *lock, all(), drop, lock.acquire_many_owned_until(2, far()).unwrap());
    let _held = all();
    task!(Semaphore, *lock, lock.acquire_async());
    task!(Semaphore, *lock, lock.acquire_async_for(LONG));
    task!(Semaphore, *lock, lock.acquire_async_until(far()));
    task!(Semaphore, *lock, lock.acquire_many_async(2));
    task!(Semaphore, *lock, lock.acquire_many_async_for(2, LONG));
    task!(Semaphore, *lock, lock.acquire_many_async_until(2, far()));
    task!(Semaphore, *lock, lock.acquire_owned_async());
    task!(Semaphore, *lock, lock.acquire_owned_async_for(LONG));
    task!(Semaphore, *lock, lock.acquire_owned_async_until(far()));
    task!(Semaphore, *lock, lock.acquire_many_owned_async(2));
    task!(Semaphore, *lock, lock.acquire_many_owned_async_for(2, LONG));
    task!(Semaphore, *lock, lock.acquire_many_owned_async_until(2, far()));
}

#[test]
fn condvar() {
    let (mutex, lock) = (Mutex::new(()), Arc::new(Condvar::new()));
    let notify = |()| drop((mutex.lock(), lock.notify_all()));
    blocked!(Condvar, *lock, (), notify, lock.wait(&mut mutex.lock()));
    blocked!(Condvar, *lock, (), notify, lock.wait_for(&mut mutex.lock(), LONG));
    blocked!(Condvar, *lock, (), notify, lock.wait_until(&mut mutex.lock(), far()));
    let once = || {
        let mut first = true;
        move |_: &mut ()| std::mem::take(&mut first)
    };
    blocked!(Condvar, *lock, (), notify, lock.wait_while(&mut mutex.lock(), once()));
    blocked!(Condvar, *lock, (), notify, lock.wait_while_for(&mut mutex.lock(), LONG, once()));
    blocked!(Condvar, *lock, (), notify, lock.wait_while_until(&mut mutex.lock(), far(), once()));
    task!(Condvar, *lock, lock.wait_async(mutex.lock()));
    task!(Condvar, *lock, lock.wait_async_for(mutex.lock(), LONG));
    task!(Condvar, *lock, lock.wait_async_until(mutex.lock(), far()));
    task!(Condvar, *lock, lock.wait_while_async(mutex.lock(), once()));
    task!(Condvar, *lock, lock.wait_while_async_for(mutex.lock(), LONG, once()));
    task!(Condvar, *lock, lock.wait_while_async_until(mutex.lock(), far(), once()));
    task!(Condvar, *lock, lock.wait_owned_async(mutex.lock()));
    task!(Condvar, *lock, lock.wait_owned_async_for(mutex.lock(), LONG));
    task!(Condvar, *lock, lock.wait_while_owned_async(mutex.lock(), once()));

    // Once moved, it waits for the mutex, and is seen there.
    let mut waits = pin!(lock.wait_async(mutex.lock()));
    assert!(waits.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    let _held = mutex.lock();
    lock.notify_all();
    assert!(waiters(&*lock).is_empty());
    assert_eq!(waiters(&mutex)[0].waits_for, WaitsFor::Mutex);
}

#[test]
fn event() {
    let lock = Arc::new(Event::new());
    let notify = |()| done(lock.notify_one());
    blocked!(Event, *lock, (), notify, lock.wait());
    blocked!(Event, *lock, (), notify, lock.wait_for(LONG));
    blocked!(Event, *lock, (), notify, lock.wait_until(far()));
    task!(Event, *lock, lock.wait_async());
    task!(Event, *lock, lock.wait_async_for(LONG));
    task!(Event, *lock, lock.wait_async_until(far()));
    task!(Event, *lock, lock.wait_owned_async());
    task!(Event, *lock, lock.wait_owned_async_for(LONG));
    let line = line!() + 1;
    let mut listener = pin!(lock.listen());
    assert!(!listener.as_mut().enable());
    check(&waiters(&*lock)[0], WaitsFor::Event, line);
    let line = line!() + 1;
    let mut listener = pin!(lock.listen_owned());
    assert!(!listener.as_mut().enable());
    check(&waiters(&*lock)[1], WaitsFor::Event, line);
}

#[test]
fn wait_group_and_barrier() {
    let lock = Arc::new(WaitGroup::new());
    blocked!(WaitGroup, *lock, lock.add(), drop, lock.wait());
    blocked!(WaitGroup, *lock, lock.add(), drop, lock.wait_for(LONG));
    blocked!(WaitGroup, *lock, lock.add(), drop, lock.wait_until(far()));
    let _token = lock.add();
    task!(WaitGroup, *lock, lock.wait_async());
    task!(WaitGroup, *lock, lock.wait_async_for(LONG));
    task!(WaitGroup, *lock, lock.wait_owned_async_until(far()));
    let lock = Arc::new(Barrier::new(2));
    let arrive = |()| done(lock.wait());
    blocked!(Barrier, *lock, (), arrive, lock.wait());
    blocked!(Barrier, *lock, (), arrive, lock.wait_for(LONG));
    blocked!(Barrier, *lock, (), arrive, lock.wait_until(far()));
    task!(Barrier, *lock, lock.wait_async());
    task!(Barrier, *lock, lock.wait_async_for(LONG));
    task!(Barrier, *lock, lock.wait_owned_async_until(far()));
}

#[test]
fn once() {
    let lock = OnceLock::<()>::new();
    task!(OnceLock, lock, lock.wait_async());
    task!(OnceLock, lock, lock.wait_async_for(LONG));
    task!(OnceLock, lock, lock.wait_async_until(far()));
    // An initialiser that is under way.
    let mut initialises = pin!(lock.get_or_init_async(async || std::future::pending().await));
    assert!(initialises.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    task!(OnceLock, lock, lock.get_or_init_async(async || ()));
    task!(OnceLock, lock, lock.get_or_init_async_for(LONG, async || ()));
    task!(OnceLock, lock, lock.get_or_init_async_until(far(), async || ()));
    task!(OnceLock, lock, lock.get_or_try_init_async(async || Ok::<_, ()>(())));
    task!(OnceLock, lock, lock.get_or_try_init_async_for(LONG, async || Ok::<_, ()>(())));

    let locks = [const { OnceLock::new() }; 4];
    let set = |lock: &OnceLock<()>| lock.set(()).unwrap();
    blocked!(OnceLock, locks[0], &locks[0], set, locks[0].wait());
    blocked!(OnceLock, locks[1], &locks[1], set, locks[1].wait_for(LONG));
    blocked!(OnceLock, locks[2], &locks[2], set, locks[2].wait_until(far()));

    let lazy = LazyLock::new(|| thread::sleep(Duration::ZERO));
    LazyLock::force(&lazy);
}

#[test]
fn async_lock() {
    let lock = AsyncLock::new();
    let unlock = |()| lock.unlock().unwrap();
    blocked!(AsyncLock, lock, lock.lock(), unlock, lock.lock());
    lock.unlock().unwrap();
    blocked!(AsyncLock, lock, lock.lock(), unlock, lock.lock_for(LONG).unwrap());
    blocked!(AsyncLock, lock, (), unlock, lock.lock_until(far()).unwrap());
    task!(AsyncLock, lock, lock.lock_async());
    task!(AsyncLock, lock, lock.lock_async_for(LONG));
    task!(AsyncLock, lock, lock.lock_async_until(far()));
}
