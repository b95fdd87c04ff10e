//! Wakers that block: they delay their own deadline and no other, nor the watchdog of waiters that are never polled.

mod common;

use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use common::{Probe, Ring, queued_with, until};
use waitword_core::{Alarm, WaitAsync, notify_all, signal_one, wait};

/// The threads of the timer are the process's: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Wakers that block until the gate is opened, which the end of the test does in any case.
struct Gate(Arc<Closed>);

#[derive(Default)]
struct Closed {
    open: AtomicI32,
    entered: AtomicUsize,
    left: AtomicUsize,
}

impl Wake for Closed {
    fn wake(self: Arc<Self>) {
        self.entered.fetch_add(1, Ordering::SeqCst);
        // Notified, or open already.
        let _ = wait(&self.open, 0);
        self.left.fetch_add(1, Ordering::SeqCst);
    }
}

impl Closed {
    fn open(&self) {
        self.open.store(1, Ordering::SeqCst);
        notify_all(&self.open);
    }
}

impl Gate {
    fn new() -> Self {
        Self(Arc::default())
    }

    fn waker(&self) -> Waker {
        Waker::from(Arc::clone(&self.0))
    }

    fn entered(&self) -> usize {
        self.0.entered.load(Ordering::SeqCst)
    }

    fn open(&self) {
        self.0.open();
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.open();
        // Others count the timer's threads.
        until(|| self.0.left.load(Ordering::SeqCst) == self.entered());
    }
}

fn alarms(wakers: impl IntoIterator<Item = Waker>, deadline: Instant) -> Vec<Pin<Box<Alarm>>> {
    let set = |waker: Waker| {
        let mut alarm = Box::pin(Alarm::new());
        alarm.as_mut().set(deadline, &waker);
        alarm
    };
    wakers.into_iter().map(set).collect()
}

/// Has the timer call a waker that blocks.
fn blocked(gate: &Gate) -> Vec<Pin<Box<Alarm>>> {
    let alarm = alarms([gate.waker()], Instant::now());
    until(|| gate.entered() == 1);
    alarm
}

#[test]
fn a_waker_that_blocks_holds_up_no_other_deadline() {
    let _alone = alone();
    let now = Instant::now();
    let (gate, before, after) = (Gate::new(), Probe::new(), Probe::new());
    // Set before it blocks, and the earliest then; set while it blocks: earlier, later, and over already.
    let _before = alarms([before.waker()], now + Duration::from_millis(50));
    let _blocked = blocked(&gate);
    let now = Instant::now();
    let delays = [0, 5, 100].map(Duration::from_millis);
    let _after: Vec<_> = delays.map(|delay| alarms([after.waker()], now + delay)).into_iter().collect();
    until(|| (before.wakes(), after.wakes()) == (1, 3));
}

/// There is no other deadline when it begins to block, so the stand-by does not check on it until there is one.
#[test]
fn a_deadline_that_is_set_while_the_only_other_one_blocks_is_met() {
    let _alone = alone();
    for _ in 0..20 {
        let (gate, probe) = (Gate::new(), Probe::new());
        let _blocked = blocked(&gate);
        // The stand-by has nothing to wait for and sleeps for good, as a rule.
        std::thread::sleep(Duration::from_millis(1));
        let _alarm = alarms([probe.waker()], Instant::now());
        until(|| probe.wakes() == 1);
    }
}

/// The stand-by takes over for a deadline that has been forgotten meanwhile, and has nothing to call: nobody checks on it then.
#[test]
fn a_stand_by_that_takes_over_before_anything_is_due_meets_the_next_deadline() {
    let _alone = alone();
    for _ in 0..5 {
        let (gate, probe) = (Gate::new(), Probe::new());
        let _blocked = blocked(&gate);
        let now = Instant::now();
        let forgotten = alarms([probe.waker()], now + Duration::from_millis(2));
        let _alarm = alarms([probe.waker()], now + Duration::from_millis(40));
        drop(forgotten);
        // If the machine was slow, the forgotten one has rung, too.
        until(|| probe.wakes() >= 1 && Instant::now() >= now + Duration::from_millis(40));
        until(|| probe.held() == 0);
    }
}

#[test]
fn those_due_at_the_same_time_are_called_past_several_wakers_that_block() {
    let _alone = alone();
    const ALL: usize = 100;
    let (gate, probe) = (Gate::new(), Probe::new());
    let blocks = |index: usize| [0, 1, 7, 40, ALL - 1].contains(&index);
    let wakers = (0..ALL).map(|index| if blocks(index) { gate.waker() } else { probe.waker() });
    let _alarms = alarms(wakers, Instant::now() + Duration::from_millis(20));
    until(|| (gate.entered(), probe.wakes()) == (5, ALL - 5));
}

#[test]
fn deadlines_stay_exact_behind_wakers_that_block() {
    let _alone = alone();
    let gate = Gate::new();
    let _blocked = blocked(&gate);
    let rings = (0..200).map(|step| {
        let ring = Arc::new(Ring::at(Instant::now() + Duration::from_micros(step * 173)));
        (alarms([Waker::from(Arc::clone(&ring))], ring.deadline), ring)
    });
    let rings: Vec<_> = rings.collect();
    until(|| rings.iter().all(|(_, ring)| ring.count.load(Ordering::SeqCst) == 1));
    assert!(rings.iter().all(|(_, ring)| ring.early.load(Ordering::SeqCst) == 0));
}

/// A word with two waiters, the first of which is signalled and never polled again. The second is left to the watchdog.
struct Futurelock<'a>([Pin<Box<WaitAsync<&'a AtomicI32>>>; 2]);

impl<'a> Futurelock<'a> {
    fn new(word: &'a AtomicI32, second: &Waker) -> Self {
        let waits = [Waker::noop(), second].map(|waker| queued_with(word, 0, waker));
        assert_eq!(signal_one(word), 2);
        Self(waits)
    }
}

#[test]
fn the_watchdog_runs_while_a_waker_blocks() {
    let _alone = alone();
    let (gate, probe, word) = (Gate::new(), Probe::new(), AtomicI32::new(0));
    let _blocked = blocked(&gate);
    for rescued in 1..=3 {
        let _waits = Futurelock::new(&word, &probe.waker());
        until(|| probe.wakes() == rescued);
    }
}

#[test]
fn the_watchdog_runs_past_waiters_whose_own_wakers_block() {
    let _alone = alone();
    let (gate, probe) = (Gate::new(), Probe::new());
    let words: Vec<_> = (0..40).map(|_| AtomicI32::new(0)).collect();
    let blocks = |index: usize| index % 8 == 3;
    let waker = |index| if blocks(index) { gate.waker() } else { probe.waker() };
    let waits: Vec<_> =
        words.iter().enumerate().map(|(index, word)| Futurelock::new(word, &waker(index))).collect();
    until(|| (gate.entered(), probe.wakes()) == (5, 35));
    // And the passes after it.
    let (word, later) = (AtomicI32::new(0), Probe::new());
    let later_waits = Futurelock::new(&word, &later.waker());
    until(|| later.wakes() == 1);
    assert!(waits.iter().chain([&later_waits]).all(|Futurelock(waits)| waits[0].is_signalled()));
}

/// A deadline that a waker waits for, as one does that takes a lock for which others wait with deadlines.
#[test]
fn a_waker_may_wait_for_another_deadline() {
    let _alone = alone();
    let gate = Gate::new();
    let opener = Arc::new(Opener(Arc::clone(&gate.0)));
    let (mut first, mut second) = (pin!(Alarm::new()), pin!(Alarm::new()));
    let now = Instant::now();
    second.as_mut().set(now + Duration::from_millis(30), &Waker::from(opener));
    first.as_mut().set(now, &gate.waker());
    until(|| gate.0.left.load(Ordering::SeqCst) == 1);
}

struct Opener(Arc<Closed>);

impl Wake for Opener {
    fn wake(self: Arc<Self>) {
        self.0.open();
    }
}

/// More than there may be threads: deadlines wait then, and are met when one of the wakers returns.
#[test]
fn more_wakers_that_block_than_there_may_be_threads() {
    let _alone = alone();
    const BLOCK: usize = 40;
    let (gate, probe) = (Gate::new(), Probe::new());
    let now = Instant::now();
    let _blocked = alarms((0..BLOCK).map(|_| gate.waker()), now);
    let _behind = alarms([probe.waker()], now);
    until(|| gate.entered() == 32);
    assert_eq!(probe.wakes(), 0);
    gate.open();
    until(|| (gate.entered(), probe.wakes()) == (BLOCK, 1));
}

#[cfg(target_os = "linux")]
mod threads {
    use super::*;

    /// How often each of the timer's threads went to sleep.
    fn sleeps() -> Vec<u64> {
        let threads = std::fs::read_dir("/proc/self/task").unwrap();
        let read = |path: std::path::PathBuf, file: &str| std::fs::read_to_string(path.join(file)).ok();
        let of = |path: std::path::PathBuf| {
            // It may end while we check.
            let is_timer = read(path.clone(), "comm")?.trim() == "waitword-timer";
            let status = read(path, "status")?;
            let sleeps = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
            is_timer.then(|| sleeps.trim().parse().unwrap())
        };
        threads.filter_map(|thread| of(thread.unwrap().path())).collect()
    }

    #[test]
    fn a_waker_that_blocks_has_a_thread_and_gives_it_back() {
        let _alone = alone();
        const BLOCK: usize = 10;
        // Leader and stand-by.
        const STAY: usize = 2;
        until(|| sleeps().len() <= STAY);
        let gate = Gate::new();
        let _blocked = alarms((0..BLOCK).map(|_| gate.waker()), Instant::now());
        until(|| gate.entered() == BLOCK);
        assert!((BLOCK + 1..=BLOCK + STAY).contains(&sleeps().len()), "{} threads", sleeps().len());
        gate.open();
        until(|| sleeps().len() <= STAY);
        // Once more, with those that were stuck.
        let (gate, probe) = (Gate::new(), Probe::new());
        let _blocked = alarms([gate.waker(), gate.waker(), probe.waker()], Instant::now());
        until(|| (gate.entered(), probe.wakes()) == (2, 1));
    }

    /// A deadline that is far away, and everything that there was behind it: no thread of the timer wakes up.
    #[test]
    fn no_thread_wakes_up_while_nothing_is_due() {
        let _alone = alone();
        let (far, near) = (Probe::new(), Probe::new());
        let _far = alarms([far.waker()], Instant::now() + Duration::from_secs(3600));
        let _near = alarms([near.waker(), near.waker()], Instant::now() + Duration::from_millis(5));
        until(|| near.wakes() == 2);
        let before = Instant::now();
        // The first few times the stand-by checks what is next.
        until(|| {
            let earlier = sleeps();
            std::thread::sleep(Duration::from_millis(100));
            let quiet = earlier == sleeps();
            assert!(quiet || before.elapsed() < Duration::from_secs(60), "{earlier:?}, {:?}", sleeps());
            quiet
        });
        until(|| (1..=2).contains(&sleeps().len()));
    }
}
