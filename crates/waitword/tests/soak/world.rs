//! The locks that players play with, and what all of them have in common.
//!
//! Some players wait for what only others do: an item, a notify, the last to arrive. So each lock has a *partner*
//! ([`Lock::help`]), who does what is missing, and nothing where it is there already: a wakeup that was lost stays lost, and its
//! waiter is found stuck.

#![allow(
    clippy::unit_arg,
    reason = "what the forms of a wait give is handed on alike, also where it is nothing"
)]

mod condvar;
mod event;
mod exclusive;
mod once;
mod parties;
pub(crate) mod player;
pub(crate) mod rounds;
mod rwlock;
mod semaphore;

use std::future::Future;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use waitword::word::Table;

use player::Player;

/// One lock for one round, with all that shows whether it does its work.
trait Lock: Send + Sync + 'static {
    fn new(players: usize, draw: &mut Player) -> Self
    where
        Self: Sized;

    /// Whatever a player does with the lock at a time.
    fn step(&self, player: &mut Player) -> impl Future<Output = ()> + Send
    where
        Self: Sized;

    /// Does what a player may be waiting for and no other does.
    fn help(&self, _player: &mut Player) {}

    /// Once all players have left.
    fn check(&self);

    /// How many are queued.
    fn queued(&self) -> usize;
}

/// A [`Lock`] of any type.
trait AnyLock: Lock {
    fn any_step<'a>(&'a self, player: &'a mut Player) -> BoxFuture<'a, ()>;
}

impl<L: Lock> AnyLock for L {
    fn any_step<'a>(&'a self, player: &'a mut Player) -> BoxFuture<'a, ()> {
        self.step(player).boxed()
    }
}

macro_rules! locks {
    (($dollar:tt) $($name:ident: $Lock:ty,)+) => {
        /// The names of all.
        pub(crate) const LOCKS: &[&str] = &[$(stringify!($name)),+];

        fn lock(name: &str, players: usize, draw: &mut Player) -> Box<dyn AnyLock> {
            match name {
                $(stringify!($name) => Box::new(<$Lock>::new(players, draw)),)+
                _ => panic!("no lock is called {name}"),
            }
        }

        /// A test of each lock, which calls `$play` with its name.
        #[allow(unused_macros, reason = "not where all locks are played at once")]
        macro_rules! each_lock {
            ($dollar play:ident) => {
                mod $dollar play {
                    $(#[test]
                    fn $name() {
                        super::$dollar play(stringify!($name));
                    })+
                }
            };
        }
    };
}

locks! { ($)
    mutex: exclusive::OneMutex,
    async_lock: exclusive::OneAsyncLock,
    rwlock: rwlock::OneRwLock,
    semaphore: semaphore::OneSemaphore<false>,
    closed_semaphore: semaphore::OneSemaphore<true>,
    condvar_one: condvar::Queue,
    condvar_all: condvar::Meeting,
    event_one: event::Baton,
    event_all: event::Meeting,
    event_gate: event::Gate,
    once_lock: once::Cells,
    barrier: parties::OneBarrier,
    wait_group: parties::OneWaitGroup,
}
#[allow(
    unused_imports,
    clippy::single_component_path_imports,
    reason = "for tests that play with one lock at a time"
)]
pub(crate) use each_lock;

/// The locks of a round.
pub(crate) struct World {
    locks: Vec<(&'static str, Box<dyn AnyLock>)>,
    /// With which half of all steps are taken, so that there is a crowd.
    favourite: usize,
}

impl World {
    pub(crate) fn new(names: &[&'static str], round: u64, players: usize, draw: &mut Player) -> Self {
        let locks = names.iter().map(|name| (*name, lock(name, players, draw))).collect();
        Self { locks, favourite: (round % names.len() as u64) as usize }
    }

    pub(crate) async fn step(&self, player: &mut Player) {
        let lock = if player.one_in(2) { self.favourite } else { player.below(self.locks.len()) };
        let (name, lock) = &self.locks[lock];
        player.begins(name);
        lock.any_step(player).await;
    }

    pub(crate) fn help(&self, player: &mut Player) {
        self.locks.iter().for_each(|(_, lock)| lock.help(player));
    }

    pub(crate) fn check(&self) {
        self.locks.iter().for_each(|(_, lock)| lock.check());
        let queues = self.queues();
        assert!(queues.iter().all(|(_, waiters)| *waiters == 0), "left in the queue: {queues:?}");
    }

    /// How many are queued for each.
    pub(crate) fn queues(&self) -> Vec<(&'static str, usize)> {
        self.locks.iter().map(|(name, lock)| (*name, lock.queued())).collect()
    }
}

/// How many are queued at one of the words of a lock, wherever in it they are.
fn waiters<L>(lock: &L) -> usize {
    let word = std::ptr::from_ref(lock).cast::<AtomicU32>();
    let words = size_of::<L>() / size_of::<AtomicU32>();
    // SAFETY: inside of the lock, which is made of words that are at least so large. They are not even read: only their
    // addresses are.
    (0..words).map(|index| Table::global().waiters(unsafe { &*word.add(index) })).sum()
}

/// Counts exclusive holders, with a load and a store: if two are in at once, a count is lost.
#[derive(Default)]
struct Alone {
    counter: AtomicU64,
    entered: AtomicU64,
}

impl Alone {
    /// Enters, lingers, and leaves.
    async fn linger(&self, player: &mut Player) {
        self.entered.fetch_add(1, Ordering::Relaxed);
        let seen = self.seen();
        player.linger().await;
        assert_eq!(self.seen(), seen, "another was in");
        self.counter.store(seen + 1, Ordering::Relaxed);
    }

    fn seen(&self) -> u64 {
        self.counter.load(Ordering::Relaxed)
    }

    fn check(&self) {
        assert_eq!(self.seen(), self.entered.load(Ordering::Relaxed), "exclusion was violated");
    }
}

/// Counted for as long as it is there.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn one_more(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
