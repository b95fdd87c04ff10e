//! The guards of the mutex, and its value.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use waitword::*;

use crate::common::{Task, block_on, far};

#[test]
fn a_guard_is_dropped_on_another_thread() {
    let mutex = Arc::new(Mutex::new(vec![1]));
    let guard = mutex.lock();
    let mut task = Task::queued(mutex.lock_owned_async());
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
    let mut waiting = Task::queued(mutex.lock_owned_async());
    let dropped = Task::queued(mutex.lock_owned_async().deadline(far()));
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
    let left = mutex.lock().get_mut().map(drop).unwrap_err();
    assert_eq!(left.begun_at().file(), file!());
    assert!(left.to_string().contains("guards.rs"), "{left}");
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
    let owned = mutex.lock_owned_async().timeout(Duration::ZERO);
    assert_eq!(format!("{owned:?}"), "MutexLock { waiting: false, .. }");
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
