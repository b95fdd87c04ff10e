//! Locks and cells through `serde`: as their values, under their guards, and back as new ones.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use common::PlainCounter;
use serde::{Serialize, Serializer};
use serde_json::{from_str, to_string};
use waitword::*;

#[test]
fn locks_are_their_values_and_come_back_free() {
    let mutex = Mutex::new(vec![1, 2]);
    assert_eq!(to_string(&mutex).unwrap(), "[1,2]");
    let rwlock = RwLock::new(("one".to_owned(), Mutex::new(1)));
    assert_eq!(to_string(&rwlock).unwrap(), r#"["one",1]"#);
    assert!(!mutex.is_locked() && !rwlock.is_locked());
    let mutex: Mutex<Vec<i32>> = from_str("[1,2]").unwrap();
    let rwlock: RwLock<(String, Mutex<i32>)> = from_str(r#"["one",1]"#).unwrap();
    assert!(!mutex.is_locked() && !rwlock.is_locked());
    assert_eq!(mutex.into_inner(), [1, 2]);
    let (name, number) = rwlock.into_inner();
    assert_eq!((name.as_str(), number.into_inner()), ("one", 1));
    let error = from_str::<Mutex<Vec<i32>>>("7").unwrap_err();
    assert!(error.to_string().contains("expected a sequence"), "{error}");
    let unsized_value: &Mutex<[i32]> = &Mutex::new([1, 2, 3]);
    assert_eq!(to_string(unsized_value).unwrap(), "[1,2,3]");
}

#[test]
fn cells_are_options() {
    let cell = OnceLock::new();
    assert_eq!(to_string(&cell).unwrap(), "null");
    cell.set(7).unwrap();
    assert_eq!(to_string(&cell).unwrap(), "7");
    assert_eq!(from_str::<OnceLock<i32>>("7").unwrap().get(), Some(&7));
    assert_eq!(from_str::<OnceLock<i32>>("null").unwrap().get(), None);
    assert!(from_str::<OnceLock<i32>>("\"x\"").is_err());
}

#[test]
fn a_poisoned_value_is_an_error() {
    let mutex = Mutex::new(Poison::new(1));
    assert_eq!(to_string(&mutex).unwrap(), "1");
    catch_unwind(|| {
        let mut locked = mutex.lock();
        let _changing = locked.get_mut();
        panic!("halfway");
    })
    .unwrap_err();
    let error = to_string(&mutex).unwrap_err();
    assert!(error.to_string().contains("poisoned by an incomplete change"), "{error}");
    assert!(!mutex.is_locked());
    assert_eq!(from_str::<Poison<i32>>("1").unwrap().into_inner(), 1);
}

/// Others change it in two steps, and it is serialized before or after both.
#[test]
fn a_value_is_serialized_under_its_lock() {
    const ROUNDS: u64 = 1_000;
    let pair = || (PlainCounter::default(), PlainCounter::default());
    let (mutex, rwlock) = (Mutex::new(Halves(pair())), RwLock::new(Halves(pair())));
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..ROUNDS {
                mutex.lock().change();
                rwlock.write().change();
            }
        });
        for _ in 0..ROUNDS {
            for text in [to_string(&mutex).unwrap(), to_string(&rwlock).unwrap()] {
                let (one, other): (u64, u64) = from_str(&text).unwrap();
                assert_eq!(one, other);
            }
        }
    });
    assert_eq!(to_string(&mutex).unwrap(), format!("[{ROUNDS},{ROUNDS}]"));
}

struct Halves((PlainCounter, PlainCounter));

impl Halves {
    fn change(&self) {
        self.0.0.increment();
        thread::yield_now();
        self.0.1.increment();
    }
}

impl Serialize for Halves {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let one = self.0.0.get();
        thread::yield_now();
        (one, self.0.1.get()).serialize(serializer)
    }
}

/// Without a writer, readers are serialized beside each other.
#[test]
fn a_lock_that_is_read_is_not_waited_for() {
    let rwlock = RwLock::new(1);
    let reader = rwlock.read();
    assert_eq!(to_string(&rwlock).unwrap(), "1");
    drop(reader);
}

#[test]
fn where_one_must_not_block_a_lock_that_is_held_is_an_error() {
    let (mutex, rwlock) = (Mutex::new(1), RwLock::new(1));
    let _must_not = forbid_blocking();
    assert_eq!((to_string(&mutex).unwrap(), to_string(&rwlock).unwrap()), ("1".to_owned(), "1".to_owned()));
    let guards = (mutex.lock(), rwlock.write());
    for error in [to_string(&mutex).unwrap_err(), to_string(&rwlock).unwrap_err()] {
        assert!(error.to_string().contains("would block"), "{error}");
    }
    drop(guards);
    let panics = catch_unwind(AssertUnwindSafe(|| to_string(&mutex)));
    assert_eq!(panics.expect("an error at most").unwrap(), "1");
}
