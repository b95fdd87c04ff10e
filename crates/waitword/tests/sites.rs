//! Snapshots show each waiter with the caller of the method that waits, and with what it waits for: for every way to wait.

use std::future::Future;
use std::mem::size_of_val;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use waitword::word::{AsyncLock, Table};
use waitword::{
    Barrier, Condvar, Event, LazyLock, Mutex, OnceLock, RwLock, RwLockUpgradableReadGuard as Upgradable,
    Semaphore, WaitGroup,
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

/// [`blocked`], for families of methods: without a deadline, with a timeout, and with a deadline. In parentheses are
/// arguments before the time; and after it.
macro_rules! threads {
    ($waits_for:ident, $lock:ident, $hold:expr, $release:expr;
        $([$plain:ident $(, $for:ident, $until:ident)?] $(($($before:expr),*; $($after:expr)?))?;)+) => {$(
        blocked!($waits_for, *$lock, $hold, $release, $lock.$plain($($($before,)* $($after)?)?));
        threads!(@timed $waits_for, $lock, $hold, $release; $($for, $until)?; $($($before),*; $($after)?)?);
    )+};
    (@timed $waits_for:ident, $lock:ident, $hold:expr, $release:expr; ; $($arguments:tt)*) => {};
    (@timed $waits_for:ident, $lock:ident, $hold:expr, $release:expr; $for:ident, $until:ident; $($before:expr),* $(; $($after:expr)?)?) => {
        blocked!($waits_for, *$lock, $hold, $release, $lock.$for($($before,)* LONG, $($($after)?)?));
        blocked!($waits_for, *$lock, $hold, $release, $lock.$until($($before,)* far(), $($($after)?)?));
    };
}

/// [`task`], for families of methods, as [`threads`].
macro_rules! tasks {
    ($waits_for:ident, $lock:ident;
        $([$plain:ident] $(($($before:expr),*; $($after:expr)?))?;)+) => {$(
        task!($waits_for, *$lock, $lock.$plain($($($before,)* $($after)?)?));
        task!($waits_for, *$lock, $lock.$plain($($($before,)* $($after)?)?).timeout(LONG));
        task!($waits_for, *$lock, $lock.$plain($($($before,)* $($after)?)?).deadline(far()));
    )+};
}

#[test]
fn mutex() {
    let lock = Arc::new(Mutex::new(()));
    threads! { Mutex, lock, lock.lock(), drop;
        [lock, lock_for, lock_until];
        [lock_owned];
    }
    let _held = lock.lock();
    tasks! { Mutex, lock;
        [lock_async];
        [lock_owned_async];
    }
}

#[test]
fn rwlock() {
    let lock = Arc::new(RwLock::new(()));
    threads! { Read, lock, lock.write(), drop;
        [read, read_for, read_until];
        [read_owned];
    }
    threads! { Write, lock, lock.read(), drop;
        [write, write_for, write_until];
        [write_owned];
    }
    threads! { UpgradableRead, lock, lock.write(), drop;
        [upgradable_read, upgradable_read_for, upgradable_read_until];
        [upgradable_read_owned];
    }
    let held = lock.write();
    tasks! { Read, lock;
        [read_async];
        [read_owned_async];
    }
    tasks! { Write, lock;
        [write_async];
        [write_owned_async];
    }
    tasks! { UpgradableRead, lock;
        [upgradable_read_async];
        [upgradable_read_owned_async];
    }
    drop(held);
    let reads = lock.read();
    task!(Upgrade, *lock, Upgradable::upgrade_async(lock.upgradable_read()));
    task!(Upgrade, *lock, Upgradable::upgrade_async(lock.upgradable_read()).timeout(LONG));
    task!(Upgrade, *lock, Upgradable::upgrade_async(lock.upgradable_read()).deadline(far()));
    drop(reads);
    blocked!(Upgrade, *lock, lock.read(), drop, Upgradable::upgrade(lock.upgradable_read()));
    blocked!(Upgrade, *lock, lock.read(), drop, Upgradable::upgrade_for(lock.upgradable_read(), LONG));
}

#[test]
fn semaphore() {
    let lock = Arc::new(Semaphore::new(2));
    let all = || lock.acquire_many(2).unwrap();
    threads! { Semaphore, lock, all(), drop;
        [acquire, acquire_for, acquire_until];
        [acquire_many] (2;);
        [acquire_owned];
        [acquire_many_owned] (2;);
    }
    let _held = all();
    tasks! { Semaphore, lock;
        [acquire_async];
        [acquire_many_async] (2;);
        [acquire_owned_async];
        [acquire_many_owned_async] (2;);
    }
}

#[test]
fn condvar() {
    let (mutex, lock) = (Mutex::new(()), Arc::new(Condvar::new()));
    let notify = |()| drop((mutex.lock(), lock.notify_all()));
    let once = || {
        let mut first = true;
        move |_: &mut ()| std::mem::take(&mut first)
    };
    threads! { Condvar, lock, (), notify;
        [wait, wait_for, wait_until] (&mut mutex.lock(););
        [wait_while, wait_while_for, wait_while_until] (&mut mutex.lock(); once());
    }
    tasks! { Condvar, lock;
        [wait_async] (mutex.lock(););
        [wait_while_async] (mutex.lock(); once());
        [wait_owned_async] (mutex.lock(););
        [wait_while_owned_async] (mutex.lock(); once());
    }

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
    threads! { Event, lock, (), notify; [wait, wait_for, wait_until]; }
    tasks! { Event, lock;
        [wait_async];
        [wait_owned_async];
    }
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
    threads! { WaitGroup, lock, lock.add(), drop; [wait, wait_for, wait_until]; }
    let _token = lock.add();
    tasks! { WaitGroup, lock;
        [wait_async];
        [wait_owned_async];
    }
    let lock = Arc::new(Barrier::new(2));
    let arrive = |()| done(lock.wait());
    threads! { Barrier, lock, (), arrive; [wait, wait_for, wait_until]; }
    tasks! { Barrier, lock;
        [wait_async];
        [wait_owned_async];
    }
}

#[test]
fn once() {
    let lock = Arc::new(OnceLock::<()>::new());
    tasks! { OnceLock, lock; [wait_async]; }
    // An initialiser that is under way.
    let mut initialises = pin!(lock.get_or_init_async(async || std::future::pending().await));
    assert!(initialises.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    task!(OnceLock, *lock, lock.get_or_init_async(async || ()));
    task!(OnceLock, *lock, lock.get_or_try_init_async(async || Ok::<_, ()>(())));

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
    let lock = Arc::new(AsyncLock::new());
    // The thread that waited before has it, or nobody.
    threads! { AsyncLock, lock, lock.try_lock(), |_| lock.unlock().unwrap(); [lock, lock_for, lock_until]; }
    tasks! { AsyncLock, lock; [lock_async]; }
}
