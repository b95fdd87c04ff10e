//! Each kind of lock can be given a name, and has it in reports: of its waiters and of its holders.

#[path = "common/mod.rs"]
mod common;

use std::any::type_name;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64};
use std::task::Waker;

use common::poll;
use waitword::word::AsyncLock;
use waitword::{
    Barrier, Condvar, Event, LazyLock, Mutex, OnceLock, RwLock, RwLockUpgradableReadGuard, Semaphore,
    WaitGroup,
};
use waitword_observe::{LockKind, Nameable, enable, name, snapshot};

/// The kind and the type of the lock with this name, while `waiting` waits for it.
#[track_caller]
fn of<L: Nameable + ?Sized>(lock: &L, text: &str, waiting: impl Future) -> (LockKind, String) {
    let _name = name(lock, text);
    let mut waiting = pin!(waiting);
    assert!(poll(waiting.as_mut(), Waker::noop()).is_pending());
    let lock = snapshot().locks.into_iter().find(|lock| lock.name.name.as_deref() == Some(text));
    let lock = lock.unwrap_or_else(|| panic!("no {text} in {:?}", snapshot().locks));
    assert_eq!(lock.waiting(), 1);
    (lock.name.kind, lock.name.type_name.unwrap_or_default())
}

fn is(kind: LockKind, type_name: &str) -> (LockKind, String) {
    (kind, type_name.to_owned())
}

#[test]
fn locks_with_guards() {
    enable();
    let mutex = Mutex::new(1_u8);
    let held = mutex.lock();
    assert_eq!(of(&mutex, "mutex", mutex.lock_async()), is(LockKind::Mutex, "Mutex<u8>"));
    drop(held);
    let rwlock = RwLock::new(1_u8);
    let held = rwlock.read();
    assert_eq!(of(&rwlock, "write", rwlock.write_async()), is(LockKind::RwLock, "RwLock<u8>"));
    let upgrade = RwLockUpgradableReadGuard::upgrade_async(rwlock.upgradable_read());
    assert_eq!(of(&rwlock, "upgrade", upgrade), is(LockKind::RwLock, "RwLock<u8>"));
    drop(held);
    let semaphore = Semaphore::new(0);
    assert_eq!(of(&semaphore, "semaphore", semaphore.acquire_async()), is(LockKind::Semaphore, "Semaphore"));
    let gate = AsyncLock::new();
    gate.lock();
    let (kind, type_name) = of(&gate, "gate", gate.lock_async());
    assert_eq!((kind, &*type_name), (LockKind::AsyncLock, "AsyncLock"));
    let word = AtomicI32::new(0);
    let gate = AsyncLock::on(&word);
    gate.lock();
    let (kind, _) = of(&word, "gate elsewhere", gate.lock_async());
    assert_eq!(kind, LockKind::AsyncLock);
}

#[test]
fn what_is_notified() {
    let (mutex, condvar) = (Mutex::new(()), Condvar::new());
    let waiting = condvar.wait_async(mutex.lock());
    assert_eq!(of(&condvar, "condvar", waiting), is(LockKind::Condvar, "Condvar"));
    let event = Event::new();
    assert_eq!(of(&event, "event", event.wait_async()), is(LockKind::Event, "Event"));
    let group = WaitGroup::new();
    let _token = group.add();
    assert_eq!(of(&group, "group", group.wait_async()), is(LockKind::WaitGroup, "WaitGroup"));
    let barrier = Barrier::new(2);
    assert_eq!(of(&barrier, "barrier", barrier.wait_async()), is(LockKind::Barrier, "Barrier"));
}

#[test]
fn cells() {
    let cell = OnceLock::<u8>::new();
    let once = is(LockKind::OnceLock, "OnceLock<u8>");
    assert_eq!(of(&cell, "cell", cell.wait_async()), once);
    cell.get_or_init(|| {
        assert_eq!(of(&cell, "runs", cell.get_or_init_async(async || 2)), once);
        1
    });
    static LAZY: LazyLock<u8> = LazyLock::new(|| {
        let (kind, type_name) = of(&LAZY, "lazy", LazyLock::force_async(&LAZY));
        assert_eq!(kind, LockKind::OnceLock);
        assert!(type_name.starts_with("LazyLock<u8"), "{type_name}");
        3
    });
    assert_eq!(*LAZY, 3);
}

#[test]
fn words() {
    let (a, b, c, d) = (AtomicU32::new(0), AtomicI32::new(0), AtomicU64::new(0), AtomicI64::new(0));
    let waits = |type_name: &str| is(LockKind::Word, type_name);
    assert_eq!(of(&a, "a", waitword_core::wait_async(&a, 0)), waits(type_name::<AtomicU32>()));
    assert_eq!(of(&b, "b", waitword_core::wait_async(&b, 0)), waits(type_name::<AtomicI32>()));
    assert_eq!(of(&c, "c", waitword_core::wait_async(&c, 0)), waits(type_name::<AtomicU64>()));
    assert_eq!(of(&d, "d", waitword_core::wait_async(&d, 0)), waits(type_name::<AtomicI64>()));
}

/// They have no asynchronous form, so a thread waits.
#[cfg(all(feature = "lock_api", feature = "lock_api_05"))]
#[test]
fn locks_of_lock_api() {
    fn shows(text: &str, kind: LockKind, type_name: &str, blocks: impl FnOnce() + Send, ends: impl FnOnce()) {
        std::thread::scope(|scope| {
            scope.spawn(blocks);
            let lock = loop {
                let has_name = |lock: &waitword_observe::Lock| lock.name.name.as_deref() == Some(text);
                match snapshot().locks.into_iter().find(has_name) {
                    Some(lock) => break lock,
                    None => std::thread::yield_now(),
                }
            };
            assert_eq!((lock.name.kind, lock.name.type_name.as_deref()), (kind, Some(type_name)));
            ends();
        });
    }
    enable();
    macro_rules! of {
        ($api:ident) => {{
            let mutex = waitword::$api::Mutex::new(vec![1_u8]);
            let _name = name(&mutex, "raw mutex");
            let (held, shown) = (mutex.lock(), "Mutex<alloc::vec::Vec<u8>>");
            shows("raw mutex", LockKind::Mutex, shown, || drop(mutex.lock()), || drop(held));
            let rwlock = waitword::$api::RwLock::new(1_u8);
            let _name = name(&rwlock, "raw rwlock");
            let held = rwlock.read();
            shows("raw rwlock", LockKind::RwLock, "RwLock<u8>", || drop(rwlock.write()), || drop(held));
        }};
    }
    of!(lock_api);
    of!(lock_api_05);
}
