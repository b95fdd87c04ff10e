//! A value that is left in the middle of a change: by whatever ends the hold, the next holder is told.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;

use smol::future::yield_now;
use waitword::{Mutex, Poison, Poisoned, RwLock};

type Accounts = Poison<(i32, i32)>;

/// Moves 30, with awaits before, within and after the change.
async fn transfer(accounts: &Mutex<Accounts>) -> Result<(), Poisoned> {
    let mut locked = accounts.lock_async().await;
    yield_now().await;
    locked.begin()?.0 -= 30;
    yield_now().await;
    locked.value_mut().1 += 30;
    yield_now().await;
    locked.done();
    yield_now().await;
    Ok(())
}

/// The same by the closure.
async fn transfer_in_one(accounts: &Mutex<Accounts>) -> Result<(), Poisoned> {
    let mut locked = accounts.lock_async().await;
    yield_now().await;
    let change = async |(from, to): &mut (i32, i32)| {
        *from -= 30;
        yield_now().await;
        *to += 30;
        yield_now().await;
        Ok(())
    };
    locked.change_async(change).await?;
    yield_now().await;
    Ok(())
}

/// Drops the future after one poll, after two, and so on. Returns the values that it left, and whether they were poisoned.
fn dropped_at_every_await(
    transfer: impl AsyncFn(&Mutex<Accounts>) -> Result<(), Poisoned>,
) -> Vec<((i32, i32), bool)> {
    let mut left = Vec::new();
    for polls in 1.. {
        let accounts = Mutex::new(Poison::new((100, 0)));
        let mut is_ready = false;
        {
            let mut transfer = pin!(transfer(&accounts));
            for _ in 0..polls {
                is_ready =
                    transfer.as_mut().poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(Ok(()));
            }
        }
        let accounts = accounts.into_inner();
        let is_poisoned = accounts.is_poisoned();
        left.push((accounts.into_inner(), is_poisoned));
        if is_ready {
            return left;
        }
    }
    unreachable!("it becomes ready")
}

#[test]
fn a_task_that_is_dropped_within_a_change_poisons() {
    let expected =
        [((100, 0), false), ((70, 0), true), ((70, 30), true), ((70, 30), false), ((70, 30), false)];
    assert_eq!(dropped_at_every_await(transfer), expected);
    assert_eq!(dropped_at_every_await(transfer_in_one), expected);
}

#[test]
fn an_error_and_a_panic_within_a_change_poison() {
    let lock = RwLock::new(Poison::new(1));
    let fails = || -> Result<(), Box<dyn std::error::Error>> {
        let mut writer = lock.write();
        *writer.begin()? = 2;
        "x".parse::<i32>()?;
        writer.done();
        Ok(())
    };
    fails().unwrap_err();
    assert!(lock.read().is_poisoned());
    assert_eq!(*lock.write().clear_poison(), 2);

    let error = lock.write().change(|value| -> Result<(), Box<dyn std::error::Error>> {
        *value = 3;
        Err("no".into())
    });
    assert_eq!(error.unwrap_err().to_string(), "no");
    assert!(lock.read().get().is_err());
    assert!(lock.write().change(|_| Ok::<_, Poisoned>(())).is_err(), "it stays, and nothing is changed");
    lock.write().clear_poison();

    let panics = || drop(lock.write().change(|_| -> Result<(), Poisoned> { panic!("inside") }));
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    assert!(lock.read().is_poisoned());
    lock.write().clear_poison();
    assert_eq!(lock.write().change(|value| Ok::<_, Poisoned>(*value)), Ok(3));
    assert!(!lock.read().is_poisoned());
}

/// A guard that is forgotten releases nothing; a value that is, keeps its mark: nothing has to run for that.
#[test]
fn the_error_says_where_and_by_whom() {
    let mutex = Mutex::new(Poison::new(1));
    let line = line!() + 3;
    thread::scope(|scope| {
        let begins = || {
            mutex.lock().begin().unwrap();
        };
        thread::Builder::new().name("mover".into()).spawn_scoped(scope, begins).unwrap();
    });
    let mut locked = mutex.lock();
    let left = locked.begin().unwrap_err();
    assert_eq!((left.begun_at().file(), left.begun_at().line()), (file!(), line));
    assert_eq!(left.begun_by().name(), Some("mover"));
    let text = left.to_string();
    assert!(
        text.contains("thread mover") && text.contains("poison.rs") && text.contains("clear_poison"),
        "{text}"
    );
    assert_eq!(locked.get_mut().map(drop), Err(left.clone()));
    assert_eq!(locked.get(), Err(left));
    *locked.clear_poison() = 2;
    assert_eq!(locked.get(), Ok(&2));
}

#[test]
#[should_panic(expected = "`done` without `begin`")]
fn a_change_that_has_not_begun_is_not_done() {
    Poison::new(1).done();
}
