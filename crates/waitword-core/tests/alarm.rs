//! The timer: an alarm rings, and never early, whatever else is set, moved and cleared around it.
#![cfg(not(any(loom, shuttle)))]

mod common;

use std::pin::pin;
use std::time::{Duration, Instant};

use common::{Probe, until};
use waitword_core::Alarm;

/// Most alarms are cleared before they ring: the thread may then look too early, never too late.
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
