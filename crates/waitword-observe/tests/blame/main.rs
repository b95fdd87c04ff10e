//! Who made others wait: the sum of a profile is the sum of the waits that the waiters measure themselves.

#![cfg(feature = "json")]

mod charges;
#[path = "../common/mod.rs"]
mod common;

use std::thread;
use std::time::{Duration, Instant};

use common::{in_one_line, masked, observed, until};
use smol::block_on;
use waitword::{Mutex, MutexGuard, RwLock, RwLockUpgradableReadGuard, RwLockWriteGuard, Semaphore};
use waitword_observe::{
    Blame, Blamed, LockKind, Profile, Report, blame, name, profile, report, set_slow_threshold, snapshot,
    take_slow,
};

/// How long they all waited, by their own clocks, and at least by that of the holder.
struct Measured {
    own: Duration,
    least: Duration,
}

/// Waits of threads and tasks, `count` of each, for what `hold` holds until it drops it.
fn contend<G>(
    count: usize,
    hold: impl Fn() -> G,
    block: impl Fn() + Sync,
    poll: impl Fn() + Sync,
) -> Measured {
    let held = hold();
    thread::scope(|scope| {
        let measure = |wait: &dyn Fn()| {
            let begin = Instant::now();
            wait();
            begin.elapsed()
        };
        let (block, poll) = (&block, &poll);
        let threads: Vec<_> = (0..count)
            .flat_map(|_| [scope.spawn(move || measure(block)), scope.spawn(move || measure(poll))])
            .collect();
        until(|| snapshot().waiters() == 2 * count);
        let queued = Instant::now();
        thread::sleep(Duration::from_millis(200));
        let least = queued.elapsed() * 2 * count as u32;
        drop(held);
        let own = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        Measured { own, least }
    })
}

/// As [`contend`], for a mutex.
fn contend_for<T: Send, G>(count: usize, mutex: &Mutex<T>, hold: impl Fn() -> G) -> Measured {
    contend(count, hold, || drop(mutex.lock()), || drop(block_on(mutex.lock_async())))
}

/// What the line with this mark is blamed for.
fn rows_of(mark: &str) -> Vec<Blame> {
    let is_it = |row: &Blame| match &row.blamed {
        Blamed::Site { site } => masked(&format!("{}:{}", site.file, site.line)) == format!("<{mark}>"),
        _ => false,
    };
    blame().into_iter().filter(is_it).collect()
}

fn delay_of(profile: &Profile) -> Duration {
    profile.rows().map(|(_, _, waits)| waits.delay).sum()
}

/// A thread may lose its CPU between its own clock and the queue: then its wait seems longer than it was. So another attempt may be better
/// than one, but none counts a wait that there was not, or leaves out what all were queued for.
#[test]
fn delays_of_a_profile_add_up_to_the_waits() {
    let _turn = observed();
    let (mutex, rwlock, semaphore) = (Mutex::new(()), RwLock::new(()), Semaphore::new(1));
    let mut best = f64::MAX;
    for _ in 0..40 {
        let before = delay_of(&profile());
        let all = [
            contend_for(4, &mutex, || mutex.lock()),
            contend(4, || rwlock.write(), || drop(rwlock.read()), || drop(block_on(rwlock.write_async()))),
            contend(
                4,
                || semaphore.acquire().unwrap(),
                || drop(semaphore.acquire()),
                || drop(block_on(semaphore.acquire_async())),
            ),
        ];
        let delay = delay_of(&profile()) - before;
        let own: Duration = all.iter().map(|measured| measured.own).sum();
        let least: Duration = all.iter().map(|measured| measured.least).sum();
        assert!(least <= delay && delay <= own, "{least:?} <= {delay:?} <= {own:?}");
        best = f64::min(best, (own - delay).as_secs_f64() / own.as_secs_f64());
        if best < 0.01 {
            return;
        }
    }
    panic!("the profile lacks {:.2}% of the waits", best * 100.0);
}

/// The line of the first acquisition is to blame, for each kind of lock, and for threads and tasks that wait.
#[test]
fn the_site_where_the_lock_was_taken_is_to_blame() {
    let _turn = observed();
    let (mutex, rwlock, semaphore) = (Mutex::new(()), RwLock::new(()), Semaphore::new(2));
    contend_for(2, &mutex, || mutex.lock()); // locks
    contend(2, || rwlock.read(), || drop(rwlock.write()), || drop(block_on(rwlock.write_async()))); // reads
    contend(2, || rwlock.write(), || drop(rwlock.read()), || drop(block_on(rwlock.read_async()))); // writes
    contend(
        2,
        || semaphore.acquire_many(2).unwrap(), // acquires
        || drop(semaphore.acquire()),
        || drop(block_on(semaphore.acquire_async())),
    );
    contend_for(2, &mutex, || block_on(mutex.lock_async())); // is a task
    for (mark, kind) in [
        ("locks", LockKind::Mutex),
        ("reads", LockKind::RwLock),
        ("writes", LockKind::RwLock),
        ("acquires", LockKind::Semaphore),
        ("is a task", LockKind::Mutex),
    ] {
        let rows = rows_of(mark);
        let is_enough = |row: &Blame| row.kind == kind && row.delay >= Duration::from_millis(4 * 200);
        assert!(rows.iter().any(is_enough), "{mark}: {rows:?}");
    }
}

/// Another thread waits for the lock until `makes_room`, which goes on holding it in a way that admits the waiter.
fn kept_out_until<T>(makes_room: impl FnOnce() -> T, waits: impl FnOnce() + Send) {
    thread::scope(|scope| {
        let before = snapshot().waiters();
        let waiting = scope.spawn(waits);
        until(|| snapshot().waiters() > before);
        thread::sleep(Duration::from_millis(2));
        let held = makes_room();
        waiting.join().unwrap();
        drop(held);
    });
}

/// Where a hold goes on and admits others from now on, they have waited for it until then.
#[test]
fn a_holder_that_admits_others_is_to_blame() {
    let _turn = observed();
    let unknown = || {
        blame().into_iter().filter(|row| row.blamed == Blamed::Unknown).map(|row| row.delay).sum::<Duration>()
    };
    let (before, lock) = (unknown(), RwLock::new(()));
    let read = || drop(lock.read());

    let write = lock.write(); // downgrades
    kept_out_until(|| RwLockWriteGuard::downgrade(write), read);
    let write = lock.write(); // downgrades to upgradable
    kept_out_until(|| RwLockWriteGuard::downgrade_to_upgradable(write), read);
    let upgradable = lock.upgradable_read(); // gives its right away
    kept_out_until(|| RwLockUpgradableReadGuard::downgrade(upgradable), || drop(lock.upgradable_read()));

    let reader = lock.read(); // is waited for by the upgrade
    let upgradable = lock.upgradable_read(); // gives up to upgrade
    let gives_up = Duration::from_millis(30);
    thread::scope(|scope| {
        let upgrading =
            scope.spawn(|| RwLockUpgradableReadGuard::upgrade_for(upgradable, gives_up).map(drop).is_err());
        until(|| snapshot().waiters() == 1);
        let waits = scope.spawn(read);
        assert!(upgrading.join().unwrap(), "a reader is there");
        waits.join().unwrap();
    });
    let upgradable = block_on(lock.upgradable_read_async()); // drops its upgrade
    let mut upgrade = Box::pin(RwLockUpgradableReadGuard::upgrade_async(upgradable));
    assert!(common::poll(upgrade.as_mut(), &common::waker()).is_pending());
    kept_out_until(|| drop(upgrade), read);
    drop(reader);
    for mark in [
        "downgrades",
        "downgrades to upgradable",
        "gives its right away",
        "is waited for by the upgrade",
        "gives up to upgrade",
        "drops its upgrade",
    ] {
        let delay: Duration = rows_of(mark).iter().map(|row| row.delay).sum();
        assert!(delay >= Duration::from_millis(2), "{mark}: {:?}", blame());
    }
    assert_eq!(unknown(), before);
}

/// Those that give up, while it is held, have waited for its holder too.
#[test]
fn waits_that_time_out_are_the_holders() {
    let _turn = observed();
    let mutex = Mutex::new(());
    let held = mutex.lock(); // is waited for in vain
    let delay = || rows_of("is waited for in vain").iter().map(|row| row.delay).sum::<Duration>();
    // The time that it is given begins before it is queued, and its thread may lose its CPU in between.
    let is_charged = (0..40).any(|_| {
        let before = delay();
        assert!(mutex.lock_for(Duration::from_millis(50)).is_err());
        delay() - before >= Duration::from_millis(45)
    });
    assert!(is_charged, "{:?}", delay());
    drop(held);
}

#[test]
fn a_slow_hold_is_a_line() {
    let _turn = observed();
    set_slow_threshold(Duration::from_millis(100));
    let _ = take_slow();
    let mutex = Mutex::new(());
    let _name = name(&mutex, "cache");
    contend(2, || mutex.lock(), || drop(mutex.lock()), || drop(block_on(mutex.lock_async()))); // a slow hold
    set_slow_threshold(Duration::ZERO);
    let (slow, lost) = take_slow();
    // A waiter that loses its CPU while it holds the mutex is slow, too.
    let all = slow.iter().find(|slow| slow.waiters == 4);
    let Some(slow) = all else { panic!("{slow:?}") };
    assert_eq!((slow.threads, lost), (Some(2), 0));
    assert!(slow.longest >= Duration::from_millis(200), "{slow:?}");
    let text = in_one_line(&masked(&slow.to_string()));
    let start = "slow: Mutex<()> \"cache\" held # (<a slow hold>, thread \"a_slow_hold";
    let end = "; 4 waited (2 tasks, 2 threads), longest # at <a slow hold>";
    assert!(text.starts_with(start) && text.ends_with(end), "{text}");
}

struct Pool;

/// The type that is always the same is said, also if the locks are not, and also when they are gone.
#[test]
fn a_row_says_the_type_of_its_locks() {
    let _turn = observed();
    fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock() // generic
    }
    fn contended<T: Send>(hold: impl Fn(&Mutex<T>) -> MutexGuard<'_, T>, value: T) {
        let mutex = Mutex::new(value);
        contend_for(1, &mutex, || hold(&mutex));
    }
    let row = || rows_of("generic").swap_remove(0);
    contended(hold, Pool);
    assert_eq!(row().type_name.as_deref(), Some("Mutex<blame::Pool>"));
    contended(hold, Pool);
    assert_eq!(row().type_name.as_deref(), Some("Mutex<blame::Pool>"));
    // Alone: those with little of all delays are left out.
    let mut report = report();
    report.blame = vec![row()];
    let text = report.to_string();
    let table = "\nwho made others wait:\n";
    assert!(text.contains(table) && text.contains("Mutex<blame::Pool> taken at "), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert_eq!(Report::from_json(&report.to_json()), Ok(report));
    contended(hold, vec![Pool]);
    assert_eq!(row().type_name, None, "of two types");
}
