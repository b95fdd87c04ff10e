//! Every order in which a few waiters can arrive and be notified, against the sequential model of the core: promises of two
//! agents, blocked agents, waits of 32 and of 64 bits on the same bytes; notified by either agent or by a third, after any of
//! the arrivals, so many at a time as there are or fewer.
//!
//! The suite of ECMA-262 says little about order: a queue that is last in, first out passes nearly all of it.

mod common;
#[path = "../../waitword-core/tests/model/sequential.rs"]
#[allow(dead_code)]
mod sequential;

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use waitword_agents::*;

use common::*;
use sequential::Model;

/// Where they wait.
const WORD: usize = 0;
/// The high half of the word of 64 bits: a word of its own, on which one waits all the time.
const HIGH_HALF: usize = 4;
/// The third agent, which has no promises at `WORD`.
const THIRD: usize = 2;

#[test]
fn every_order_of_three_waiters() {
    let world = World::new(3);
    let mut played = 0;
    for waiters in 1..=3 {
        each_history(waiters, Notifiers::All, &mut |history| {
            world.play(history);
            played += 1;
        });
    }
    // So that no order is left out unnoticed.
    assert_eq!(played, 11_222);
}

#[test]
fn every_order_of_four_waiters() {
    let world = World::new(4);
    each_history(4, Notifiers::InTurn, &mut |history| world.play(history));
}

/// `cargo xtask arrivals`: some twenty minutes on two busy cores
#[test]
#[ignore = "ten million histories"]
fn every_order_of_six_waiters() {
    let world = World::new(6);
    for waiters in 5..=6 {
        each_history(waiters, Notifiers::InTurn, &mut |history| world.play(history));
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive(Who, Expected),
    Notify { by: usize, count: usize },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Who {
    /// Of one of the first two agents.
    Promise(usize),
    /// An agent with a thread of its own.
    Blocked,
}

#[derive(Clone, Copy, PartialEq)]
enum Notifiers {
    /// Each notify is made by each of the three agents in turn, in histories of their own.
    All,
    /// Each is made by one of them, which depends on what was before.
    InTurn,
}

/// Visits the histories of so many waiters. The two agents with promises are alike, so only those in which the first of them
/// comes first.
fn each_history(waiters: usize, notifiers: Notifiers, visit: &mut dyn FnMut(&[Step])) {
    extend(&mut Vec::new(), waiters, 0, notifiers, visit);
}

fn extend(
    history: &mut Vec<Step>,
    to_come: usize,
    present: usize,
    notifiers: Notifiers,
    visit: &mut dyn FnMut(&[Step]),
) {
    if to_come == 0 {
        return visit(history);
    }
    for who in [Who::Promise(0), Who::Promise(1), Who::Blocked] {
        if who == Who::Promise(1) && !knows_first(history) {
            continue;
        }
        for expected in [Expected::I32(0), Expected::I64(0)] {
            history.push(Step::Arrive(who, expected));
            extend(history, to_come - 1, present + 1, notifiers, visit);
            for count in 1..=present + 1 {
                for by in 0..=THIRD {
                    let turn = (history.len() + count) % (THIRD + 1);
                    let first_is_known = by != 1 || knows_first(history);
                    if (notifiers == Notifiers::InTurn && by != turn)
                        || (notifiers == Notifiers::All && !first_is_known)
                    {
                        continue;
                    }
                    history.push(Step::Notify { by, count });
                    extend(history, to_come - 1, present + 1 - count, notifiers, visit);
                    history.pop();
                }
            }
            history.pop();
        }
    }
}

/// Whether the first of the agents with promises has done anything.
fn knows_first(history: &[Step]) -> bool {
    history.iter().any(|step| matches!(step, Step::Arrive(Who::Promise(0), _) | Step::Notify { by: 0, .. }))
}

struct World {
    block: SharedBlock,
    /// Of this thread. The last one is the third.
    agents: [Agent; 3],
    blocked: Vec<Blocked>,
    on_the_high_half: WaitId,
}

/// An agent that blocks when it is asked to.
struct Blocked {
    begin: Sender<Expected>,
    ended: Receiver<Result<Outcome, WaitError>>,
}

/// What is queued, by the model's number for it.
enum Real {
    Promise(WaitId),
    /// Which of the agents that block.
    Blocked(usize),
}

impl World {
    fn new(blocked: usize) -> Self {
        let block = block();
        let agents = [(); 3].map(|()| quiet(false));
        let on_the_high_half = pending_at(&agents[THIRD], &block, HIGH_HALF);
        let blocked = (0..blocked).map(|_| Blocked::new(block.clone())).collect();
        Self { block, agents, blocked, on_the_high_half }
    }

    /// Takes agents and model through `history` and a last notify of all, and compares.
    fn play(&self, history: &[Step]) {
        let mut play = Play { world: self, model: Model::new(1, 3), queue: Vec::new(), blocked: 0, history };
        for step in history {
            match *step {
                Step::Arrive(who, expected) => play.arrive(who, expected),
                Step::Notify { by, count } => play.notify(by, count),
            }
        }
        play.notify(THIRD, usize::MAX);
        for agent in 0..=THIRD {
            play.drain(agent);
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if !thread::panicking() {
            let [.., third] = &self.agents;
            assert_eq!(notified(third, &self.block, HIGH_HALF, usize::MAX), [self.on_the_high_half]);
        }
    }
}

impl Blocked {
    fn new(block: SharedBlock) -> Self {
        let (begin, orders) = channel();
        let (end, ended) = channel();
        // Not joined: if a history fails, somebody may be blocked for ever.
        thread::spawn(move || {
            let agent = quiet(true);
            for expected in orders {
                if end.send(agent.wait(&block, WORD, expected, Timeout::Never)).is_err() {
                    break;
                }
            }
        });
        Self { begin, ended }
    }
}

struct Play<'a> {
    world: &'a World,
    model: Model,
    /// What has arrived, in that order.
    queue: Vec<Real>,
    /// How many of them block.
    blocked: usize,
    history: &'a [Step],
}

impl Play<'_> {
    fn arrive(&mut self, who: Who, expected: Expected) {
        let World { block, agents, blocked, .. } = self.world;
        let agent = if let Who::Promise(agent) = who { Some(agent) } else { None };
        let id = self.model.make(WORD, 0, agent);
        assert!(self.model.enter(id));
        self.queue.push(match who {
            Who::Promise(agent) => {
                Real::Promise(pending(&agents[agent], block, WORD, expected, Timeout::Never))
            }
            Who::Blocked => {
                let next = self.blocked;
                self.blocked += 1;
                blocked[next].begin.send(expected).unwrap();
                until(|| waiters(block, WORD) == self.model.waiters(WORD));
                Real::Blocked(next)
            }
        });
        self.compare();
    }

    fn notify(&mut self, by: usize, count: usize) {
        let World { block, agents, blocked, .. } = self.world;
        let mut settled = Vec::new();
        let woken = agents[by].notify(block, WORD, count, |wait| settled.push(wait)).unwrap();
        let counted = self.model.notify(WORD, count, Some(by));
        assert_eq!(woken, counted.len(), "{:?}", self.history);
        let mut expected = Vec::new();
        while let Some((id, outcome)) = self.model.pop(by, true) {
            expected.push(self.settled(id, outcome));
        }
        assert_eq!(settled, expected, "{:?}", self.history);
        for id in counted {
            if let Real::Blocked(thread) = self.queue[id] {
                let outcome = blocked[thread].ended.recv_timeout(Duration::from_secs(60));
                assert_eq!(outcome, Ok(Ok(Outcome::Notified)), "waiter {id} of {:?}", self.history);
            }
        }
        self.compare();
    }

    fn drain(&mut self, agent: usize) {
        let settled: Vec<_> = self.world.agents[agent].drain_settled().collect();
        let mut expected = Vec::new();
        while let Some((id, outcome)) = self.model.pop(agent, false) {
            expected.push(self.settled(id, outcome));
        }
        assert_eq!(settled, expected, "agent {agent} of {:?}", self.history);
    }

    fn settled(&self, id: usize, outcome: Outcome) -> Settled {
        match self.queue[id] {
            Real::Promise(id) => Settled { id, outcome },
            Real::Blocked(_) => panic!("the model settles a blocked wait as a promise"),
        }
    }

    fn compare(&self) {
        let World { block, agents, .. } = self.world;
        assert_eq!(waiters(block, WORD), self.model.waiters(WORD), "{:?}", self.history);
        assert_eq!(waiters(block, HIGH_HALF), 1, "{:?}", self.history);
        for (agent, inbox) in agents.iter().zip(&self.model.inboxes) {
            assert_eq!(agent.has_settled(), !inbox[0].is_empty(), "{:?}", self.history);
        }
    }
}
