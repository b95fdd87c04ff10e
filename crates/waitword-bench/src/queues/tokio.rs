//! tokio's `Notify`.

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::{PerWord, Queue};

pub(crate) type TokioNotify = PerWord<Notify>;

impl Queue for Notify {
    const NAME: &'static str = "tokio Notify";

    type Wait<'a> = Notified<'a>;

    fn new() -> Self {
        Notify::new()
    }

    fn wait(&self) -> Notified<'_> {
        self.notified()
    }

    fn notify_one(&self) {
        self.notify_one();
    }

    fn notify_all(&self) {
        self.notify_waiters();
    }
}
