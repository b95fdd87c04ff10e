//! Deadlines of futures: an alarm in each future, a wheel that sorts the alarms, and threads that wake the tasks whose alarms are due. A
//! program may do that in place of the threads ([`serve_by_hand`]).
//!
//! | thread | started at |
//! |---|---|
//! | `waitword-timer` | the first deadline of a future, and the first waiter that is queued behind a signalled one (the watchdog) |
//! | a second thread | the first deadline that is due |
//! | up to 32 | one for each waker that has blocked for 5 ms |
//!
//! There are no other threads, and none at all with [`serve_by_hand`].
//!
//! Under the model checker loom (`cfg(waitword_loom)`) there is no clock, and alarms never wake a task.

#[cfg(not(waitword_loom))]
mod alarm;
#[cfg(not(waitword_loom))]
#[cfg_attr(all(target_family = "wasm", target_os = "unknown"), path = "callers_web.rs")]
mod callers;
#[cfg(not(waitword_loom))]
mod deadlines;
#[cfg(not(waitword_loom))]
mod wheel;

#[cfg(not(waitword_loom))]
pub use alarm::Alarm;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
#[doc(hidden)]
pub use callers::expire_due;
#[cfg(all(unix, not(waitword_loom)))]
pub(crate) use callers::register_timer;
#[cfg(not(waitword_loom))]
pub(crate) use callers::wake_by_timer;
#[cfg(not(any(waitword_loom, all(target_family = "wasm", target_os = "unknown"))))]
pub use callers::{expire_due, next_deadline, serve_by_hand};
#[cfg(waitword_loom)]
pub use model::Alarm;

/// In a model, a timeout is another thread that cancels.
#[cfg(waitword_loom)]
mod model {
    use crate::time::Instant;
    use std::pin::Pin;
    use std::task::Waker;

    /// An alarm that never rings.
    #[derive(Debug, Default)]
    pub struct Alarm(());

    impl Alarm {
        /// An alarm that is not set.
        pub const fn new() -> Self {
            Self(())
        }

        /// Does nothing.
        pub fn set(self: Pin<&mut Self>, _deadline: Instant, _waker: &Waker) {}

        /// Does nothing.
        pub(crate) fn set_at(self: Pin<&mut Self>, _now: Instant, _deadline: Instant, _waker: &Waker) {}

        /// Does nothing.
        pub fn clear(self: Pin<&mut Self>) {}
    }
}
