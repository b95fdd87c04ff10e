//! The state of a history: memory, a table, inboxes, wakers, and the present waits.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Wake;
use waitword_core::time::{Duration, Instant};

use waitword_core::*;

use super::history::{AGENTS, Form, Kind, OnWake, WORDS};
use super::thread::JoinHandle;
use super::{Id, Model, State};

pub(super) struct World {
    /// `None`: the table of the process.
    pub(super) table: Option<Table>,
    pub(super) words: [AtomicI32; WORDS],
    pub(super) inboxes: [Inbox; AGENTS],
    pub(super) rings: Arc<[AtomicUsize; AGENTS]>,
    /// Not locked while a notify runs, because wakers do things to it.
    pub(super) stage: Mutex<Stage>,
}

pub(super) struct Stage {
    pub(super) model: Model,
    pub(super) waits: BTreeMap<Id, Real>,
    /// The abandoned waits. They are dropped at the end, so that nothing is leaked.
    pub(super) forgotten: BTreeMap<Id, Real>,
    /// What the last waker given to a wait does.
    pub(super) wakers: BTreeMap<Id, OnWake>,
    /// The waits that were woken in the present step.
    pub(super) woken: Vec<(Id, OnWake)>,
    pub(super) threads: usize,
}

/// A wait of the real queue.
pub(super) enum Real {
    Task(Pin<Box<WaitAsync<Place>>>),
    Timed { wait: Pin<Box<WaitAsync<Place, Until>>>, deadline: Option<Instant>, soon: bool },
    Agent { wait: Pin<Box<InboxWait<Place>>>, expected: i32 },
    Thread { blocked: Blocked, interrupt: Arc<Interrupt>, form: Form },
}

impl World {
    pub(super) fn new(shards: Option<usize>) -> Arc<Self> {
        let rings = Arc::new([const { AtomicUsize::new(0) }; AGENTS]);
        let inboxes = std::array::from_fn(|agent| {
            let rings = Arc::clone(&rings);
            Inbox::new(move || {
                rings[agent].fetch_add(1, Ordering::SeqCst);
            })
        });
        let stage = Stage {
            model: Model::new(WORDS, AGENTS),
            waits: BTreeMap::new(),
            forgotten: BTreeMap::new(),
            wakers: BTreeMap::new(),
            woken: Vec::new(),
            threads: 0,
        };
        let words = [const { AtomicI32::new(0) }; WORDS];
        Arc::new(Self {
            table: shards.map(Table::with_shards),
            words,
            inboxes,
            rings,
            stage: Mutex::new(stage),
        })
    }

    pub(super) fn table(&self) -> &Table {
        self.table.as_ref().unwrap_or_else(|| Table::global())
    }

    pub(super) fn at(self: &Arc<Self>, word: usize) -> Place {
        Place { world: Arc::clone(self), word }
    }

    pub(super) fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stage {
    pub(super) fn nth(&self, wait: usize) -> Option<Id> {
        let ids = self.waits.keys();
        let count = ids.len();
        ids.copied().nth(wait.checked_rem(count)?)
    }

    /// Whether `id` was notified, has not ended by other means since, and has a waker that notes it.
    pub(super) fn awaits_wake(&self, id: Id) -> bool {
        let real = self.waits.get(&id).or_else(|| self.forgotten.get(&id));
        let notes = matches!(real, Some(Real::Task(_) | Real::Timed { soon: false, .. }));
        notes && self.model.state(id) == State::Settled(Outcome::Notified)
    }

    pub(super) fn token(&self, id: Id) -> usize {
        match self.waits.get(&id).or_else(|| self.forgotten.get(&id)) {
            Some(Real::Agent { wait, .. }) => wait.token(),
            _ => unreachable!("only an agent's waits arrive in inboxes"),
        }
    }
}

/// What a waker wakes.
pub(super) struct ModelWaker {
    pub(super) world: Weak<World>,
    pub(super) id: Id,
    pub(super) on_wake: OnWake,
    /// Not if the timer may wake it, too.
    pub(super) logs: bool,
}

impl Wake for ModelWaker {
    fn wake(self: Arc<Self>) {
        let Some(world) = self.world.upgrade().filter(|_| self.logs) else { return };
        let mut stage = world.stage();
        stage.woken.push((self.id, self.on_wake));
        match self.on_wake {
            OnWake::Notes(_) => (),
            OnWake::Polls(other) => world.poll(&mut stage, other, OnWake::Notes(1)),
            OnWake::Cancels(other) => world.cancel(&mut stage, other),
            OnWake::Drops(other) => world.drop(&mut stage, other),
            OnWake::Waits => {
                let word = stage.model.waits[self.id].word;
                world.wait(&mut stage, word, 0, Kind::Task, false);
            }
            // Without the panic hook, which would end a fuzzer.
            OnWake::Panics => std::panic::resume_unwind(Box::new(Payload)),
        }
    }
}

/// The payload of a waker's panic. Dropping it panics, too.
struct Payload;

impl Drop for Payload {
    fn drop(&mut self) {
        std::panic::resume_unwind(Box::new(()));
    }
}

/// A word of a world, in the table of that world.
pub(super) struct Place {
    pub(super) world: Arc<World>,
    pub(super) word: usize,
}

// SAFETY: the word and the table are part of the world, which is kept alive and does not move.
#[allow(unsafe_code)]
unsafe impl Location for Place {
    type Word = AtomicI32;

    fn word(&self) -> &AtomicI32 {
        &self.world.words[self.word]
    }

    fn table(&self) -> &Table {
        self.world.table()
    }
}

/// A thread that waits. Gone only with its thread-locals, which a leak checker would take for lost.
pub(super) struct Blocked {
    pub(super) ended: Receiver<Result<Outcome, Interrupted>>,
    pub(super) thread: Option<JoinHandle<()>>,
}

impl Blocked {
    pub(super) fn receive(&self) -> Result<Outcome, Interrupted> {
        let mut received = None;
        until(|| {
            received = self.ended.try_recv().ok();
            received.is_some()
        });
        received.expect("the thread was woken")
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // If a check has failed the thread may sleep for ever.
        if !std::thread::panicking() {
            self.thread.take().into_iter().for_each(|thread| thread.join().expect("it has ended"));
        }
    }
}

/// Fails loudly instead of hanging; generous, because the machine may be busy.
const STALL_TIMEOUT: Duration = Duration::from_secs(60);

#[track_caller]
pub(super) fn until(mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < STALL_TIMEOUT, "waited for {STALL_TIMEOUT:?}");
        std::thread::yield_now();
    }
}
