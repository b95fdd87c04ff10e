//! The errors of acquirers whose time was up: the whole message, with the times and the lines masked.
//!
//! In what is expected, `<mark>` is the line of this file that ends with `// mark`.

use std::fmt::Display;
use std::future::{Future, pending};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{self, Sender};
use std::task::{Context, Wake, Waker};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use waitword::observe::Actor;
use waitword::observe::holders::Hold;
use waitword::{AsyncLock, HeldBy, LockError, Mutex, OnceLock, RwLock, RwLockUpgradableReadGuard, Semaphore};
use waitword_observe::internals::{holders, start_holders, stop_holders};

const SOON: Duration = Duration::from_millis(1);

/// The switch is one for the process.
static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());

fn observed() -> std::sync::MutexGuard<'static, ()> {
    let turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    start_holders();
    turn
}

/// Times are `#`, places in this file are marks.
fn masked(error: impl Display) -> String {
    let source: Vec<&str> = include_str!("timed_out.rs").lines().collect();
    let text = error.to_string();
    let words = text.split(' ').map(|word| {
        if let Some((_, line)) = word.split_once("timed_out.rs:") {
            let number = line.trim_end_matches(',');
            let line = line
                .replace(number, source[number.parse::<usize>().unwrap() - 1].split_once("// ").unwrap().1);
            format!("<{line}>").replace(",>", ">,")
        } else if word.parse::<f64>().is_ok() && word.contains('.') {
            "#".to_owned()
        } else {
            word.to_owned()
        }
    });
    words.collect::<Vec<_>>().join(" ")
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

/// What is acquired later is younger to the clock of the records, which counts 10 ms: a look at them sets it.
fn younger_from_now_on() {
    thread::sleep(Duration::from_millis(20));
    assert!(holders().is_some());
}

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

#[test]
fn the_error_of_a_mutex_names_its_holder() {
    let _turn = observed();
    let mutex = leak(Arc::new(Mutex::new(1)));
    let (ends, holder) = holder("gc", || {
        mutex.lock() // gc took
    });
    let errors: [LockError; 6] = [
        mutex.lock_for(SOON).map(drop).unwrap_err(),
        mutex.lock_until(Instant::now()).map(drop).unwrap_err(),
        mutex.lock_owned_for(SOON).map(drop).unwrap_err(),
        smol::block_on(mutex.lock_async_for(SOON)).map(drop).unwrap_err(),
        smol::block_on(mutex.lock_async_until(Instant::now())).map(drop).unwrap_err(),
        smol::block_on(mutex.lock_owned_async_for(SOON)).map(drop).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(masked(error), "the time was up: held # s by thread \"gc\", taken at <gc took>");
        assert_eq!(error, LockError::TIMED_OUT, "equal by the reason");
    }
    let held_by = errors[0].held_by().unwrap();
    assert!(matches!(held_by.actor(), Some(Actor::Thread(thread)) if thread.id() == holder.thread().id()));
    assert!(held_by.held() < Duration::from_secs(3600) && held_by.others() == 0);
    drop(ends);
    holder.join().unwrap();
    assert_eq!(*mutex.lock_for(SOON).unwrap(), 1);
}

#[test]
fn the_error_says_for_how_long() {
    let _turn = observed();
    let mutex = leak(Mutex::new(()));
    let guard = mutex.lock();
    let wait = Duration::from_millis(200);
    let held = mutex.lock_for(wait).map(drop).unwrap_err().held_by().unwrap().held();
    assert!(held >= wait - Duration::from_millis(20), "{held:?}");
    drop(guard);
}

#[test]
fn a_task_is_named_as_such() {
    struct Task;
    impl Wake for Task {
        fn wake(self: Arc<Self>) {}
    }
    let _turn = observed();
    let mutex = leak(Mutex::new(()));
    let waker = Waker::from(Arc::new(Task));
    let mut task = pin!(async {
        let _guard = mutex.lock_async().await; // task took
        pending::<()>().await;
    });
    assert!(task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    let error = mutex.lock_for(SOON).map(drop).unwrap_err();
    assert_eq!(masked(error), "the time was up: held # s by a task, taken at <task took>");
    let actor = error.held_by().unwrap().actor();
    assert!(matches!(actor, Some(Actor::Task(task)) if task == waker.data().addr()));
}

#[test]
fn the_error_of_a_readers_writer_lock_names_who_is_in_the_way() {
    let _turn = observed();
    let lock = leak(RwLock::new(1));
    let (ends_one, one) = holder("one", || {
        lock.read() // one reads
    });
    younger_from_now_on();
    let other = lock.upgradable_read(); // other reads
    let late = lock.write_for(SOON).map(drop).unwrap_err();
    let expected = "the time was up: held # s by thread \"one\", taken at <one reads>, and by another";
    assert_eq!(masked(late), expected);
    let late = lock.upgradable_read_for(SOON).map(drop).unwrap_err();
    let name = thread::current().name().unwrap().to_owned();
    assert_eq!(masked(late), format!("the time was up: held # s by thread {name:?}, taken at <other reads>"));
    let late = RwLockUpgradableReadGuard::upgrade_for(other, SOON).map(drop).unwrap_err();
    let expected = "the time was up: held # s by thread \"one\", taken at <one reads>";
    assert_eq!(masked(&late), expected);
    drop((late, ends_one));
    one.join().unwrap();
    let (ends, writer) = holder("w", || {
        lock.write() // w writes
    });
    let late = smol::block_on(lock.read_async_for(SOON)).map(drop).unwrap_err();
    assert_eq!(masked(late), "the time was up: held # s by thread \"w\", taken at <w writes>");
    drop(ends);
    writer.join().unwrap();
}

#[test]
fn the_error_of_a_semaphore_names_the_oldest_holder() {
    let _turn = observed();
    let semaphore = leak(Semaphore::new(3));
    let (ends, holder) = holder("pool", || {
        semaphore.acquire_many(2).unwrap() // pool took
    });
    younger_from_now_on();
    let permit = semaphore.acquire().unwrap();
    let late = semaphore.acquire_for(SOON).map(drop).unwrap_err();
    let expected = "the time was up, and there were still too few permits: \
                    held # s by thread \"pool\", taken at <pool took>, and by another";
    assert_eq!(masked(late), expected);
    assert!(late.held_by().is_some() && late == waitword::AcquireError::TIMED_OUT);
    drop((permit, ends));
    holder.join().unwrap();
}

#[test]
fn the_error_of_a_cell_names_who_makes_its_value() {
    let _turn = observed();
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
    let errors = [
        cell.wait_for(SOON).unwrap_err(),
        cell.get_or_init_for(SOON, || ()).unwrap_err(),
        smol::block_on(cell.wait_async_for(SOON)).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(masked(error), "the time was up: held # s by thread \"maker\", taken at <maker runs>");
    }
    drop(ends);
    maker.unwrap().join().unwrap();
}

#[test]
fn nobody_is_named_where_nobody_is_known() {
    let _turn = observed();
    let mutex = leak(Mutex::new(1));
    let unknown = "the time was up before it could be had: try again, or allow more time";
    let late = || mutex.lock_for(SOON).map(drop).unwrap_err();

    stop_holders();
    let before = mutex.lock();
    assert_eq!((masked(late()), late().held_by()), (unknown.to_owned(), None));
    start_holders();
    assert_eq!((masked(late()), late().held_by()), (unknown.to_owned(), None), "taken before");
    drop(before);

    let _guard = mutex.lock();
    assert!(late().held_by().is_some());
    stop_holders();
    assert_eq!(late().held_by(), None);
    start_holders();
    assert_eq!(late().held_by(), None, "a record of an earlier turn");
    assert_eq!(LockError::BlockingForbidden.held_by(), None);
    let event = waitword::Event::new();
    assert_eq!(event.wait_for(SOON).unwrap_err().held_by(), None);
}

/// A script unlocks an `AsyncLock` and erases no record, nor does anybody when the memory goes.
#[test]
fn an_async_lock_that_was_in_the_same_place_has_no_holder() {
    enum Place {
        Word(AtomicI32),
        Mutex(Mutex<()>),
    }
    let _turn = observed();
    let mut place = Place::Word(AtomicI32::new(0));
    let Place::Word(word) = &place else { unreachable!() };
    let at = std::ptr::from_ref(word).addr();
    assert!(AsyncLock::on(word).try_lock());
    word.store(0, Ordering::Relaxed);

    let of_place = || {
        let holders = holders().unwrap().seen;
        holders.iter().filter(|seen| seen.word == at).map(|seen| seen.hold).collect::<Vec<_>>()
    };
    assert_eq!(of_place(), [Hold::AsyncLock]);
    place = Place::Mutex(Mutex::new(()));
    let Place::Mutex(mutex) = &place else { unreachable!() };
    let guard = mutex.lock(); // the mutex taken
    let error = mutex.lock_for(SOON).map(drop).unwrap_err();
    let test = thread::current();
    let test = test.name().unwrap();
    assert_eq!(
        masked(error),
        format!("the time was up: held # s by thread {test:?}, taken at <the mutex taken>")
    );
    assert_eq!(of_place(), [Hold::Mutex]);
    drop(guard);
    assert_eq!(of_place(), []);
}

#[test]
fn an_error_is_small() {
    assert!(size_of::<LockError>() == size_of::<HeldBy>() && size_of::<HeldBy>() <= 24);
}
