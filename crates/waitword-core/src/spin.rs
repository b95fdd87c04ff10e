//! Spinning for an outcome that comes soon: by a thread before it sleeps, and by a task in its poll before it enqueues.
//!
//! # A thread
//! To be woken across CPUs takes up to 5 µs on bare metal and up to 35 µs in a virtual machine. So a blocking wait may first spin: its node
//! is queued already, and the thread reads the node's state, which nobody writes before the outcome. The notifier finds it awake and makes
//! no system call. Each thread learns for itself whether to spin, and for how long.
//!
//! ```text
//!   credit ◄── a sleep:          an eightieth of what it costs     (the first few: more, 80 µs in a thread's life)
//!          ◄── a spin answered:  what the sleep would have cost
//!          ──► any spin:         the time it took
//! ```
//!
//! ## What it can cost
//! A spin ends when the credit does. So the time that a thread has spun is never more than
//!
//! ```text
//!   80 µs  +  1/80 of what its sleeps cost  +  what the sleeps that it avoided would have cost
//! ```
//! The last term is no loss: that time would have been spent anyway. The middle one is what spinning costs in the long
//! run, whatever the partner does. The first one is earned by a thread's first sleeps: after some 17 of them it can afford to spin; a
//! thread that waits once or twice never does.
//!
//! The threads that wake a thread measure what its sleeps cost. (These may be workers that never sleep in a wait themselves.)
//!
//! ```text
//!   cost of a sleep = 2 × (time of the wake)      to fall asleep and to be scheduled again costs as much as the wake
//!                     changed by at most 1/8 in one measurement, and between 2 µs and 20 µs
//! ```
//! - **1/8**, because a notifier may lose its CPU to the thread that it wakes, or find a thread that is not quite asleep. (If it always
//!   loses its CPU, each handover takes that long, and 1/80 more.)
//! - **2 µs** is the cost on bare metal. Such a sleep earns 25 ns, which is 1/40 of the cheapest handover that we know of (1.1 µs, on one
//!   CPU).
//! - **20 µs** is the cost in a virtual machine.
//!
//! ## When it spins
//! | the thread that we woke last, or that answered last | how long |
//! |----------------------------------------------------|----------|
//! | was **awake**: it spun too, or had not slept yet   | for the cost of a sleep: a failed spin at most doubles the cost |
//! | **slept**: before it can answer it has to wake up  | 50 µs, if the credit suffices; otherwise not at all |
//!
//! Two threads that take turns have to be awake at the same time, or each finds the other asleep. The long spin achieves that: it outlasts
//! the partner's wake-up, and the partner then finds us awake and spins in its turn. From then on both earn more than they spend, and the
//! credit (at most 200 µs) bridges the times when one of them loses its CPU.
//!
//! - **A partner that works for long:** spins fail until the credit is gone; then one long spin in 2,000 waits (in a virtual machine, in
//!   200) finds out whether the partner has become quick.
//! - **One CPU,** or two threads pinned to one: the same. The number of CPUs is not queried. The system only tells on how many CPUs this
//!   thread may run. That is one if each thread is pinned to a CPU of its own, and such threads gain the most from spinning.
//! - **More threads than CPUs:** the thread that is waited for may not be running. The spins fail, and the credit is used up.
//! - **Sometimes quick, sometimes slow:** spinning is worth it as long as what the quick answers save pays for the failures.
//!
//! There is no `yield_now` in between. It is a system call, during which the thread does not check for the outcome. And if another thread
//! wants the CPU, it is better to sleep.
//!
//! # A task
//! A task whose partner runs on another CPU is answered within a microsecond; a wake through a waker, a run queue and often a sleeping
//! worker takes 50 µs. But a poll that spins in vain keeps its worker from other tasks, and on one CPU the partner from running. So a poll
//! spins for a microsecond at most, and each thread counts the waits of the tasks that it polls:
//!
//! | what happened last                                                       | the next spin                             |
//! |---------------------------------------------------------------------------|-------------------------------------------|
//! | a spin was answered                                                        | at the next wait                          |
//! | this thread has woken another that was awake, and that may answer at once | at the next wait, unless too many were in vain |
//! | a spin was in vain                                                         | at the next wait; if too many were, after 1,000 waits |
//! | others were queued already                                                 | after 100 waits                           |
//!
//! "Too many" bounds what is lost, with [`MOST_IN_VAIN`] = 8:
//!
//! ```text
//!   spins in vain  ≤  8  +  2 × (spins that were answered)  +  waits / 1,000
//! ```

use crate::time::{Duration, Instant};
use std::cell::Cell;
use std::hint::spin_loop;
// Not those of a model, which has no time.
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use crate::sync::MODEL;

/// Spins until `ended` returns true, for no longer than has paid on this thread, whose sleeps cost `cost`, and until `deadline` at the
/// latest.
///
/// `ended` neither notifies nor waits.
pub(crate) fn until(cost: &SleepCost, deadline: Option<Instant>, ended: impl Fn() -> bool) {
    // A model has no time, and spins would multiply its interleavings.
    if MODEL {
        return;
    }
    let (mut experience, sleep) = (EXPERIENCE.get(), cost.get());
    let limit = experience.limit(sleep);
    let (spun, answered) = if limit > 0 { spin(limit, deadline, ended) } else { (0, false) };
    experience.waited(sleep, spun, answered);
    EXPERIENCE.set(experience);
}

/// Wakes another thread. Learns whether that was asleep and, in one wake of [`TIMED`], what its sleeps cost.
pub(crate) fn wake(cost: &SleepCost, asleep: bool, unpark: impl FnOnce()) {
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
        cost.measured(nanos(start.elapsed()));
    } else {
        unpark();
    }
    EXPERIENCE.set(experience);
}

/// Returns how long it took, in nanoseconds, and whether `ended` was true.
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

/// The number of checks of the state before the clock is read. The pauses between them double.
const SPIN_ROUNDS: u32 = 5;
/// In nanoseconds: no less than these rounds take, and no less than the time between two reads of the clock. These are 31 pauses of 40 ns
/// (or 140 cycles) each.
const ROUND: u32 = 1_500;
/// In nanoseconds: no less than a sleeping thread takes to wake up and answer.
const LONG: u32 = 50_000;
/// In nanoseconds: four long spins.
const MOST_CREDIT: u32 = 200_000;
/// In nanoseconds: what a sleep and a wake cost, at least and at most.
const CHEAPEST_SLEEP: u32 = 2_000;
const DEAREST_SLEEP: u32 = 20_000;
/// A sleep earns its cost divided by this.
const INCOME: u32 = 80;
/// In nanoseconds: what the first sleep of a thread earns beyond that. Each later sleep earns 1/8 less, which sums up to 80 µs.
const FIRST_BONUS: u32 = 10_000;
/// One wake in this many is timed: reading the clock twice costs up to 100 ns.
const TIMED: u8 = 8;

thread_local! {
    static EXPERIENCE: Cell<Experience> = const { Cell::new(Experience::NONE) };
}

/// What it costs a thread to sleep and be woken, in nanoseconds, as measured by those that wake it.
#[derive(Debug)]
pub(crate) struct SleepCost(AtomicU32);

impl SleepCost {
    pub(crate) const fn unknown() -> Self {
        Self(AtomicU32::new(CHEAPEST_SLEEP))
    }

    fn get(&self) -> u32 {
        self.0.load(Relaxed)
    }

    /// Waking the thread, which slept, took this long.
    fn measured(&self, wake: u32) {
        let sleep = self.get();
        let measured = wake.saturating_mul(2).clamp(sleep - sleep / 8, sleep + sleep / 8);
        self.0.store(measured.clamp(CHEAPEST_SLEEP, DEAREST_SLEEP), Relaxed);
    }
}

/// What a thread has learned; times in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Experience {
    /// For how long it may spin.
    credit: u32,
    /// What the next sleep earns, beyond its [`INCOME`].
    bonus: u32,
    /// Whether the thread that is going to answer is probably awake.
    awake: bool,
    /// How often it has woken a sleeping thread, modulo [`TIMED`].
    wakes: u8,
}

impl Experience {
    const NONE: Self = Self { credit: 0, bonus: FIRST_BONUS, awake: false, wakes: 0 };

    /// How long to spin in the wait that begins. The credit covers what is granted, including the last round.
    fn limit(&self, sleep: u32) -> u32 {
        let (limit, reserve) = if self.awake { (sleep, 0) } else { (LONG, DEAREST_SLEEP) };
        // After a long spin that was answered there must be something left for the next, short one.
        if self.credit >= limit + reserve + ROUND { limit } else { 0 }
    }

    /// A wait has spun for this long, and was answered meanwhile or goes to sleep now.
    fn waited(&mut self, sleep: u32, spun: u32, answered: bool) {
        // A thread that was preempted while it spun did not use that time.
        let paid = spun.min(self.limit(sleep) + ROUND);
        let earned = if answered { sleep } else { sleep / INCOME + self.bonus };
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
}

/// For how long a poll spins.
const LIMIT: Duration = Duration::from_micros(1);

/// After how many waits a task spins again: when too many spins were in vain, and when it found that others were queued.
const AFTER_VAIN: u32 = 1_000;
const AFTER_OTHERS: u32 = 100;

/// This many spins in vain are too many.
const MOST_IN_VAIN: u32 = 8;

thread_local! {
    /// How many waits of the tasks that this thread polls come before the next one that spins.
    static WAITS_LEFT: Cell<u32> = const { Cell::new(AFTER_VAIN) };
    /// How many spins were in vain; an answered one makes up for two.
    static IN_VAIN: Cell<u32> = const { Cell::new(MOST_IN_VAIN - 1) };
}

/// Spins for up to 1 µs in the poll of a task that would otherwise have to wait, if such spins have saved time on this thread lately.
/// Returns whether the wait is over. For building locks.
///
/// `check` returns `Some(true)` if the wait is over, `Some(false)` if it is not, and `None` if it is not worth spinning for, because others
/// are queued already. It must not notify or wait.
#[inline]
pub fn spin_in_poll(check: impl FnMut() -> Option<bool>) -> bool {
    is_spin_due() && spin_and_learn(check)
}

/// Counts the wait of a task. Returns whether [`spin_and_learn`] is to be called.
#[inline(always)]
pub(crate) fn is_spin_due() -> bool {
    // A model has no time: it would only check once more.
    if MODEL {
        return false;
    }
    let left = WAITS_LEFT.get();
    if left > 0 {
        WAITS_LEFT.set(left - 1);
    }
    left == 0
}

/// This thread has woken another that was awake, and that may answer at once.
fn expect_answer() {
    if IN_VAIN.get() < MOST_IN_VAIN {
        WAITS_LEFT.set(0);
    }
}

/// As [`spin_in_poll`], when a spin is due.
#[cold]
pub(crate) fn spin_and_learn(check: impl FnMut() -> Option<bool>) -> bool {
    let answered = spin_once(check);
    match answered {
        Some(true) => IN_VAIN.set(IN_VAIN.get().saturating_sub(2)),
        Some(false) => IN_VAIN.set((IN_VAIN.get() + 1).min(MOST_IN_VAIN)),
        None => {}
    }
    WAITS_LEFT.set(match answered {
        None => AFTER_OTHERS,
        Some(false) if IN_VAIN.get() == MOST_IN_VAIN => AFTER_VAIN,
        Some(_) => 0,
    });
    answered == Some(true)
}

/// Whether the wait is over. `None`: others are queued, so the spin was broken off.
fn spin_once(mut check: impl FnMut() -> Option<bool>) -> Option<bool> {
    if check()? {
        return Some(true);
    }
    let start = Instant::now();
    let mut pauses = 1;
    loop {
        // Each check takes the cache line away from the partner that is about to write.
        pause(pauses);
        pauses = (2 * pauses).min(4);
        if check()? {
            return Some(true);
        }
        if start.elapsed() >= LIMIT {
            return Some(false);
        }
    }
}

#[cfg(test)]
pub(crate) fn waits_left() -> u32 {
    WAITS_LEFT.get()
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
        /// Wakes a thread, asleep or not; that takes this many nanoseconds, as does the next wake of the thread itself.
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
            let (mut experience, cost) = (Experience::NONE, SleepCost::unknown());
            let (mut spun, mut slept, mut saved) = (0_u64, 0_u64, 0_u64);
            for event in events {
                match event {
                    Event::Wait(answer) => {
                        let (time, answered) = wait(&mut experience, &cost, answer);
                        spun += u64::from(time);
                        *if answered { &mut saved } else { &mut slept } += u64::from(cost.get());
                    }
                    Event::Wake(asleep, time) => {
                        if experience.wakes(asleep) {
                            cost.measured(time);
                        }
                    }
                }
                prop_assert!(spun <= 80_000 + slept / 80 + saved);
            }
        }
    }

    /// A wait that is answered after `answer` nanoseconds, as [`until`] does it, with the latest possible last check.
    /// Returns how long it spun, and whether that was worth it.
    fn wait(experience: &mut Experience, cost: &SleepCost, answer: u32) -> (u32, bool) {
        let limit = experience.limit(cost.get());
        let (spun, answered) =
            if answer <= limit { (answer, limit > 0) } else { (limit + ROUND.min(limit), false) };
        experience.waited(cost.get(), spun, answered);
        (spun, answered)
    }

    /// Two threads that take turns, on a machine where it takes `wake` nanoseconds to wake a thread, and `latency` until
    /// that one runs. In trip `n` the second works for `work(n)` before it answers.
    struct Pair {
        wake: u32,
        latency: u32,
        threads: [Experience; 2],
        costs: [SleepCost; 2],
        asleep: [bool; 2],
        trip: u32,
    }

    const BARE_METAL: (u32, u32) = (1_500, 5_000);
    const VIRTUAL: (u32, u32) = (10_000, 35_000);
    /// A handover to a thread that is awake.
    const AT_ONCE: u32 = 300;

    impl Pair {
        fn on((wake, latency): (u32, u32)) -> Self {
            let costs = [const { SleepCost::unknown() }; 2];
            Self { wake, latency, threads: [Experience::NONE; 2], costs, asleep: [false, true], trip: 0 }
        }

        /// Returns how often the two slept, and for how long they spun in vain.
        fn trips(&mut self, trips: u32, work: impl Fn(u32) -> u32) -> (u32, u32) {
            let (mut sleeps, mut in_vain) = (0, 0);
            for _ in 0..trips {
                for me in [0, 1] {
                    let other = 1 - me;
                    let asleep = self.asleep[other];
                    if self.threads[me].wakes(asleep) {
                        self.costs[other].measured(self.wake);
                    }
                    let waking = if asleep { self.latency - self.wake } else { 0 };
                    let working = if other == 1 { work(self.trip) } else { 0 };
                    let (spun, answered) =
                        wait(&mut self.threads[me], &self.costs[me], waking + working + AT_ONCE);
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
            assert_eq!(wait(&mut fresh, &SleepCost::unknown(), 300), (0, false));
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
    fn one_odd_wake_changes_the_cost_of_a_sleep_by_an_eighth() {
        let cost = SleepCost::unknown();
        let measure = |times: u32, wake| (0..times).for_each(|_| cost.measured(wake));
        measure(100, 8_000);
        assert_eq!(cost.get(), 16_000);
        measure(1, 4_000_000);
        assert_eq!(cost.get(), 18_000);
        measure(2, 100);
        assert_eq!(cost.get(), 13_782);
        measure(100, 100);
        assert_eq!(cost.get(), CHEAPEST_SLEEP);
        measure(100, u32::MAX);
        assert_eq!(cost.get(), DEAREST_SLEEP);
    }

    #[test]
    fn one_wake_in_eight_of_a_sleeping_thread_is_measured() {
        let cost = SleepCost::unknown();
        let long = || std::thread::sleep(Duration::from_nanos(DEAREST_SLEEP.into()));
        for _ in 0..2 * TIMED {
            wake(&cost, false, long);
        }
        assert_eq!(cost.get(), CHEAPEST_SLEEP, "they were awake");
        for _ in 0..TIMED {
            wake(&cost, true, long);
        }
        assert_eq!(cost.get(), CHEAPEST_SLEEP + CHEAPEST_SLEEP / 8);
    }

    /// As one whose partner is a task: it wakes no thread, and the worker that wakes it never sleeps in a wait of its own.
    #[test]
    fn a_thread_that_wakes_none_learns_from_those_that_wake_it() {
        let (mut worker, mut thread, cost) = (Experience::NONE, Experience::NONE, SleepCost::unknown());
        let mut trips_before = |partner_answers_after: u32| {
            (0..1_000).find(|_| {
                let (_, answered) = wait(&mut thread, &cost, partner_answers_after);
                if worker.wakes(!answered) {
                    cost.measured(VIRTUAL.0);
                }
                answered
            })
        };
        assert!(trips_before(VIRTUAL.1).is_some());
        assert!(
            trips_before(VIRTUAL.1).is_some_and(|sleeps| sleeps < 300),
            "its first credit was not the only one"
        );
        assert_eq!(cost.get(), DEAREST_SLEEP);
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

    /// How many of `waits` waits of tasks spin. A wait is over at once if `is_over`, otherwise never.
    fn spins(waits: u32, is_over: bool) -> u32 {
        let spins = Cell::new(0);
        for _ in 0..waits {
            let is_first = Cell::new(true);
            spin_in_poll(|| {
                spins.set(spins.get() + u32::from(is_first.take()));
                Some(is_over)
            });
        }
        spins.get()
    }

    #[test]
    fn a_task_spins_in_vain_once_in_a_thousand_waits() {
        let learns = || assert_eq!(spins(100_100, false), 100);
        std::thread::spawn(learns).join().unwrap();
    }

    #[test]
    fn a_task_that_was_answered_spins_again() {
        let learns = || {
            spins(10_010, false);
            assert!(spins(1_001, true) >= 1);
            assert_eq!(spins(100, true), 100);
        };
        std::thread::spawn(learns).join().unwrap();
    }

    /// However often this thread wakes others that are awake.
    #[test]
    fn answers_pay_for_spins_in_vain_up_to_a_limit() {
        let vain = |waits: u32| {
            (0..waits).fold(0, |spun, _| {
                expect_answer();
                spun + spins(1, false)
            })
        };
        let learns = move || {
            assert_eq!(vain(500), 1, "a new thread finds out");
            WAITS_LEFT.set(0);
            assert_eq!(spins(1_000, true), 1_000);
            assert_eq!(vain(500), MOST_IN_VAIN);
            WAITS_LEFT.set(0);
            assert_eq!(spins(1, true), 1);
            assert_eq!(vain(500), 2, "an answer pays for two");
            WAITS_LEFT.set(0);
            assert_eq!(spins(1_000, true), 1_000);
            assert_eq!(spins(500, false), MOST_IN_VAIN, "without wakes, too");
        };
        std::thread::spawn(learns).join().unwrap();
    }

    #[test]
    fn behind_others_one_wait_of_100_looks_and_none_spins() {
        let learns = || {
            let checks = Cell::new(0);
            for _ in 0..10_000 {
                assert!(!spin_in_poll(|| {
                    checks.set(checks.get() + 1);
                    None
                }));
            }
            assert!((80..=100).contains(&checks.get()), "{}", checks.get());
        };
        std::thread::spawn(learns).join().unwrap();
    }
}
