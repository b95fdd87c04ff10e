//! Rooms: threads of a crowd sleep on one word, and one system call wakes those of them that a notify counted.
//!
//! A thread that was woken together with others will be again, as a rule: it takes a seat in a room, which has 32. Threads that fall asleep
//! one after another are queued so, and sit in one room; a batch of 32 sits in one or two.
//!
//! # The race
//! The call may come before the thread sleeps. So the word of a room changes with each call, and the kernel compares it.
//! ```text
//!   thread                                     notifier
//!   ────────────────────────────────────       ────────────────────────────────────
//!   loads the word: 7 (A)
//!   token: EMPTY → its seat (B)
//!                                              token: its seat → NOTIFIED (C)
//!                                              the word: 7 → 8 (D)
//!                                              wakes those on the seat: nobody
//!   sleeps while the word is 7: returns
//! ```
//! (A) happens before (D), so (A) has not loaded what (D) wrote: (B) releases, (C) acquires what (B) released; and if (C) and (D) are in
//! different threads, the call that the one gives to the other is released and acquired too (`call.rs`). The thread sleeps before (D)
//! and is woken, or does not sleep. Nor does it sleep if others of its room are woken meanwhile; then it tries again.
//!
//! Without one of these orderings, (A) may load what (D) writes only later, as the memory model has it. loom executes no such load; but
//! it knows what happens before what: in a model (A) leaves a mark, and (D) fails if it need not see that.
//!
//! # Seats are not owned
//! They are given out in turns, and from the first again after the last. A thread on the seat of another is woken with it for no
//! reason, and sleeps again. So nothing is given back, none are lacking, and nothing is allocated.

use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::{MODEL, futex, mutant};

const SEATS: u32 = if MODEL { 2 } else { 32 };
const ROOMS: u32 = if MODEL { 1 } else { 256 };

/// So many waiters of a batch make a crowd. The tree has three levels for them.
pub(super) const CROWD: usize = if MODEL { 2 } else { 8 };

/// A place to sleep, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seat(u32);

impl Seat {
    /// The next one.
    pub(super) fn take() -> Self {
        Self(all().next.fetch_add(1, Ordering::Relaxed) % (ROOMS * SEATS))
    }

    pub(super) fn number(self) -> u32 {
        self.0
    }

    /// That of a seat that was taken.
    pub(super) fn from_number(number: u32) -> Self {
        Self(number)
    }

    /// How often somebody has been woken in its room (A).
    pub(super) fn changes(self) -> u32 {
        #[cfg(any(waitword_loom, waitword_shuttle))]
        self.room().marks.fetch_or(self.call().seats, Ordering::Relaxed);
        self.room().changes.load(Ordering::Relaxed)
    }

    /// Sleeps until woken, unless somebody has been woken in the room since there were so many `changes`. May return for no reason.
    pub(super) fn sleep(self, changes: u32) {
        futex::wait(&self.room().changes, changes, self.call().seats);
    }

    /// What wakes the thread that sleeps here.
    pub(super) fn call(self) -> Call {
        Call { room: self.0 / SEATS, seats: 1 << (self.0 % SEATS) }
    }

    fn room(self) -> &'static Room {
        &all().rooms[self.call().room as usize]
    }
}

/// Some of the seats of a room, whose threads one system call wakes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) room: u32,
    pub(super) seats: u32,
}

impl Call {
    /// Wakes all who sleep there. Returns how many.
    pub(super) fn wake(self) -> usize {
        let room = &all().rooms[self.room as usize];
        #[cfg(any(waitword_loom, waitword_shuttle))]
        assert_eq!(self.seats & !room.marks.load(Ordering::Relaxed), 0, "(A) does not happen before (D)");
        mutant!("room-changes" => return futex::wake(&room.changes, self.seats));
        // (D)
        room.changes.fetch_add(1, Ordering::Relaxed);
        futex::wake(&room.changes, self.seats)
    }
}

/// Rooms do not share a cache line, nor a pair of them.
#[derive(Debug)]
#[repr(align(128))]
struct Room {
    /// How often somebody has been woken here.
    changes: AtomicU32,
    /// On which seats (A) was reached.
    #[cfg(any(waitword_loom, waitword_shuttle))]
    marks: AtomicU32,
}

/// All of them.
#[derive(Debug)]
struct Rooms {
    /// The seat that is taken next.
    next: AtomicU32,
    rooms: [Room; ROOMS as usize],
}

#[cfg(not(any(waitword_loom, waitword_shuttle)))]
fn all() -> &'static Rooms {
    static ALL: Rooms = Rooms {
        next: AtomicU32::new(0),
        rooms: [const { Room { changes: AtomicU32::new(0) } }; ROOMS as usize],
    };
    &ALL
}

/// Each execution of a model has its own.
#[cfg(any(waitword_loom, waitword_shuttle))]
fn all() -> &'static Rooms {
    crate::sync::lazy_static! {
        static ref ALL: Rooms =
            Rooms { next: AtomicU32::new(0), rooms: std::array::from_fn(|_| Room { changes: AtomicU32::new(0), marks: AtomicU32::new(0) }) };
    }
    // Fixed by the type of what is returned.
    &ALL
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    use super::*;

    /// The last rooms: threads of other tests get there after 1,000 sleeps.
    fn seat(of_room: u32, number: u32) -> Seat {
        Seat::from_number((ROOMS - 8 + of_room) * SEATS + number)
    }

    #[test]
    fn a_call_wakes_those_that_it_names() {
        if !futex::EXISTS {
            return;
        }
        let (seats, woken) = ([0, 1, 31].map(|number| seat(0, number)), AtomicUsize::new(0));
        thread::scope(|scope| {
            for (index, seat) in seats.into_iter().enumerate() {
                let woken = &woken;
                scope.spawn(move || {
                    while woken.load(Ordering::SeqCst) & 1 << index == 0 {
                        let changes = seat.changes();
                        if woken.load(Ordering::SeqCst) & 1 << index == 0 {
                            seat.sleep(changes);
                        }
                    }
                });
            }
            for (index, seat) in seats.into_iter().enumerate().rev() {
                // While it must not return: whenever it is woken here it sleeps again.
                while seat.call().wake() == 0 {
                    thread::yield_now();
                }
                woken.fetch_or(1 << index, Ordering::SeqCst);
                seat.call().wake();
            }
        });
    }

    #[test]
    fn seats_are_taken_in_turns() {
        let (first, next) = (Seat::take(), Seat::take());
        assert!(first.number() < ROOMS * SEATS && next != first);
    }
}
