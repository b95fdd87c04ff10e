//! Message channels: two ends, each of them in an agent or in a message that travels to one.
//!
//! A message posted at one end is queued at the other, wherever that is, and moves with it when that end is transferred. For each message,
//! the agent that owns the end gets a *token* in its mailbox: the number under which it knows the end. So its loop takes messages in the
//! order of their arrival, and ten thousand silent ports cost it nothing. A token is only a hint, because the message may have been taken,
//! and the port closed or transferred, in the meantime.
//!
//! Ends can be in messages that are queued at ends in messages, and so on, in a cycle. No agent could ever receive these messages. The message
//! that would complete such a cycle is detected when it is posted ([`End::post`]), and dropped with all that it contains.
//!
//! Lock order: the lock for messages with ends, an end's lock, then that of a mailbox, then a bell's.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use crate::clone::SerializedMessage;
use crate::lock::lock;
use crate::mailbox::{Arrival, Mailbox, PortId};

/// A message, and the ports that are transferred with it.
pub(crate) struct Message {
    pub(crate) serialized: SerializedMessage,
    pub(crate) ports: Vec<End>,
}

/// What a port delivers.
pub(crate) enum Delivery {
    Message(Message),
    /// The other end is closed: no more messages will come.
    Closed,
}

/// An end of a channel. Dropping it closes the channel. The other end receives that after the messages posted before.
pub(crate) struct End {
    /// The queues of this end and of the other. `None` only while it is being dropped.
    sides: Option<(Arc<Side>, Arc<Side>)>,
}

/// The queue of an end.
#[derive(Default)]
struct Side(Mutex<State>);

#[derive(Default)]
struct State {
    messages: VecDeque<Delivery>,
    /// The end was dropped: messages posted to it are dropped.
    is_closed: bool,
    /// The agent that owns the end, if one does.
    place: Option<Place>,
    /// The queue that contains the message with the end, if the end is in a message.
    holder: Option<Weak<Side>>,
    /// Whether its script listens. If not, messages stay queued.
    receives: bool,
    /// The number of tokens in the agent's mailbox; never more than there were messages at a time.
    tokens: usize,
}

struct Place {
    arrivals: Arc<Mailbox>,
    id: PortId,
}

/// Held while a message that contains ends is posted.
static WITH_ENDS: Mutex<()> = Mutex::new(());

/// A new channel.
pub(crate) fn channel() -> (End, End) {
    let (one, other) = (Arc::<Side>::default(), Arc::<Side>::default());
    let first = End { sides: Some((Arc::clone(&one), Arc::clone(&other))) };
    (first, End { sides: Some((other, one)) })
}

impl End {
    /// Makes an agent the owner of this end, which it knows by this number.
    pub(crate) fn arrive(&self, arrivals: &Arc<Mailbox>, id: PortId) {
        let mut state = self.own().lock();
        state.place = Some(Place { arrivals: Arc::clone(arrivals), id });
        state.holder = None;
        state.announce();
    }

    /// Removes the owner of this end, which transfers it. Its tokens are ignored from now on.
    pub(crate) fn depart(&self) {
        let mut state = self.own().lock();
        (state.place, state.receives, state.tokens) = (None, false, 0);
    }

    /// Sets whether messages are announced, or stay queued.
    pub(crate) fn receive(&self, receives: bool) {
        let mut state = self.own().lock();
        state.receives = receives;
        state.announce();
    }

    /// Posts to the other end. If that end is in the message itself, or, at any depth, in a message queued at an end in the message, then all
    /// of them are dropped and this end is closed, because no agent could ever receive the message. (The standard does so in the first case,
    /// and leaves the others to the garbage collector.)
    pub(crate) fn post(&self, message: Message) {
        // Two messages posted at the same time can complete a cycle, so messages with ends are posted one by one.
        let one_by_one = (!message.ports.is_empty()).then(|| lock(&WITH_ENDS));
        let refused = if one_by_one.is_some() && self.leads_into(&message) {
            Some(Delivery::Message(message))
        } else {
            for end in &message.ports {
                end.own().lock().holder = Some(Arc::downgrade(self.other()));
            }
            self.other().lock().accept(Delivery::Message(message))
        };
        drop(one_by_one);
        drop(refused);
    }

    /// Whether this message contains, at any depth, the end to which it is posted.
    fn leads_into(&self, message: &Message) -> bool {
        let inside: HashSet<*const Side> = message.ports.iter().map(|end| Arc::as_ptr(end.own())).collect();
        let mut at = Some(Arc::clone(self.other()));
        while let Some(side) = at {
            if inside.contains(&Arc::as_ptr(&side)) {
                return true;
            }
            at = side.lock().holder.as_ref().and_then(Weak::upgrade);
        }
        false
    }

    /// Closes this end in a listener of its own messages. The queued messages are still delivered, and then that the channel is closed.
    /// Messages posted from now on are dropped. Returns `false` if none is queued.
    pub(crate) fn shut(&self) -> bool {
        let mut state = self.own().lock();
        if state.messages.is_empty() || !state.receives {
            return false;
        }
        state.is_closed = true;
        if !matches!(state.messages.back(), Some(Delivery::Closed)) {
            state.messages.push_back(Delivery::Closed);
        }
        state.announce();
        true
    }

    /// Whether it was [shut](Self::shut).
    pub(crate) fn is_shut(&self) -> bool {
        self.own().lock().is_closed
    }

    /// Whether the other end was dropped.
    pub(crate) fn is_cut(&self) -> bool {
        self.other().lock().is_closed
    }

    /// Takes the message for a token, if it is still queued and the script listens.
    pub(crate) fn take_announced(&self) -> Option<Delivery> {
        let mut state = self.own().lock();
        state.tokens = state.tokens.saturating_sub(1);
        if state.is_ready() { state.messages.pop_front() } else { None }
    }

    /// Takes the first message, whether or not the script listens. Does not take the closing, which is announced separately.
    pub(crate) fn take_message(&self) -> Option<Message> {
        let mut state = self.own().lock();
        let first = state.messages.pop_front();
        let message = match first {
            Some(Delivery::Message(message)) => Some(message),
            Some(Delivery::Closed) => {
                state.messages.push_front(Delivery::Closed);
                None
            }
            None => None,
        };
        // The next item may be `Closed`, which is announced even to a port without a listener.
        state.announce();
        message
    }

    fn own(&self) -> &Arc<Side> {
        &self.both().0
    }

    fn other(&self) -> &Arc<Side> {
        &self.both().1
    }

    fn both(&self) -> &(Arc<Side>, Arc<Side>) {
        self.sides.as_ref().expect("only a dropped end has no sides")
    }
}

impl Drop for End {
    /// Messages contain ends whose messages contain ends, at any depth. So this is a loop, not a recursion.
    fn drop(&mut self) {
        let mut rest: Vec<_> = self.sides.take().into_iter().collect();
        while let Some((own, other)) = rest.pop() {
            let messages = {
                let mut state = own.lock();
                state.is_closed = true;
                state.place = None;
                std::mem::take(&mut state.messages)
            };
            for message in messages {
                if let Delivery::Message(mut message) = message {
                    rest.extend(message.ports.iter_mut().filter_map(|end| end.sides.take()));
                }
            }
            let refused = other.lock().accept(Delivery::Closed);
            drop(refused);
        }
    }
}

impl Side {
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}

impl State {
    /// Enqueues a message. If the end is closed, returns it, to be dropped after the lock is released, because its ends may take such locks.
    fn accept(&mut self, message: Delivery) -> Option<Delivery> {
        if self.is_closed {
            return Some(message);
        }
        self.messages.push_back(message);
        self.announce();
        None
    }

    /// Whether the first message can be delivered.
    fn is_ready(&self) -> bool {
        self.receives || matches!(self.messages.front(), Some(Delivery::Closed))
    }

    /// Posts tokens to the agent, as many as there are messages, if the script listens.
    fn announce(&mut self) {
        if !self.is_ready() {
            return;
        }
        let Some(place) = &self.place else { return };
        while self.tokens < self.messages.len() {
            self.tokens += 1;
            place.arrivals.post(Arrival::AtPort(place.id));
        }
    }
}

#[cfg(test)]
mod tests;
