//! What a program does by ECMA-262: its algorithms on plain data, one step at a time, and the text of what can be observed.
//!
//! The standard leaves open in which order the jobs of several agents run, and when a deadline comes. Here both are steps of
//! the program, so there is one right text.

mod atomics;
mod coerce;
mod memory;
mod waiters;

use super::program::{
    Act, Argument, Call, Element, Function, Modify, Primitive, Program, REALMS, Shape, TEXTS, Target, View,
};
use memory::Block;
use waiters::WaiterLists;

/// The program's world.
pub(super) struct Model<'p> {
    program: &'p Program,
    /// The shared ones among the program's buffers; the others are their agents'.
    shared: Vec<Option<Block>>,
    agents: Vec<Agent>,
    lists: WaiterLists,
    /// The sum of what all notifies returned.
    pub(super) notified: u64,
    /// How many waits ended with "ok", those included that an agent took with it when it ended.
    pub(super) oks: u64,
    /// How many were notified because a script was about to block.
    pub(super) woken: u64,
}

struct Agent {
    is_alive: bool,
    can_block: bool,
    /// The unshared ones among the program's buffers.
    buffers: Vec<Option<Block>>,
    /// How many objects that act were made.
    objects: u32,
    /// How many promises were handed out.
    promises: u32,
    /// Reactions of promises that are resolved.
    microtasks: Vec<Settled>,
    /// Waits that others have settled, each a job.
    inbox: Vec<Settled>,
    log: String,
}

/// A promise and its outcome.
type Settled = (u32, &'static str);

/// A completion that is not normal.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Abrupt {
    TypeError,
    RangeError,
    SyntaxError,
    /// What the object of this number throws.
    Thrown(u32),
}

type Completion<T> = Result<T, Abrupt>;

impl<'p> Model<'p> {
    pub(super) fn new(program: &'p Program) -> Self {
        let blocks = |shared: bool| {
            let of = |buffer: &super::program::Buffer| {
                (buffer.memory.is_shared() == shared).then(|| Block::new(buffer))
            };
            program.buffers.iter().map(of).collect::<Vec<_>>()
        };
        let agent = |&can_block: &bool| Agent {
            is_alive: true,
            can_block,
            buffers: blocks(false),
            objects: 0,
            promises: 0,
            microtasks: Vec::new(),
            inbox: Vec::new(),
            log: String::new(),
        };
        Self {
            program,
            shared: blocks(true),
            agents: program.agents.iter().map(agent).collect(),
            lists: WaiterLists::default(),
            notified: 0,
            oks: 0,
            woken: 0,
        }
    }

    pub(super) fn is_alive(&self, agent: usize) -> bool {
        self.agents[agent].is_alive
    }

    /// What the scripts of an agent have written since they were asked last.
    pub(super) fn take_log(&mut self, agent: usize) -> String {
        std::mem::take(&mut self.agents[agent].log)
    }

    /// How many promises of the agent are not resolved.
    pub(super) fn pending(&self, agent: usize) -> usize {
        self.lists.of_agent(agent) + self.agents[agent].inbox.len()
    }

    /// Runs the acts of a script.
    pub(super) fn script(&mut self, agent: usize, acts: &[Act]) {
        acts.iter().for_each(|act| self.act(agent, act));
    }

    /// Runs the agent's jobs: its microtasks, and after each wait that was settled elsewhere again those.
    pub(super) fn turn(&mut self, agent: usize) {
        let microtasks = std::mem::take(&mut self.agents[agent].microtasks);
        let jobs = std::mem::take(&mut self.agents[agent].inbox);
        for (promise, outcome) in microtasks.into_iter().chain(jobs) {
            self.note(agent, &format!("{promise}:{outcome}"));
            self.oks += u64::from(outcome == "ok");
        }
    }

    /// The agent is gone, and so are its waits.
    pub(super) fn end(&mut self, agent: usize) {
        self.lists.remove_agent(agent);
        let Agent { microtasks, inbox, is_alive, .. } = &mut self.agents[agent];
        *is_alive = false;
        let is_ok = |(_, outcome): &Settled| *outcome == "ok";
        self.oks += microtasks.drain(..).chain(inbox.drain(..)).filter(is_ok).count() as u64;
    }

    /// The bytes of all buffers, as the agent sees them.
    pub(super) fn dump(&mut self, agent: usize) -> String {
        let count = self.program.buffers.len();
        let text = |buffer: usize| match self.block(agent, buffer) {
            block if block.is_detached => "detached ".to_owned(),
            block => block.bytes.iter().map(|byte| format!("{byte},")).collect::<String>() + " ",
        };
        (0..count).map(text).collect()
    }

    fn act(&mut self, agent: usize, act: &Act) {
        match act {
            Act::Call(call) => self.call(agent, call),
            Act::Detach { buffer } => {
                let result = self.detach(agent, *buffer);
                self.note_completion(agent, 0, result);
            }
            Act::Resize { buffer, len } => {
                let result = self.resize(agent, *buffer, *len);
                self.note_completion(agent, 0, result);
            }
            // None of these can be observed.
            Act::CollectGarbage | Act::Patch { .. } | Act::Strip { .. } => {}
        }
    }

    fn call(&mut self, agent: usize, call: &Call) {
        let numbers: Vec<_> = call.arguments.iter().map(|argument| self.number(agent, argument)).collect();
        let arguments = Arguments { agent, target: call.target, values: &call.arguments, numbers: &numbers };
        let result = match call.function {
            Function::Wait => self.wait(&arguments),
            Function::WaitAsync => self.wait_async(&arguments),
            Function::Notify => self.notify(&arguments),
            Function::Load => self.load(&arguments),
            Function::Store => self.store(&arguments),
            Function::CompareExchange => self.compare_exchange(&arguments),
            Function::Modify(modify) => self.modify(&arguments, modify),
            Function::Grow => self.grow(&arguments),
            Function::Slice => self.slice(&arguments),
            Function::ByteLength => self.byte_length(&arguments),
            Function::Construct => self.construct(call.realm, &arguments),
        };
        self.note_completion(agent, call.realm, result);
    }

    /// An object that acts gets a number when it is made.
    fn number(&mut self, agent: usize, argument: &Argument) -> u32 {
        if matches!(argument, Argument::Primitive(_)) {
            return 0;
        }
        self.agents[agent].objects += 1;
        self.agents[agent].objects
    }

    fn note(&mut self, agent: usize, text: &str) {
        self.agents[agent].log += text;
        self.agents[agent].log.push(' ');
    }

    /// What a function of the realm came to.
    fn note_completion(&mut self, agent: usize, realm: usize, completion: Completion<String>) {
        debug_assert!(realm < REALMS);
        let text = match completion {
            Ok(value) => value,
            Err(Abrupt::TypeError) => format!("TypeError@{realm}"),
            Err(Abrupt::RangeError) => format!("RangeError@{realm}"),
            Err(Abrupt::SyntaxError) => format!("SyntaxError@{realm}"),
            Err(Abrupt::Thrown(object)) => format!("thrown{object}"),
        };
        self.note(agent, &text);
    }
}

/// The array or `this` of a call, its arguments, and the numbers of the objects among them.
struct Arguments<'a> {
    agent: usize,
    target: Target,
    values: &'a [Argument],
    numbers: &'a [u32],
}
