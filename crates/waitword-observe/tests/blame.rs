//! Who made others wait: the sum of a profile is the sum of the waits that the waiters measure themselves.

use std::thread;
use std::time::{Duration, Instant};

use waitword::{Mutex, RwLock, Semaphore};
use waitword_observe::{Profile, blame, profile, snapshot};

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
    waitword_observe::enable();
    let (mutex, rwlock, semaphore) = (Mutex::new(()), RwLock::new(()), Semaphore::new(1));
    let mut best = f64::MAX;
    for _ in 0..10 {
        let before = delay_of(&profile());
        let all = [
            contend(4, || mutex.lock(), || drop(mutex.lock()), || drop(smol::block_on(mutex.lock_async()))),
            contend(4, || rwlock.write(), || drop(rwlock.read()), || drop(smol::block_on(rwlock.write_async()))),
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

#[test]
fn the_report_has_the_table() {
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
