//! What an observed agent records: its waits and its operations on words, each with the line of the script.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use waitword_agents::observe::{Change, Deed};
use waitword_agents::{AgentId, SharedBlock, Timeout, WaitId};
use waitword_quickjs::{Exception, JsAgent, Realm, WordObserver, place_in_frame};

use crate::agent_name::AgentName;
use crate::observer::{Observer, Record, StepWord, Wait};
use crate::timeline::{ObservedStep, StepKind};

/// The recorder of one agent. Dropping it records that the agent has ended.
pub(crate) struct Recorder {
    observer: Observer,
    agent: AgentId,
    record: Arc<Record>,
    /// A realm that no script can reach, so that reading the stack in it runs no script.
    realm: Realm,
}

impl Recorder {
    /// # Errors
    /// If the engine runs out of memory.
    pub(crate) fn new(observer: &Observer, name: AgentName, js: &JsAgent) -> Result<Rc<Self>, Exception> {
        let realm = js.realm().beyond_memory_limit(|| js.realm().sibling())?;
        let agent = js.handle();
        let record = observer.enter(agent.id(), name, agent.inbox());
        Ok(Rc::new(Self { observer: observer.clone(), agent: agent.id(), record, realm }))
    }

    /// Records that the agent may block now.
    pub(crate) fn blocks(&self, block: &SharedBlock, byte_index: usize, timeout: Timeout) {
        let place = self.place();
        let (begun, word) = (Instant::now(), word(block, byte_index));
        let wait = Wait { begun, place: place.clone(), is_timed: timeout != Timeout::Never, word };
        self.record.state().blocked = Some(wait);
        self.step(begun, word, StepKind::Waits, place);
    }

    /// Records that the agent runs again.
    pub(crate) fn runs(&self) {
        let wait = self.record.state().blocked.take();
        self.over(wait);
    }

    fn over(&self, wait: Option<Wait>) {
        if let Some(wait) = wait {
            self.step(Instant::now(), wait.word, StepKind::Runs { since: wait.begun }, None);
        }
    }

    fn step(&self, at: Instant, word: StepWord, kind: StepKind, place: Option<Arc<str>>) {
        let (agent, StepWord { block, byte_index, address }) = (self.record.name, word);
        self.observer.add_step(ObservedStep { at, agent, block, byte_index, address, kind, place });
    }

    fn deed(&self, begun: Instant) -> Deed {
        let done = Instant::now();
        Deed { agent: self.agent, place: self.place(), begun, done }
    }

    /// The line that called into the file whose code is running. A lock is often implemented in a file of its own, and readers want the
    /// line that uses it. For a script in a single file, it is the line that is running.
    fn place(&self) -> Option<Arc<str>> {
        let stack = self.realm.beyond_memory_limit(|| {
            let error = self.realm.error("");
            self.realm.to_string(&self.realm.get(error.value(), "stack")?)
        });
        let stack = stack.ok()?;
        let mut frames =
            stack.lines().filter_map(place_in_frame).filter(|(file, ..)| !file.starts_with("waitword:"));
        let innermost = frames.next()?;
        let (file, line, column) = frames.find(|(file, ..)| *file != innermost.0).unwrap_or(innermost);
        Some(format!("{file}:{line}:{}", column.unwrap_or(1)).into())
    }
}

fn word(block: &SharedBlock, byte_index: usize) -> StepWord {
    StepWord { block: block.number(), byte_index, address: block.id() + byte_index }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.observer.leave(self.agent);
    }
}

impl WordObserver for Recorder {
    fn awaits(&self, id: WaitId, block: &SharedBlock, byte_index: usize, timeout: Timeout, begun: Instant) {
        let (place, word) = (self.place(), word(block, byte_index));
        let wait = Wait { begun, place: place.clone(), is_timed: timeout != Timeout::Never, word };
        self.record.state().awaited.insert(id.slot(), wait);
        self.step(begun, word, StepKind::Waits, place);
    }

    fn settled(&self, id: WaitId) {
        let wait = self.record.state().awaited.remove(&id.slot());
        self.over(wait);
    }

    fn changed(&self, block: &SharedBlock, byte_index: usize, change: Change, begun: Instant) {
        let deed = self.deed(begun);
        let word = word(block, byte_index);
        match change {
            Change::Swapped { before: 0, after } if after != 0 => {
                self.step(deed.done, word, StepKind::Takes, deed.place.clone());
            }
            Change::Swapped { after: 0, .. } | Change::Written { after: 0 } => {
                self.step(begun, word, StepKind::Releases, deed.place.clone());
            }
            Change::Swapped { .. } | Change::Written { .. } => {}
        }
        block.record_change(byte_index, change, deed);
    }

    fn notified(&self, block: &SharedBlock, byte_index: usize, woken: usize, begun: Instant) {
        let deed = self.deed(begun);
        self.step(begun, word(block, byte_index), StepKind::Notifies(woken), deed.place.clone());
        block.record_notify(byte_index, deed, woken);
    }
}
