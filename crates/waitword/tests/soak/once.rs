//! `OnceLock`: each cell is set once, by one initialiser at a time.

use std::sync::atomic::{AtomicUsize, Ordering};

use waitword::OnceLock;

use super::player::{Player, ended, got};
use super::{Counted, Lock};

/// More than are used up before all players have taken their steps.
const CELLS: usize = 1_024;

pub(crate) struct Cells {
    cells: Vec<Cell>,
    /// Waiters without a value of their own.
    waiting: AtomicUsize,
}

#[derive(Default)]
struct Cell {
    once: OnceLock<usize>,
    initialising: AtomicUsize,
    /// Values that were made.
    made: AtomicUsize,
}

impl Cell {
    /// Alone at it, until the end or until it is dropped.
    fn turn(&self) -> Counted<'_> {
        let turn = Counted::one_more(&self.initialising);
        assert_eq!(self.initialising.load(Ordering::SeqCst), 1, "two initialise at once");
        turn
    }

    fn value(&self, number: usize) -> usize {
        self.made.fetch_add(1, Ordering::SeqCst);
        number
    }
}

/// No value, this time.
struct Fails;

impl Cells {
    /// The first that has no value, or the last.
    fn first_empty(&self) -> (&Cell, usize) {
        let number = self.cells.iter().position(|cell| cell.once.get().is_none()).unwrap_or(CELLS - 1);
        (&self.cells[number], number)
    }
}

impl Lock for Cells {
    fn new(_players: usize, _draw: &mut Player) -> Self {
        Self { cells: (0..CELLS).map(|_| Cell::default()).collect(), waiting: AtomicUsize::new(0) }
    }

    async fn step(&self, player: &mut Player) {
        let (cell, number) = self.first_empty();
        let once = &cell.once;
        let value = match player.below(8) {
            0 | 1 => {
                let _waiting = Counted::one_more(&self.waiting);
                got!(player: once, wait, wait_for, wait_until; wait_async)
            }
            2 => {
                let make = || {
                    let _turn = cell.turn();
                    cell.value(number)
                };
                let make_async = async || {
                    let _turn = cell.turn();
                    // Where it may be dropped.
                    smol::future::yield_now().await;
                    cell.value(number)
                };
                ended!(player: once.get_or_init(make), once.get_or_init_async(make_async).await)
            }
            _ => {
                let yields = player.one_in(2);
                let fail = || {
                    let _turn = cell.turn();
                    if yields {
                        std::thread::yield_now();
                    }
                    Err(Fails)
                };
                let fail_async = async || {
                    let _turn = cell.turn();
                    smol::future::yield_now().await;
                    Err(Fails)
                };
                got!(player: once.get_or_try_init(fail), once.get_or_try_init_async(fail_async).await)
            }
        };
        assert!(value.is_none_or(|&value| value == number));
    }

    /// A value, seldom, and only where one is waited for.
    fn help(&self, player: &mut Player) {
        let (cell, number) = self.first_empty();
        if self.waiting.load(Ordering::SeqCst) > 0 && player.one_in(8) {
            let set = cell.once.set(number).is_ok();
            cell.made.fetch_add(usize::from(set), Ordering::SeqCst);
        }
    }

    fn check(&self) {
        for (number, cell) in self.cells.iter().enumerate() {
            let value = cell.once.get();
            let (made, set) = (cell.made.load(Ordering::SeqCst), usize::from(value.is_some()));
            assert_eq!(made, set, "more than one value was made");
            assert!(value.is_none_or(|&value| value == number));
        }
    }

    fn queued(&self) -> usize {
        self.cells.iter().map(|cell| cell.once.waiters()).sum()
    }
}
