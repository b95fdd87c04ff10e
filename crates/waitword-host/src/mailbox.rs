//! Messages to an agent from other threads, in the order in which they were posted.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use waitword_quickjs::Doorbell;

/// A queue of messages that only its owner empties. To post rings the owner's doorbell.
pub(crate) struct Mailbox<L> {
    /// `None` once the owner is gone: later messages are dropped, with the memory that they hold.
    messages: Mutex<Option<VecDeque<L>>>,
    bell: Arc<Doorbell>,
}

impl<L> Mailbox<L> {
    pub(crate) fn new(bell: Arc<Doorbell>) -> Self {
        Self { messages: Mutex::new(Some(VecDeque::new())), bell }
    }

    pub(crate) fn post(&self, message: L) {
        // A refused message is dropped with the lock free: its end may run anything.
        let refused = match &mut *self.lock() {
            Some(messages) => {
                messages.push_back(message);
                None
            }
            None => Some(message),
        };
        if refused.is_none() {
            self.bell.ring();
        }
    }

    pub(crate) fn take(&self) -> Option<L> {
        self.lock().as_mut()?.pop_front()
    }

    /// How many messages it has.
    pub(crate) fn len(&self) -> usize {
        self.lock().as_ref().map_or(0, VecDeque::len)
    }

    /// Drops all messages, and from now on each that comes.
    pub(crate) fn close(&self) {
        let messages = self.lock().take();
        drop(messages);
    }

    fn lock(&self) -> MutexGuard<'_, Option<VecDeque<L>>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_come_out_as_they_went_in_and_ring() {
        let bell = Arc::new(Doorbell::default());
        let mailbox = Mailbox::new(Arc::clone(&bell));
        assert!(mailbox.take().is_none() && !bell.is_rung());
        mailbox.post(1);
        mailbox.post(2);
        assert!(bell.is_rung());
        assert_eq!((mailbox.take(), mailbox.take(), mailbox.take()), (Some(1), Some(2), None));
    }

    #[test]
    fn closed_box_drops_its_letters_and_does_not_ring() {
        let bell = Arc::new(Doorbell::default());
        let mailbox = Mailbox::new(Arc::clone(&bell));
        let message = Arc::new(());
        mailbox.post(Arc::clone(&message));
        mailbox.close();
        bell.clear();
        mailbox.post(Arc::clone(&message));
        assert_eq!(Arc::strong_count(&message), 1);
        assert!(mailbox.take().is_none() && !bell.is_rung());
    }
}
