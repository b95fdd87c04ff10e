//! The mutex: what it promises of turns, its guards, its value.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use waitword::*;

use crate::common::{Task, block_on, poll, until};

#[test]
#[should_panic(expected = "polled after it had ended")]
fn a_future_that_was_ready_is_not_polled_again() {
    let mutex = Mutex::new(());
    let mut task = Task::new(mutex.lock_async());
    assert!(task.poll().is_ready());
    let _ = task.poll();
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
        let mut late = pin!(mutex.lock_async().deadline(deadline));
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
        let mut next = Task::queued(mutex.lock_async());
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
fn a_release_frees_the_mutex_and_a_signalled_waiter_keeps_its_position() {
    let mutex = Mutex::new(());
    let guard = mutex.lock();
    let mut first = Task::queued(mutex.lock_async());
    let second = Task::queued(mutex.lock_async());
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
fn an_owned_future_that_is_over_has_no_share_in_the_mutex() {
    let mutex = Arc::new(Mutex::new(()));
    let guard = mutex.lock_owned();
    let mut waiting = Box::pin(mutex.lock_owned_async());
    assert!(poll(waiting.as_mut()).is_pending());
    let weak = Arc::downgrade(&mutex);
    drop(mutex);
    drop(guard);
    let Poll::Ready(guard) = poll(waiting.as_mut()) else { panic!("released") };
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
    assert!(left.to_string().contains(file!()), "{left}");
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
