//! Wakers whose destructors panic, in each future of each lock and condition: whatever a future had acquired when that happens is given back.
//!
//! Where a destructor panics in the drop of a future that is ready, an `.await` leaks what the future returned: a guard, a turn. So each row
//! awaits its future in an async block, as users do.

mod common;

use std::cell::Cell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, RawWaker, RawWakerVTable, Waker};
use std::thread;
use std::time::{Duration, Instant};

use common::{far, poll, until};
use waitword::word::AsyncLock;
use waitword::*;

const FAR: Duration = Duration::from_secs(3600);

thread_local! {
    static PANICS: Cell<bool> = const { Cell::new(false) };
}

/// Each clone of which panics at its end, while [`PANICS`] says so.
fn waker() -> Waker {
    fn clone(_: *const ()) -> RawWaker {
        RawWaker::new(std::ptr::null(), &VTABLE)
    }
    fn nothing(_: *const ()) {}
    fn end(_: *const ()) {
        if PANICS.get() && !thread::panicking() {
            panic!("meant: a waker's destructor");
        }
    }
    static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, nothing, nothing, end);
    // SAFETY: there is no data that anything could be done wrong with.
    unsafe { Waker::from_raw(clone(std::ptr::null())) }
}

fn panics<R>(run: impl FnOnce() -> R) -> bool {
    PANICS.set(true);
    let result = catch_unwind(AssertUnwindSafe(run));
    PANICS.set(false);
    result.is_err()
}

type Awaits<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// Polls the future until it waits, lets it go on, polls it with wakers whose destructors panic, and drops it. Returns whether one of the
/// two has unwound. `goes_on` ends what the future waits for.
fn ends(mut future: Awaits<'_>, goes_on: impl FnOnce()) -> bool {
    assert!(future.as_mut().poll(&mut Context::from_waker(&waker())).is_pending(), "it does not wait");
    goes_on();
    let poll = panics(|| future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
    poll | panics(|| drop(future))
}

/// A row for each future: `$wait` awaits it in the scope of `$object`, after `$before` has made it wait; `$after` lets it go on; and `$is_as_before`
/// says that nothing is left of it.
macro_rules! table {
    ($($test:ident: $object:ident = $new:expr, $held:ident = $before:expr, goes on by $after:expr, then $is_as_before:expr;
        $($wait:expr),+ $(,)?;)+) => {$(
        #[test]
        fn $test() {
            let mut unwound = 0;
            $({
                let $object = $new;
                let $object = &$object;
                let $held = $before;
                let future: Awaits<'_> = Box::pin(async { let _ = $wait; });
                unwound += u32::from(ends(future, || $after));
                assert!($is_as_before, "{}", stringify!($wait));
            })+
            assert!(unwound > 0, "no destructor was called");
        }
    )+};
}

/// What a future that was notified, or whose turn it was, leaves to others.
fn ready<T>(future: impl Future<Output = T>) -> bool {
    poll(Box::pin(future).as_mut()).is_ready()
}

table! {
    a_mutex: lock = Arc::new(Mutex::new(())), held = lock.lock(), goes on by drop(held), then lock.try_lock().is_some();
        drop(lock.lock_async().await),
        drop(lock.lock_async().timeout(FAR).await),
        drop(lock.lock_async().deadline(far()).await),
        drop(lock.lock_owned_async().await),
        drop(lock.lock_owned_async().timeout(FAR).await),
        drop(lock.lock_owned_async().deadline(far()).await),
        drop(MutexGuard::unlocked_async(lock.lock_async().timeout(FAR).await.unwrap(), async || ()).await);

    a_readers_writer_lock: lock = Arc::new(RwLock::new(())), held = lock.write(), goes on by drop(held), then lock.try_write().is_some();
        drop(lock.read_async().await),
        drop(lock.read_async().timeout(FAR).await),
        drop(lock.read_async().deadline(far()).await),
        drop(lock.read_owned_async().deadline(far()).await),
        drop(lock.upgradable_read_async().await),
        drop(lock.upgradable_read_async().timeout(FAR).await),
        drop(lock.upgradable_read_owned_async().deadline(far()).await),
        drop(lock.write_async().await),
        drop(lock.write_async().timeout(FAR).await),
        drop(lock.write_owned_async().deadline(far()).await);

    an_upgrade: lock = Arc::new(RwLock::new(())), held = lock.read(), goes on by drop(held), then lock.try_write().is_some();
        drop(RwLockUpgradableReadGuard::upgrade_async(lock.upgradable_read()).await),
        drop(RwLockUpgradableReadGuard::upgrade_async(lock.upgradable_read()).timeout(FAR).await),
        drop(OwnedRwLockUpgradableReadGuard::upgrade_async(lock.upgradable_read_owned()).deadline(far()).await);

    a_semaphore: semaphore = Arc::new(Semaphore::new(2)), held = semaphore.acquire_many(2), goes on by drop(held),
        then semaphore.available_permits() == 2;
        drop(semaphore.acquire_async().await),
        drop(semaphore.acquire_async().timeout(FAR).await),
        drop(semaphore.acquire_many_async(2).deadline(far()).await),
        drop(semaphore.acquire_owned_async().timeout(FAR).await),
        drop(semaphore.acquire_many_owned_async(2).deadline(far()).await);

    an_async_lock: lock = AsyncLock::new(), held = lock.lock(), goes on by { let () = held; lock.unlock().unwrap() }, then lock.try_lock();
        { lock.lock_async().await; lock.unlock().unwrap() },
        { lock.lock_async().timeout(FAR).await.unwrap(); lock.unlock().unwrap() },
        lock.execute_locked(|| ()).await,
        lock.execute_locked_async(async || ()).await;

    a_condition_variable: shared = (Arc::new(Mutex::new(false)), Arc::new(Condvar::new())), held = (),
        goes on by { let () = held; *shared.0.lock() = true; assert!(shared.1.notify_one()) },
        then shared.0.try_lock().is_some();
        drop(shared.1.wait_async(shared.0.lock()).await),
        drop(shared.1.wait_async(shared.0.lock()).timeout(FAR).await),
        drop(shared.1.wait_async(shared.0.lock()).deadline(far()).await),
        drop(shared.1.wait_owned_async(shared.0.lock_owned()).timeout(FAR).await),
        drop(shared.1.wait_while_async(shared.0.lock(), |done| !*done).await),
        drop(shared.1.wait_while_async(shared.0.lock(), |done| !*done).timeout(FAR).await),
        drop(shared.1.wait_while_owned_async(shared.0.lock_owned(), |done| !*done).deadline(far()).await);

    a_condition_variable_that_moves_its_waiters: shared = (Mutex::new(false), Condvar::new()), held = (),
        goes on by {
            let () = held;
            let mut guard = shared.0.lock();
            *guard = true;
            assert_eq!(shared.1.notify_all(), 1)
        },
        then shared.0.try_lock().is_some();
        drop(shared.1.wait_async(shared.0.lock()).timeout(FAR).await),
        drop(shared.1.wait_while_async(shared.0.lock(), |done| !*done).deadline(far()).await);

    an_event: event = Arc::new(Event::new()), held = (), goes on by { let () = held; assert!(event.notify_one()) },
        // Whether the wait has returned it or not: it is not stored twice, and a later one is.
        then { event.notify_one(); event.try_wait() && !event.try_wait() };
        event.wait_async().await,
        event.wait_async().timeout(FAR).await,
        event.wait_owned_async().deadline(far()).await;

    a_barrier: barrier = Arc::new(Barrier::new(2)), held = (), goes on by { let () = held; assert!(barrier.try_wait().is_some()) },
        then barrier.arrived() == 0;
        barrier.wait_async().await,
        barrier.wait_async().timeout(FAR).await,
        barrier.wait_owned_async().deadline(far()).await;

    a_wait_group: group = Arc::new(WaitGroup::new()), held = group.add(), goes on by drop(held), then ready(group.wait_async());
        group.wait_async().await,
        group.wait_async().timeout(FAR).await,
        group.wait_owned_async().deadline(far()).await;

    a_cell: cell = OnceLock::<i32>::new(), held = (), goes on by { let () = held; cell.set(1).unwrap() }, then cell.get() == Some(&1);
        cell.wait_async().await,
        cell.wait_async().timeout(FAR).await,
        cell.wait_async().deadline(far()).await;
}

/// Polls the future before its deadline, and after it with wakers whose destructors panic; and drops it.
fn ends_at_its_deadline<'a>(future: impl Fn(Instant) -> Awaits<'a>) -> bool {
    let mut after = Duration::from_millis(2);
    loop {
        let deadline = Instant::now() + after;
        let mut waits = future(deadline);
        if waits.as_mut().poll(&mut Context::from_waker(&waker())).is_pending() {
            until(|| Instant::now() >= deadline);
            let poll = panics(|| waits.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
            return poll | panics(|| drop(waits));
        }
        // On a slow machine.
        after *= 2;
    }
}

#[test]
fn at_a_deadline() {
    let (mutex, condvar) = (&Mutex::new(()), &Condvar::new());
    let waits = async |at| drop(condvar.wait_async(mutex.lock()).deadline(at).await);
    assert!(ends_at_its_deadline(|at| Box::pin(waits(at))));
    assert!(mutex.try_lock().is_some());
    let waits = async |at| drop(condvar.wait_while_async(mutex.lock(), |()| true).deadline(at).await);
    assert!(ends_at_its_deadline(|at| Box::pin(waits(at))));
    assert!(mutex.try_lock().is_some());
    let held = mutex.lock();
    let locks = async |at| drop(mutex.lock_async().deadline(at).await);
    assert!(ends_at_its_deadline(|at| Box::pin(locks(at))));
    drop(held);
    assert!(mutex.try_lock().is_some());

    // The guard comes back.
    let lock = &Arc::new(RwLock::new(()));
    let reader = lock.read();
    let upgrades = async |at| {
        drop(RwLockUpgradableReadGuard::upgrade_async(lock.upgradable_read()).deadline(at).await);
    };
    assert!(ends_at_its_deadline(|at| Box::pin(upgrades(at))));
    drop(reader);
    assert!(lock.try_write().is_some());
}
