//! Rounds of players, one after the other.
#![allow(dead_code, reason = "each test that plays uses another part")]

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use tokio::runtime::{Builder, Runtime};

use super::player::{KINDS, Kind, Player, Seat};
use super::{LOCKS, World};
use crate::common::{block_on, from_environment, some_seed};

/// Of each player of a soak. Few enough that rounds end often: a wakeup that was lost is seen when no later one makes up
/// for it.
const STEPS: usize = 200;

/// The most players that use one lock.
const MOST: usize = 16;

/// Far more than the longest step takes on a machine that does other things besides, which may be an emulated one.
const STUCK: Duration = Duration::from_secs(120);

/// What the environment says: for how long, and what the choices follow from.
pub(crate) fn seconds_and_seed() -> (Duration, u64) {
    let seconds = from_environment("WAITWORD_SOAK_SECONDS").unwrap_or(60);
    (Duration::from_secs(seconds), some_seed())
}

/// Rounds with all locks, for at least so long, or one. Calls `after_each`.
pub(crate) fn soak(seed: u64, time: Option<Duration>, after_each: &mut dyn FnMut()) {
    println!("the seed is {seed}");
    let played = play((None, STEPS), seed, &mut |played| {
        after_each();
        time.is_some_and(|time| played.time < time)
    });
    println!("{} rounds, {} steps in {:.1} s", played.rounds, played.steps, played.time.as_secs_f64());
}

#[derive(Default)]
pub(crate) struct Played {
    pub(crate) rounds: u64,
    pub(crate) steps: u64,
    pub(crate) time: Duration,
}

/// Rounds while one more is asked for: of so many steps with all locks, or of so many at most with one of them, by
/// players that poll their futures when they are woken.
pub(crate) fn play(
    (lock, steps): (Option<&'static str>, usize),
    seed: u64,
    one_more: &mut dyn FnMut(&Played) -> bool,
) -> Played {
    // Never taken down: where a player is stuck, the report must not wait for it.
    let tokio = Builder::new_multi_thread().worker_threads(3).build();
    let tokio = Box::leak(Box::new(tokio.expect("tokio starts")));
    let (start, mut played) = (Instant::now(), Played::default());
    loop {
        played.steps += Round::start(tokio, lock, steps, seed, played.rounds).end();
        played.rounds += 1;
        played.time = start.elapsed();
        if !one_more(&played) {
            return played;
        }
    }
}

/// One set of locks, and its players.
struct Round {
    world: Arc<World>,
    seats: Vec<Arc<Seat>>,
    partner: Arc<Seat>,
    seed: u64,
    number: u64,
    steps: usize,
}

impl Round {
    fn start(tokio: &Runtime, lock: Option<&'static str>, most: usize, seed: u64, number: u64) -> Self {
        let responds = lock.is_some();
        let player = |index, kind| {
            let seat = Arc::new(Seat::new(format!("{kind:?} {index}")));
            (Player::new((seed, number), index, kind, responds, &seat), seat)
        };
        let (mut partner, partners_seat) = player(MOST, Kind::Thread);
        let kinds: Vec<Kind> = match lock {
            None => KINDS.repeat(3),
            Some(_) => (0..2 + partner.below(MOST - 1)).map(|_| KINDS[partner.below(4)]).collect(),
        };
        let locks = lock.as_ref().map_or(LOCKS, std::slice::from_ref);
        let world = Arc::new(World::new(locks, number, kinds.len(), &mut partner));
        // A new thread does not know yet whether spinning pays. One of the pool begins sooner, when there are few steps to meet others.
        let are_new = lock.is_none();
        let start = |run: Box<dyn FnOnce() + Send>| match are_new {
            true => drop(thread::spawn(run)),
            false => drop(tokio.spawn_blocking(run)),
        };
        let (mut seats, mut steps) = (Vec::new(), 0);
        for (index, kind) in kinds.into_iter().enumerate() {
            let (mut player, seat) = player(index, kind);
            let many = if responds { 1 + player.below(most) } else { most };
            let all = take_steps(Arc::clone(&world), player, many);
            match kind {
                Kind::Thread => start(Box::new(|| all.now_or_never().expect("a thread suspends nowhere"))),
                Kind::HandPolled => start(Box::new(|| block_on(all))),
                Kind::Tokio => drop(tokio.spawn(all)),
                Kind::Smol => smol::spawn(all).detach(),
            }
            seats.push(seat);
            steps += many;
        }
        start(Box::new({
            let (world, seats) = (Arc::clone(&world), seats.clone());
            move || help(&world, &seats, partner)
        }));
        Self { world, seats, partner: partners_seat, seed, number, steps }
    }

    /// Watches until all have taken their steps, and then checks what is left.
    fn end(self) -> u64 {
        let all = || self.seats.iter().chain([&self.partner]);
        let mut seen: Vec<(u64, Instant)> = all().map(|seat| (seat.steps(), Instant::now())).collect();
        while !all().all(|seat| seat.has_left()) {
            // Who leaves unparks this thread. Only how often it checks depends on the time.
            thread::park_timeout(Duration::from_millis(1));
            for (seat, (steps, since)) in all().zip(&mut seen) {
                let now = seat.steps();
                if *steps != now || seat.has_left() {
                    (*steps, *since) = (now, Instant::now());
                }
                assert!(!seat.has_failed(), "failed: {seat}{}", self.report());
                assert!(since.elapsed() < STUCK, "stuck: {seat}{}", self.report());
            }
        }
        let steps = self.seats.iter().map(|seat| seat.steps()).sum();
        assert_eq!(steps, self.steps as u64, "a player has failed{}", self.report());
        self.world.check();
        steps
    }

    fn report(&self) -> String {
        let seats = self.seats.iter().chain([&self.partner]).filter(|seat| !seat.has_left());
        let seats: String = seats.map(|seat| format!("\n  {seat}")).collect();
        let (seed, number) = (self.seed, self.number);
        format!(
            "\nseed {seed}, round {number}; not at the end are{seats}\nqueued are {:?}",
            self.world.queues()
        )
    }
}

async fn take_steps(world: Arc<World>, mut player: Player, many: usize) {
    for _ in 0..many {
        world.step(&mut player).await;
        player.ends();
        // Also where nothing has to be waited for, others have to run.
        if !player.is_thread() {
            smol::future::yield_now().await;
        }
    }
}

fn help(world: &World, seats: &[Arc<Seat>], mut partner: Player) {
    partner.begins("what is missing");
    while !seats.iter().all(|seat| seat.has_left()) {
        world.help(&mut partner);
        partner.ends();
        // Others are to meet one another more often than the partner.
        thread::sleep(Duration::from_micros(200));
    }
}
