//! The mutex from outside: the whole grid of names, its guards, its errors, and what it promises of turns.

mod common;

use std::cell::Cell;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use common::mutex::waiters;
use common::{Task, block_on, far, until};
use waitword::future::*;
use waitword::*;

/// Locks in one way, and says whether it did.
type Way = (&'static str, fn(&Arc<Mutex<()>>) -> bool);

fn is_held(mutex: &Mutex<()>) -> bool {
    mutex.is_locked() && mutex.try_lock().is_none()
}

#[test]
fn every_way_to_lock_locks_a_free_mutex_at_once() {
    let _nobody_may_wait = forbid_blocking();
    let ways: [Way; 17] = [
        ("lock", |m| is_held_by(m, m.lock())),
        ("try_lock", |m| is_held_by(m, m.try_lock().unwrap())),
        ("lock_for", |m| is_held_by(m, m.lock_for(Duration::MAX).unwrap())),
        ("lock_for, no time", |m| is_held_by(m, m.lock_for(Duration::ZERO).unwrap())),
        ("lock_until, too late", |m| is_held_by(m, m.lock_until(Instant::now()).unwrap())),
        ("lock_async", |m| is_held_by(m, ready(m.lock_async()))),
        ("lock_async_for", |m| is_held_by(m, ready(m.lock_async_for(Duration::MAX)).unwrap())),
        ("lock_async_for, no time", |m| is_held_by(m, ready(m.lock_async_for(Duration::ZERO)).unwrap())),
        ("lock_async_until, too late", |m| is_held_by(m, ready(m.lock_async_until(Instant::now())).unwrap())),
        ("lock_owned", |m| is_held_by(m, m.lock_owned())),
        ("try_lock_owned", |m| is_held_by(m, m.try_lock_owned().unwrap())),
        ("lock_owned_for", |m| is_held_by(m, m.lock_owned_for(Duration::ZERO).unwrap())),
        ("lock_owned_until", |m| is_held_by(m, m.lock_owned_until(Instant::now()).unwrap())),
        ("lock_owned_async", |m| is_held_by(m, ready(m.lock_owned_async()))),
        ("lock_owned_async_for", |m| is_held_by(m, ready(m.lock_owned_async_for(Duration::ZERO)).unwrap())),
        ("lock_owned_async_until", |m| {
            is_held_by(m, ready(m.lock_owned_async_until(Instant::now())).unwrap())
        }),
        ("lock, mapped", |m| is_held_by(m, MutexGuard::map(m.lock(), |unit| unit))),
    ];
    let mutex: Arc<Mutex<()>> = Arc::default();
    for (way, lock) in ways {
        assert!(lock(&mutex), "{way}");
        assert!(!mutex.is_locked() && mutex.try_lock().is_some(), "{way}");
        assert_eq!(Arc::strong_count(&mutex), 1, "{way}");
    }
}

fn is_held_by<G>(mutex: &Mutex<()>, _guard: G) -> bool {
    is_held(mutex)
}

fn ready<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it has to wait"),
    }
}

#[test]
fn every_way_to_wait_gets_the_mutex_when_it_is_released() {
    let ways: [Way; 12] = [
        ("lock", |m| is_held_by(m, m.lock())),
        ("lock_for", |m| is_held_by(m, m.lock_for(Duration::MAX).unwrap())),
        ("lock_until", |m| is_held_by(m, m.lock_until(far()).unwrap())),
        ("lock_async", |m| is_held_by(m, block_on(m.lock_async()))),
        ("lock_async_for", |m| is_held_by(m, block_on(m.lock_async_for(Duration::MAX)).unwrap())),
        ("lock_async_until", |m| is_held_by(m, block_on(m.lock_async_until(far())).unwrap())),
        ("lock_owned", |m| is_held_by(m, m.lock_owned())),
        ("lock_owned_for", |m| is_held_by(m, m.lock_owned_for(Duration::MAX).unwrap())),
        ("lock_owned_until", |m| is_held_by(m, m.lock_owned_until(far()).unwrap())),
        ("lock_owned_async", |m| is_held_by(m, block_on(m.lock_owned_async()))),
        ("lock_owned_async_for", |m| is_held_by(m, block_on(m.lock_owned_async_for(Duration::MAX)).unwrap())),
        ("lock_owned_async_until", |m| is_held_by(m, block_on(m.lock_owned_async_until(far())).unwrap())),
    ];
    let mutex: Arc<Mutex<()>> = Arc::default();
    for (way, wait) in ways {
        let guard = mutex.lock();
        thread::scope(|scope| {
            let waiter = scope.spawn(|| wait(&mutex));
            until(|| waiters(&mutex) == 1);
            assert!(!waiter.is_finished(), "{way}");
            drop(guard);
            assert!(waiter.join().unwrap(), "{way}");
        });
        assert!(!mutex.is_locked(), "{way}");
        assert_eq!((waiters(&mutex), Arc::strong_count(&mutex)), (0, 1), "{way}");
    }
}

#[test]
fn timed_forms_give_up_and_never_too_early() {
    let mutex = Arc::new(Mutex::new(()));
    let guard = mutex.lock();
    for timeout in [0, 1, 3, 15].map(Duration::from_millis) {
        type Form = fn(&Arc<Mutex<()>>, Duration) -> Option<LockError>;
        let forms: [Form; 8] = [
            |m, timeout| m.lock_for(timeout).err(),
            |m, timeout| m.lock_until(Instant::now() + timeout).err(),
            |m, timeout| m.lock_owned_for(timeout).err(),
            |m, timeout| m.lock_owned_until(Instant::now() + timeout).err(),
            |m, timeout| block_on(m.lock_async_for(timeout)).err(),
            |m, timeout| block_on(m.lock_async_until(Instant::now() + timeout)).err(),
            |m, timeout| block_on(m.lock_owned_async_for(timeout)).err(),
            |m, timeout| block_on(m.lock_owned_async_until(Instant::now() + timeout)).err(),
        ];
        for form in forms {
            let start = Instant::now();
            assert_eq!(form(&mutex, timeout), Some(LockError::TimedOut));
            assert!(start.elapsed() >= timeout);
        }
    }
    assert_eq!((waiters(&mutex), Arc::strong_count(&mutex)), (0, 1));
    drop(guard);
    // What they had said of themselves before they went keeps nobody out.
    assert!(mutex.try_lock().is_some());
}

#[test]
fn a_timeout_is_counted_from_the_call() {
    let mutex = Mutex::new(());
    let _guard = mutex.lock();
    let mut late = Task::new(mutex.lock_async_for(Duration::from_millis(1)));
    let start = Instant::now();
    until(|| start.elapsed() > Duration::from_millis(1));
    assert!(matches!(late.poll(), Poll::Ready(Err(LockError::TimedOut))));
}

/// A queued task for a mutex that is held, and when its time will be up.
fn soon_too_late(mutex: &Mutex<()>) -> (Task<'_, Result<MutexGuard<'_, ()>, LockError>>, Instant) {
    let mut timeout = Duration::from_millis(1);
    loop {
        let deadline = Instant::now() + timeout;
        let mut task = Task::new(mutex.lock_async_until(deadline));
        if task.poll().is_pending() {
            return (task, deadline);
        }
        // A slow machine.
        timeout *= 2;
    }
}

#[test]
fn a_mutex_that_is_free_when_the_time_is_up_is_locked() {
    let mutex = Mutex::new(());
    let guard = mutex.lock();
    let (mut late, deadline) = soon_too_late(&mutex);
    drop(guard);
    until(|| Instant::now() > deadline);
    assert!(matches!(late.poll(), Poll::Ready(Ok(_))));
}

#[test]
fn a_signalled_waiter_that_gives_up_forwards_the_signal() {
    let mutex = Mutex::new(());
    let guard = mutex.lock();
    let (mut late, deadline) = soon_too_late(&mutex);
    let mut next = Task::new(mutex.lock_async());
    assert!(next.poll().is_pending());
    drop(guard);
    let barged_in = mutex.try_lock().expect("a signal is no handoff");
    until(|| Instant::now() > deadline);
    assert!(matches!(late.poll(), Poll::Ready(Err(LockError::TimedOut))));
    // Though the future is still there.
    assert_eq!(waiters(&mutex), 1);
    drop(barged_in);
    assert!(next.is_woken());
    assert!(next.poll().is_ready());
    drop(late);
}

/// A waker that does something when the last of its clones is dropped.
struct AtItsEnd<F: FnMut() + Send>(F);

impl<F: FnMut() + Send + Sync> Wake for AtItsEnd<F> {
    fn wake(self: Arc<Self>) {}
}

impl<F: FnMut() + Send> Drop for AtItsEnd<F> {
    fn drop(&mut self) {
        self.0();
    }
}

/// The poll that comes too late gives the old waker back; its destructor releases the mutex, which signals the waiter
/// that is about to leave. Whether another acquirer barges then or not, the next waiter is signalled.
#[test]
fn signalled_between_the_last_check_and_the_deadline() {
    for barges_in in [false, true] {
        let mutex = Arc::new(Mutex::new(()));
        let holder = std::sync::Mutex::new(Some(mutex.lock_owned()));
        let barger = Arc::new(std::sync::Mutex::new(None));
        let deadline = Instant::now() + Duration::from_millis(1);
        let mut late = pin!(mutex.lock_async_until(deadline));
        let release = AtItsEnd({
            let (mutex, barger) = (Arc::clone(&mutex), Arc::clone(&barger));
            move || {
                drop(holder.lock().unwrap().take());
                if barges_in {
                    *barger.lock().unwrap() = Some(mutex.try_lock_owned().expect("a signal is no handoff"));
                }
            }
        });
        let release = Arc::new(release);
        let clones = Arc::downgrade(&release);
        let first_waker = Waker::from(release);
        let polled = late.as_mut().poll(&mut Context::from_waker(&first_waker));
        drop(first_waker);
        if polled.is_ready() {
            // A machine so slow that the time was up before.
            continue;
        }
        let mut next = Task::new(mutex.lock_async());
        assert!(next.poll().is_pending());
        // The timer has woken it, and given back its clone.
        until(|| Instant::now() > deadline && clones.strong_count() == 1);
        match late.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(_guard)) => assert!(!barges_in),
            Poll::Ready(Err(_)) => assert!(barges_in),
            Poll::Pending => panic!("its time was up"),
        }
        drop(barger.lock().unwrap().take());
        assert!(next.is_woken(), "barges: {barges_in}");
        assert!(next.poll().is_ready());
    }
}

#[test]
fn forbidden_to_block() {
    let mutex = Arc::new(Mutex::new(1));
    let guard = mutex.lock();
    let _must_not = forbid_blocking();
    let forbidden = |result: Result<(), LockError>| assert_eq!(result, Err(LockError::BlockingForbidden));
    assert!(mutex.try_lock().is_none() && mutex.try_lock_owned().is_none());
    forbidden(mutex.lock_for(Duration::MAX).map(drop));
    forbidden(mutex.lock_until(far()).map(drop));
    forbidden(mutex.lock_owned_for(Duration::from_secs(1)).map(drop));
    forbidden(mutex.lock_owned_until(far()).map(drop));
    let at_once = mutex.lock_for(Duration::ZERO).map(drop);
    assert_eq!(at_once, Err(LockError::TimedOut), "that would not have waited");
    for (instead, lock) in [
        ("`lock_async`", (|m| drop(m.lock())) as fn(&Arc<Mutex<i32>>)),
        ("`lock_owned_async`", |m| drop(m.lock_owned())),
    ] {
        let panic = catch_unwind(AssertUnwindSafe(|| lock(&mutex))).unwrap_err();
        let message = panic.downcast_ref::<String>().map_or("", String::as_str);
        assert!(message.contains(instead), "{message}");
    }
    let mut task = Task::new(mutex.lock_async());
    assert!(task.poll().is_pending());
    drop(guard);
    assert!(task.poll().is_ready());
}

#[test]
fn threads_and_tasks_share_one_queue() {
    let mutex = Arc::new(Mutex::new(()));
    for kinds in 0..1_u32 << 5 {
        let turns = Mutex::new(Vec::new());
        let guard = mutex.lock();
        let mut released = Instant::now();
        thread::scope(|scope| {
            let (mutex, turns) = (&mutex, &turns);
            let take_a_turn = move |place: usize| {
                let _guard = match kinds >> place & 1 {
                    0 => block_on(mutex.lock_async()),
                    _ => mutex.lock(),
                };
                turns.lock().push(place);
            };
            let enqueue = |place| {
                let thread = scope.spawn(move || take_a_turn(place));
                until(|| waiters(mutex) == place + 1);
                thread
            };
            let threads = (0..5).map(enqueue).collect::<Vec<_>>();
            released = Instant::now();
            drop(guard);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
        let turns = turns.into_inner();
        // On a slow machine the watchdog may have signalled another before the signalled one has come.
        if released.elapsed() < STALL_TIMEOUT {
            assert_eq!(turns, [0, 1, 2, 3, 4], "{kinds:b}");
        }
        assert_eq!(turns.len(), 5);
    }
}

#[test]
fn a_release_frees_the_mutex_and_a_signalled_waiter_keeps_its_position() {
    let mutex = Mutex::new(());
    let guard = mutex.lock();
    let mut first = Task::new(mutex.lock_async());
    let mut second = Task::new(mutex.lock_async());
    assert!(first.poll().is_pending() && second.poll().is_pending());
    let released = Instant::now();
    drop(guard);
    assert!(first.is_woken());
    let barged_in = mutex.try_lock().expect("a signal is no handoff");
    assert!(first.poll().is_pending());
    drop(barged_in);
    let woken = (first.is_woken(), second.is_woken());
    // On a slow machine the watchdog may have signalled the other, too.
    if released.elapsed() < STALL_TIMEOUT {
        assert_eq!(woken, (true, false), "it has kept its position");
        assert!(
            mutex.try_lock().is_none(),
            "barged past once, and it responded: the mutex is reserved for it"
        );
    }
    assert!(first.poll().is_ready());
    drop(second.finish());
}

#[test]
fn others_barge_past_a_signalled_waiter_until_its_window_closes() {
    let mutex = Mutex::new(());
    let guard = mutex.lock();
    let mut first = Task::new(mutex.lock_async());
    assert!(first.poll().is_pending());
    drop(guard);
    assert!(mutex.try_lock().is_some());
    until(|| mutex.try_lock().is_none());
    assert!(!mutex.is_locked(), "free, and reserved");
    assert!(first.poll().is_ready());
}

#[test]
fn unlock_fair_hands_the_mutex_to_the_queue() {
    fn fair<G>(mutex: &Arc<Mutex<()>>, guard: G, unlock_fair: fn(G)) {
        let mut first = Task::new(mutex.lock_async());
        assert!(first.poll().is_pending());
        unlock_fair(guard);
        assert!(!mutex.is_locked() && first.is_woken());
        assert!(mutex.try_lock().is_none());
        let mut barging = Task::new(mutex.lock_async());
        assert!(barging.poll().is_pending());
        let Poll::Ready(guard) = first.poll() else { panic!("it was reserved for it") };
        assert!(barging.poll().is_pending());
        drop(guard);
        drop(barging.finish());
        // No waiter.
        MutexGuard::unlock_fair(mutex.lock());
        assert!(mutex.try_lock().is_some());
        assert_eq!(Arc::strong_count(mutex), 1);
    }
    let mutex = Arc::new(Mutex::new(()));
    fair(&mutex, mutex.lock(), MutexGuard::unlock_fair);
    fair(&mutex, mutex.lock_owned(), OwnedMutexGuard::unlock_fair);
    fair(&mutex, MutexGuard::map(mutex.lock(), |unit| unit), MappedMutexGuard::unlock_fair);
    fair(&mutex, OwnedMutexGuard::map(mutex.lock_owned(), |unit| unit), OwnedMappedMutexGuard::unlock_fair);
}

#[test]
fn a_guard_is_dropped_on_another_thread() {
    let mutex = Arc::new(Mutex::new(vec![1]));
    let guard = mutex.lock();
    let mut task = Task::new(mutex.lock_owned_async());
    assert!(task.poll().is_pending());
    thread::scope(|scope| {
        scope.spawn(move || drop(guard));
    });
    let Poll::Ready(mut owned) = task.poll() else { panic!("released on another thread") };
    owned.push(2);
    // A thread that outlives this one's share in the mutex.
    let weak = Arc::downgrade(&mutex);
    drop(mutex);
    drop(task);
    let last = thread::spawn(move || OwnedMutexGuard::map(owned, |all| &mut all[1])).join().unwrap();
    assert_eq!(*last, 2);
    assert_eq!(weak.strong_count(), 1, "the guard's own");
    drop(last);
    assert_eq!(weak.strong_count(), 0);
}

#[test]
fn an_owned_future_keeps_the_mutex_while_it_waits_and_gives_it_back() {
    let mutex = Arc::new(Mutex::new(()));
    let guard = mutex.lock_owned();
    let mut waiting = Task::new(mutex.lock_owned_async());
    let mut dropped = Task::new(mutex.lock_owned_async_until(far()));
    assert!(waiting.poll().is_pending() && dropped.poll().is_pending());
    let weak = Arc::downgrade(&mutex);
    drop(mutex);
    drop(guard);
    // It leaves a line of which only the futures know.
    drop(dropped);
    let Poll::Ready(guard) = waiting.poll() else { panic!("released") };
    assert_eq!(weak.strong_count(), 1, "what is over has no share");
    drop(waiting);
    drop(guard);
    assert_eq!(weak.strong_count(), 0);
}

#[test]
fn mapped_guards_map_again_and_release_once() {
    let mutex = Arc::new(Mutex::new(((1, [2, 3]), 4)));

    let inner = MutexGuard::map(mutex.lock(), |all| &mut all.0);
    let inner = MappedMutexGuard::filter_map(inner, |_| None::<&mut i32>).unwrap_err();
    let mut list = MappedMutexGuard::map(inner, |pair| &mut pair.1[..]);
    list[0] = 20;
    let last = MappedMutexGuard::filter_map(list, |list| list.last_mut()).unwrap();
    assert_eq!((*last, mutex.is_locked()), (3, true));
    drop(last);
    assert!(!mutex.is_locked());

    let inner = OwnedMutexGuard::map(mutex.lock_owned(), |all| &mut all.0);
    assert!(Arc::ptr_eq(OwnedMappedMutexGuard::mutex(&inner), &mutex));
    let inner = OwnedMappedMutexGuard::filter_map(inner, |_| None::<&mut i32>).unwrap_err();
    let mut list = OwnedMappedMutexGuard::map(inner, |pair| &mut pair.1[..]);
    list[1] = 30;
    let first = OwnedMappedMutexGuard::filter_map(list, |list| list.first_mut()).unwrap();
    assert_eq!((*first, mutex.is_locked()), (20, true));
    drop(first);
    assert!(!mutex.is_locked());

    let whole = OwnedMutexGuard::filter_map(mutex.lock_owned(), |_| None::<&mut i32>).unwrap_err();
    assert_eq!(*whole, ((1, [20, 30]), 4));
    drop(whole);
    assert_eq!(Arc::strong_count(&mutex), 1);
    assert_eq!(*MutexGuard::filter_map(mutex.lock(), |all| Some(&mut all.1)).unwrap(), 4);
}

#[test]
fn a_panic_releases_and_poisons_nothing() {
    let mutex = Arc::new(Mutex::new(1));
    let panics: [fn(&Arc<Mutex<i32>>); 4] = [
        |mutex| {
            *mutex.lock() += 1;
            let _guard = mutex.lock();
            panic!("while it is held");
        },
        |mutex| drop(MutexGuard::map(mutex.lock(), |_| -> &mut i32 { panic!("in map") })),
        |mutex| drop(OwnedMutexGuard::map(mutex.lock_owned(), |_| -> &mut i32 { panic!("in map") })),
        |mutex| {
            let guard = MutexGuard::map(mutex.lock(), |value| value);
            let _ = MappedMutexGuard::filter_map(guard, |_| -> Option<&mut i32> { panic!("in map") });
        },
    ];
    for panics in panics {
        catch_unwind(AssertUnwindSafe(|| panics(&mutex))).unwrap_err();
        assert_eq!(mutex.try_lock().as_deref(), Some(&2));
    }
    assert_eq!(Arc::strong_count(&mutex), 1);
}

#[test]
fn only_a_panic_poisons() {
    let mutex = Mutex::new(Poison::from(1));
    *mutex.lock().get_mut().unwrap() += 1;
    catch_unwind(AssertUnwindSafe(|| {
        let _only_read = mutex.lock().get().copied().unwrap();
        panic!("without a guard of the value");
    }))
    .unwrap_err();
    assert!(!mutex.lock().is_poisoned());

    struct ChangesWhenDropped<'a>(&'a Mutex<Poison<i32>>);
    impl Drop for ChangesWhenDropped<'_> {
        fn drop(&mut self) {
            *self.0.lock().get_mut().unwrap() += 1;
        }
    }
    catch_unwind(AssertUnwindSafe(|| {
        let _changes = ChangesWhenDropped(&mutex);
        panic!("and a destructor changes the value, all of it");
    }))
    .unwrap_err();
    assert_eq!(mutex.lock().get(), Ok(&3));

    let half_way = catch_unwind(AssertUnwindSafe(|| {
        let mut locked = mutex.lock();
        let mut value = locked.get_mut().unwrap();
        *value = -1;
        panic!("half way");
    }));
    assert!(half_way.is_err());
    assert!(matches!(mutex.lock().get_mut(), Err(Poisoned)));
    assert_eq!(mutex.lock().clear_poison(), &-1);
    assert_eq!(mutex.into_inner().into_inner(), -1);
}

#[test]
fn debug_never_waits() {
    let mutex = Arc::new(Mutex::new("value"));
    assert_eq!(format!("{mutex:?}"), r#"Mutex { data: "value" }"#);
    let guard = mutex.lock();
    assert_eq!(format!("{mutex:?} {guard:?} {guard}"), r#"Mutex { data: <locked> } "value" value"#);
    drop(guard);
    let owned = mutex.lock_owned();
    assert_eq!(format!("{owned:?} {owned}"), r#""value" value"#);
    let mut task = Box::pin(mutex.lock_async());
    assert_eq!(format!("{task:?}"), "MutexLock { waiting: false, .. }");
    assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert_eq!(format!("{task:?}"), "MutexLock { waiting: true, .. }");
    let owned = mutex.lock_owned_async_for(Duration::ZERO);
    assert_eq!(format!("{owned:?}"), "MutexLockOwnedUntil { waiting: false, .. }");
}

#[test]
fn values_come_and_go() {
    let mut mutex: Mutex<String> = Mutex::default();
    mutex.get_mut().push('a');
    mutex.lock().push('b');
    assert_eq!(mutex.into_inner(), "ab");
    assert_eq!(*Mutex::from(1).lock(), 1);
    let unsized_value: Arc<Mutex<[i32]>> = Arc::new(Mutex::new([1, 2]));
    unsized_value.lock()[0] = 3;
    assert_eq!(unsized_value.lock_owned().iter().sum::<i32>(), 5);
    assert_eq!(block_on(unsized_value.lock_owned_async()).len(), 2);
}

#[test]
#[should_panic(expected = "polled after it had ended")]
fn a_future_that_was_ready_is_not_polled_again() {
    let mutex = Mutex::new(());
    let mut task = Task::new(mutex.lock_async());
    assert!(task.poll().is_ready());
    let _ = task.poll();
}

/// What may cross threads, and what may not, checked by the compiler.
mod auto_traits {
    use super::*;

    /// `Is::<T>::SEND` and the like: an inherent constant if the bound holds, else the trait's.
    struct Is<T: ?Sized>(PhantomData<T>);

    trait Otherwise {
        const SEND: bool = false;
        const SYNC: bool = false;
        const UNPIN: bool = false;
    }

    impl<T: ?Sized> Otherwise for Is<T> {}

    impl<T: ?Sized + Send> Is<T> {
        const SEND: bool = true;
    }

    impl<T: ?Sized + Sync> Is<T> {
        const SYNC: bool = true;
    }

    impl<T: ?Sized + Unpin> Is<T> {
        const UNPIN: bool = true;
    }

    /// `type: Send, Sync, Unpin;`
    macro_rules! table {
        ($($type:ty: $send:literal, $sync:literal, $unpin:literal;)*) => {$(
            const _: () = assert!(Is::<$type>::SEND == $send, concat!("Send: ", stringify!($type)));
            const _: () = assert!(Is::<$type>::SYNC == $sync, concat!("Sync: ", stringify!($type)));
            const _: () = assert!(Is::<$type>::UNPIN == $unpin, concat!("Unpin: ", stringify!($type)));
        )*};
    }

    /// Neither.
    type Local = Rc<i32>;
    /// `Send`, and not `Sync`.
    type SendOnly = Cell<i32>;
    /// `Sync`, and not `Send`.
    type SyncOnly = std::sync::MutexGuard<'static, i32>;

    // A guard shows its mutex, and with that lets others lock it; so it is `Sync` only where the mutex is. A mapped guard
    // that borrows does not.
    table! {
        Mutex<i32>: true, true, true;
        Mutex<SendOnly>: true, true, true;
        Mutex<SyncOnly>: false, false, true;
        Mutex<Local>: false, false, true;
        MutexGuard<'static, i32>: true, true, true;
        MutexGuard<'static, SendOnly>: true, false, true;
        MutexGuard<'static, SyncOnly>: false, false, true;
        MutexGuard<'static, Local>: false, false, true;
        OwnedMutexGuard<i32>: true, true, true;
        OwnedMutexGuard<SendOnly>: true, false, true;
        OwnedMutexGuard<SyncOnly>: false, false, true;
        OwnedMutexGuard<Local>: false, false, true;
        MappedMutexGuard<'static, i32>: true, true, true;
        MappedMutexGuard<'static, SendOnly>: true, false, true;
        MappedMutexGuard<'static, SyncOnly>: false, true, true;
        MappedMutexGuard<'static, Local>: false, false, true;
        OwnedMappedMutexGuard<i32, i32>: true, true, true;
        OwnedMappedMutexGuard<SendOnly, i32>: true, true, true;
        OwnedMappedMutexGuard<Local, i32>: false, false, true;
        OwnedMappedMutexGuard<i32, SendOnly>: true, false, true;
        OwnedMappedMutexGuard<i32, SyncOnly>: false, true, true;
        OwnedMappedMutexGuard<i32, Local>: false, false, true;
        // They stand in a queue that knows their address.
        MutexLock<'static, SendOnly>: true, true, false;
        MutexLock<'static, Local>: false, false, false;
        MutexLockUntil<'static, SendOnly>: true, true, false;
        MutexLockUntil<'static, Local>: false, false, false;
        MutexLockOwned<SendOnly>: true, true, false;
        MutexLockOwned<Local>: false, false, false;
        MutexLockOwnedUntil<SendOnly>: true, true, false;
        MutexLockOwnedUntil<Local>: false, false, false;
        Poison<Local>: false, false, true;
        PoisonGuard<'static, SendOnly>: true, false, true;
    }

    /// A guard of something that lives long is one of something that lives shorter; the value is never taken for another.
    #[allow(dead_code, reason = "that it compiles is the test")]
    fn a_guard_may_live_shorter<'short>(
        guard: MutexGuard<'static, &'static str>,
        mapped: MappedMutexGuard<'static, i32>,
    ) -> (MutexGuard<'short, &'static str>, MappedMutexGuard<'short, i32>) {
        (guard, mapped)
    }

    #[test]
    fn a_mutex_is_its_word_and_its_value() {
        assert_eq!((size_of::<Mutex<()>>(), size_of::<Mutex<u32>>(), size_of::<Mutex<u64>>()), (4, 8, 16));
        assert_eq!(size_of::<MutexGuard<'_, [u64; 9]>>(), size_of::<usize>());
        assert_eq!(size_of::<OwnedMutexGuard<[u64; 9]>>(), size_of::<usize>());
        assert_eq!(size_of::<Option<MappedMutexGuard<'_, u64>>>(), 2 * size_of::<usize>());
    }
}
