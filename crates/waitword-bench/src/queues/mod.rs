//! The contenders: queues of async waiters behind one trait.
//!
//! Some find the queue of a word by its address or key, the others are a queue and are given one per word
//! ([`PerWord`]): those need no look-up, which a caller with a key and no queue would have to add.

mod bare_list;
mod event_listener;
mod futures_intrusive;
mod hand_made;
mod maitake;
mod queue;
#[cfg(test)]
mod tests;
mod tokio;
mod waitword;

pub(crate) use bare_list::BareList;
pub(crate) use event_listener::EventListener;
pub(crate) use futures_intrusive::FuturesIntrusive;
pub(crate) use hand_made::HandMade;
pub(crate) use maitake::{MaitakeMap, MaitakeQueue};
pub(crate) use queue::{PerWord, Queue, Queues};
pub(crate) use tokio::TokioNotify;
pub(crate) use waitword::Waitword;
