//! The order of what is no `Mutex` and no `RwLock`, and of upgrades: potential deadlocks, and for each one that is none.

use std::sync::Arc;
use std::thread;

use waitword::{AsyncLock, LazyLock, Mutex, OnceLock, RwLock, RwLockUpgradableReadGuard, Semaphore};
use waitword_observe::{LockOrder, check_lock_order, name};

#[path = "common/found_order.rs"]
mod found_order;
#[path = "common/polled.rs"]
mod polled;

use found_order::{address, found_in, one_after_the_other};

/// What was found of these locks alone.
#[track_caller]
fn found(locks: &[u64]) -> LockOrder {
    found_in(include_str!("lock_order_more.rs"), std::panic::Location::caller().line() as usize, locks)
}

fn at(line: u32) -> String {
    format!("…/tests/lock_order_more.rs:{line}")
}

#[track_caller]
fn assert_none(locks: &[u64]) {
    let order = found(locks);
    assert!(order.potential_deadlocks.is_empty(), "{order}");
}

#[track_caller]
fn assert_one(locks: &[u64]) {
    let order = found(locks);
    assert_eq!(order.potential_deadlocks.len(), 1, "{order}");
}

/// The address of an `AsyncLock` and of a cell is that of their words.
fn address_of<T>(lock: &T) -> u64 {
    std::ptr::from_ref(lock).addr() as u64
}

#[test]
fn an_async_lock_is_one_as_any_other() {
    let (gate, ledger) = (AsyncLock::new(), Mutex::new(0));
    let _names = [name(&gate, "gate"), name(&ledger, "ledger")];
    let line = line!();
    let one = || {
        gate.lock(); // + 2
        drop(ledger.lock()); // + 3
        gate.unlock().unwrap();
    };
    let other = || {
        let _ledger = ledger.lock(); // + 7
        polled::ended(gate.lock_async(), std::task::Waker::noop()); // + 8
        gate.unlock().unwrap();
    };
    one_after_the_other(&[("one", &one), ("other", &other)]);
    let order = found(&[address_of(&gate), address(&ledger)]);
    let [took_gate, held, took_ledger, first] = [at(line + 8), at(line + 7), at(line + 3), at(line + 2)];
    assert_eq!(
        order.to_string(),
        format!(
            "potential deadlock: 2 locks were taken in opposite orders\n  \
               thread \"other\"  took AsyncLock \"gate\" at {took_gate}\n                  \
                               holding Mutex<i32> \"ledger\", taken at {held}\n  \
               thread \"one\"    took Mutex<i32> \"ledger\" at {took_ledger}\n                  \
                               holding AsyncLock \"gate\", taken at {first}\n"
        )
    );
}

#[test]
fn an_async_lock_that_another_unlocks_makes_no_alarm() {
    let (gate, ledger) = (AsyncLock::new(), Mutex::new(0));
    let one = || {
        gate.lock();
        drop(ledger.lock());
    };
    let unlocks = || gate.unlock().unwrap();
    let other = || {
        let _ledger = ledger.lock();
        gate.lock();
        gate.unlock().unwrap();
    };
    one_after_the_other(&[("one", &one), ("unlocks", &unlocks), ("other", &other)]);
    assert_none(&[address_of(&gate), address(&ledger)]);
}

/// As a script does that shares the word: nobody is told.
#[test]
fn an_async_lock_that_a_script_unlocks_makes_no_alarm() {
    use std::sync::atomic::{AtomicI32, Ordering};
    let (word, ledger) = (AtomicI32::new(0), Mutex::new(0));
    let gate = AsyncLock::on(&word);
    let one = || {
        gate.lock();
        word.store(0, Ordering::SeqCst);
        drop(ledger.lock());
    };
    let other = || {
        let _ledger = ledger.lock();
        gate.lock();
        gate.unlock().unwrap();
    };
    one_after_the_other(&[("one", &one), ("other", &other), ("one", &one), ("other", &other)]);
    assert_none(&[address_of(&word), address(&ledger)]);
}

#[test]
fn an_async_lock_in_the_place_of_another_is_another() {
    let ledger = Mutex::new(0);
    let mut gate = Box::new(AsyncLock::new());
    let locks = [address_of(&*gate), address(&ledger)];
    let outer = |gate: &AsyncLock| {
        gate.lock();
        drop(ledger.lock());
        gate.unlock().unwrap();
    };
    let inner = |gate: &AsyncLock| {
        let _ledger = ledger.lock();
        gate.lock();
        gate.unlock().unwrap();
    };
    one_after_the_other(&[("outer", &|| outer(&gate))]);
    *gate = AsyncLock::new();
    one_after_the_other(&[("inner", &|| inner(&gate))]);
    assert_none(&locks);
    one_after_the_other(&[("outer", &|| outer(&gate))]);
    assert_one(&locks);
}

/// One makes the value, and takes a lock for it; another waits for the value, and has the lock. The wait ends: the lock was free by then.
fn waits_for_a_value_that_takes<R>(
    cell: &OnceLock<u32>,
    takes: impl Fn() -> R + Sync,
    waits: impl Fn() + Sync,
) {
    check_lock_order();
    let is_free = OnceLock::new();
    let address = address_of(cell);
    thread::scope(|scope| {
        scope.spawn(|| {
            let init = || {
                drop(takes());
                is_free.set(()).unwrap();
                let is_queued =
                    || waitword_observe::snapshot().locks.iter().any(|lock| lock.name.address.0 == address);
                while !is_queued() {
                    thread::yield_now();
                }
                7
            };
            cell.get_or_init(init);
        });
        scope.spawn(|| {
            is_free.wait();
            waits();
        });
    });
}

#[test]
fn an_initialiser_that_takes_what_one_holds_that_waits_for_it() {
    let (cell, pool) = (OnceLock::new(), Mutex::new(0));
    waits_for_a_value_that_takes(
        &cell,
        || pool.lock(),
        || {
            let _pool = pool.lock();
            assert_eq!(*cell.get_or_init(|| 8), 7);
        },
    );
    assert_one(&[address_of(&cell), address(&pool)]);
    // Waits for the value alone, too.
    let (cell, pool) = (OnceLock::new(), Mutex::new(0));
    waits_for_a_value_that_takes(
        &cell,
        || pool.lock(),
        || {
            let _pool = pool.lock();
            assert_eq!(*cell.wait(), 7);
        },
    );
    assert_one(&[address_of(&cell), address(&pool)]);
    // And a task.
    let (cell, pool) = (OnceLock::new(), Mutex::new(0));
    waits_for_a_value_that_takes(
        &cell,
        || pool.lock(),
        || {
            smol::block_on(async {
                let _pool = pool.lock_async().await;
                assert_eq!(*cell.get_or_init_async(async || 8).await, 7);
            });
        },
    );
    assert_one(&[address_of(&cell), address(&pool)]);
}

#[test]
fn an_initialiser_that_takes_another_lock_or_a_wait_that_ends_makes_no_alarm() {
    let (cell, pool, other) = (OnceLock::new(), Mutex::new(0), Mutex::new(0));
    waits_for_a_value_that_takes(
        &cell,
        || pool.lock(),
        || {
            let _other = other.lock();
            assert_eq!(*cell.wait(), 7);
        },
    );
    assert_none(&[address_of(&cell), address(&pool), address(&other)]);
    let (cell, pool) = (OnceLock::new(), Mutex::new(0));
    waits_for_a_value_that_takes(
        &cell,
        || pool.lock(),
        || {
            let _pool = pool.lock();
            assert_eq!(cell.wait_for(std::time::Duration::from_secs(60)), Ok(&7));
        },
    );
    assert_none(&[address_of(&cell), address(&pool)]);
    let (cell, pool) = (OnceLock::new(), RwLock::new(0));
    waits_for_a_value_that_takes(
        &cell,
        || pool.read(),
        || {
            let _pool = pool.read();
            assert_eq!(*cell.wait(), 7);
        },
    );
    assert_none(&[address_of(&cell), address(&pool)]);
}

/// The first initialiser fails, so a second one runs: each took the lock on another side.
#[test]
fn initialisers_in_opposite_orders() {
    let (cell, pool) = (OnceLock::new(), Mutex::new(0));
    let fails = || assert!(cell.get_or_try_init(|| Err::<u32, i32>(*pool.lock())).is_err());
    let makes = || {
        let _pool = pool.lock();
        assert_eq!(*cell.get_or_init(|| 8), 8);
    };
    one_after_the_other(&[("fails", &fails), ("makes", &makes)]);
    assert_one(&[address_of(&cell), address(&pool)]);
}

#[test]
fn a_cell_in_the_place_of_another_is_another() {
    let pool = Mutex::new(0);
    let mut cell = Box::new(OnceLock::new());
    let locks = [address_of(&*cell), address(&pool)];
    let fails =
        |cell: &OnceLock<u32>| assert!(cell.get_or_try_init(|| Err::<u32, i32>(*pool.lock())).is_err());
    let makes = |cell: &OnceLock<u32>| {
        let _pool = pool.lock();
        assert_eq!(*cell.get_or_init(|| 8), 8);
    };
    one_after_the_other(&[("fails", &|| fails(&cell))]);
    *cell = OnceLock::new();
    one_after_the_other(&[("makes", &|| makes(&cell))]);
    assert_none(&locks);
}

#[test]
fn a_lazy_value_is_a_cell() {
    let pool = Mutex::new(0);
    let is_free = Arc::new(OnceLock::new());
    let lazy = LazyLock::new({
        let (pool, is_free) = (&pool, Arc::clone(&is_free));
        move || {
            drop(pool.lock());
            is_free.set(()).unwrap();
            let is_queued = |lock: &waitword_observe::Lock| {
                let waits = |waiter: &waitword_observe::Waiter| matches!(&waiter.actor, waitword_observe::Actor::Thread { name: Some(name), .. } if name == "forces");
                lock.waiters.iter().any(waits)
            };
            while !waitword_observe::snapshot().locks.iter().any(is_queued) {
                thread::yield_now();
            }
            7
        }
    });
    check_lock_order();
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(*lazy, 7));
        let forces = || {
            is_free.wait();
            let _pool = pool.lock();
            assert_eq!(*lazy, 7);
        };
        thread::Builder::new().name("forces".into()).spawn_scoped(scope, forces).unwrap();
    });
    assert_one(&[address_of(&lazy), address(&pool)]);
}

#[test]
fn an_upgrade_waits_for_readers() {
    let (routes, pool) = (RwLock::new(0), Mutex::new(0));
    let _names = [name(&pool, "pool")];
    let _routes = name(&routes, "routes");
    let line = line!();
    let upgrades = || {
        let read = routes.upgradable_read(); // + 2
        let _pool = pool.lock(); // + 3
        drop(RwLockUpgradableReadGuard::upgrade(read)); // + 4
    };
    let reads = || {
        let _read = routes.read(); // + 7
        drop(pool.lock()); // + 8
    };
    one_after_the_other(&[("upgrades", &upgrades), ("reads", &reads)]);
    let order = found(&[address(&routes), address(&pool)]);
    let [upgraded, held, read, took] = [at(line + 4), at(line + 3), at(line + 7), at(line + 8)];
    let text = order.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        text,
        format!(
            "potential deadlock: 2 locks were taken in opposite orders \
             thread \"reads\" took Mutex<i32> \"pool\" at {took} \
             holding RwLock<i32> \"routes\" for reading, taken at {read} \
             thread \"upgrades\" took RwLock<i32> \"routes\" to upgrade at {upgraded} \
             holding Mutex<i32> \"pool\", taken at {held}"
        )
    );
    // As a task.
    let (routes, pool) = (RwLock::new(0), Mutex::new(0));
    let upgrades = || {
        smol::block_on(async {
            let read = routes.upgradable_read_async().await;
            let _pool = pool.lock_async().await;
            drop(RwLockUpgradableReadGuard::upgrade_async(read).await);
        });
    };
    let reads = || {
        let _read = routes.read();
        drop(pool.lock());
    };
    one_after_the_other(&[("upgrades", &upgrades), ("reads", &reads)]);
    assert_one(&[address(&routes), address(&pool)]);
    // And through `lock_api`.
    let (routes, pool) = (waitword::lock_api::RwLock::new(0), Mutex::new(0));
    let upgrades = || {
        let read = routes.upgradable_read();
        let _pool = pool.lock();
        drop(lock_api::RwLockUpgradableReadGuard::upgrade(read));
    };
    let reads = || {
        let _read = routes.read();
        drop(pool.lock());
    };
    one_after_the_other(&[("upgrades", &upgrades), ("reads", &reads)]);
    assert_one(&[address_of(&routes), address(&pool)]);
}

#[test]
fn an_upgrade_that_gives_up_or_excludes_the_other_makes_no_alarm() {
    let (routes, pool) = (RwLock::new(0), Mutex::new(0));
    let locks = [address(&routes), address(&pool)];
    let tries = || {
        let read = routes.upgradable_read();
        let _pool = pool.lock();
        let Ok(write) = RwLockUpgradableReadGuard::try_upgrade(read) else { panic!("it is free") };
        let read = waitword::RwLockWriteGuard::downgrade_to_upgradable(write);
        drop(RwLockUpgradableReadGuard::upgrade_for(read, std::time::Duration::from_secs(60)).unwrap());
    };
    let reads = || {
        let _read = routes.read();
        drop(pool.lock());
    };
    one_after_the_other(&[("tries", &tries), ("reads", &reads)]);
    assert_none(&locks);
    // Only one can have it upgradable.
    let (routes, pool) = (RwLock::new(0), Mutex::new(0));
    let upgrades = || {
        let read = routes.upgradable_read();
        let _pool = pool.lock();
        drop(RwLockUpgradableReadGuard::upgrade(read));
    };
    let upgradable = || {
        let _read = routes.upgradable_read();
        drop(pool.lock());
    };
    one_after_the_other(&[("upgrades", &upgrades), ("upgradable", &upgradable), ("upgrades", &upgrades)]);
    assert_none(&[address(&routes), address(&pool)]);
}

/// Permits may come from anywhere, also to a semaphore that began with one.
#[test]
fn semaphores_make_no_alarm() {
    let (turn, pool) = (Semaphore::new(1), Mutex::new(0));
    let one = || drop((turn.acquire().unwrap(), pool.lock()));
    let other = || drop((pool.lock(), turn.acquire().unwrap()));
    one_after_the_other(&[("one", &one), ("other", &other)]);
    assert_none(&[address(&turn), address(&pool)]);
}
