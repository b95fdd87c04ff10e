//! The errors of acquirers that timed out: the message and the holder, with the times and the lines masked.
//!
//! In what is expected, `<mark>` is the line of this file that ends with `// mark`.

use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use waitword::observe::Actor;
use waitword::word::AsyncLock;
use waitword::{
    AcquireError, Event, HeldBy, LockError, Mutex, OnceLock, RwLock, RwLockUpgradableReadGuard, Semaphore,
};
use waitword_observe::internals::{start_holders, stop_holders};

use crate::common::{NOBODY, a_tick_later, held, leak, masked, poll, recorded, waker};

const SOON: Duration = Duration::from_millis(1);

/// An error, and the holder that it names, to be asked for at once.
type Asked = (LockError, Option<HeldBy>);

fn ask(error: LockError) -> Asked {
    (error, error.held_by())
}

fn text((error, by): Asked) -> String {
    masked(&match by {
        Some(by) => format!("{error}: {by}"),
        None => error.to_string(),
    })
}

/// What is said of a wait whose time was up.
fn late<T>(waited: Result<T, LockError>) -> String {
    text(waited.map_or_else(ask, |_| panic!("it was acquired")))
}

/// A thread of that name that holds what `take` returns until the returned sender is dropped.
fn holder<T>(name: &str, take: impl FnOnce() -> T + Send + 'static) -> (Sender<()>, JoinHandle<()>) {
    let (ends, end) = mpsc::channel::<()>();
    let (holds, held) = mpsc::channel();
    let holder = thread::Builder::new().name(name.into()).spawn(move || {
        let _held = take();
        holds.send(()).unwrap();
        let _ = end.recv();
    });
    held.recv().unwrap();
    (ends, holder.unwrap())
}

#[test]
fn the_error_of_a_mutex_names_its_holder() {
    let _turn = recorded();
    let mutex = leak(Arc::new(Mutex::new(1)));
    let (ends, holder) = holder("gc", || mutex.lock()); // gc took
    let errors: [Asked; 5] = [
        ask(mutex.lock_for(SOON).map(drop).unwrap_err()),
        ask(mutex.lock_until(Instant::now()).map(drop).unwrap_err()),
        ask(smol::block_on(mutex.lock_async().timeout(SOON)).map(drop).unwrap_err()),
        ask(smol::block_on(mutex.lock_async().deadline(Instant::now())).map(drop).unwrap_err()),
        ask(smol::block_on(mutex.lock_owned_async().timeout(SOON)).map(drop).unwrap_err()),
    ];
    for (error, by) in errors {
        assert_eq!(text((error, by)), "timed out: held # by thread \"gc\", taken at <gc took>");
        assert_eq!(error, LockError::TimedOut);
    }
    let held_by = errors[0].1.unwrap();
    assert_eq!(thread::spawn(move || errors[0].0.held_by()).join().unwrap(), None, "another thread's wait");
    assert!(matches!(held_by.actor(), Some(Actor::Thread(thread)) if thread.id() == holder.thread().id()));
    assert!(held_by.held() < Duration::from_secs(3600) && held_by.others() == 0);
    drop(ends);
    holder.join().unwrap();
    assert_eq!(*mutex.lock_for(SOON).unwrap(), 1);
}

#[test]
fn the_error_says_for_how_long() {
    let _turn = recorded();
    let mutex = leak(Mutex::new(()));
    let guard = mutex.lock();
    let wait = Duration::from_millis(200);
    let held = mutex.lock_for(wait).map(drop).unwrap_err().held_by().unwrap().held();
    assert!(held >= wait - Duration::from_millis(20), "{held:?}");
    drop(guard);
}

#[test]
fn a_task_is_named_as_such() {
    let _turn = recorded();
    let mutex = leak(Mutex::new(()));
    let waker = waker();
    let mut task = pin!(async {
        let _guard = mutex.lock_async().await; // task took
        pending::<()>().await;
    });
    assert!(poll(task.as_mut(), &waker).is_pending());
    let error = mutex.lock_for(SOON).map(drop).unwrap_err();
    assert_eq!(text(ask(error)), "timed out: held # by a task, taken at <task took>");
    let actor = error.held_by().unwrap().actor();
    assert!(matches!(actor, Some(Actor::Task(task)) if task == waker.data().addr()));
}

#[test]
fn the_error_of_a_readers_writer_lock_names_who_is_in_the_way() {
    let _turn = recorded();
    let lock = leak(RwLock::new(1));
    let (ends_one, one) = holder("one", || lock.read()); // one reads
    a_tick_later();
    let other = lock.upgradable_read(); // other reads
    let by_one = "timed out: held # by thread \"one\", taken at <one reads>";
    assert_eq!(late(lock.write_for(SOON)), format!("{by_one}, and by another"));
    let name = thread::current().name().unwrap().to_owned();
    let by_other = format!("timed out: held # by thread {name:?}, taken at <other reads>");
    assert_eq!(late(lock.upgradable_read_for(SOON)), by_other);
    let refused = RwLockUpgradableReadGuard::upgrade_for(other, SOON).map(drop).unwrap_err();
    assert_eq!(text(ask(refused.error)), by_one);
    drop((refused, ends_one));
    one.join().unwrap();
    let (ends, writer) = holder("w", || lock.write()); // w writes
    let by_writer = "timed out: held # by thread \"w\", taken at <w writes>";
    assert_eq!(late(smol::block_on(lock.read_async().timeout(SOON))), by_writer);
    drop(ends);
    writer.join().unwrap();
}

#[test]
fn the_error_of_a_semaphore_names_the_oldest_holder() {
    let _turn = recorded();
    let semaphore = leak(Semaphore::new(3));
    let (ends, holder) = holder("pool", || semaphore.acquire_many(2).unwrap()); // pool took
    a_tick_later();
    let permit = semaphore.acquire().unwrap();
    let late = semaphore.acquire_for(SOON).map(drop).unwrap_err();
    let expected = "timed out: held # by thread \"pool\", taken at <pool took>, and by another";
    assert_eq!(masked(&format!("{late}: {}", late.held_by().unwrap())), expected);
    assert_eq!(late, AcquireError::TimedOut);
    drop((permit, ends));
    holder.join().unwrap();
}

#[test]
fn the_error_of_a_cell_names_who_makes_its_value() {
    let _turn = recorded();
    let cell = leak(OnceLock::new());
    let (ends, end) = mpsc::channel::<()>();
    let (runs, running) = mpsc::channel();
    let maker = thread::Builder::new().name("maker".into());
    let maker = maker.spawn(move || {
        let init = || {
            runs.send(()).unwrap();
            let _ = end.recv();
        };
        cell.get_or_init(init); // maker runs
    });
    running.recv().unwrap();
    let by_maker = "timed out: held # by thread \"maker\", taken at <maker runs>";
    assert_eq!(late(cell.wait_for(SOON)), by_maker);
    assert_eq!(late(smol::block_on(cell.wait_async().timeout(SOON))), by_maker);
    drop(ends);
    maker.unwrap().join().unwrap();
}

#[test]
fn nobody_is_named_where_nobody_is_known() {
    let _turn = recorded();
    let mutex = leak(Mutex::new(1));
    let unknown = "timed out";
    let late = || mutex.lock_for(SOON).map(drop).unwrap_err();

    stop_holders();
    let before = mutex.lock();
    assert_eq!((text(ask(late())), late().held_by()), (unknown.to_owned(), None));
    start_holders();
    assert_eq!((text(ask(late())), late().held_by()), (unknown.to_owned(), None), "taken before");
    drop(before);

    let _guard = mutex.lock();
    assert!(late().held_by().is_some());
    stop_holders();
    assert_eq!(late().held_by(), None);
    start_holders();
    assert_eq!(late().held_by(), None, "a record of an earlier turn");
    assert_eq!(LockError::BlockingForbidden.held_by(), None);
    let event = Event::new();
    assert_eq!(event.wait_for(SOON).unwrap_err().held_by(), None);
}

/// A script unlocks an `AsyncLock` and erases no record, nor does anybody when the memory goes.
#[test]
fn an_async_lock_that_was_in_the_same_place_has_no_holder() {
    enum Place {
        Word(AtomicI32),
        Mutex(Mutex<()>),
    }
    let _turn = recorded();
    let mut place = Place::Word(AtomicI32::new(0));
    let Place::Word(word) = &place else { unreachable!() };
    assert!(AsyncLock::on(word).try_lock()); // a script unlocks
    word.store(0, Ordering::Relaxed);

    assert_eq!(held(word), ["AsyncLock <a script unlocks>"]);
    place = Place::Mutex(Mutex::new(()));
    let Place::Mutex(mutex) = &place else { unreachable!() };
    let guard = mutex.lock(); // the mutex taken
    let test = thread::current().name().unwrap().to_owned();
    let by_test = format!("timed out: held # by thread {test:?}, taken at <the mutex taken>");
    assert_eq!(late(mutex.lock_for(SOON)), by_test);
    assert_eq!(held(mutex), ["Mutex <the mutex taken>"]);
    drop(guard);
    assert_eq!(held(mutex), NOBODY);
}

#[test]
fn an_error_is_small() {
    assert!(size_of::<LockError>() == 1 && size_of::<HeldBy>() <= 24);
}
