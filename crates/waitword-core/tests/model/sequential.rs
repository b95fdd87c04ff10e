//! What the queue does without concurrency: the WaiterList of ECMA-262 for each word, and who is where.
//!
//! Everything is a list that is searched from the front. It is meant to be right at a glance, not fast; the real
//! table is driven beside it (`driver.rs`), and so are agents (`waitword-agents/tests/arrivals.rs`), and must give the same
//! answers.

use std::collections::VecDeque;
use std::task::Poll;

use waitword_core::{Cancelled, Outcome};

pub(crate) type Id = usize;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum State {
    /// Not in a list: not yet, or free for another wait.
    Idle,
    Waiting,
    /// Ended, and its owner does not know yet.
    Settled(Outcome),
    /// Ended, and its owner knows.
    Ended,
}

pub(crate) struct Wait {
    pub(crate) word: usize,
    expected: i32,
    /// The agent in whose inbox it arrives when it is settled.
    pub(crate) agent: Option<usize>,
    state: State,
    /// Whether it was notified alone, and as the last.
    pub(crate) notified: (bool, bool),
}

/// The settled waits of an agent: by a notify of its own (index 1), or by anything else (index 0).
pub(crate) type Inbox = [VecDeque<Id>; 2];

pub(crate) struct Model {
    words: Vec<i32>,
    lists: Vec<VecDeque<Id>>,
    pub(crate) waits: Vec<Wait>,
    pub(crate) inboxes: Vec<Inbox>,
}

impl Model {
    pub(crate) fn new(words: usize, agents: usize) -> Self {
        Self {
            words: vec![0; words],
            lists: vec![VecDeque::new(); words],
            waits: Vec::new(),
            inboxes: vec![Inbox::default(); agents],
        }
    }

    pub(crate) fn store(&mut self, word: usize, value: i32) {
        self.words[word] = value;
    }

    pub(crate) fn make(&mut self, word: usize, expected: i32, agent: Option<usize>) -> Id {
        self.waits.push(Wait { word, expected, agent, state: State::Idle, notified: (false, false) });
        self.waits.len() - 1
    }

    /// Compares, and appends. Returns whether it did.
    pub(crate) fn enter(&mut self, id: Id) -> bool {
        let wait = &mut self.waits[id];
        assert_eq!(wait.state, State::Idle);
        let equal = self.words[wait.word] == wait.expected;
        if equal {
            wait.state = State::Waiting;
            self.lists[wait.word].push_back(id);
        }
        equal
    }

    /// What a future says when it is polled.
    pub(crate) fn poll(&mut self, id: Id) -> Poll<Outcome> {
        match self.state(id) {
            State::Idle if self.enter(id) => Poll::Pending,
            State::Idle => Poll::Ready(self.end(id, Outcome::NotEqual)),
            State::Waiting => Poll::Pending,
            State::Settled(outcome) => Poll::Ready(self.end(id, outcome)),
            State::Ended => unreachable!("polled after its end"),
        }
    }

    /// The same, after its deadline: it does not stay.
    pub(crate) fn poll_late(&mut self, id: Id) -> Poll<Outcome> {
        if let Poll::Ready(outcome) = self.poll(id) {
            return Poll::Ready(outcome);
        }
        self.take_out(id);
        Poll::Ready(self.end(id, Outcome::TimedOut))
    }

    /// Takes the first `count` out, for the agent `by` if it is one. Returns them in order.
    pub(crate) fn notify(&mut self, word: usize, count: usize, by: Option<usize>) -> Vec<Id> {
        let list = &mut self.lists[word];
        let notified: Vec<Id> = list.drain(..count.min(list.len())).collect();
        for &id in &notified {
            self.waits[id].notified = (count == 1, false);
            self.settle(id, Outcome::Notified, by);
        }
        notified
    }

    /// Takes the one out that came last. Returns it.
    pub(crate) fn notify_last(&mut self, word: usize) -> Vec<Id> {
        let last: Vec<Id> = self.lists[word].pop_back().into_iter().collect();
        for &id in &last {
            self.waits[id].notified = (true, true);
            self.settle(id, Outcome::Notified, None);
        }
        last
    }

    /// A deadline passes, for a wait that has an inbox. Returns whether that ended it.
    pub(crate) fn expire(&mut self, id: Id) -> bool {
        let waiting = self.take_out(id);
        if waiting {
            self.settle(id, Outcome::TimedOut, None);
        }
        waiting
    }

    /// Gives the wait up: cancel, drop, interrupt, or a deadline of one without an inbox.
    pub(crate) fn cancel(&mut self, id: Id) -> Cancelled {
        let waiting = self.take_out(id);
        let before = std::mem::replace(&mut self.waits[id].state, State::Ended);
        for list in self.inboxes.iter_mut().flatten() {
            list.retain(|&settled| settled != id);
        }
        if !waiting && matches!(before, State::Settled(_)) {
            Cancelled::AfterNotify
        } else {
            Cancelled::BeforeNotify
        }
    }

    /// Takes the wait that was settled first.
    pub(crate) fn pop(&mut self, agent: usize, here: bool) -> Option<(Id, Outcome)> {
        let id = self.inboxes[agent][usize::from(here)].pop_front()?;
        let before = std::mem::replace(&mut self.waits[id].state, State::Idle);
        let State::Settled(outcome) = before else { unreachable!("{before:?} in an inbox") };
        Some((id, outcome))
    }

    pub(crate) fn waiters(&self, word: usize) -> usize {
        self.lists[word].len()
    }

    pub(crate) fn state(&self, id: Id) -> State {
        self.waits[id].state
    }

    fn settle(&mut self, id: Id, outcome: Outcome, by: Option<usize>) {
        let wait = &mut self.waits[id];
        wait.state = State::Settled(outcome);
        if let Some(agent) = wait.agent {
            self.inboxes[agent][usize::from(by == Some(agent))].push_back(id);
        }
    }

    fn end(&mut self, id: Id, outcome: Outcome) -> Outcome {
        self.waits[id].state = State::Ended;
        outcome
    }

    fn take_out(&mut self, id: Id) -> bool {
        let list = &mut self.lists[self.waits[id].word];
        let place = list.iter().position(|&waiting| waiting == id);
        place.is_some_and(|place| list.remove(place).is_some())
    }
}
