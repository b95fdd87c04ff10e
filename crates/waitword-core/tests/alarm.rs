//! The timer: an alarm rings, and never early, whatever else is set, moved and cleared around it.

mod common;

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;
use std::time::{Duration, Instant};

use common::{Probe, Ring, until};
use waitword_core::Alarm;

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
                // When all are set.
                let begin = Instant::now() + Duration::from_millis(20);
                let delay = |i: u32| Duration::from_nanos(u64::from((i * 2_654_435 + thread) % 30_000_000));
                let mut alarms: Vec<Pin<Box<Alarm>>> = (0..EACH).map(|_| Box::pin(Alarm::new())).collect();
                let cleared = |i: u32| [2 * i, 2 * i + 1].iter().any(|by| *by < EACH && by % 3 == 1);
                // With how often it has to ring. It may have rung before it was cleared or moved.
                let mut rings = Vec::new();
                let mut set = |mut alarm: Pin<&mut Alarm>, deadline, at_least| {
                    let ring = Arc::new(Ring::at(deadline));
                    alarm.as_mut().set(deadline, &Waker::from(Arc::clone(&ring)));
                    rings.push((ring, at_least));
                };
                for i in 0..EACH {
                    let place = i as usize;
                    if i % 3 == 0 {
                        // Moved, to a later time and to an earlier one.
                        set(alarms[place].as_mut(), begin + delay(i) / 2, 0);
                        set(alarms[place].as_mut(), begin + delay(i) * 1000, 0);
                    }
                    set(alarms[place].as_mut(), begin + delay(i), usize::from(!cleared(i)));
                    if i % 3 == 1 {
                        alarms[place / 2].as_mut().clear();
                    }
                }
                for (ring, at_least) in &rings {
                    until(|| ring.count.load(Ordering::SeqCst) >= *at_least);
                }
                drop(alarms);
                for (ring, _) in rings {
                    // A waker may still be on its way out of the wake that it has rung.
                    until(|| Arc::strong_count(&ring) == 1);
                    assert!(ring.count.load(Ordering::SeqCst) <= 1);
                    assert_eq!(ring.early.load(Ordering::SeqCst), 0);
                }
            });
        }
    });
}
