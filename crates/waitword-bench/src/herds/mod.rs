//! Wait queues of threads on one word, for herds: all are notified at once, or all time out.

mod herd;
#[cfg(target_os = "linux")]
mod limits;
mod peers;
mod waitword;

pub(crate) use herd::Herd;
#[cfg(target_os = "linux")]
pub(crate) use limits::RawFutex;
pub(crate) use peers::{ParkingLotCore, StdCondvar};
pub(crate) use waitword::Waitword;
