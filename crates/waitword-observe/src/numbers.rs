//! Short numbers for tasks and agents, of which only an address is known.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use waitword_core::lock;

#[derive(Default)]
struct Numbers {
    known: HashMap<usize, Known>,
    last: u64,
    /// How many rounds have asked.
    rounds: u64,
}

#[derive(Clone, Copy)]
struct Known {
    number: u64,
    /// The last round that asked for it.
    asked: u64,
}

/// A moment between two rounds.
#[derive(Clone, Copy)]
pub(crate) struct Moment(u64);

/// Numbers of one sort of actors, given in order of first appearance.
pub(crate) struct Register(Mutex<Option<Numbers>>);

impl Register {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    pub(crate) fn now(&self) -> Moment {
        Moment(lock(&self.0).as_ref().map_or(0, |numbers| numbers.rounds))
    }

    /// The numbers for one snapshot, for which actors have been looked for since that moment. One that no look-up of the round asks for
    /// loses its number at its end: the register holds no more than a snapshot does, and a task at the address of one that ended is another
    /// task. But one that another round has asked for since may have begun to wait after the snapshot had looked there, and keeps it.
    pub(crate) fn round(&self, since: Moment) -> Round<'_> {
        Round { register: lock(&self.0), seen: HashMap::new(), forgets_before: Some(since) }
    }

    /// As [`round`](Self::round), but all keep their numbers, until the round of a snapshot does not ask for them.
    pub(crate) fn more(&self) -> Round<'_> {
        Round { register: lock(&self.0), seen: HashMap::new(), forgets_before: None }
    }
}

pub(crate) struct Round<'a> {
    register: MutexGuard<'a, Option<Numbers>>,
    seen: HashMap<usize, u64>,
    forgets_before: Option<Moment>,
}

impl Round<'_> {
    pub(crate) fn number(&mut self, address: usize) -> u64 {
        let Numbers { known, last, .. } = self.register.get_or_insert_default();
        *self.seen.entry(address).or_insert_with(|| {
            known.get(&address).map(|known| known.number).unwrap_or_else(|| {
                *last += 1;
                *last
            })
        })
    }
}

impl Drop for Round<'_> {
    fn drop(&mut self) {
        let Numbers { known, rounds, .. } = self.register.get_or_insert_default();
        *rounds += 1;
        if let Some(Moment(since)) = self.forgets_before {
            known.retain(|_, known| known.asked > since);
        }
        let seen = self.seen.drain().map(|(address, number)| (address, Known { number, asked: *rounds }));
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
            let mut round = register.round(register.now());
            asked.iter().map(|address| round.number(*address)).collect::<Vec<_>>()
        };
        assert_eq!(round(&[70, 30, 70]), [1, 2, 1]);
        assert_eq!(round(&[30, 50]), [2, 3]);
        assert_eq!(round(&[50, 70]), [3, 4]);
    }

    #[test]
    fn a_round_that_looked_before_another_takes_no_number_of_the_other_away() {
        let register = Register::new();
        assert_eq!(register.round(register.now()).number(30), 1);
        let looked = register.now();
        assert_eq!(register.round(register.now()).number(70), 2);
        drop(register.round(looked));
        assert_eq!(register.round(register.now()).number(70), 2);
        assert_eq!(register.round(register.now()).number(30), 3);
    }
}
