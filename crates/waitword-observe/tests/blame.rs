//! Who made others wait: the sum of a profile is the sum of the waits that the waiters measure themselves.

use std::thread;
use std::time::{Duration, Instant};

use waitword::{Mutex, MutexGuard, RwLock, Semaphore};
use waitword_observe::{Blame, Blamed, LockKind, Profile, blame, profile, snapshot};

/// All tests share one table.
static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());

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
        while snapshot().waiters() < 2 * count {
            thread::yield_now();
        }
        let queued = Instant::now();
        thread::sleep(Duration::from_millis(200));
        let least = queued.elapsed() * 2 * count as u32;
        drop(held);
        let own = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        Measured { own, least }
    })
}

fn delay_of(profile: &Profile) -> Duration {
    profile.rows().map(|(_, _, waits)| waits.delay).sum()
}

/// A thread may lose its CPU between its own clock and the queue: then its wait seems longer than it was. So another attempt may be better
/// than one, but none counts a wait that there was not, or leaves out what all were queued for.
#[test]
fn delays_of_a_profile_add_up_to_the_waits() {
    let _one = ONE_AT_A_TIME.lock();
    waitword_observe::enable();
    let (mutex, rwlock, semaphore) = (Mutex::new(()), RwLock::new(()), Semaphore::new(1));
    let mut best = f64::MAX;
    for _ in 0..10 {
        let before = delay_of(&profile());
        let all = [
            contend(4, || mutex.lock(), || drop(mutex.lock()), || drop(smol::block_on(mutex.lock_async()))),
            contend(
                4,
                || rwlock.write(),
                || drop(rwlock.read()),
                || drop(smol::block_on(rwlock.write_async())),
            ),
            contend(
                4,
                || semaphore.acquire().unwrap(),
                || drop(semaphore.acquire()),
                || drop(smol::block_on(semaphore.acquire_async())),
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
    let _one = ONE_AT_A_TIME.lock();
    waitword_observe::enable();
    let (mutex, rwlock, semaphore) = (Mutex::new(()), RwLock::new(()), Semaphore::new(2));
    let line = line!();
    contend(2, || mutex.lock(), || drop(mutex.lock()), || drop(smol::block_on(mutex.lock_async())));
    contend(2, || rwlock.read(), || drop(rwlock.write()), || drop(smol::block_on(rwlock.write_async())));
    contend(2, || rwlock.write(), || drop(rwlock.read()), || drop(smol::block_on(rwlock.read_async())));
    contend(
        2,
        || semaphore.acquire_many(2).unwrap(),
        || drop(semaphore.acquire()),
        || drop(smol::block_on(semaphore.acquire_async())),
    );
    contend(2, || smol::block_on(mutex.lock_async()), || drop(mutex.lock()), || drop(mutex.lock()));
    let of_line = |line: u32, kind: LockKind| {
        let is_it = |row: &Blame| matches!(&row.blamed, Blamed::Site { site } if site.line == line && site.file == file!());
        let rows: Vec<_> = blame().into_iter().filter(is_it).collect();
        assert!(
            rows.iter().any(|row| row.kind == kind && row.delay >= Duration::from_millis(4 * 200)),
            "{line}: {rows:?}"
        );
    };
    for (after, kind) in [
        (1, LockKind::Mutex),
        (2, LockKind::RwLock),
        (3, LockKind::RwLock),
        (6, LockKind::Semaphore),
        (10, LockKind::Mutex),
    ] {
        of_line(line + after, kind);
    }
}

/// Those that give up, while it is held, have waited for its holder too.
#[test]
fn waits_that_time_out_are_the_holders() {
    let _one = ONE_AT_A_TIME.lock();
    waitword_observe::enable();
    let mutex = Mutex::new(());
    let (held, line) = (mutex.lock(), line!());
    assert!(mutex.lock_for(Duration::from_millis(50)).is_err());
    let is_it = |row: &Blame| matches!(&row.blamed, Blamed::Site { site } if site.line == line);
    let row = blame().into_iter().find(is_it).expect("the last waiter gave up");
    assert!(row.delay >= Duration::from_millis(45), "{row:?}");
    drop(held);
}

#[test]
fn a_slow_hold_is_a_line() {
    let _one = ONE_AT_A_TIME.lock();
    waitword_observe::enable();
    waitword_observe::set_slow_threshold(Duration::from_millis(100));
    let _ = waitword_observe::take_slow();
    let mutex = Mutex::new(());
    let _name = waitword_observe::name(&mutex, "cache");
    let line = line!() + 1;
    contend(2, || mutex.lock(), || drop(mutex.lock()), || drop(smol::block_on(mutex.lock_async())));
    waitword_observe::set_slow_threshold(Duration::ZERO);
    let (slow, lost) = waitword_observe::take_slow();
    let [slow] = &slow[..] else { panic!("{slow:?}") };
    assert_eq!((slow.waiters, slow.threads, lost), (4, Some(2), 0));
    assert_eq!(slow.site.as_ref().map(|site| site.line), Some(line));
    assert!(slow.longest >= Duration::from_millis(200), "{slow:?}");
    let text = slow.to_string().replace("\n  ", " ");
    assert!(text.starts_with("slow: Mutex<()> \"cache\" held "), "{text}");
    let rest = "; 4 waited (2 tasks, 2 threads), longest ";
    assert!(
        text.contains(rest) && text.contains(&format!("blame.rs:{line}, thread \"a_slow_hold")),
        "{text}"
    );
}

#[test]
fn the_report_has_the_table() {
    let _one = ONE_AT_A_TIME.lock();
    waitword_observe::enable();
    let mutex = Mutex::new(());
    let _name = waitword_observe::name(&mutex, "accounts");
    contend(1, || mutex.lock(), || drop(mutex.lock()), || drop(smol::block_on(mutex.lock_async())));
    assert!(blame().iter().any(|row| row.delay >= Duration::from_millis(200)));
    let report = waitword_observe::report();
    let text = report.to_string();
    assert!(text.contains("\nwho made others wait:\n"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert_eq!(waitword_observe::Report::from_json(&report.to_json()), Ok(report));
}

struct Pool;

/// The type that is always the same is said, also if the locks are not, and also when they are gone.
#[test]
fn a_row_says_the_type_of_its_locks() {
    let _one = ONE_AT_A_TIME.lock();
    waitword_observe::enable();
    fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock() // generic
    }
    fn contended<T: Send>(hold: impl Fn(&Mutex<T>) -> MutexGuard<'_, T>, value: T) {
        let mutex = Mutex::new(value);
        contend(1, || hold(&mutex), || drop(mutex.lock()), || drop(smol::block_on(mutex.lock_async())));
    }
    let row = |mark: &str| {
        let line =
            include_str!("blame.rs").lines().position(|line| line.ends_with(&format!("// {mark}"))).unwrap()
                + 1;
        let is_it = |row: &Blame| matches!(&row.blamed, Blamed::Site { site } if site.line == line as u32 && site.file == file!());
        blame().into_iter().find(is_it).unwrap()
    };
    contended(hold, Pool);
    assert_eq!(row("generic").type_name.as_deref(), Some("Mutex<blame::Pool>"));
    contended(hold, Pool);
    assert_eq!(row("generic").type_name.as_deref(), Some("Mutex<blame::Pool>"));
    // Alone: those with little of all delays are left out.
    let mut report = waitword_observe::report();
    report.blame = vec![row("generic")];
    let report = report.to_string();
    assert!(report.contains("Mutex<blame::Pool> taken at "), "{report}");
    contended(hold, vec![Pool]);
    assert_eq!(row("generic").type_name, None, "of two types");
}
