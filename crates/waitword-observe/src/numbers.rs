//! Short numbers for tasks and agents, of which only an address is known.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use waitword_core::lock;

struct Numbers {
    by_address: BTreeMap<usize, Known>,
    last: u64,
    /// How many rounds have begun.
    rounds: u64,
}

struct Known {
    number: u64,
    /// The last round that asked for it.
    asked: u64,
}

/// A moment between two rounds.
#[derive(Clone, Copy)]
pub(crate) struct Moment(u64);

/// The numbers of one kind of actors, given in order of first appearance.
pub(crate) struct Register(Mutex<Numbers>);

impl Register {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Numbers { by_address: BTreeMap::new(), last: 0, rounds: 0 }))
    }

    pub(crate) fn now(&self) -> Moment {
        Moment(lock(&self.0).rounds)
    }

    /// The numbers for one snapshot, which began to copy the queues at the moment `since`. At the end of the round, actors that it did not ask
    /// for lose their numbers. So the register holds no more actors than a snapshot, and a task at the address of one that has ended gets
    /// another number. An actor that another round has asked for since that moment keeps its number: it may have begun to wait after this
    /// snapshot copied its queue.
    ///
    /// Without `since` (not for a snapshot), all actors keep their numbers.
    pub(crate) fn round(&self, since: Option<Moment>) -> Round<'_> {
        let mut numbers = lock(&self.0);
        numbers.rounds += 1;
        Round { numbers, forgets_before: since }
    }
}

pub(crate) struct Round<'a> {
    numbers: MutexGuard<'a, Numbers>,
    forgets_before: Option<Moment>,
}

impl Round<'_> {
    pub(crate) fn number(&mut self, address: usize) -> u64 {
        let Numbers { by_address, last, rounds } = &mut *self.numbers;
        let known = by_address.entry(address).or_insert_with(|| {
            *last += 1;
            Known { number: *last, asked: 0 }
        });
        known.asked = *rounds;
        known.number
    }
}

impl Drop for Round<'_> {
    fn drop(&mut self) {
        if let Some(Moment(since)) = self.forgets_before {
            self.numbers.by_address.retain(|_, known| known.asked > since);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_last_while_they_are_asked_for_and_are_never_given_again() {
        let register = Register::new();
        let round = |asked: &[usize]| {
            let mut round = register.round(Some(register.now()));
            asked.iter().map(|address| round.number(*address)).collect::<Vec<_>>()
        };
        assert_eq!(round(&[70, 30, 70]), [1, 2, 1]);
        assert_eq!(round(&[30, 50]), [2, 3]);
        assert_eq!(round(&[50, 70]), [3, 4]);
    }

    #[test]
    fn a_round_that_looked_before_another_takes_no_number_of_the_other_away() {
        let register = Register::new();
        assert_eq!(register.round(Some(register.now())).number(30), 1);
        let looked = register.now();
        assert_eq!(register.round(Some(register.now())).number(70), 2);
        drop(register.round(Some(looked)));
        assert_eq!(register.round(Some(register.now())).number(70), 2);
        assert_eq!(register.round(Some(register.now())).number(30), 3);
    }
}
