//! Messages from any agent of a program to any other, by its number: `postMessageToThread`.
//!
//! Each agent has a mailbox for them. The sender gets an answer in its own mailbox, which says what became of the message: also when the other agent is
//! gone, or goes with the message unread, for then the [`Receipt`] is dropped.
//!
//! Lock order: the directory's lock is held by no thread that takes another.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::agent_name::ThreadId;
use crate::channel::Message;
use crate::mailbox::Mailbox;

/// The number under which an agent waits for an answer.
pub(crate) type Ticket = u32;

/// What comes to an agent from any other.
pub(crate) enum ThreadMessage {
    Message {
        from: ThreadId,
        message: Message,
        receipt: Receipt,
    },
    Answered {
        ticket: Ticket,
        answer: Answer,
    },
    /// A lock that was requested under this number is the agent's.
    LockGranted {
        ticket: Ticket,
    },
    /// It was, and is somebody else's.
    LockStolen {
        ticket: Ticket,
    },
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Delivered = 0,
    /// There is no such agent, or it does not listen.
    NobodyListens = 1,
    /// A listener threw.
    ListenerFailed = 2,
}

/// The answer that the sender of a message is owed.
pub(crate) struct Receipt {
    to: Arc<Mailbox<ThreadMessage>>,
    ticket: Ticket,
    answer: Answer,
}

impl Receipt {
    /// The answer goes to this box, under this number: that nobody listens, unless it is signed.
    pub(crate) fn new(to: &Arc<Mailbox<ThreadMessage>>, ticket: Ticket) -> Self {
        Self { to: Arc::clone(to), ticket, answer: Answer::NobodyListens }
    }

    pub(crate) fn sign(mut self, answer: Answer) {
        self.answer = answer;
    }
}

impl Drop for Receipt {
    fn drop(&mut self) {
        self.to.post(ThreadMessage::Answered { ticket: self.ticket, answer: self.answer });
    }
}

/// The boxes of a program's agents.
#[derive(Default)]
pub(crate) struct Directory(Mutex<BTreeMap<ThreadId, Arc<Mailbox<ThreadMessage>>>>);

impl Directory {
    pub(crate) fn enter(&self, id: ThreadId, messages: Arc<Mailbox<ThreadMessage>>) {
        self.lock().insert(id, messages);
    }

    /// The agent reads no more. Each sender that waits for its answer gets one.
    pub(crate) fn leave(&self, id: ThreadId) {
        let messages = self.lock().remove(&id);
        if let Some(messages) = messages {
            messages.close();
        }
    }

    pub(crate) fn post(&self, id: ThreadId, message: ThreadMessage) {
        let messages = self.lock().get(&id).cloned();
        match messages {
            Some(messages) => messages.post(message),
            // Its receipt says so.
            None => drop(message),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ThreadId, Arc<Mailbox<ThreadMessage>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clone::SerializedMessage;

    fn answer(messages: &Mailbox<ThreadMessage>) -> Option<(Ticket, Answer)> {
        match messages.take() {
            Some(ThreadMessage::Answered { ticket, answer }) => Some((ticket, answer)),
            _ => None,
        }
    }

    #[test]
    fn each_message_is_answered_once_whatever_becomes_of_it() {
        let directory = Directory::default();
        let boxes = [(); 2].map(|()| Arc::new(Mailbox::new(Arc::default())));
        directory.enter(1, Arc::clone(&boxes[1]));
        let post = |to, ticket| {
            let receipt = Receipt::new(&boxes[0], ticket);
            let message = Message { serialized: SerializedMessage::default(), ports: Vec::new() };
            directory.post(to, ThreadMessage::Message { from: 0, message, receipt });
        };
        post(2, 10);
        assert_eq!(answer(&boxes[0]), Some((10, Answer::NobodyListens)), "there is no such agent");
        post(1, 11);
        post(1, 12);
        assert!(answer(&boxes[0]).is_none());
        match boxes[1].take() {
            Some(ThreadMessage::Message { receipt, .. }) => receipt.sign(Answer::Delivered),
            _ => panic!("a message was posted"),
        }
        directory.leave(1);
        assert_eq!(answer(&boxes[0]), Some((11, Answer::Delivered)));
        assert_eq!(answer(&boxes[0]), Some((12, Answer::NobodyListens)), "it was never read");
        post(1, 13);
        assert_eq!(answer(&boxes[0]), Some((13, Answer::NobodyListens)), "the agent is gone");
        assert!(answer(&boxes[0]).is_none());
    }
}
