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
use waitword_core::wait_async;
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

/// A test for each row: the kind and the type that are shown; what is named; what is held meanwhile; and the wait.
macro_rules! shows {
    ($($test:ident: $kind:ident, $type:expr, $lock:ident = $new:expr, $held:expr, $waits:expr;)+) => {$(
        #[test]
        fn $test() {
            enable();
            let $lock = $new;
            let _held = $held;
            assert_eq!(of(&$lock, stringify!($test), $waits), (LockKind::$kind, $type.to_owned()));
        }
    )+};
}

shows! {
    mutex: Mutex, "Mutex<u8>", lock = Mutex::new(1_u8), lock.lock(), lock.lock_async();
    write: RwLock, "RwLock<u8>", lock = RwLock::new(1_u8), lock.read(), lock.write_async();
    upgrade: RwLock, "RwLock<u8>", lock = RwLock::new(1_u8), lock.read(),
        RwLockUpgradableReadGuard::upgrade_async(lock.upgradable_read());
    semaphore: Semaphore, "Semaphore", lock = Semaphore::new(0), (), lock.acquire_async();
    gate: AsyncLock, "AsyncLock", lock = AsyncLock::new(), lock.lock(), lock.lock_async();
    gate_elsewhere: AsyncLock, "", word = AtomicI32::new(0), AsyncLock::on(&word).lock(), async {
        AsyncLock::on(&word).lock_async().await;
    };
    condvar: Condvar, "Condvar", condvar = Condvar::new(), (), condvar.wait_async(Mutex::new(()).lock());
    event: Event, "Event", event = Event::new(), (), event.wait_async();
    group: WaitGroup, "WaitGroup", group = WaitGroup::new(), group.add(), group.wait_async();
    barrier: Barrier, "Barrier", barrier = Barrier::new(2), (), barrier.wait_async();
    cell: OnceLock, "OnceLock<u8>", cell = OnceLock::<u8>::new(), (), cell.wait_async();
    word_u32: Word, type_name::<AtomicU32>(), word = AtomicU32::new(0), (), wait_async(&word, 0);
    word_i32: Word, type_name::<AtomicI32>(), word = AtomicI32::new(0), (), wait_async(&word, 0);
    word_u64: Word, type_name::<AtomicU64>(), word = AtomicU64::new(0), (), wait_async(&word, 0);
    word_i64: Word, type_name::<AtomicI64>(), word = AtomicI64::new(0), (), wait_async(&word, 0);
}

#[test]
fn cells_whose_value_is_made() {
    let cell = OnceLock::<u8>::new();
    cell.get_or_init(|| {
        let once = (LockKind::OnceLock, "OnceLock<u8>".to_owned());
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
