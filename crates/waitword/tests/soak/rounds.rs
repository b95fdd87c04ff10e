//! Rounds of players, one after the other: see `main.rs`.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{block_on, from_environment, some_seed};
use crate::player::{Player, Seat};
use crate::world::{PARTNER, World};

/// Few enough that rounds end often: a wakeup that was lost is seen when no later one makes up for it.
const STEPS: usize = 200;

/// Far more than the longest step takes on a machine that does other things besides.
const STUCK: Duration = Duration::from_secs(60);

/// What the environment says: for how long, and what the choices follow from.
pub(crate) fn seconds_and_seed() -> (Duration, u64) {
    let seconds = from_environment("WAITWORD_SOAK_SECONDS").unwrap_or(60);
    (Duration::from_secs(seconds), some_seed())
}

/// Rounds for at least so long, or one. Calls `after_each`.
pub(crate) fn soak(cast: Cast, seed: u64, time: Option<Duration>, after_each: &mut dyn FnMut()) {
    println!("the seed is {seed}");
    // Never taken down: where a player is stuck, the report must not wait for it.
    let tokio = (cast == Cast::Everybody).then(|| {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(3).build();
        &*Box::leak(Box::new(runtime.expect("tokio starts")))
    });
    let start = Instant::now();
    let (mut steps, mut round) = (0, 0);
    loop {
        steps += Round::start(tokio, seed, round).end();
        round += 1;
        after_each();
        let elapsed = start.elapsed();
        let mut terminal = std::io::stderr();
        if let Some(time) = time.filter(|_| terminal.is_terminal()) {
            let (done, all) = (elapsed.as_secs(), time.as_secs());
            let _ = write!(terminal, "\r{done} of {all} s, {round} rounds, {steps} steps ");
        }
        if time.is_none_or(|time| time <= elapsed) {
            return println!("{round} rounds, {steps} steps in {:.1} s", elapsed.as_secs_f64());
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cast {
    ThreadsAlone,
    Everybody,
}

/// One set of locks, and its players.
struct Round {
    world: Arc<World>,
    seats: Vec<Arc<Seat>>,
    partner: Arc<Seat>,
    seed: u64,
    number: u64,
}

impl Round {
    fn start(tokio: Option<&tokio::runtime::Runtime>, seed: u64, number: u64) -> Self {
        let kinds: &[(&str, usize)] = match tokio {
            None => &[("thread", 4), ("hand-polled", 3)],
            Some(_) => &[("thread", 3), ("hand-polled", 2), ("tokio", 4), ("smol", 3)],
        };
        let names =
            kinds.iter().flat_map(|&(kind, count)| (0..count).map(move |n| (kind, format!("{kind} {n}"))));
        let (kinds, seats): (Vec<_>, Vec<_>) =
            names.map(|(kind, name)| (kind, Arc::new(Seat::new(name)))).unzip();
        let world = Arc::new(World::new(number, seats.len()));
        for (index, (kind, seat)) in kinds.iter().zip(&seats).enumerate() {
            let (world, player) = (Arc::clone(&world), Player::new(seed, number, index, Arc::clone(seat)));
            match (*kind, tokio) {
                ("thread", _) => drop(thread::spawn(move || as_thread(&world, player))),
                ("tokio", Some(tokio)) => drop(tokio.spawn(as_task(world, player))),
                ("smol", _) => smol::spawn(as_task(world, player)).detach(),
                _ => drop(thread::spawn(move || block_on(as_task(world, player)))),
            }
        }
        let partner = Arc::new(Seat::new("the partner".into()));
        let player = Player::new(seed, number, seats.len(), Arc::clone(&partner));
        thread::spawn({
            let (world, seats) = (Arc::clone(&world), seats.clone());
            move || as_partner(&world, &seats, player)
        });
        Self { world, seats, partner, seed, number }
    }

    /// Watches until all have taken their steps, and then checks what is left.
    fn end(self) -> u64 {
        let all = || self.seats.iter().chain([&self.partner]);
        let mut seen: Vec<(u64, Instant)> = all().map(|seat| (seat.steps(), Instant::now())).collect();
        while !all().all(|seat| seat.has_left()) {
            // Only how often it checks depends on this.
            thread::sleep(Duration::from_millis(1));
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
        assert_eq!(steps, (self.seats.len() * STEPS) as u64, "a player has failed{}", self.report());
        self.world.check();
        steps
    }

    fn report(&self) -> String {
        let seats = self.seats.iter().chain([&self.partner]).filter(|seat| !seat.has_left());
        let seats: String = seats.map(|seat| format!("\n  {seat}")).collect();
        let (seed, number) = (self.seed, self.number);
        format!(
            "\nseed {seed}, round {number}; not at the end are{seats}\nin line are {:?}",
            self.world.queued()
        )
    }
}

fn as_thread(world: &World, mut player: Player) {
    for _ in 0..STEPS {
        world.step(&mut player);
        player.ends();
    }
}

async fn as_task(world: Arc<World>, mut player: Player) {
    for _ in 0..STEPS {
        world.step_async(&mut player).await;
        player.ends();
        // Also where nothing has to be waited for, others have to run.
        smol::future::yield_now().await;
    }
}

fn as_partner(world: &World, seats: &[Arc<Seat>], mut player: Player) {
    player.begins(PARTNER);
    while !seats.iter().all(|seat| seat.has_left()) {
        world.help(&mut player);
        player.ends();
        // Others are to meet one another more often than the partner.
        thread::sleep(Duration::from_micros(200));
    }
}
