//! The waits of agents, whose outcomes come through an inbox.

use std::pin::Pin;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use waitword_core::*;

use super::{Shared, model, spawn};

/// A wait of an agent that is queued.
fn queued<'a>(inbox: &Inbox, shared: &'a Shared, word: usize) -> Pin<Box<InboxWait<At<'a, AtomicI32>>>> {
    let mut wait = Box::pin(InboxWait::new(inbox, shared.at(word), 1));
    assert!(wait.as_mut().enqueue(0));
    wait
}

// Whether the deadline or a notify ends the wait, it comes out of the inbox once.
model!(an_agents_deadline_and_a_notify, |shared| {
    let rings = Arc::new(AtomicUsize::new(0));
    let inbox = Inbox::new({
        let rings = Arc::clone(&rings);
        move || {
            rings.fetch_add(1, Ordering::Relaxed);
        }
    });
    let mut wait = queued(&inbox, shared, 0);
    let notifier = spawn(shared, |shared| notify_one(shared.at(0)));
    let expired = wait.as_mut().expire();
    let counted = notifier.join().unwrap();
    assert_eq!(counted, usize::from(!expired));
    assert_eq!(rings.load(Ordering::Relaxed), counted);
    let outcome = if expired { Outcome::TimedOut } else { Outcome::Notified };
    assert_eq!(inbox.pop(), Some((wait.token(), outcome)));
    assert_eq!(inbox.pop(), None);
});

// An agent dies while a notify completes its wait.
model!(an_agent_dies_while_it_is_notified, |shared| {
    let inbox = Inbox::new(|| {});
    let wait = queued(&inbox, shared, 0);
    let notifier = spawn(shared, |shared| notify_one(shared.at(0)));
    drop(wait);
    assert_eq!(inbox.pop(), None);
    drop(inbox);
    assert!(notifier.join().unwrap() <= 1);
    assert_eq!(notify_one(shared.at(0)), 0);
});

// Two agents with waits on two words of one shard, each notified by the other.
model!(two_agents_notify_each_other, |shared| {
    let mine = Inbox::new(|| {});
    let wait = queued(&mine, shared, 0);
    let other = spawn(shared, |shared| {
        let inbox = Inbox::new(|| {});
        let _wait = queued(&inbox, shared, 1);
        assert_eq!(inbox.notify(shared.at(0), 1), 1);
        usize::from(inbox.pop().is_some())
    });
    let counted = mine.notify(shared.at(1), 1);
    assert!(counted >= other.join().unwrap());
    assert_eq!(mine.pop(), Some((wait.token(), Outcome::Notified)));
});
