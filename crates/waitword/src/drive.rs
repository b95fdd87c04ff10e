//! How a thread drives a loop of steps: step, spin, yield, park, spin, step again. The one loop of this crate that parks.
//!
//! The core's `wait` has a loop of its own, because a step polls, and a poll of a queued wait takes the shard's lock to compare wakers. The
//! core loads the state of its node instead, takes no lock until it gives up, and can be interrupted.

use std::mem;
use std::pin::Pin;
use std::task::Waker;
use waitword_core::time::Instant;

use waitword_core::Parker;

use crate::spins;
use crate::sync::MODEL;

/// What the driver does next.
pub(crate) enum Step<T> {
    /// The loop has ended.
    Ended(T),
    /// Step again when woken, and at this time at the latest, if there is one.
    Wait(Option<Instant>),
}

/// A loop that is driven in steps: by a thread between two sleeps, by a task in each poll.
pub(crate) trait Steps {
    type Output;

    /// Runs until the loop ends or has to wait.
    fn step(self: Pin<&mut Self>, waker: &Waker, deadline: Option<Instant>) -> Step<Self::Output>;

    /// As [`step`](Self::step), in a thread that does nothing else until the loop has ended.
    fn step_blocked(self: Pin<&mut Self>, waker: &Waker, deadline: Option<Instant>) -> Step<Self::Output> {
        self.step(waker, deadline)
    }

    /// Whether the loop can continue: the waiter was signalled or notified while it waited. Takes no lock.
    fn can_go_on(&self) -> bool;

    /// Whether the next signal is for this waiter, so that it may come soon.
    fn is_next(&self) -> bool {
        false
    }

    /// The last attempt of a thread before it sleeps, if that is worth it. `Some` if that ended the loop.
    fn before_park(self: Pin<&mut Self>) -> Option<Self::Output> {
        None
    }

    /// Spins for a while, in a signalled thread. `Some` if that ended the loop.
    fn spin(self: Pin<&mut Self>) -> Option<Self::Output> {
        None
    }
}

/// Blocks this thread until `steps` has ended.
pub(crate) fn drive<S: Steps>(
    parker: &Parker,
    mut steps: Pin<&mut S>,
    deadline: Option<Instant>,
) -> S::Output {
    // A model has no credit to spin, and no need of the lookup.
    let mut has_spun = MODEL;
    loop {
        let until = match steps.as_mut().step_blocked(parker.waker(), deadline) {
            Step::Ended(output) => return output,
            Step::Wait(until) => until,
        };
        // Two threads that take turns are queued one at a time. If others are in front, a spin would only keep a CPU from them.
        if !mem::replace(&mut has_spun, true) && steps.is_next() {
            parker.spin(until, || steps.can_go_on());
            if steps.can_go_on() {
                spins::learn(true);
            }
        }
        if let Some(output) = steps.as_mut().before_park() {
            return output;
        }
        // A park may end by a token that an earlier wait of this thread has left. That is no reason for a step, which takes the lock of a
        // shard.
        while !steps.can_go_on() {
            match until {
                Some(until) if until <= Instant::now() => break,
                Some(until) => parker.park_until(until),
                None => parker.park(),
            }
        }
        // A signalled waiter is awake now. If it was too late for one release, it is in time for the next.
        if let Some(output) = steps.as_mut().spin() {
            return output;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::pin::pin;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// Signalled when its first step has ended, but its wake is lost.
    #[derive(Default)]
    struct Signalled {
        steps: u32,
    }

    impl Steps for Signalled {
        type Output = u32;

        fn step(mut self: Pin<&mut Self>, _waker: &Waker, _deadline: Option<Instant>) -> Step<u32> {
            self.steps += 1;
            Step::Wait(None)
        }

        fn can_go_on(&self) -> bool {
            self.steps > 0
        }

        fn is_next(&self) -> bool {
            true
        }

        fn spin(self: Pin<&mut Self>) -> Option<u32> {
            Some(self.steps)
        }
    }

    #[test]
    fn a_waiter_that_is_signalled_before_it_parks_goes_on() {
        let (ended, end) = mpsc::channel();
        thread::spawn(move || ended.send(drive(&Parker::current(), pin!(Signalled::default()), None)));
        assert_eq!(end.recv_timeout(Duration::from_secs(60)), Ok(1), "it has parked, and nobody wakes it");
    }

    /// Ends at a time, and counts its steps until then.
    struct Late {
        at: Instant,
        steps: u32,
    }

    impl Steps for Late {
        type Output = u32;

        fn step(mut self: Pin<&mut Self>, _waker: &Waker, _deadline: Option<Instant>) -> Step<u32> {
            self.steps += 1;
            if Instant::now() < self.at { Step::Wait(Some(self.at)) } else { Step::Ended(self.steps) }
        }

        fn can_go_on(&self) -> bool {
            false
        }
    }

    #[test]
    fn a_token_that_is_left_over_makes_no_step() {
        let parker = Parker::current();
        parker.waker().wake_by_ref();
        let at = Instant::now() + Duration::from_millis(30);
        // One, if all of the time has passed before it.
        assert!(drive(&parker, pin!(Late { at, steps: 0 }), None) <= 2);
    }

    /// Queued in front of all others. Signalled when that was asked so often, or never.
    struct First {
        asks_left: Cell<u32>,
        steps: u32,
    }

    impl Steps for First {
        type Output = u32;

        fn step(mut self: Pin<&mut Self>, _waker: &Waker, deadline: Option<Instant>) -> Step<u32> {
            self.steps += 1;
            if deadline.is_some() && self.steps > 1 { Step::Ended(self.steps) } else { Step::Wait(deadline) }
        }

        fn can_go_on(&self) -> bool {
            self.asks_left.set(self.asks_left.get().saturating_sub(1));
            self.asks_left.get() == 0
        }

        fn is_next(&self) -> bool {
            true
        }

        fn spin(self: Pin<&mut Self>) -> Option<u32> {
            Some(self.steps)
        }
    }

    /// On a thread whose sleeps have earned a spin, and that has just woken a thread that was awake: itself.
    #[test]
    fn a_waiter_that_is_next_spins_before_it_parks() {
        let (ended, end) = mpsc::channel();
        thread::spawn(move || {
            let parker = Parker::current();
            let waits = |asks_left, deadline| {
                drive(&parker, pin!(First { asks_left: Cell::new(asks_left), steps: 0 }), deadline)
            };
            (0..10).for_each(|_| _ = waits(u32::MAX, Some(Instant::now())));
            parker.waker().wake_by_ref();
            parker.park();
            // Before the spin reads the clock.
            ended.send(waits(4, None))
        });
        assert_eq!(end.recv_timeout(Duration::from_secs(60)), Ok(1), "it has parked, and nobody wakes it");
    }

    /// On a thread of its own, which has learned nothing yet.
    #[test]
    fn a_waiter_that_is_signalled_before_it_parks_has_learned_to_spin() {
        let learns = || {
            (0..100).for_each(|_| spins::learn(false));
            assert!(!(0..16).all(|_| spins::is_due()));
            drive(&Parker::current(), pin!(Signalled::default()), None);
            assert!((0..100).all(|_| spins::is_due()));
        };
        thread::spawn(learns).join().unwrap();
    }
}
