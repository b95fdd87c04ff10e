//! For how long the waiters of a queue have waited together, since somebody was last charged with it.
//!
//! Each waiter counts from its enqueue, or from the last charge. To walk the queue at each release would cost the releasing thread in
//! proportion to the waiters. So the head of a queue, which has its length too, has the *sum* of those beginnings: the delay at the
//! time `t` is `waiters * t - sum`. Enqueue, leave and charge change the sum by one term each.
//!
//! ```text
//!   enqueue at t     waiters + 1, sum + t
//!   leave at t       waiters - 1, sum - t      what it waited stays in the difference, for the next charge
//!   charge at t      sum = waiters * t         the difference was charged
//! ```
//! Sums wrap around: the difference is right as long as it is less than 584 years. Waiters that enqueued while the clock did not run
//! are not counted.

#[cfg(feature = "observe")]
pub(crate) use imp::Delay;
pub(crate) use imp::Delays;

#[cfg(feature = "observe")]
mod imp {
    use crate::observe::clock::{nanos_of, now};

    /// The delays in one queue; in its head alone.
    #[derive(Clone, Copy, Debug, Default)]
    pub(crate) struct Delays {
        /// How many waiters are counted.
        waiters: u64,
        sum: u64,
        /// When somebody was charged last.
        charged: u64,
    }

    /// What somebody is charged with.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) struct Delay {
        /// How many waited.
        pub(crate) waiters: u64,
        /// How long they waited together, in nanoseconds.
        pub(crate) sum: u64,
        /// How long the head of the queue did.
        pub(crate) longest: u64,
    }

    impl Delays {
        /// A waiter enqueues with this ticket.
        #[inline]
        pub(crate) fn enter(&mut self, ticket: u64) {
            if let Some(time) = nanos_of(ticket) {
                self.waiters += 1;
                self.sum = self.sum.wrapping_add(time);
            }
        }

        /// The waiter with this ticket leaves.
        #[inline]
        pub(crate) fn leave(&mut self, ticket: u64) {
            if nanos_of(ticket).is_some() {
                self.leave_at(1, now());
            }
        }

        /// The first of the waiters leave.
        #[inline]
        pub(crate) fn leave_many(&mut self, count: usize) {
            if self.waiters > 0 {
                self.leave_at(count as u64, now());
            }
        }

        fn leave_at(&mut self, count: u64, time: u64) {
            let count = count.min(self.waiters);
            self.waiters -= count;
            self.sum = self.sum.wrapping_sub(count.wrapping_mul(time));
        }

        /// Takes what has not been charged. The head of the queue has the ticket `head`.
        pub(crate) fn charge(&mut self, head: u64) -> Option<Delay> {
            if self.waiters == 0 && self.sum == 0 { None } else { self.charge_at(now(), head) }
        }

        fn charge_at(&mut self, now: u64, head: u64) -> Option<Delay> {
            let sum = self.waiters.wrapping_mul(now).wrapping_sub(self.sum);
            let longest = nanos_of(head).map_or(0, |head| now.saturating_sub(head.max(self.charged)));
            let delay = Delay { waiters: self.waiters, sum, longest };
            (self.sum, self.charged) = (self.waiters.wrapping_mul(now), now);
            (delay.sum != 0).then_some(delay)
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn what_is_charged_adds_up_to_what_was_waited() {
            let mut delays = Delays::default();
            let charged =
                |delay: Option<Delay>| delay.map_or((0, 0, 0), |of| (of.waiters, of.sum, of.longest));
            // A ticket counts units of 32 ns.
            let ticket = |nanos: u64| nanos >> 5 << 1 | 1;
            delays.enter(ticket(3200));
            delays.enter(ticket(4160));
            delays.enter(132); // no time: the clock does not run
            assert_eq!(charged(delays.charge_at(4800, ticket(3200))), (2, 1600 + 640, 1600));
            // The head leaves at 5120, another comes at 5280.
            delays.leave_at(1, 5120);
            delays.enter(ticket(5280));
            assert_eq!(charged(delays.charge_at(5440, ticket(4160))), (2, 320 + 640 + 160, 640));
            delays.leave_at(2, 5760);
            assert_eq!(charged(delays.charge_at(16_000, 132)), (0, 320 + 320, 0));
            assert_eq!(delays.charge_at(28_800, 132), None);
        }
    }
}

#[cfg(not(feature = "observe"))]
mod imp {
    /// Nothing.
    #[derive(Clone, Copy, Debug, Default)]
    pub(crate) struct Delays(());

    impl Delays {
        #[inline(always)]
        pub(crate) fn enter(&mut self, _: u64) {}

        #[inline(always)]
        pub(crate) fn leave(&mut self, _: u64) {}

        #[inline(always)]
        pub(crate) fn leave_many(&mut self, _: usize) {}
    }
}
