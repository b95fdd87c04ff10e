//! Calls: threads of a batch that sleep in rooms are woken by a few of them, which make the calls for the others.
//!
//! A call takes the kernel 1 to 2 µs for each thread that it wakes. A notifier that made all would be busy for as long as that of a raw
//! futex; so it wakes the first four, and each of them calls up to eight of the others. (For threads that sleep alone: `sleeper.rs`.)
//!
//! ```text
//!                       notifier
//!        ┌───────────┬─────┴─────┬───────────┐
//!        1           2           3           4
//!     5 … 12      13 … 20     21 … 28     29 … 32
//! ```
//! A call is given as a chain is: by a compare-and-exchange of a word that the thread opens before it sleeps, and closes by a swap when it
//! has slept. So it takes the call along, or the notifier learns that it is too late, and makes it.

use super::room::{Call, Seat};
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{MODEL, mutant, order};

/// So many threads make calls for the others of a batch.
pub(super) const CALLERS: usize = if MODEL { 1 } else { 4 };

/// So many are woken by a call that is given to another.
const SHARE: u32 = 8;

/// The threads of a batch sleep in so many rooms, as a rule.
const ROOMS: usize = 8;

/// Threads that are to be woken, room by room.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// One for each room that has some of them; the others have no seats.
    calls: [Call; ROOMS],
}

impl Calls {
    /// Adds who sits there.
    pub(super) fn add(&mut self, seat: Seat) {
        let call = seat.call();
        match self.calls.iter_mut().find(|other| other.seats == 0 || other.room == call.room) {
            Some(other) => *other = Call { room: call.room, seats: other.seats | call.seats },
            // Too many rooms.
            None => {
                call.wake();
            }
        }
    }

    /// Takes out a call that is small enough to be given to another thread.
    pub(super) fn share(&mut self) -> Option<Call> {
        let call = self.calls.iter_mut().find(|call| call.seats != 0)?;
        let mut seats = 0_u32;
        while call.seats != 0 && seats.count_ones() < SHARE {
            let lowest = call.seats & call.seats.wrapping_neg();
            seats |= lowest;
            call.seats &= !lowest;
        }
        Some(Call { room: call.room, seats })
    }

    /// Wakes all that are left, in the order in which the first of each room was added.
    pub(super) fn wake(self) {
        for call in self.calls.into_iter().filter(|call| call.seats != 0) {
            call.wake();
        }
    }
}

const CLOSED: u64 = 0;
/// A call has seats, so it is neither of the two.
const OPEN: u64 = 1;

/// The call that is given to a thread while it sleeps.
#[derive(Debug)]
pub(super) struct Given {
    call: AtomicU64,
}

impl Given {
    pub(super) fn new() -> Self {
        Self { call: AtomicU64::new(CLOSED) }
    }

    /// By the thread, before it sleeps.
    pub(super) fn open(&self) {
        self.call.store(OPEN, Ordering::Relaxed);
    }

    /// By the thread, when it has slept. It makes the call that it was given.
    pub(super) fn close(&self) -> Option<Call> {
        // Acquire: the call comes after what the giver did to the tokens of the threads that are called (`room.rs`, C before D).
        match self.call.swap(CLOSED, order!(Acquire, "close-acquire")) {
            CLOSED | OPEN => None,
            call => Some(Call { room: call as u32, seats: (call >> 32) as u32 }),
        }
    }

    /// By a notifier. `false`: the thread is awake, or was given another.
    pub(super) fn give(&self, call: Call) -> bool {
        let given = u64::from(call.seats) << 32 | u64::from(call.room);
        mutant!("give-call-to-awake" => {
            self.call.store(given, Ordering::Release);
            return true;
        });
        self.call
            .compare_exchange(OPEN, given, order!(Release, "give-call-release"), Ordering::Relaxed)
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(room: u32, number: u32) -> Seat {
        // The last rooms: threads of other tests get there after 1,000 sleeps.
        Seat::from_number((56 + room) * 32 + number)
    }

    fn calls(seats: impl IntoIterator<Item = (u32, u32)>) -> Calls {
        let mut calls = Calls::default();
        seats.into_iter().for_each(|(room, number)| calls.add(seat(room, number)));
        calls
    }

    #[test]
    fn there_is_a_call_for_each_room() {
        let calls = calls([0, 5, 31].into_iter().flat_map(|number| [(1, number), (2, number)]));
        let seats = 1 | 1 << 5 | 1 << 31;
        assert_eq!(calls.calls[..3], [Call { room: 57, seats }, Call { room: 58, seats }, Call::default()]);
        calls.wake();
    }

    #[test]
    fn shares_are_parts_of_a_room() {
        let mut calls = calls((0..20).map(|number| (1, number)).chain([(2, 7)]));
        let shares = std::iter::from_fn(|| calls.share()).map(|call| (call.room, call.seats));
        assert_eq!(shares.collect::<Vec<_>>(), [(57, 0xff), (57, 0xff00), (57, 0xf_0000), (58, 1 << 7)]);
    }

    #[test]
    fn a_call_is_given_to_a_thread_that_sleeps_and_once() {
        let (given, call) = (Given::new(), seat(3, 31).call());
        assert!(!given.give(call));
        given.open();
        assert!(given.give(call) && !given.give(call));
        assert_eq!(given.close(), Some(call));
        assert!(!given.give(call));
        given.open();
        assert_eq!(given.close(), None);
    }
}
