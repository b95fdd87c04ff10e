//! event-listener's `Event`. Its waiters are queued by `listen`, before they are polled.

use event_listener::{Event, IntoNotification as _};

use super::{PerWord, Queue};

pub(crate) type EventListener = PerWord<Event>;

impl Queue for Event {
    const NAME: &'static str = "event-listener";

    type Wait<'a> = event_listener::EventListener;

    fn new() -> Self {
        Event::new()
    }

    fn wait(&self) -> event_listener::EventListener {
        self.listen()
    }

    fn notify_one(&self) {
        // A plain `notify(1)` does nothing while an earlier notified waiter has not been polled.
        self.notify(1.additional());
    }

    fn notify_all(&self) {
        self.notify(usize::MAX);
    }
}
