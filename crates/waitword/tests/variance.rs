//! What the borrow checker lets pass where std, tokio and parking_lot do: guards that only read are covariant in the value,
//! and dropping a cell or a lock reads nothing that its value borrows. What it has to refuse is in `src/refused.rs`.

#![allow(clippy::needless_late_init, reason = "in which order things are declared is what is tested")]

use std::sync::Arc;

use waitword::*;

/// Two references of one lifetime: to pass the guard of a longer-lived one, the guard has to be covariant.
macro_rules! accepts_a_shorter_lifetime {
    ($($test:ident: $Guard:ident<$life:lifetime> = |$lock:ident| $guard:expr;)+) => {$(
        #[test]
        fn $test() {
            fn sum<$life>(guard: $Guard<'_, &$life i32>, other: &$life i32) -> i32 {
                **guard + other
            }
            let long = 5;
            let $lock = RwLock::new(&long);
            {
                let short = 6;
                assert_eq!(sum($guard, &short), 11);
            }
            assert_eq!(**$lock.read(), long);
        }
    )+};
}

accepts_a_shorter_lifetime! {
    a_read_guard_is_covariant: RwLockReadGuard<'a> = |lock| lock.read();
    a_recursive_read_guard_is_covariant: RwLockReadGuard<'a> = |lock| lock.try_read_recursive().unwrap();
    a_downgraded_guard_is_covariant: RwLockReadGuard<'a> = |lock| RwLockWriteGuard::downgrade(lock.write());
    a_mapped_read_guard_is_covariant: MappedRwLockReadGuard<'a> =
        |lock| RwLockReadGuard::map(lock.read(), |value| value);
}

/// The lock, which it leads to, can be written to. So only what it shows may be shortened, as with tokio's.
#[test]
fn a_mapped_owned_read_guard_is_covariant_in_the_part() {
    fn sum<'a, T>(guard: OwnedMappedRwLockReadGuard<T, &'a i32>, other: &'a i32) -> i32 {
        **guard + other
    }
    static LONG: i32 = 5;
    let lock = Arc::new(RwLock::new(&LONG));
    {
        let short = 6;
        assert_eq!(sum(OwnedRwLockReadGuard::map(lock.read_owned(), |value| value), &short), 11);
    }
    assert_eq!(**lock.read(), LONG);
}

#[test]
fn a_struct_of_a_read_guard_and_its_value_has_one_lifetime() {
    struct Reading<'a> {
        guard: RwLockReadGuard<'a, &'a str>,
        mapped: MappedRwLockReadGuard<'a, &'a str>,
    }
    static LONG: RwLock<&str> = RwLock::new("static");
    let short = RwLock::new("short");
    let reading = Reading { guard: LONG.read(), mapped: RwLockReadGuard::map(short.read(), |text| text) };
    assert_eq!((*reading.guard, *reading.mapped), ("static", "short"));
}

/// Each is declared before what it borrows, so what it borrows is dropped first.
#[test]
fn cells_and_locks_are_dropped_after_what_their_value_borrows() {
    let (once, from): (OnceLock<&String>, OnceLock<&String>);
    let (forced, unforced): (LazyLock<&String, _>, LazyLock<&String, _>);
    let (mutex, rwlock, poison): (Mutex<&String>, RwLock<&String>, Poison<&String>);
    let text = "text".to_owned();
    once = OnceLock::new();
    assert_eq!(once.set(&text), Ok(()));
    from = OnceLock::from(&text);
    forced = LazyLock::new(|| &text);
    unforced = LazyLock::new(|| &text);
    mutex = Mutex::new(&text);
    rwlock = RwLock::new(&text);
    poison = Poison::new(&text);
    assert_eq!((once.get(), from.get()), (Some(&&text), Some(&&text)));
    assert_eq!((LazyLock::force(&forced), LazyLock::get(&unforced)), (&&text, None));
    assert_eq!((*mutex.lock(), *rwlock.read(), poison.get()), (&text, &text, Ok(&&text)));
}

#[test]
fn a_cell_in_a_struct_may_borrow_from_its_sibling() {
    struct Config<'a> {
        name: OnceLock<&'a str>,
        names: Mutex<Vec<&'a str>>,
    }
    let config;
    let line = "name = waitword".to_owned();
    config = Config { name: OnceLock::new(), names: Mutex::new(Vec::new()) };
    let name = config.name.get_or_init(|| &line[7..]);
    config.names.lock().push(name);
    assert_eq!(config.names.lock().as_slice(), ["waitword"]);
}

/// A value that has a destructor is dropped once, with the cell.
#[test]
fn a_cell_drops_its_value_once() {
    let value = Arc::new(());
    let (unset, set, taken) = (OnceLock::new(), OnceLock::new(), OnceLock::from(Arc::clone(&value)));
    set.set(Arc::clone(&value)).unwrap();
    assert_eq!(set.set(Arc::clone(&value)), Err(Arc::clone(&value)));
    assert_eq!(Arc::strong_count(&value), 3);
    let mut taken = taken;
    drop(taken.take());
    assert_eq!(Arc::strong_count(&value), 2);
    taken.set(Arc::clone(&value)).unwrap();
    drop((unset.get(), taken, set));
    assert_eq!(Arc::strong_count(&value), 1);
    drop::<OnceLock<Arc<()>>>(unset);
}
