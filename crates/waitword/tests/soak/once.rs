//! Each cell is set once, by one initialiser at a time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use waitword::{LockError, OnceLock};

use crate::event::Counted;
use crate::player::{Player, blocking, polling};

/// More than are used up before all players have taken their steps.
const CELLS: usize = 256;

pub(crate) struct Cells {
    cells: Vec<Cell>,
    /// Waiters without a value of their own.
    waiting: AtomicUsize,
}

#[derive(Default)]
struct Cell {
    once: OnceLock<usize>,
    initialising: AtomicBool,
    /// Values that were made.
    made: AtomicUsize,
}

/// No value, this time.
struct Fails;

impl Cells {
    pub(crate) fn new() -> Self {
        Self { cells: (0..CELLS).map(|_| Cell::default()).collect(), waiting: AtomicUsize::new(0) }
    }

    pub(crate) fn step(&self, player: &mut Player) {
        let (cell, number) = self.first_empty();
        let cheap = player.one_in(2);
        match player.below(8) {
            0 | 1 => {
                let _waiting = Counted::one_more(&self.waiting);
                let value = blocking! { player:
                    Ok(cell.once.wait()),
                    timeout => cell.once.wait_for(timeout),
                    deadline => cell.once.wait_until(deadline)
                };
                seen(value, number);
            }
            2 => {
                let value = blocking! { player:
                    Ok(cell.once.get_or_init(|| cell.make(number))),
                    timeout => cell.once.get_or_init_for(timeout, || cell.make(number)),
                    deadline => cell.once.get_or_init_until(deadline, || cell.make(number))
                };
                seen(value, number);
            }
            _ => {
                let fail = || {
                    let _turn = cell.turn();
                    if !cheap {
                        std::thread::yield_now();
                    }
                    Err(Fails)
                };
                let value = blocking! { player:
                    Ok::<_, LockError>(cell.once.get_or_try_init(fail)),
                    timeout => cell.once.get_or_try_init_for(timeout, fail),
                    deadline => cell.once.get_or_try_init_until(deadline, fail)
                };
                if let Ok(Ok(value)) = value {
                    assert_eq!(*value, number);
                }
            }
        }
    }

    pub(crate) async fn step_async(&self, player: &mut Player) {
        let (cell, number) = self.first_empty();
        let make = async || {
            let _turn = cell.turn();
            // Where it may be dropped.
            smol::future::yield_now().await;
            cell.made.fetch_add(1, Ordering::SeqCst);
            number
        };
        let fail = async || {
            let _turn = cell.turn();
            smol::future::yield_now().await;
            Err::<usize, _>(Fails)
        };
        match player.below(8) {
            0 | 1 => {
                let _waiting = Counted::one_more(&self.waiting);
                let value = polling! { player:
                    Ok(cell.once.wait_async().await),
                    timeout => cell.once.wait_async_for(timeout),
                    deadline => cell.once.wait_async_until(deadline)
                };
                value.into_iter().for_each(|value| seen(value, number));
            }
            2 => {
                let value = polling! { player:
                    Ok(cell.once.get_or_init_async(make).await),
                    timeout => cell.once.get_or_init_async_for(timeout, make),
                    deadline => cell.once.get_or_init_async_until(deadline, make)
                };
                value.into_iter().for_each(|value| seen(value, number));
            }
            _ => {
                let value = polling! { player:
                    Ok::<_, LockError>(cell.once.get_or_try_init_async(fail).await),
                    timeout => cell.once.get_or_try_init_async_for(timeout, fail),
                    deadline => cell.once.get_or_try_init_async_until(deadline, fail)
                };
                if let Some(Ok(Ok(value))) = value {
                    assert_eq!(*value, number);
                }
            }
        }
    }

    /// The first that has no value, or the last.
    fn first_empty(&self) -> (&Cell, usize) {
        let number = self.cells.iter().position(|cell| cell.once.get().is_none()).unwrap_or(CELLS - 1);
        (&self.cells[number], number)
    }

    /// A value, seldom, and only where one is waited for.
    pub(crate) fn help(&self, player: &mut Player) {
        let (cell, number) = self.first_empty();
        if self.waiting.load(Ordering::SeqCst) > 0 && player.one_in(8) {
            let set = cell.once.set(number).is_ok();
            cell.made.fetch_add(usize::from(set), Ordering::SeqCst);
        }
    }

    pub(crate) fn check(&self) {
        for (number, cell) in self.cells.iter().enumerate() {
            let value = cell.once.get();
            assert_eq!(
                cell.made.load(Ordering::SeqCst),
                usize::from(value.is_some()),
                "more than one value was made"
            );
            assert!(value.is_none_or(|&value| value == number));
        }
    }

    pub(crate) fn queued(&self) -> usize {
        self.cells.iter().map(|cell| cell.once.waiters()).sum()
    }
}

fn seen(value: Result<&usize, LockError>, number: usize) {
    assert!(value.is_ok_and(|&value| value == number) || value.is_err());
}

impl Cell {
    fn make(&self, number: usize) -> usize {
        let _turn = self.turn();
        self.made.fetch_add(1, Ordering::SeqCst);
        number
    }

    /// Alone at it, until the end or until it is dropped.
    fn turn(&self) -> impl Drop {
        assert!(!self.initialising.swap(true, Ordering::SeqCst), "two initialise at once");
        Turn(&self.initialising)
    }
}

struct Turn<'a>(&'a AtomicBool);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}
