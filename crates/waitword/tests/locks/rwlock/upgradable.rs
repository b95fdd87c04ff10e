//! Plain readers pass an upgradable reader that waits for another: it waits for that one, not for them. A writer behind it stops them.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use waitword::{LockError, RwLock, RwLockUpgradableReadGuard, RwLockWriteGuard, STALL_TIMEOUT};

use super::SOON;
use crate::common::{Task, block_on, until, waiters, waits};

/// Longer than a barging window at its longest, and than the watchdog needs.
const LONG: Duration = Duration::from_millis(40);

/// Each way of waiting for an upgradable read: a blocked thread, a task that is polled when woken, a future that is not polled again.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Blocks,
    Awaits,
    Unpolled,
}

const WAYS: [Way; 3] = [Way::Blocks, Way::Awaits, Way::Unpolled];

/// Runs `body` while an upgradable reader waits, and ends that wait: `body` leaves the lock without an upgradable reader.
fn beside_a_waiting_one<'a>(way: Way, lock: &'a RwLock<()>, body: impl FnOnce(&'a RwLock<()>)) {
    let others = waiters(lock);
    if way == Way::Unpolled {
        let unpolled = Task::queued(lock.upgradable_read_async());
        body(lock);
        return drop(unpolled.finish());
    }
    thread::scope(|scope| {
        let acquires = move || match way {
            Way::Blocks => drop(lock.upgradable_read()),
            _ => drop(block_on(lock.upgradable_read_async())),
        };
        waits(scope, || waiters(lock) > others, acquires);
        body(lock);
    });
}

/// Readers come, one after the other, for so long. Returns whether all got in.
fn all_read(lock: &RwLock<()>, how_long: Duration) -> bool {
    let start = Instant::now();
    // A stream of overlapping readers, which leaves the lock without plain readers now and then.
    let overlap = || lock.try_read().is_some_and(|_first| lock.try_read().is_some());
    while overlap() {
        if start.elapsed() >= how_long {
            return true;
        }
    }
    false
}

#[test]
fn readers_pass_an_upgradable_reader_that_waits_for_another() {
    for way in WAYS {
        let lock = RwLock::new(());
        let holder = lock.upgradable_read();
        beside_a_waiting_one(way, &lock, |lock| {
            assert!(all_read(lock, LONG), "a reader waits for an upgradable reader");
            drop(holder);
        });
        assert!(lock.try_write().is_some(), "{way:?}");
    }
}

/// Two wait, one behind the other.
#[test]
fn readers_pass_all_upgradable_readers_that_wait() {
    for (first, second) in
        [(Way::Blocks, Way::Awaits), (Way::Unpolled, Way::Blocks), (Way::Awaits, Way::Unpolled)]
    {
        let lock = RwLock::new(());
        let holder = lock.upgradable_read();
        beside_a_waiting_one(first, &lock, |lock| {
            beside_a_waiting_one(second, lock, |lock| {
                assert!(all_read(lock, LONG), "a reader waits for an upgradable reader");
                drop(holder);
            });
        });
        assert!(lock.try_write().is_some(), "{first:?} {second:?}");
    }
}

/// Woken so often.
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

type Upgradable<'a> = Pin<Box<dyn Future<Output = RwLockUpgradableReadGuard<'a, ()>> + 'a>>;

fn upgradable<'a>(lock: &'a RwLock<()>, wakes: &Arc<Wakes>) -> Upgradable<'a> {
    let mut waits: Upgradable<'_> = Box::pin(lock.upgradable_read_async());
    assert!(waits.as_mut().poll(&mut Context::from_waker(&Waker::from(Arc::clone(wakes)))).is_pending());
    waits
}

/// However many readers come and go: the waiter has nothing to do before the holder leaves.
#[test]
fn readers_that_pass_do_not_wake_the_waiter() {
    let (lock, wakes) = (RwLock::new(()), Arc::new(Wakes(AtomicUsize::new(0))));
    let holder = lock.upgradable_read();
    let mut waits = upgradable(&lock, &wakes);
    assert!(all_read(&lock, LONG));
    assert_eq!(wakes.0.load(Ordering::SeqCst), 0);
    drop(holder);
    assert_eq!(wakes.0.load(Ordering::SeqCst), 1);
    assert!(waits.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
}

/// A release wakes the next one, and not all that would find it taken by that one.
#[test]
fn a_release_wakes_a_few_of_many_upgradable_readers_also_beside_a_writer() {
    const MANY: usize = 32;
    let (lock, wakes) = (RwLock::new(()), Arc::new(Wakes(AtomicUsize::new(0))));
    let mut holder = lock.upgradable_read();
    let mut waiting: Vec<_> = (0..MANY).map(|_| upgradable(&lock, &wakes)).collect();
    let mut writer = Task::queued(lock.write_async());
    let start = Instant::now();
    let waker = Waker::from(Arc::clone(&wakes));
    while !waiting.is_empty() {
        drop(holder);
        // The woken ones are polled, in any order, until one has it and no other is woken.
        let mut acquired = None;
        let mut polled = usize::MAX;
        while acquired.is_none() || polled != wakes.0.load(Ordering::SeqCst) {
            polled = wakes.0.load(Ordering::SeqCst);
            waiting.retain_mut(|waits| match waits.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(guard) => {
                    assert!(acquired.replace(guard).is_none(), "two at a time");
                    false
                }
                Poll::Pending => true,
            });
            assert!(writer.poll().is_pending());
        }
        holder = acquired.unwrap();
    }
    // The first time, each finds out that the signals go past it.
    let wakes = wakes.0.load(Ordering::SeqCst);
    assert!(wakes <= 5 * MANY || start.elapsed() >= STALL_TIMEOUT, "{wakes} wakes for {MANY}");
    drop(holder);
    drop(writer.finish());
}

/// Readers queue while there is a writer; an upgradable reader is queued before them, which waits again, for the holder that the writer became.
#[test]
fn readers_behind_a_waiting_upgradable_reader_get_in() {
    for way in WAYS {
        for is_task in [true, false] {
            let lock = RwLock::new(());
            let writer = lock.write();
            beside_a_waiting_one(way, &lock, |lock| {
                let tasks = [(); 2].map(|()| Task::queued(lock.read_async()));
                thread::scope(|scope| {
                    let threads = [(); 2].map(|()| {
                        let waiting = waiters(lock);
                        waits(scope, || waiters(lock) > waiting, || drop(lock.read()))
                    });
                    let holder = RwLockWriteGuard::downgrade_to_upgradable(writer);
                    if is_task {
                        tasks.into_iter().for_each(|task| drop(task.finish()));
                        threads.into_iter().for_each(|thread| thread.join().unwrap());
                    } else {
                        // The tasks are not polled any more.
                        threads.into_iter().for_each(|thread| thread.join().unwrap());
                        drop(tasks);
                    }
                    drop(holder);
                });
            });
            assert!(lock.try_write().is_some(), "{way:?}");
        }
    }
}

#[test]
fn a_pending_upgrade_stops_readers_and_one_that_is_given_up_lets_them_in() {
    for way in WAYS {
        let lock = RwLock::new(());
        let (reader, holder) = (lock.read(), lock.upgradable_read());
        beside_a_waiting_one(way, &lock, |lock| {
            let upgrade = Task::queued(RwLockUpgradableReadGuard::upgrade_async(holder).timeout(LONG));
            assert!(lock.try_read().is_none(), "an upgrade is pending");
            let behind = Task::queued(lock.read_async());
            let not = upgrade.finish().unwrap_err();
            // The guard is held while the reader waits.
            drop(behind.finish());
            // Once the waiter has run again.
            until(|| all_read(lock, LONG));
            drop((reader, not.guard));
        });
        assert!(lock.try_write().is_some(), "{way:?}");
    }
}

#[test]
fn a_writer_behind_a_waiting_upgradable_reader_stops_readers_until_it_gives_up() {
    for way in [Way::Blocks, Way::Awaits] {
        let lock = RwLock::new(());
        let holder = lock.upgradable_read();
        beside_a_waiting_one(way, &lock, |lock| {
            let mut writer = Task::queued(lock.write_async());
            // From when the writer was signalled on: at the end of a barging window readers are stopped for the waiter before it, until that
            // lets signals go past.
            let mut has_run = false;
            until(|| {
                has_run |= writer.is_woken();
                assert!(!writer.is_woken() || writer.poll().is_pending());
                lock.try_read().is_none() && has_run
            });
            let mut behind = Task::queued(lock.read_async());
            assert!(behind.poll().is_pending());
            drop(writer);
            drop(behind.finish());
            // Once the waiter has run again.
            until(|| all_read(lock, LONG));

            // Once more, if it was out of time before readers were stopped.
            let mut time = SOON;
            until(|| {
                let (mut writer, _) =
                    Task::queued_until(time, |deadline| lock.write_async().deadline(deadline));
                time *= 2;
                let mut ended = None;
                until(|| {
                    if let Some(Poll::Ready(result)) = writer.is_woken().then(|| writer.poll()) {
                        ended = Some(result.map(drop));
                    }
                    ended.is_some() || lock.try_read().is_none()
                });
                let behind = Task::new(lock.read_async());
                let has_stopped_them = ended.is_none();
                let ended = ended.unwrap_or_else(|| writer.finish().map(drop));
                assert_eq!(ended, Err(LockError::TimedOut));
                drop(behind.finish());
                has_stopped_them
            });
            // Once the waiter has run again.
            until(|| all_read(lock, LONG));
            drop(holder);
        });
        assert!(lock.try_write().is_some(), "{way:?}");
    }
}

#[test]
fn a_thread_that_writes_waits_behind_an_upgradable_reader_and_stops_readers() {
    for way in [Way::Blocks, Way::Awaits] {
        let lock = RwLock::new(());
        let holder = lock.upgradable_read();
        thread::scope(|scope| {
            beside_a_waiting_one(way, &lock, |lock| {
                let writer = waits(scope, || waiters(lock) > 1, || drop(lock.write()));
                until(|| lock.try_read().is_none());
                drop(holder);
                writer.join().unwrap();
            });
        });
        assert!(lock.try_write().is_some(), "{way:?}");
    }
}

/// A writer's future that is polled once, or until it has stopped the readers, and then not any more.
#[test]
fn an_unpolled_writer_behind_a_waiting_upgradable_reader_does_not_stop_readers_for_good() {
    for way in WAYS {
        for stops in [true, false] {
            let lock = RwLock::new(());
            let holder = lock.upgradable_read();
            beside_a_waiting_one(way, &lock, |lock| {
                let mut writer = Task::queued(lock.write_async());
                until(|| {
                    assert!(!stops || !writer.is_woken() || writer.poll().is_pending());
                    (!stops && writer.is_woken()) || lock.try_read().is_none()
                });
                thread::scope(|scope| {
                    scope.spawn(|| drop(lock.read()));
                    scope.spawn(|| drop(block_on(lock.read_async())));
                    scope.spawn(|| until(|| lock.try_read().is_some()));
                });
                drop(holder);
            });
            assert!(lock.try_write().is_some(), "{way:?}");
        }
    }
}

/// Once more if the watchdog has skipped the waiter, on a slow machine: then nothing is reserved for it.
#[test]
fn a_stream_of_upgradable_readers_beside_readers_does_not_starve_one_that_waits_nor_the_writer_behind_it() {
    until(|| {
        let lock = RwLock::new(());
        let _reader = lock.read();
        let mut held = lock.upgradable_read();
        let mut waits = Task::queued(lock.upgradable_read_async());
        let start = Instant::now();
        loop {
            drop(held);
            drop(lock.try_read());
            match lock.try_upgradable_read() {
                Some(next) => held = next,
                None => break,
            }
            // It runs only now and then, and finds that another has barged.
            assert!(start.elapsed() > SOON || waits.poll().is_pending());
            if start.elapsed() >= STALL_TIMEOUT {
                return false;
            }
        }
        let mut writes = Task::queued(lock.write_async());
        let Poll::Ready(held) = waits.poll() else { panic!("it is its turn") };
        assert!(writes.poll().is_pending());
        until(|| {
            assert!(!writes.is_woken() || writes.poll().is_pending());
            lock.try_read().is_none()
        });
        assert!(lock.try_upgradable_read().is_none());
        drop((held, _reader));
        drop(writes.finish());
        true
    });
}
