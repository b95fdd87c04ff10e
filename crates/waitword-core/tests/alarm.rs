//! The timer: an alarm rings, and never early, whatever else is set, moved and cleared around it.

mod common;

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;
use std::time::{Duration, Instant};

use common::{Probe, Ring, until};
use waitword_core::Alarm;

/// Most alarms are cleared before they ring: the thread may then check too early, never too late.
#[test]
fn an_alarm_rings_beside_others_that_are_cleared_or_moved() {
    const STEP: Duration = Duration::from_millis(2);
    for order in 0..3_usize.pow(3) {
        let now = Instant::now();
        let (mut far, far_probe) = (pin!(Alarm::new()), Probe::new());
        far.as_mut().set(now + Duration::from_secs(3600), &far_probe.waker());
        let probes = [(); 3].map(|()| Probe::new());
        let (mut first, mut second, mut third) = (pin!(Alarm::new()), pin!(Alarm::new()), pin!(Alarm::new()));
        let mut deadlines = [now; 3];
        for (place, alarm) in [first.as_mut(), second.as_mut(), third.as_mut()].into_iter().enumerate() {
            // Each of the three is the earliest, the latest or in between, in every order.
            let steps = (order / 3_usize.pow(place as u32)) % 3;
            deadlines[place] = now + STEP * (steps as u32 + 1);
            alarm.set(deadlines[place], &probes[place].waker());
        }
        first.clear();
        let (moved, moved_probe) = (deadlines[1] + STEP / 2, Probe::new());
        second.set(moved, &moved_probe.waker());
        for (probe, deadline) in [(&moved_probe, moved), (&probes[2], deadlines[2])] {
            until(|| probe.wakes() == 1);
            assert!(Instant::now() >= deadline, "{order}: early");
        }
        assert_eq!(far_probe.wakes(), 0);
        for probe in probes.iter().chain([&moved_probe]) {
            // A waker may still be on its way out of the wake that it has rung.
            until(|| probe.held() == 0);
            // What was cleared or moved has rung only if the machine was too slow to do that in time.
            assert!(probe.wakes() <= 1);
        }
    }
}

#[test]
fn a_deadline_in_the_past_rings_at_once_and_one_at_the_end_of_time_never() {
    let now = Instant::now();
    let years = [1, 100, 600, 10_000].map(|years| Duration::from_secs(years * 366 * 24 * 3600));
    let mut ends: Vec<_> = years.into_iter().filter_map(|years| now.checked_add(years)).collect();
    // The last instant that there is.
    let mut last = now;
    for bit in (0..u64::BITS).rev() {
        last = last.checked_add(Duration::from_secs(1 << bit)).unwrap_or(last);
    }
    ends.push(last);
    let never = Probe::new();
    let mut alarms: Vec<_> = ends.iter().map(|_| Box::pin(Alarm::new())).collect();
    for (alarm, &end) in alarms.iter_mut().zip(&ends) {
        alarm.as_mut().set(end, &never.waker());
    }
    for before in [Duration::ZERO, Duration::from_nanos(1), Duration::from_secs(3600)] {
        // If the machine has not been up for so long, an hour ago is no instant.
        let past = now.checked_sub(before).unwrap_or(now);
        let (mut alarm, probe) = (pin!(Alarm::new()), Probe::new());
        alarm.as_mut().set(past, &probe.waker());
        until(|| probe.wakes() == 1);
        // Set anew, it rings anew.
        alarm.as_mut().set(past, &probe.waker());
        until(|| probe.wakes() == 2);
    }
    assert_eq!((never.wakes(), never.held()), (0, ends.len()));
    alarms.clear();
    assert_eq!(never.held(), 0);
}

/// A future that is polled again sets the same deadline; the waker that it was polled with last is the one to call.
#[test]
fn set_to_the_same_deadline_the_last_waker_rings() {
    let mut timeout = Duration::from_millis(20);
    let (now, first, last, _alarm) = loop {
        let now = Instant::now();
        let (first, last) = (Probe::new(), Probe::new());
        let mut alarm = Box::pin(Alarm::new());
        let held = [Duration::from_secs(3600), timeout].map(|after| {
            alarm.as_mut().set(now + after, &first.waker());
            alarm.as_mut().set(now + after, &first.waker());
            let held = first.held();
            alarm.as_mut().set(now + after, &last.waker());
            // It may be on its way out of a wake, if the machine was too slow.
            until(|| first.held() == 0);
            held
        });
        if now.elapsed() < timeout {
            assert_eq!(held, [1, 1]);
            break (now, first, last, alarm);
        }
        timeout *= 2;
    };
    until(|| last.wakes() == 1);
    assert!(now.elapsed() >= timeout, "early");
    until(|| last.held() == 0);
    assert_eq!(first.wakes(), 0);
}

/// Several threads set, move and clear alarms of all distances while the timer rings others. What is not cleared rings
/// once, and nothing rings before its time.
#[test]
fn a_crowd_rings_once_each_and_never_early() {
    const THREADS: u32 = 4;
    const EACH: u32 = 1_000;
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                let begin = Instant::now();
                let delay = |i: u32| Duration::from_nanos(u64::from((i * 2_654_435 + thread) % 30_000_000));
                let mut alarms: Vec<Pin<Box<Alarm>>> = (0..EACH).map(|_| Box::pin(Alarm::new())).collect();
                let mut rings = Vec::new();
                for i in 0..EACH {
                    let ring = Arc::new(Ring::at(begin + delay(i)));
                    let place = i as usize;
                    alarms[place].as_mut().set(ring.deadline, &Waker::from(Arc::clone(&ring)));
                    if i % 3 == 0 {
                        // To another time and back.
                        alarms[place].as_mut().set(begin + delay(i) * 1000, Waker::noop());
                        alarms[place].as_mut().set(ring.deadline, &Waker::from(Arc::clone(&ring)));
                    }
                    if i % 3 == 1 {
                        alarms[place / 2].as_mut().clear();
                    }
                    rings.push(ring);
                }
                let cleared = |i: u32| (0..EACH).any(|by| by % 3 == 1 && by / 2 == i);
                for (i, ring) in (0..EACH).zip(&rings) {
                    // It may have rung before it was cleared or moved, and once more when it had been set again.
                    let at_least = usize::from(!cleared(i));
                    until(|| ring.count.load(Ordering::SeqCst) >= at_least);
                }
                drop(alarms);
                for (i, ring) in (0..EACH).zip(&rings) {
                    let at_most = if i % 3 == 0 { 2 } else { 1 };
                    assert!(ring.count.load(Ordering::SeqCst) <= at_most);
                    assert_eq!(ring.early.load(Ordering::SeqCst), 0);
                }
            });
        }
    });
}
