//! Plays a program: agents that run its scripts, beside the model, and a comparison after each step.
//!
//! All agents live on this thread, so that nothing happens at the same time and there is one right outcome. Only when a
//! script is about to block, another thread notifies it (`agent`).

use std::fmt::Debug;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use waitword_core::notify_many;
use waitword_quickjs::{JsAgent, SharedBlock};

use super::agent;
use super::model::Model;
use super::program::{Buffer, HORIZON, Memory, Program, Step};
use super::script;

/// Plays a program to its end.
///
/// # Panics
/// When what can be observed is not what the standard says.
pub(crate) fn play(program: &Program) {
    let mut player = Player::new(program);
    for step in &program.steps {
        player.step(step);
    }
    player.finish();
}

struct Player<'p> {
    model: Model<'p>,
    /// `None` for those that have ended.
    agents: Vec<Option<Rc<JsAgent>>>,
    blocks: Vec<Option<SharedBlock>>,
    /// How many were notified so that a script did not block.
    woken: Arc<AtomicU64>,
    started: Instant,
    /// What was played so far: the report of a failure.
    story: String,
}

impl<'p> Player<'p> {
    fn new(program: &'p Program) -> Self {
        let block = |buffer: &Buffer| match buffer.memory {
            Memory::Shared => Some(SharedBlock::new(buffer.len).unwrap()),
            Memory::Growable { max } => Some(SharedBlock::growable(buffer.len, max).unwrap()),
            Memory::Fixed | Memory::Immutable | Memory::Resizable { .. } => None,
        };
        let blocks: Vec<_> = program.buffers.iter().map(block).collect();
        let woken = Arc::new(AtomicU64::new(0));
        let agent = |&can_block: &bool| Some(agent::agent(program, can_block, &blocks, &woken));
        let agents = program.agents.iter().map(agent).collect();
        let story = format!("// Each agent begins with\n{}\n", script::world(program));
        Self { model: Model::new(program), agents, blocks, woken, started: Instant::now(), story }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Script { agent, ref acts } if self.model.is_alive(agent) => {
                let source = script::script(acts);
                self.note(&format!("agent {agent}: {source}"));
                let observed = self.run(agent, &source);
                self.model.script(agent, acts);
                self.compare(agent, &observed, false);
                self.same("woken", self.woken.load(SeqCst), self.model.woken);
            }
            Step::Turn { agent } if self.model.is_alive(agent) => self.turn(agent, false),
            Step::Expire { agent } if self.model.is_alive(agent) => {
                self.turn(agent, false);
                self.note(&format!("the deadlines of agent {agent}"));
                self.js(agent).expire_due(self.started + Duration::from_millis(HORIZON as u64));
                self.model.expire(agent);
                // The order of deadlines is the clock's.
                self.turn(agent, true);
            }
            Step::End { agent } => {
                self.note(&format!("the end of agent {agent}"));
                self.agents[agent] = None;
                self.model.end(agent);
            }
            Step::Notify { buffer, byte_index, count } => self.notify(buffer, byte_index, count),
            Step::Script { .. } | Step::Turn { .. } | Step::Expire { .. } => {}
        }
        for agent in 0..self.agents.len() {
            if let Some(js) = &self.agents[agent] {
                self.same("pending", js.pending().len(), self.model.pending(agent));
            }
        }
    }

    /// Everybody's last jobs, what is in the memory, and the sums.
    fn finish(mut self) {
        for agent in 0..self.agents.len() {
            if self.model.is_alive(agent) {
                self.step(&Step::Expire { agent });
                self.note(&format!("the memory as agent {agent} sees it"));
                let observed = self.run(agent, "$.dump();");
                let predicted = self.model.dump(agent);
                self.same("the memory", observed, predicted);
            }
        }
        // The steps have shown that both are what the scripts have seen.
        self.same("the sum of all notifies, and the waits that were ok", self.model.notified, self.model.oks);
    }

    fn notify(&mut self, buffer: usize, byte_index: usize, count: usize) {
        self.note(&format!("Rust notifies {count} at byte {byte_index} of buffer {buffer}"));
        let word = self.blocks[buffer].as_ref().and_then(|block| block.i32(byte_index).ok());
        let observed = word.map(|word| notify_many(word, count) as u64);
        let predicted = self.model.notify_from_rust(buffer, byte_index, count);
        self.same("notified from Rust", observed, predicted);
    }

    /// The agent's jobs, as a host runs them.
    fn turn(&mut self, agent: usize, is_unordered: bool) {
        self.note(&format!("the jobs of agent {agent}"));
        let js = self.js(agent);
        js.run_microtasks().unwrap();
        while js.settle_one().unwrap() {
            js.run_microtasks().unwrap();
        }
        let observed = self.run(agent, "$.take();");
        self.model.turn(agent);
        self.compare(agent, &observed, is_unordered);
    }

    fn compare(&mut self, agent: usize, observed: &str, is_unordered: bool) {
        let mut texts = [observed.to_owned(), self.model.take_log(agent)];
        if is_unordered {
            texts = texts.map(|text| {
                let mut words: Vec<_> = text.split_whitespace().collect();
                words.sort_unstable();
                words.join(" ")
            });
        }
        let [observed, predicted] = texts;
        self.same("what the agent observed, and what it should have", &observed, &predicted);
        self.note(&format!("  // {observed}"));
    }

    fn run(&self, agent: usize, source: &str) -> String {
        agent::run(self.js(agent), source)
            .unwrap_or_else(|error| panic!("agent {agent}: {error}\n{}", self.story))
    }

    #[track_caller]
    fn same<T: Debug + PartialEq>(&self, what: &str, observed: T, predicted: T) {
        assert_eq!(observed, predicted, "{what}\n{}", self.story);
    }

    fn js(&self, agent: usize) -> &JsAgent {
        self.agents[agent].as_ref().expect("the agent is alive")
    }

    fn note(&mut self, line: &str) {
        self.story += line;
        self.story.push('\n');
    }
}
