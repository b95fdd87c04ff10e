//! What is no `Mutex` and no `RwLock`, and upgrades.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::task::Waker;
use std::thread;
use std::time::Duration;

use waitword::word::AsyncLock;
use waitword::{LazyLock, Mutex, OnceLock, RwLock, RwLockUpgradableReadGuard, RwLockWriteGuard, Semaphore};
use waitword_observe::name;

use crate::common::{address_of, ended, in_one_line, until, until_waiting};
use crate::{assert_found, found_while, is_queued, text_of};

#[test]
fn an_async_lock_is_one_as_any_other() {
    let (gate, ledger) = (AsyncLock::new(), Mutex::new(0));
    let _names = [name(&gate, "gate"), name(&ledger, "ledger")];
    let one = || {
        gate.lock(); // to enter
        drop(ledger.lock()); // enters
        gate.unlock().unwrap();
    };
    let other = || {
        let _ledger = ledger.lock(); // to close
        ended(gate.lock_async(), Waker::noop()); // closes
        gate.unlock().unwrap();
    };
    let expected = "\
potential deadlock: 2 locks were taken in opposite orders
  thread \"1\"  took AsyncLock \"gate\" at <closes>
              holding Mutex<i32> \"ledger\", taken at <to close>
  thread \"0\"  took Mutex<i32> \"ledger\" at <enters>
              holding AsyncLock \"gate\", taken at <to enter>";
    assert_eq!(text_of(&[&one, &other]), expected);
}

/// The second unlock is as a script does it that shares the word: nobody is told.
#[test]
fn an_async_lock_that_another_or_a_script_unlocks_makes_no_alarm() {
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
    assert_found(0, &[&one, &unlocks, &other]);

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
    assert_found(0, &[&one, &other, &one, &other]);
}

#[test]
fn an_async_lock_or_a_cell_in_the_place_of_another_is_another() {
    let ledger = Mutex::new(0);
    let mut gate = Box::new(AsyncLock::new());
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
    assert_found(0, &[&|| outer(&gate)]);
    *gate = AsyncLock::new();
    assert_found(0, &[&|| inner(&gate)]);
    assert_found(1, &[&|| outer(&gate)]);

    // The first initialiser fails, so a second one runs: each takes the lock on another side.
    let (mut cell, pool) = (Box::new(OnceLock::new()), Mutex::new(0));
    let fails =
        |cell: &OnceLock<u32>| assert!(cell.get_or_try_init(|| Err::<u32, i32>(*pool.lock())).is_err());
    let makes = |cell: &OnceLock<u32>| {
        let _pool = pool.lock();
        assert_eq!(*cell.get_or_init(|| 8), 8);
    };
    assert_found(0, &[&|| fails(&cell)]);
    *cell = OnceLock::new();
    assert_found(0, &[&|| makes(&cell)]);
    *cell = OnceLock::new();
    assert_found(1, &[&|| fails(&cell), &|| makes(&cell)]);
}

/// What an initialiser takes, and another lock.
#[derive(Default)]
struct Taken {
    pool: Mutex<u32>,
    routes: RwLock<u32>,
    other: Mutex<u32>,
}

/// One makes the value, and takes locks for it; another waits for the value, and has one of them. The wait ends: the locks were free by then.
#[test]
fn an_initialiser_that_takes_what_one_holds_that_waits_for_it() {
    type Waits = fn(&OnceLock<u32>, &Taken) -> u32;
    let cases: [(&str, usize, Waits); 6] = [
        ("would make it", 1, |cell, taken| {
            let _pool = taken.pool.lock();
            *cell.get_or_init(|| 8)
        }),
        ("waits for the value alone", 1, |cell, taken| {
            let _pool = taken.pool.lock();
            *cell.wait()
        }),
        ("is a task", 1, |cell, taken| {
            smol::block_on(async {
                let _pool = taken.pool.lock_async().await;
                *cell.get_or_init_async(async || 8).await
            })
        }),
        ("has another lock", 0, |cell, taken| {
            let _other = taken.other.lock();
            *cell.wait()
        }),
        ("has a deadline", 0, |cell, taken| {
            let _pool = taken.pool.lock();
            *cell.wait_for(Duration::from_secs(60)).unwrap()
        }),
        ("reads, as the initialiser does", 0, |cell, taken| {
            let _routes = taken.routes.read();
            *cell.wait()
        }),
    ];
    for (says, count, waits) in cases {
        let (cell, taken, are_free) = (OnceLock::new(), Taken::default(), OnceLock::new());
        let init = || {
            drop(taken.pool.lock());
            drop(taken.routes.read());
            are_free.set(()).unwrap();
            until(|| is_queued(address_of(&cell)));
            7
        };
        let found = found_while(|| {
            thread::scope(|scope| {
                scope.spawn(|| assert_eq!(*cell.get_or_init(init), 7));
                are_free.wait();
                scope.spawn(|| assert_eq!(waits(&cell, &taken), 7));
            });
        });
        assert_eq!(found.len(), count, "{says}: {found:?}");
    }
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
            until_waiting("forces");
            7
        }
    });
    let found = found_while(|| {
        thread::scope(|scope| {
            scope.spawn(|| assert_eq!(*lazy, 7));
            let forces = || {
                is_free.wait();
                let _pool = pool.lock();
                assert_eq!(*lazy, 7);
            };
            thread::Builder::new().name("forces".into()).spawn_scoped(scope, forces).unwrap();
        });
    });
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn an_upgrade_waits_for_readers() {
    let (routes, pool) = (RwLock::new(0), Mutex::new(0));
    let _names = (name(&routes, "routes"), name(&pool, "pool"));
    let upgrades = || {
        let read = routes.upgradable_read();
        let _pool = pool.lock(); // to upgrade
        drop(RwLockUpgradableReadGuard::upgrade(read)); // upgrades
    };
    let reads = || {
        let _read = routes.read(); // to read
        drop(pool.lock()); // reads
    };
    let expected = "potential deadlock: 2 locks were taken in opposite orders \
         thread \"1\" took Mutex<i32> \"pool\" at <reads> \
         holding RwLock<i32> \"routes\" for reading, taken at <to read> \
         thread \"0\" took RwLock<i32> \"routes\" to upgrade at <upgrades> \
         holding Mutex<i32> \"pool\", taken at <to upgrade>";
    assert_eq!(in_one_line(&text_of(&[&upgrades, &reads])), expected);
    // As a task.
    let (routes, pool) = (RwLock::new(0), Mutex::new(0));
    let upgrades = || {
        smol::block_on(async {
            let read = routes.upgradable_read_async().await;
            let _pool = pool.lock_async().await;
            drop(RwLockUpgradableReadGuard::upgrade_async(read).await);
        });
    };
    assert_found(1, &[&upgrades, &|| drop((routes.read(), pool.lock()))]);
    // And through `lock_api`.
    let (routes, pool) = (waitword::lock_api::RwLock::new(0), Mutex::new(0));
    let upgrades = || {
        let read = routes.upgradable_read();
        let _pool = pool.lock();
        drop(lock_api::RwLockUpgradableReadGuard::upgrade(read));
    };
    assert_found(1, &[&upgrades, &|| drop((routes.read(), pool.lock()))]);
}

#[test]
fn an_upgrade_that_gives_up_or_excludes_the_other_makes_no_alarm() {
    let (routes, pool) = (RwLock::new(0), Mutex::new(0));
    let tries = || {
        let read = routes.upgradable_read();
        let _pool = pool.lock();
        let Ok(write) = RwLockUpgradableReadGuard::try_upgrade(read) else { panic!("it is free") };
        let read = RwLockWriteGuard::downgrade_to_upgradable(write);
        drop(RwLockUpgradableReadGuard::upgrade_for(read, Duration::from_secs(60)).unwrap());
    };
    assert_found(0, &[&tries, &|| drop((routes.read(), pool.lock()))]);
    // Only one can have it upgradable.
    let (routes, pool) = (RwLock::new(0), Mutex::new(0));
    let upgrades = || {
        let read = routes.upgradable_read();
        let _pool = pool.lock();
        drop(RwLockUpgradableReadGuard::upgrade(read));
    };
    assert_found(0, &[&upgrades, &|| drop((routes.upgradable_read(), pool.lock())), &upgrades]);
}

/// Permits may come from anywhere, also to a semaphore that began with one.
#[test]
fn semaphores_make_no_alarm() {
    let (turn, pool) = (Semaphore::new(1), Mutex::new(0));
    let one = || drop((turn.acquire().unwrap(), pool.lock()));
    let other = || drop((pool.lock(), turn.acquire().unwrap()));
    assert_found(0, &[&one, &other]);
}
