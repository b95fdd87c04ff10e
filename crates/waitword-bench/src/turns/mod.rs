//! Two parties that take turns: the contenders of the round trips.
//!
//! The turn is a word that is 0 or 1. A party waits while it is the other's turn, and then gives the turn back.

mod flagged;
mod limits;
mod parking_lot_core;
mod semaphores;
#[cfg(test)]
mod tests;
mod turn;
mod waitword;

pub(crate) use flagged::{Events, Flagged};
#[cfg(target_os = "linux")]
pub(crate) use limits::RawFutex;
pub(crate) use limits::WakerSlot;
pub(crate) use parking_lot_core::ParkingLotCore;
pub(crate) use semaphores::BySemaphores;
pub(crate) use turn::{AsyncTurns, Turns};
pub(crate) use waitword::Waitword;
