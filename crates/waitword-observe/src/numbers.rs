//! Short numbers for tasks and agents, of which only an address is known.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Default)]
struct Numbers {
    known: HashMap<usize, u64>,
    last: u64,
}

/// Numbers of one sort of actors, given in order of first appearance.
pub(crate) struct Register(Mutex<Option<Numbers>>);

impl Register {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// The numbers for one snapshot. An actor that no look-up of the round asks for loses its number at its end: the register holds
    /// no more than a snapshot does, and a task at the address of one that ended is another task.
    pub(crate) fn round(&self) -> Round<'_> {
        Round {
            register: self.0.lock().unwrap_or_else(PoisonError::into_inner),
            seen: HashMap::new(),
            keeps: false,
        }
    }

    /// As [`round`](Self::round), but all keep their numbers, until the round of a snapshot does not ask for them.
    pub(crate) fn more(&self) -> Round<'_> {
        let mut round = self.round();
        round.keeps = true;
        round
    }
}

pub(crate) struct Round<'a> {
    register: MutexGuard<'a, Option<Numbers>>,
    seen: HashMap<usize, u64>,
    keeps: bool,
}

impl Round<'_> {
    pub(crate) fn number(&mut self, address: usize) -> u64 {
        let Numbers { known, last } = self.register.get_or_insert_default();
        *self.seen.entry(address).or_insert_with(|| {
            known.get(&address).copied().unwrap_or_else(|| {
                *last += 1;
                *last
            })
        })
    }
}

impl Drop for Round<'_> {
    fn drop(&mut self) {
        let (keeps, seen) = (self.keeps, std::mem::take(&mut self.seen));
        let known = &mut self.register.get_or_insert_default().known;
        if !keeps {
            known.clear();
        }
        known.extend(seen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_last_while_they_are_asked_for_and_are_never_given_again() {
        let register = Register::new();
        let round = |asked: &[usize]| {
            let mut round = register.round();
            asked.iter().map(|address| round.number(*address)).collect::<Vec<_>>()
        };
        assert_eq!(round(&[70, 30, 70]), [1, 2, 1]);
        assert_eq!(round(&[30, 50]), [2, 3]);
        assert_eq!(round(&[50, 70]), [3, 4]);
    }
}
