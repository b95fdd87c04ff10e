//! Drives a table and the model through one history, step by step, and compares what can be seen of the two.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};
use waitword_core::time::{Duration, Instant};

use waitword_core::*;

use super::history::{AGENTS, Form, HOUR, History, Kind, OnWake, Step, Time, WORDS};
use super::world::{Blocked, ModelWaker, Real, Stage, World, until};
use super::{Id, Model, State, thread};

/// Threads are expensive, and few of them show how they differ from tasks.
const MOST_THREADS: usize = 3;
/// More than a notify completes in one critical section.
const CROWD: usize = 40;

/// Plays `history` on the table and on the model. Panics when the answers differ.
pub(crate) fn run(history: &History) {
    let world = World::new(history.shards);
    for step in &history.steps {
        world.take(step);
        world.compare();
    }
    world.finish();
}

impl World {
    fn take(self: &Arc<Self>, step: &Step) {
        let mut stage = self.stage();
        match *step {
            Step::Store { word, value } => {
                self.words[word].store(value, Ordering::SeqCst);
                stage.model.store(word, value);
            }
            Step::Wait { word, expected, kind, lazy } => self.wait(&mut stage, word, expected, kind, lazy),
            Step::Crowd { word } => {
                (0..CROWD).for_each(|_| self.wait(&mut stage, word, 0, Kind::Task, false));
            }
            Step::Spread => (0..WORDS).for_each(|word| self.wait(&mut stage, word, 0, Kind::Task, false)),
            Step::Poll { wait, on_wake } => self.poll(&mut stage, wait, on_wake),
            Step::Notify { word, count, by } => {
                drop(stage);
                self.notify(word, count, by);
            }
            Step::NotifyLast { word } => {
                drop(stage);
                self.notify_last(word);
            }
            Step::Pass { wait } => self.pass(&mut stage, wait),
            Step::Cancel { wait } => self.cancel(&mut stage, wait),
            Step::Drop { wait } => self.drop(&mut stage, wait),
            Step::Forget { wait } => {
                if let Some(id) = stage.nth(wait).filter(|id| !matches!(stage.waits[id], Real::Thread { .. }))
                {
                    let real = stage.waits.remove(&id).expect("found");
                    stage.forgotten.insert(id, real);
                }
            }
            Step::Again { wait } => self.again(&mut stage, wait),
            Step::Pop { agent, here } => self.pop(&mut stage, agent, here),
            Step::Glance { word, expected } => {
                let equal = self.words[word].load(Ordering::SeqCst) == expected;
                let outcome = if equal { Outcome::TimedOut } else { Outcome::NotEqual };
                let long_ago = Instant::now();
                assert_eq!(wait_for(self.at(word), expected, Duration::ZERO), outcome);
                assert_eq!(wait_until(self.at(word), expected, long_ago), outcome);
            }
        }
    }

    pub(super) fn wait(
        self: &Arc<Self>,
        stage: &mut Stage,
        word: usize,
        expected: i32,
        kind: Kind,
        lazy: bool,
    ) {
        let agent = if let Kind::Agent(agent) = kind { Some(agent) } else { None };
        if matches!(kind, Kind::Thread(_)) && stage.threads == MOST_THREADS {
            return;
        }
        let id = stage.model.make(word, expected, agent);
        match kind {
            Kind::Thread(form) => return self.block(stage, id, word, expected, form),
            Kind::Agent(agent) => {
                let mut wait = Box::pin(InboxWait::new(&self.inboxes[agent], self.at(word), id));
                assert_eq!(wait.as_mut().enqueue(expected), stage.model.enter(id));
                stage.waits.insert(id, Real::Agent { wait, expected });
                return;
            }
            Kind::Task => {
                stage.waits.insert(id, Real::Task(Box::pin(wait_async(self.at(word), expected))));
            }
            Kind::Timed(time) => {
                let deadline = time.deadline();
                let wait = Box::pin(match deadline {
                    Some(deadline) => wait_async_until(self.at(word), expected, deadline),
                    None => wait_async_for(self.at(word), expected, Duration::MAX),
                });
                stage.waits.insert(id, Real::Timed { wait, deadline, soon: time == Time::Soon });
            }
        }
        if !lazy {
            self.poll_one(stage, id, OnWake::Notes(0));
        }
    }

    /// Has a thread wait, and returns when it is in the queue.
    fn block(self: &Arc<Self>, stage: &mut Stage, id: Id, word: usize, expected: i32, form: Form) {
        let (send_interrupt, interrupt) = std::sync::mpsc::channel();
        let (send, ended) = std::sync::mpsc::channel();
        let at = self.at(word);
        let thread = thread::spawn(move || {
            let interrupt = Arc::new(Interrupt::for_current_thread());
            send_interrupt.send(Arc::clone(&interrupt)).expect("the driver is there");
            // An error here means that the driver has failed already.
            let _ = send.send(match form {
                Form::Wait => Ok(wait(at, expected)),
                Form::WaitFor => Ok(wait_for(at, expected, HOUR)),
                Form::WaitForEver => Ok(wait_for(at, expected, Duration::MAX)),
                Form::Interruptible => wait_interruptible(at, expected, None, &interrupt),
            });
        });
        let blocked = Blocked { ended, thread: Some(thread) };
        let interrupt = interrupt.recv().expect("the thread has begun");
        if stage.model.enter(id) {
            until(|| self.table().waiters(&self.words[word]) == stage.model.waiters(word));
            stage.threads += 1;
            stage.waits.insert(id, Real::Thread { blocked, interrupt, form });
        } else {
            assert_eq!(blocked.receive(), Ok(Outcome::NotEqual));
        }
    }

    pub(super) fn poll(self: &Arc<Self>, stage: &mut Stage, wait: usize, on_wake: OnWake) {
        if let Some(id) = stage.nth(wait) {
            self.poll_one(stage, id, on_wake);
        }
    }

    fn poll_one(self: &Arc<Self>, stage: &mut Stage, id: Id, on_wake: OnWake) {
        let waker = |on_wake, logs| {
            Waker::from(Arc::new(ModelWaker { world: Arc::downgrade(self), id, on_wake, logs }))
        };
        let Stage { model, waits, wakers, .. } = stage;
        let polled = match waits.get_mut(&id).expect("it is there") {
            Real::Task(wait) => {
                let polled = wait.as_mut().poll(&mut Context::from_waker(&waker(on_wake, true)));
                assert_eq!(polled, model.poll(id));
                polled
            }
            Real::Timed { wait, deadline, soon } => {
                let deadline = *deadline;
                let is_late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
                let was_late = is_late();
                let polled = wait.as_mut().poll(&mut Context::from_waker(&waker(on_wake, !*soon)));
                // If the deadline passed in between, the future may have seen it or not.
                let late = was_late || (is_late() && polled == Poll::Ready(Outcome::TimedOut));
                assert_eq!(polled, if late { model.poll_late(id) } else { model.poll(id) });
                polled
            }
            Real::Agent { .. } | Real::Thread { .. } => return,
        };
        wakers.insert(id, on_wake);
        if polled.is_ready() {
            let mut ended = waits.remove(&id).expect("it is there");
            ended.check_notified(model, id);
            // Ended and returned: nothing is left to cancel.
            match ended {
                Real::Task(mut wait) => assert_eq!(wait.as_mut().cancel(), Cancelled::BeforeNotify),
                Real::Timed { mut wait, .. } => assert_eq!(wait.as_mut().cancel(), Cancelled::BeforeNotify),
                Real::Agent { .. } | Real::Thread { .. } => unreachable!("not polled"),
            }
        }
    }

    fn notify(self: &Arc<Self>, word: usize, count: usize, by: Option<usize>) {
        let at = self.at(word);
        // The model first: the wakers ask which waiters this notify has counted.
        let counted = self.stage().model.notify(word, count, by);
        let woken = match (by, count) {
            (Some(agent), _) => self.inboxes[agent].notify(at, count),
            (None, 1) => notify_one(at),
            (None, usize::MAX) => notify_all(at),
            (None, _) => notify_many(at, count),
        };
        assert_eq!(woken, counted.len());
        self.check_notified(counted, by);
    }

    fn notify_last(self: &Arc<Self>, word: usize) {
        let counted = self.stage().model.notify_last(word);
        assert_eq!(notify_last(self.at(word)), counted.len());
        self.check_notified(counted, None);
    }

    /// The waiters that a notify has counted were woken, in order, and no others.
    fn check_notified(self: &Arc<Self>, counted: Vec<Id>, by: Option<usize>) {
        let mut stage = self.stage();
        self.check_bells(&stage, &counted, by);
        let woken = std::mem::take(&mut stage.woken);
        assert!(
            woken.iter().all(|(id, _)| counted.contains(id)),
            "woken, and not notified: {woken:?} {counted:?}"
        );
        // In order; without the waits that were dropped, cancelled or polled from the wakes.
        let woken: Vec<_> = woken.into_iter().filter(|&(id, _)| stage.awaits_wake(id)).collect();
        let expected = counted.iter().filter(|&&id| stage.awaits_wake(id)).map(|&id| (id, stage.wakers[&id]));
        assert_eq!(woken, expected.collect::<Vec<_>>());
        for id in counted {
            if let Some(Real::Thread { blocked, .. }) = stage.waits.get(&id) {
                assert_eq!(blocked.receive(), Ok(Outcome::Notified));
                stage.waits.remove(&id);
                stage.threads -= 1;
            }
        }
    }

    /// The doorbells rang of the agents whose waits another has completed.
    fn check_bells(&self, stage: &Stage, counted: &[Id], by: Option<usize>) {
        for agent in 0..AGENTS {
            let mine = |id: &&Id| stage.model.waits[**id].agent == Some(agent) && by != Some(agent);
            let may = counted.iter().any(|id| mine(&id));
            // One that was dropped from a wake, before it was settled, rings nothing.
            let must = counted.iter().filter(mine).any(|&id| stage.model.state(id) != State::Ended);
            let rang = self.rings[agent].swap(0, Ordering::SeqCst) > 0;
            assert!(rang >= must && rang <= may, "the bell of agent {agent}: {must} <= {rang} <= {may}");
        }
    }

    fn pass(self: &Arc<Self>, stage: &mut Stage, wait: usize) {
        let Some(id) = stage.nth(wait) else { return };
        match stage.waits.get_mut(&id).expect("found") {
            Real::Agent { wait, .. } => assert_eq!(wait.as_mut().expire(), stage.model.expire(id)),
            Real::Timed { deadline: Some(deadline), soon: true, .. } => {
                let deadline = *deadline;
                until(|| Instant::now() >= deadline);
                self.poll_one(stage, id, OnWake::Notes(0));
            }
            _ => (),
        }
    }

    pub(super) fn cancel(self: &Arc<Self>, stage: &mut Stage, wait: usize) {
        let Some(id) = stage.nth(wait) else { return };
        let Stage { model, waits, threads, .. } = stage;
        match waits.get_mut(&id).expect("found") {
            Real::Task(wait) => {
                let cancelled = [(); 2].map(|()| wait.as_mut().cancel());
                assert_eq!(cancelled, [model.cancel(id), Cancelled::BeforeNotify], "returned once");
            }
            Real::Timed { wait, .. } => assert_eq!(wait.as_mut().cancel(), model.cancel(id)),
            Real::Agent { .. } => return,
            Real::Thread { blocked, interrupt, form } => {
                interrupt.raise();
                if *form != Form::Interruptible {
                    // It is woken in vain, and continues to sleep. The end of the history checks that.
                    return;
                }
                let interrupted = match model.cancel(id) {
                    Cancelled::BeforeNotify | Cancelled::AfterSignal | Cancelled::AfterRequeue => {
                        Err(Interrupted)
                    }
                    Cancelled::AfterNotify => Ok(Outcome::Notified),
                };
                assert_eq!(blocked.receive(), interrupted);
                *threads -= 1;
            }
        }
        waits.remove(&id).expect("it is there").check_notified(model, id);
    }

    pub(super) fn drop(self: &Arc<Self>, stage: &mut Stage, wait: usize) {
        let Some(id) = stage.nth(wait) else { return };
        if !matches!(stage.waits[&id], Real::Thread { .. }) {
            stage.waits.remove(&id);
            let _ = stage.model.cancel(id);
        }
    }

    fn again(self: &Arc<Self>, stage: &mut Stage, wait: usize) {
        let Some(id) = stage.nth(wait) else { return };
        if let Some(Real::Agent { wait, expected }) = stage.waits.get_mut(&id)
            && stage.model.state(id) == State::Idle
        {
            assert_eq!(wait.as_mut().enqueue(*expected), stage.model.enter(id));
        }
    }

    fn pop(self: &Arc<Self>, stage: &mut Stage, agent: usize, here: bool) {
        let inbox = &self.inboxes[agent];
        let popped = if here { inbox.pop_here() } else { inbox.pop() };
        let expected = stage.model.pop(agent, here);
        assert_eq!(popped, expected.map(|(id, outcome)| (stage.token(id), outcome)));
    }

    /// What can be seen at any time.
    fn compare(&self) {
        let stage = self.stage();
        for (index, word) in self.words.iter().enumerate() {
            assert_eq!(self.table().waiters(word), stage.model.waiters(index), "waiters on word {index}");
        }
        for (agent, inbox) in self.inboxes.iter().enumerate() {
            let empty = stage.model.inboxes[agent].iter().all(|list| list.is_empty());
            assert_eq!(inbox.is_empty(), empty, "inbox of agent {agent}");
            assert_eq!(self.rings[agent].load(Ordering::SeqCst), 0, "the bell of agent {agent}");
        }
        for (&id, real) in &stage.waits {
            let is_waiting = match real {
                Real::Task(wait) => wait.is_waiting(),
                Real::Timed { wait, .. } => wait.is_waiting(),
                Real::Agent { .. } | Real::Thread { .. } => continue,
            };
            assert_eq!(is_waiting, matches!(stage.model.state(id), State::Waiting | State::Settled(_)));
        }
        assert_eq!(stage.woken, [], "woken outside a notify");
    }

    /// Notifies all waiters, checks how each wait ended, and that nothing is left.
    fn finish(self: &Arc<Self>) {
        for word in 0..WORDS {
            self.notify(word, usize::MAX, None);
            self.compare();
        }
        let mut stage = self.stage();
        for agent in 0..AGENTS {
            for here in [false, true] {
                while !stage.model.inboxes[agent][usize::from(here)].is_empty() {
                    self.pop(&mut stage, agent, here);
                }
                self.pop(&mut stage, agent, here);
            }
        }
        let notified: Vec<Id> = stage.waits.keys().copied().collect();
        for id in notified {
            // The lazy futures enqueue only now.
            self.poll_one(&mut stage, id, OnWake::Notes(1));
        }
        let left = (std::mem::take(&mut stage.waits), std::mem::take(&mut stage.forgotten));
        std::mem::drop(stage);
        std::mem::drop(left);
        assert!(self.words.iter().all(|word| self.table().waiters(word) == 0));
        // The timer's thread may be about to wake a waiter, and a thread about to end.
        until(|| Arc::strong_count(self) == 1);
        until(|| Arc::weak_count(self) == 0);
    }
}

impl Real {
    /// It has ended, and knows by which kind of notify, if it was one.
    fn check_notified(&mut self, model: &Model, id: Id) {
        let notified = match self {
            Self::Task(wait) => (wait.as_mut().was_notified_alone(), wait.as_mut().was_notified_last()),
            Self::Timed { wait, .. } => {
                (wait.as_mut().was_notified_alone(), wait.as_mut().was_notified_last())
            }
            Self::Agent { .. } | Self::Thread { .. } => return,
        };
        assert_eq!(notified, model.waits[id].notified, "alone, and as the last");
    }
}
