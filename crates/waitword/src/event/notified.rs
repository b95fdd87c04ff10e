//! What became of a wakeup.

/// What [`Event::notify_one`](crate::Event::notify_one) or [`notify_last`](crate::Event::notify_last) has done with its wakeup.
///
/// Whichever it is, the wakeup is not lost: a waiter has it, or the next waiter will.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventNotified {
    /// A waiter was queued, and has it. (If that is a future which is dropped before it is polled, the wakeup is
    /// forwarded.)
    Woken,
    /// No waiter was queued: the wakeup is stored for the next one.
    Stored,
    /// No waiter was queued, and a wakeup was stored already: the next waiter gets one for both.
    AlreadyStored,
}

impl EventNotified {
    /// Whether a waiter was woken.
    ///
    /// ```
    /// let event = waitword::Event::new();
    /// assert!(!event.notify_one().is_woken(), "nobody waits");
    /// ```
    pub fn is_woken(self) -> bool {
        self == Self::Woken
    }
}
