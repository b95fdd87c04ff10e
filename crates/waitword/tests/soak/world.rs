//! One lock of each kind.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use waitword::word::Table;

use crate::barrier::OneBarrier;
use crate::event::{Baton, Gate};
use crate::mutex::OneMutex;
use crate::once::Cells;
use crate::player::Player;
use crate::queue::Queue;
use crate::rwlock::OneRwLock;
use crate::semaphore::OneSemaphore;
use crate::wait_group::OneWaitGroup;

pub(crate) const PLACES: [&str; 10] = [
    "mutex",
    "read-write lock",
    "queue",
    "semaphore",
    "baton",
    "gate",
    "barrier",
    "wait group",
    "cells",
    "partner's work",
];

/// Which of them no player draws.
pub(crate) const PARTNER: usize = 9;

pub(crate) struct World {
    /// Where half of all steps are taken, so that there is a crowd.
    favourite: usize,
    mutex: OneMutex,
    rwlock: OneRwLock,
    queue: Queue,
    semaphore: OneSemaphore,
    baton: Baton,
    gate: Gate,
    barrier: OneBarrier,
    wait_group: OneWaitGroup,
    cells: Cells,
}

/// For each of the nine, in the order of [`PLACES`].
macro_rules! at {
    ($world:ident, $place:expr, $one:ident => $then:expr) => {
        match $place {
            0 => {
                let $one = &$world.mutex;
                $then
            }
            1 => {
                let $one = &$world.rwlock;
                $then
            }
            2 => {
                let $one = &$world.queue;
                $then
            }
            3 => {
                let $one = &$world.semaphore;
                $then
            }
            4 => {
                let $one = &$world.baton;
                $then
            }
            5 => {
                let $one = &$world.gate;
                $then
            }
            6 => {
                let $one = &$world.barrier;
                $then
            }
            7 => {
                let $one = &$world.wait_group;
                $then
            }
            _ => {
                let $one = &$world.cells;
                $then
            }
        }
    };
}

impl World {
    pub(crate) fn new(round: u64, players: usize) -> Self {
        Self {
            favourite: (round % PARTNER as u64) as usize,
            mutex: OneMutex::default(),
            rwlock: OneRwLock::default(),
            queue: Queue::default(),
            semaphore: OneSemaphore::new(),
            baton: Baton::default(),
            gate: Gate::default(),
            barrier: OneBarrier::new(),
            wait_group: OneWaitGroup::new(players),
            cells: Cells::new(),
        }
    }

    pub(crate) fn step(&self, player: &mut Player) {
        let place = self.drawn(player);
        player.begins(place);
        at!(self, place, one => one.step(player));
    }

    pub(crate) async fn step_async(&self, player: &mut Player) {
        let place = self.drawn(player);
        player.begins(place);
        at!(self, place, one => one.step_async(player).await);
    }

    fn drawn(&self, player: &mut Player) -> usize {
        if player.one_in(2) { self.favourite } else { player.below(PARTNER) }
    }

    /// Does what a player may be waiting for and no other does.
    pub(crate) fn help(&self, player: &mut Player) {
        self.queue.help();
        self.baton.help();
        self.gate.help();
        self.barrier.help();
        self.cells.help(player);
    }

    /// Once all have left.
    pub(crate) fn check(&self) {
        for place in 0..PARTNER {
            at!(self, place, one => one.check());
        }
        assert_eq!(
            self.queued().map(|(_, waiters)| waiters),
            [0; PARTNER],
            "left in the queue: {:?}",
            self.queued()
        );
    }

    /// How many are queued at each.
    pub(crate) fn queued(&self) -> [(&'static str, usize); PARTNER] {
        std::array::from_fn(|place| (PLACES[place], at!(self, place, one => one.queued())))
    }
}

/// How many are queued at one of the words of a lock, wherever in it they are.
pub(crate) fn waiters<L>(lock: &L) -> usize {
    let word = std::ptr::from_ref(lock).cast::<AtomicU32>();
    let words = size_of::<L>() / size_of::<AtomicU32>();
    // SAFETY: inside of the lock, which is made of words that are at least so large. They are not even read: only their
    // addresses are.
    (0..words).map(|index| Table::global().waiters(unsafe { &*word.add(index) })).sum()
}

/// Counts exclusive holders, with a load and a store: if two are in at once, a count is lost.
#[derive(Default)]
pub(crate) struct Alone {
    counter: AtomicU64,
    entered: AtomicU64,
}

impl Alone {
    /// What to [`leave`](Self::leave) with.
    pub(crate) fn enter(&self) -> u64 {
        self.entered.fetch_add(1, Ordering::Relaxed);
        self.seen()
    }

    pub(crate) fn leave(&self, seen: u64) {
        assert_eq!(self.seen(), seen, "another was in");
        self.counter.store(seen + 1, Ordering::Relaxed);
    }

    pub(crate) fn seen(&self) -> u64 {
        self.counter.load(Ordering::Relaxed)
    }

    pub(crate) fn check(&self) {
        assert_eq!(self.seen(), self.entered.load(Ordering::Relaxed), "exclusion was violated");
    }
}
