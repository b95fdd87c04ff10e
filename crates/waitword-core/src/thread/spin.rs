//! Spinning for an outcome that comes soon.
//!
//! To be woken across CPUs takes up to 5 µs on bare metal and up to 35 µs in a virtual machine. So a blocking wait may
//! first spin: its node is queued already, and the thread reads the node's state, which nobody writes before the
//! outcome. The notifier finds it awake and makes no system call. Whether to spin, and for how long, each thread
//! learns for itself; nothing is shared, however many there are.
//!
//! ```text
//!   credit ◄── a sleep:          an eightieth of what it costs     (the first few: more, 80 µs in a thread's life)
//!          ◄── a spin answered:  what the sleep would have cost
//!          ──► any spin:         the time it took
//! ```
//!
//! # What it can cost
//! A spin ends when the credit does. So the time that a thread has spun is never more than
//!
//! ```text
//!   80 µs  +  1/80 of what its sleeps cost  +  what the sleeps that it avoided would have cost
//! ```
//! The last term is no loss: that time would have been spent anyway. The middle one is what spinning costs in the long
//! run, whatever the partner does. The first one is earned by a thread's first sleeps: after some 17 of them it can afford to spin; a
//! thread that waits once or twice never does.
//!
//! What a sleep costs is measured: twice the shortest of the latest times that it took this thread to wake another.
//! Twice, because to fall asleep and to be scheduled again costs as much. The shortest, because a thread may lose its
//! CPU to the one that it wakes. (If it always does, then each handover takes that long, and an eightieth of that.) The result counts as 2
//! µs at least, as on bare metal, where it earns 25 ns: a fortieth of the cheapest handover we know of, 1.1 µs on one CPU; and as 20 µs at
//! most, as in a virtual machine.
//!
//! # When it spins
//! | the thread that we woke last, or that answered last | how long |
//! |----------------------------------------------------|----------|
//! | was **awake**: it spun too, or had not slept yet   | for the cost of a sleep: if no answer comes, we have lost as much again at the most |
//! | **slept**: before it can answer it has to wake up  | 50 µs, if the credit is there; otherwise not at all |
//!
//! Two threads that take turns have to be awake at the same time, or each finds the other asleep. The long spin achieves that: it outlasts
//! the partner's wake-up, and the partner then finds us awake and spins in its turn. From there on both earn more than they spend, and the
//! credit (200 µs at the most) carries them over the times when one of them loses its CPU.
//!
//! - **A partner that works for long:** spins fail until the credit is gone; then one long spin in 2,000 waits (in a virtual machine, in
//!   200) finds out whether the partner has become quick.
//! - **One CPU,** or two threads pinned to one: the same. The number of CPUs is not asked for: the system tells how many this thread may
//!   run on, which is one for threads pinned to a CPU each, and those gain most from spinning.
//! - **More threads than CPUs:** the thread that is waited for may not be running. The spins fail, and the credit is gone.
//! - **Sometimes quick, sometimes slow:** spinning is worth it as long as what the quick answers save pays for the failures.
//!
//! No `yield_now` in between: it is a system call, during which the thread does not check for the outcome; and where another thread
//! wants the CPU, it is better to sleep.

use crate::time::{Duration, Instant};
use std::cell::Cell;
use std::hint::spin_loop;

use super::spin_in_poll::expect_answer;
use crate::sync::MODEL;

/// Spins until `ended`, for as long as that has paid on this thread, and until `deadline` at the latest.
///
/// `ended` neither notifies nor waits.
pub(crate) fn until(deadline: Option<Instant>, ended: impl Fn() -> bool) {
    // A model has no time, and spins would multiply its interleavings.
    if MODEL {
        return;
    }
    let mut experience = EXPERIENCE.get();
    let limit = experience.limit();
    let (spun, answered) = if limit > 0 { spin(limit, deadline, ended) } else { (0, false) };
    experience.waited(spun, answered);
    EXPERIENCE.set(experience);
}

/// Wakes another thread, and learns whether it was asleep and what that costs.
pub(crate) fn wake(asleep: bool, unpark: impl FnOnce()) {
    if MODEL {
        return unpark();
    }
    if !asleep {
        expect_answer();
    }
    let mut experience = EXPERIENCE.get();
    if experience.wakes(asleep) {
        let start = Instant::now();
        unpark();
        experience.measured(nanos(start.elapsed()));
    } else {
        unpark();
    }
    EXPERIENCE.set(experience);
}

/// Returns how long it took, and whether `ended` was true.
fn spin(limit: u32, deadline: Option<Instant>, ended: impl Fn() -> bool) -> (u32, bool) {
    // An outcome that comes at once does not wait for the clock.
    for round in 0..SPIN_ROUNDS {
        pause(1 << round);
        if ended() {
            return (ROUND, true);
        }
    }
    let start = Instant::now();
    let end = start + Duration::from_nanos(limit.saturating_sub(ROUND).into());
    let end = deadline.map_or(end, |deadline| deadline.min(end));
    loop {
        // Each check takes the cache line away from the notifier that is about to write the outcome.
        pause(1 << (SPIN_ROUNDS - 1));
        let (ended, now) = (ended(), Instant::now());
        if ended || now >= end {
            return (nanos(now - start).saturating_add(ROUND), ended);
        }
    }
}

fn pause(times: u32) {
    for _ in 0..times {
        spin_loop();
    }
}

fn nanos(duration: Duration) -> u32 {
    duration.as_nanos().try_into().unwrap_or(u32::MAX)
}

/// How often the state is checked before the clock is; the pauses between double.
const SPIN_ROUNDS: u32 = 5;
/// In nanoseconds: at least what these rounds take, and at least the time between two reads of the clock. 31 pauses of 40 ns, or of 140
/// cycles.
const ROUND: u32 = 1_500;
/// At least what a sleeping thread takes to wake up and answer.
const LONG: u32 = 50_000;
/// Four long spins.
const MOST_CREDIT: u32 = 200_000;
/// What a sleep and a wake cost, at least and at most.
const CHEAPEST_SLEEP: u32 = 2_000;
const DEAREST_SLEEP: u32 = 20_000;
/// A sleep earns its cost divided by this.
const INCOME: u32 = 80;
/// What the first sleep of a thread earns beyond that; each later one an eighth less, 80 µs in all.
const FIRST_BONUS: u32 = 10_000;
/// One wake in this many is timed: reading the clock twice costs up to 100 ns.
const TIMED: u8 = 8;

thread_local! {
    static EXPERIENCE: Cell<Experience> = const { Cell::new(Experience::NONE) };
}

/// What a thread has learned; times in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Experience {
    /// For how long it may spin.
    credit: u32,
    /// What the next sleep earns, beyond its [`INCOME`].
    bonus: u32,
    /// What a sleep and a wake cost.
    sleep: u32,
    /// Whether the thread that is going to answer is probably awake.
    awake: bool,
    /// How often it has woken a sleeping thread, modulo [`TIMED`].
    wakes: u8,
}

impl Experience {
    const NONE: Self = Self { credit: 0, bonus: FIRST_BONUS, sleep: CHEAPEST_SLEEP, awake: false, wakes: 0 };

    /// How long to spin in the wait that begins. What is granted can be paid for, the last round included.
    fn limit(&self) -> u32 {
        let (limit, reserve) = if self.awake { (self.sleep, 0) } else { (LONG, DEAREST_SLEEP) };
        // After a long spin that was answered there must be something left for the next, short one.
        if self.credit >= limit + reserve + ROUND { limit } else { 0 }
    }

    /// A wait has spun for this long, and was answered meanwhile or goes to sleep now.
    fn waited(&mut self, spun: u32, answered: bool) {
        // A thread that was preempted while it spun did not use that time.
        let paid = spun.min(self.limit() + ROUND);
        let earned = if answered { self.sleep } else { self.sleep / INCOME + self.bonus };
        self.credit = (self.credit - paid + earned).min(MOST_CREDIT);
        if !answered {
            self.bonus -= self.bonus.div_ceil(8);
        }
        self.awake = answered;
    }

    /// This thread is about to wake another. Returns whether to time it.
    fn wakes(&mut self, asleep: bool) -> bool {
        self.awake = !asleep;
        if asleep {
            self.wakes = (self.wakes + 1) % TIMED;
        }
        asleep && self.wakes == 0
    }

    /// Waking a sleeping thread took this long. The estimate falls at once, and rises by an eighth at most.
    fn measured(&mut self, wake: u32) {
        let sleep = wake.saturating_mul(2).min(self.sleep + self.sleep / 8);
        self.sleep = sleep.clamp(CHEAPEST_SLEEP, DEAREST_SLEEP);
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::sync::atomic::AtomicI32;
    use std::task::{Context, Waker};

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::{Interrupt, Interrupted, Outcome, wait_async, wait_interruptible, wait_until};

    #[derive(Clone, Debug)]
    enum Event {
        /// A wait that is answered after this many nanoseconds.
        Wait(u32),
        /// A wake of a thread, asleep or not, that takes so long.
        Wake(bool, u32),
    }

    fn events() -> impl Strategy<Value = Vec<Event>> {
        let nanos = || prop_oneof![0..1_000_u32, 0..10_000_u32, 0..100_000_u32, Just(u32::MAX)];
        let event = prop_oneof![
            nanos().prop_map(Event::Wait),
            (any::<bool>(), nanos()).prop_map(|(a, t)| Event::Wake(a, t))
        ];
        // Long runs of one kind, from which something can be learned.
        vec((event, 1..200_usize), 0..40)
            .prop_map(|runs| runs.into_iter().flat_map(|(event, times)| vec![event; times]).collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_spun_has_been_earned(events in events()) {
            let mut experience = Experience::NONE;
            let (mut spun, mut slept, mut saved) = (0_u64, 0_u64, 0_u64);
            for event in events {
                match event {
                    Event::Wait(answer) => {
                        let (time, answered) = wait(&mut experience, answer);
                        spun += u64::from(time);
                        // A wait does not change what a sleep costs.
                        *if answered { &mut saved } else { &mut slept } += u64::from(experience.sleep);
                    }
                    Event::Wake(asleep, time) => {
                        if experience.wakes(asleep) {
                            experience.measured(time);
                        }
                    }
                }
                prop_assert!(spun <= 80_000 + slept / 80 + saved);
            }
        }
    }

    /// A wait that is answered after `answer` nanoseconds, as [`until`] does it, with the latest possible last check.
    /// Returns how long it spun, and whether that was worth it.
    fn wait(experience: &mut Experience, answer: u32) -> (u32, bool) {
        let limit = experience.limit();
        let (spun, answered) =
            if answer <= limit { (answer, limit > 0) } else { (limit + ROUND.min(limit), false) };
        experience.waited(spun, answered);
        (spun, answered)
    }

    /// Two threads that take turns, on a machine where it takes `wake` nanoseconds to wake a thread, and `latency` until
    /// that one runs. In trip `n` the second works for `work(n)` before it answers.
    struct Pair {
        wake: u32,
        latency: u32,
        threads: [Experience; 2],
        asleep: [bool; 2],
        trip: u32,
    }

    const BARE_METAL: (u32, u32) = (1_500, 5_000);
    const VIRTUAL: (u32, u32) = (10_000, 35_000);
    /// A handover to a thread that is awake.
    const AT_ONCE: u32 = 300;

    impl Pair {
        fn on((wake, latency): (u32, u32)) -> Self {
            Self { wake, latency, threads: [Experience::NONE; 2], asleep: [false, true], trip: 0 }
        }

        /// Returns how often the two slept, and for how long they spun in vain.
        fn trips(&mut self, trips: u32, work: impl Fn(u32) -> u32) -> (u32, u32) {
            let (mut sleeps, mut in_vain) = (0, 0);
            for _ in 0..trips {
                for me in [0, 1] {
                    let other = 1 - me;
                    let asleep = self.asleep[other];
                    if self.threads[me].wakes(asleep) {
                        self.threads[me].measured(self.wake);
                    }
                    let waking = if asleep { self.latency - self.wake } else { 0 };
                    let working = if other == 1 { work(self.trip) } else { 0 };
                    let (spun, answered) = wait(&mut self.threads[me], waking + working + AT_ONCE);
                    self.asleep[me] = !answered;
                    if !answered {
                        sleeps += 1;
                        in_vain += spun;
                    }
                }
                self.trip += 1;
            }
            (sleeps, in_vain)
        }
    }

    const QUICK: fn(u32) -> u32 = |_| 0;

    #[test]
    fn a_thread_sleeps_in_its_first_waits() {
        let mut fresh = Experience::NONE;
        for _ in 0..16 {
            assert_eq!(wait(&mut fresh, 300), (0, false));
        }
    }

    #[test]
    fn two_who_answer_at_once_stay_awake_after_a_few_sleeps() {
        for machine in [BARE_METAL, VIRTUAL] {
            let mut pair = Pair::on(machine);
            let (sleeps, _) = pair.trips(40, QUICK);
            assert!(sleeps < 2 * 20, "{sleeps}");
            assert_eq!(pair.trips(10_000, QUICK), (0, 0));
        }
    }

    #[test]
    fn they_are_awake_again_after_one_was_slow() {
        for machine in [BARE_METAL, VIRTUAL] {
            let mut pair = Pair::on(machine);
            pair.trips(1_000, QUICK);
            // Before the first loss is made good.
            for _ in 0..3 {
                pair.trips(1, |_| 4_000_000);
                pair.trips(1, QUICK);
            }
            assert_eq!(pair.trips(100, QUICK), (0, 0));
        }
    }

    #[test]
    fn a_slow_partner_costs_next_to_nothing() {
        for machine in [BARE_METAL, VIRTUAL] {
            for work in [50_000, 500_000] {
                let mut pair = Pair::on(machine);
                pair.trips(1_000, move |_| work);
                let (sleeps, in_vain) = pair.trips(100_000, move |_| work);
                let slept = sleeps * 2 * machine.0;
                assert!(in_vain < slept / 75, "{in_vain} ns in {sleeps} sleeps");
            }
        }
    }

    #[test]
    fn a_slow_partner_who_becomes_quick_is_found_out() {
        for machine in [BARE_METAL, VIRTUAL] {
            let mut pair = Pair::on(machine);
            pair.trips(10_000, |_| 50_000);
            pair.trips(3_000, QUICK);
            assert_eq!(pair.trips(1_000, QUICK), (0, 0));
        }
    }

    #[test]
    fn a_partner_who_is_quick_nine_times_of_ten_is_worth_it() {
        for machine in [BARE_METAL, VIRTUAL] {
            let mut pair = Pair::on(machine);
            let work = |trip: u32| if trip.is_multiple_of(10) { 50_000 } else { 0 };
            pair.trips(10_000, work);
            let (sleeps, _) = pair.trips(10_000, work);
            assert!(sleeps < 2 * 10_000 / 4, "{sleeps}");
        }
    }

    #[test]
    fn the_cost_of_a_wake_is_learned_from_the_shortest() {
        let mut experience = Experience::NONE;
        for _ in 0..100 {
            experience.measured(8_000);
        }
        assert_eq!(experience.sleep, 16_000);
        experience.measured(4_000_000);
        assert!(experience.sleep <= 18_000);
        experience.measured(100);
        assert_eq!(experience.sleep, CHEAPEST_SLEEP);
    }

    #[test]
    fn blocking_waits_spin_and_futures_do_not() {
        let rich = Experience { credit: MOST_CREDIT, ..Experience::NONE };
        let word = AtomicI32::new(0);

        let interrupt = Interrupt::for_current_thread();
        interrupt.raise();
        EXPERIENCE.set(rich);
        assert_eq!(wait_interruptible(&word, 0, None, &interrupt), Err(Interrupted));
        assert!(EXPERIENCE.get().awake, "the first check ended the spin");

        EXPERIENCE.set(rich);
        let deadline = Instant::now() + Duration::from_millis(1);
        assert_eq!(wait_until(&word, 0, deadline), Outcome::TimedOut);
        assert!(Instant::now() >= deadline);

        EXPERIENCE.set(rich);
        let future = pin!(wait_async(&word, 0));
        assert!(future.poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(EXPERIENCE.get().credit, MOST_CREDIT);
    }

    #[test]
    fn an_end_ends_the_spin() {
        assert_eq!(spin(LONG, None, || true), (ROUND, true));
        let checks = Cell::new(0);
        let count = || checks.replace(checks.get() + 1);
        let passed = Instant::now();
        let (_, ended) = spin(u32::MAX, Some(passed), || count() == u32::MAX);
        assert_eq!(
            (ended, checks.get()),
            (false, SPIN_ROUNDS + 1),
            "the first check of the clock found the deadline passed"
        );
        // Once more if its 4 s are up before, on a slow machine.
        assert!((0..10).any(|_| spin(u32::MAX, None, || count() == 100).1));
    }
}
