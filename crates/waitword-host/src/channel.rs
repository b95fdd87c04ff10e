//! Message channels: two ends, each of them in an agent or in a message that travels to one.
//!
//! What is posted at one end waits at the other, wherever that is; it travels along when the end is transferred. The agent
//! that has an end gets for each message a *token* in its mailbox, the number under which it knows the end. So
//! its loop takes messages in the order in which they came, and ten thousand silent ports cost it nothing. A token is no
//! promise: the message may have been taken meanwhile, the port closed or sent away.
//!
//! An end in a message that waits at an end in a message ... that waits at the first end can never come out: nobody has any of
//! them. Such a circle is closed by one message, which is found and dropped when it is posted ([`End::post`]), and with it
//! all that is in it.
//!
//! Lock order: that of messages with ends, an end's lock, then that of a mailbox, then a bell's.

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

/// What comes out of a port.
pub(crate) enum Delivery {
    Message(Message),
    /// The other end is closed: nothing will ever come again.
    Closed,
}

/// One end of a channel. To drop it is to close the channel: the other end hears of it after what was posted before.
pub(crate) struct End {
    /// What waits at this end, and what waits at the other. `None` only while it is being dropped.
    sides: Option<(Arc<Side>, Arc<Side>)>,
}

/// What waits at one end.
#[derive(Default)]
struct Side(Mutex<State>);

#[derive(Default)]
struct State {
    messages: VecDeque<Delivery>,
    /// The end is gone: what is posted to it is dropped.
    is_closed: bool,
    /// The agent that has the end, if one does.
    place: Option<Place>,
    /// Where the message waits that the end is in, if it is in one.
    holder: Option<Weak<Side>>,
    /// Whether its script listens. If not, messages wait.
    receives: bool,
    /// The tokens that are under way to the agent; never more than there were messages at a time.
    tokens: usize,
}

struct Place {
    arrivals: Arc<Mailbox>,
    id: PortId,
}

/// Held while a message with ends in it is posted.
static WITH_ENDS: Mutex<()> = Mutex::new(());

/// A new channel.
pub(crate) fn channel() -> (End, End) {
    let (one, other) = (Arc::<Side>::default(), Arc::<Side>::default());
    let first = End { sides: Some((Arc::clone(&one), Arc::clone(&other))) };
    (first, End { sides: Some((other, one)) })
}

impl End {
    /// An agent has this end now, and knows it by this number.
    pub(crate) fn arrive(&self, arrivals: &Arc<Mailbox>, id: PortId) {
        let mut state = self.own().lock();
        state.place = Some(Place { arrivals: Arc::clone(arrivals), id });
        state.holder = None;
        state.announce();
    }

    /// The agent that had this end sends it away. Its tokens mean nothing from now on.
    pub(crate) fn depart(&self) {
        let mut state = self.own().lock();
        (state.place, state.receives, state.tokens) = (None, false, 0);
    }

    /// Whether messages are to be announced, or wait.
    pub(crate) fn receive(&self, receives: bool) {
        let mut state = self.own().lock();
        state.receives = receives;
        state.announce();
    }

    /// Posts to the other end. If that end is itself in the message, or in a message that waits at an end in the message,
    /// however deep, all of them are lost, and this one closed: nobody could ever take the message. (The standard has it so for
    /// the first case, and leaves the others to be collected as garbage.)
    pub(crate) fn post(&self, message: Message) {
        // A circle can be closed by two messages at a time, so those with ends are posted one by one.
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

    /// Whether this message contains, at any depth, the end that it is posted to.
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

    /// The script has closed this end while it took a message from it: what waits behind that is still delivered, and after it that the
    /// channel is closed; what is posted from now on is dropped. False if nothing waits.
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

    /// Whether the other end is gone.
    pub(crate) fn is_cut(&self) -> bool {
        self.other().lock().is_closed
    }

    /// Takes the message that a token stands for, if it is still there and still wanted.
    pub(crate) fn take_announced(&self) -> Option<Delivery> {
        let mut state = self.own().lock();
        state.tokens = state.tokens.saturating_sub(1);
        if state.is_ready() { state.messages.pop_front() } else { None }
    }

    /// Takes the first message, whether or not the script listens. That the channel is closed is left to be announced.
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
        // The next item may be `Closed`, which is announced to a port without a listener as well.
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
    /// Messages hold ends whose messages hold ends, as deep as a script likes: so this is a loop and no recursion.
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
    /// Enqueues a message, or hands it back to be dropped with the lock free: its end may take locks like this one.
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

    /// Sends the agent as many tokens as there are messages, if it wants them.
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
