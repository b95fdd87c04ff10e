//! Every signal arrives, with nothing that makes up for one that does not.
//!
//! Whatever signal a lock loses, the watchdog repairs it within some 20 ms, and the next release makes up for it even sooner. So a
//! test that runs for hours with the watchdog on sees none of it. Here the watchdog is off
//! ([`disable_stall_timeout`](waitword::disable_stall_timeout)), and a lock is used for a round: 2 to 16 threads and tasks, each of which
//! takes a few steps and leaves for good, so that behind the last signals of a round comes nothing that could cover up for them.
//! All waiters respond: a future is polled when it is woken, or dropped.
//!
//! A round that does not end has lost a signal. Each lock is a file; `party.rs` has the participants.

mod barrier;
#[path = "../common/mod.rs"]
mod common;
mod condvar;
mod event;
mod exclusive;
mod once;
mod party;
mod rwlock;
mod semaphore;
mod wait_group;

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use common::{block_on, from_environment, given_seed, some_seed};
use party::Party;

/// One lock, for one round.
trait Scene: Send + Sync + 'static {
    fn new(parties: usize, draw: &mut Party) -> Self
    where
        Self: Sized;

    /// All that a thread does.
    fn thread(&self, me: &mut Party);

    /// All that a task does.
    fn task<'a>(&'a self, me: &'a mut Party) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

    /// When all have left.
    fn check(&self);
}

const MOST: usize = 16;

/// Far more than a round takes on a machine that does other things besides, which may be an emulated one.
const STUCK: Duration = Duration::from_secs(120);

/// Rounds of every lock in each `cargo test`.
const ROUNDS: u64 = 400;

macro_rules! every_signal_arrives {
    ($($test:ident: $Scene:ty),* $(,)?) => {
        mod every_signal_arrives {
            use super::*;

            $(#[test]
            fn $test() {
                play::<$Scene>(given_seed().unwrap_or(1), &|round, _| round < ROUNDS);
            })*
        }

        #[test]
        #[ignore = "runs for a minute, or as long as WAITWORD_SOAK_SECONDS says"]
        fn every_signal_arrives_for_long() {
            let seconds = from_environment("WAITWORD_SOAK_SECONDS").unwrap_or(60);
            let seed = some_seed();
            let locks = [$(stringify!($test)),*].len() as u32;
            let each = Duration::from_secs(seconds) / locks;
            $({
                let rounds = play::<$Scene>(seed, &|_, elapsed| elapsed < each);
                println!("{}: seed {seed}, {rounds} rounds", stringify!($test));
            })*
        }
    };
}

every_signal_arrives! {
    mutex: exclusive::OneMutex,
    async_lock: exclusive::OneAsyncLock,
    rwlock: rwlock::OneRwLock,
    semaphore: semaphore::OneSemaphore,
    closed_semaphore: semaphore::ClosedSemaphore,
    condvar_one: condvar::Queue,
    condvar_all: condvar::Meeting,
    event_one: event::Baton,
    event_all: event::Meeting,
    once_lock: once::OneOnceLock,
    barrier: barrier::OneBarrier,
    wait_group: wait_group::OneWaitGroup,
}

/// Rounds while `goes_on`. Returns how many there were.
fn play<S: Scene>(seed: u64, goes_on: &dyn Fn(u64, Duration) -> bool) -> u64 {
    waitword::disable_stall_timeout();
    let (start, crew) = (Instant::now(), Crew::start());
    let mut round = 0;
    while goes_on(round, start.elapsed()) {
        let mut draw = Party::new(seed, round, MOST);
        let parties = 2 + draw.below(MOST - 1);
        let scene = Arc::new(S::new(parties, &mut draw));
        let left = Arc::new(Left::default());
        for index in 0..parties {
            let party = Party::new(seed, round, index);
            crew.send(draw.below(4), index, &scene, Leaving(party, Arc::clone(&left)));
        }
        let missing = left.wait_for(parties);
        assert!(
            missing == 0,
            "{missing} of {parties} are still there: a signal is lost. Seed {seed}, round {round}"
        );
        scene.check();
        round += 1;
    }
    round
}

/// How many have left.
#[derive(Default)]
struct Left(Mutex<(usize, bool)>, Condvar);

impl Left {
    /// Returns how many are missing when no more time is left.
    fn wait_for(&self, parties: usize) -> usize {
        let left = self.0.lock().unwrap();
        let (left, _) =
            self.1.wait_timeout_while(left, STUCK, |(left, failed)| *left < parties && !*failed).unwrap();
        assert!(!left.1, "a participant has failed");
        parties - left.0
    }
}

/// A participant, counted when it is gone.
struct Leaving(Party, Arc<Left>);

impl Drop for Leaving {
    fn drop(&mut self) {
        let mut left = self.1.0.lock().unwrap();
        left.0 += 1;
        left.1 |= thread::panicking();
        self.1.1.notify_one();
    }
}

/// Threads for all rounds, and executors. They are never taken down: where a participant is stuck, the report must not wait for it.
struct Crew {
    threads: Vec<mpsc::Sender<Box<dyn FnOnce() + Send>>>,
    tokio: &'static tokio::runtime::Runtime,
}

impl Crew {
    fn start() -> Self {
        let start = |_| {
            let (send, receive) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
            thread::spawn(move || receive.iter().for_each(|job| job()));
            send
        };
        let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(3).build().unwrap();
        Self { threads: (0..MOST).map(start).collect(), tokio: Box::leak(Box::new(tokio)) }
    }

    fn send<S: Scene>(&self, kind: usize, index: usize, scene: &Arc<S>, mut me: Leaving) {
        let scene = Arc::clone(scene);
        let thread = &self.threads[index];
        match kind {
            0 => thread.send(Box::new(move || scene.thread(&mut me.0))).unwrap(),
            1 => thread.send(Box::new(move || block_on(scene.task(&mut me.0)))).unwrap(),
            2 => drop(self.tokio.spawn(async move { scene.task(&mut me.0).await })),
            _ => smol::spawn(async move { scene.task(&mut me.0).await }).detach(),
        }
    }
}
