//! The doorbell of an agent: how other agents tell an event loop that there is something to do.
//!
//! An `Atomics.waitAsync` cannot be taken back, and one that nobody is interested in any more eats a notify. So there is not one for each
//! wait, but one for each agent, on a word of its own, that is never abandoned: it ends, the agent takes a **turn**, and waits again.
//!
//! ```text
//!   agent                                    another agent
//!   ───────────────────────────────          ───────────────────────────────
//!   waitAsync(word, QUIET)
//!                                            pushes a task onto the ready stack (`ready.rs`)
//!                                            word: QUIET → RUNG; notify
//!   turn: word := QUIET
//!                                            pushes another; word: QUIET → RUNG; notify finds nobody
//!   polls what is ready
//!   waitAsync(word, QUIET): "not-equal", so it takes another turn
//! ```
//! What is pushed before the word is RUNG is seen by the turn that makes it QUIET. An agent rings itself by a microtask.
//!
//! **Where the engine has no `waitAsync`** (Firefox before 145), the ring is a message on a broadcast channel that the agent listens to;
//! the word keeps a second message from being sent before the first has come. A ringing agent opens the channel for one message: a worker
//! that blocks would never take out what it heard.

use std::cell::{Cell, OnceCell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use js_sys::Function;
use wasm_bindgen::prelude::*;

use crate::engine::{self, BroadcastChannel, Waited};

const QUIET: i32 = 0;
const RUNG: i32 = 1;

/// How long an agent takes turns without letting its event loop do something else, such as draw.
const LONGEST_BURST: Duration = Duration::from_millis(4);

/// The part that other agents know.
#[derive(Debug)]
pub(crate) struct Bell {
    word: AtomicI32,
    /// Tells the messages of one agent from those of another.
    number: u32,
    by_messages: bool,
}

static USE_MESSAGES: AtomicBool = AtomicBool::new(false);

/// Rings agents by messages, also where the engine has `Atomics.waitAsync`; for tests. Call it before the first agent is started.
#[doc(hidden)]
pub fn use_messages() {
    USE_MESSAGES.store(true, Ordering::SeqCst);
}

impl Bell {
    /// Whether it is this agent's.
    pub(crate) fn is_mine(&self) -> bool {
        DOOR.with(|door| door.get().is_some_and(|door| std::ptr::eq(door.bell, self)))
    }

    /// Has the agent take a turn, soon. Does not block.
    pub(crate) fn ring(&'static self) {
        if self.is_mine() {
            return DOOR.with(|door| door.get().expect("mine").ring());
        }
        if self.word.swap(RUNG, Ordering::SeqCst) == RUNG {
            return;
        }
        if self.by_messages {
            let channel = BroadcastChannel::new(&channel_name());
            channel.post_message(self.number.into());
            channel.close();
        } else {
            engine::notify_one(&self.word);
        }
    }
}

/// One name for all agents that share the memory, and no other.
fn channel_name() -> String {
    static SECRET: AtomicU64 = AtomicU64::new(0);
    let drawn = engine::random() | 1;
    let secret = SECRET.compare_exchange(0, drawn, Ordering::SeqCst, Ordering::SeqCst).err().unwrap_or(drawn);
    format!("waitword-{secret:x}")
}

thread_local! {
    static DOOR: OnceCell<Door> = const { OnceCell::new() };
}

/// The part that the agent alone knows.
struct Door {
    bell: &'static Bell,
    /// What a turn does: a part for each module that has something to do.
    turn: RefCell<Vec<fn()>>,
    /// Called at the end of a `waitAsync`, or for each message.
    on_ring: Function,
    /// Called for a turn that the agent has rung itself for.
    on_own_ring: Function,
    /// Whether a turn is to come for which the agent has rung itself.
    is_rung: Cell<bool>,
    /// Since when one turn follows another.
    burst: Cell<Option<Duration>>,
    _channel: Option<BroadcastChannel>,
}

/// The bell of this agent, which does `part` in its turns from now on.
pub(crate) fn with_turn(part: fn()) -> &'static Bell {
    DOOR.with(|cell| {
        let is_new = cell.get().is_none();
        let door = cell.get_or_init(|| Door::new(hang()));
        door.turn.borrow_mut().push(part);
        if is_new {
            door.listen();
        }
        door.bell
    })
}

/// A bell is there for as long as any agent may ring it: for ever.
fn hang() -> &'static Bell {
    static NUMBERS: AtomicU32 = AtomicU32::new(0);
    let by_messages = cfg!(target_feature = "atomics")
        && (USE_MESSAGES.load(Ordering::SeqCst) || !engine::has_wait_async());
    let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
    Box::leak(Box::new(Bell { word: AtomicI32::new(QUIET), number, by_messages }))
}

impl Door {
    fn new(bell: &'static Bell) -> Self {
        let with_door = |callback: fn(&Door, JsValue)| {
            let call = move |value| DOOR.with(|door| callback(door.get().expect("a door that rings"), value));
            Closure::<dyn Fn(JsValue)>::new(call).into_js_value().unchecked_into::<Function>()
        };
        let on_ring = with_door(Self::rung);
        let channel = bell.by_messages.then(|| {
            let channel = BroadcastChannel::new(&channel_name());
            channel.set_onmessage(&on_ring);
            channel
        });
        Self {
            bell,
            turn: RefCell::default(),
            on_ring,
            on_own_ring: with_door(|door, _| {
                door.is_rung.set(false);
                door.turn();
            }),
            is_rung: Cell::new(false),
            burst: Cell::new(None),
            _channel: channel,
        }
    }

    /// Another agent has rung, perhaps for another one.
    fn rung(&self, event: JsValue) {
        if self.bell.by_messages {
            let number = js_sys::Reflect::get(&event, &"data".into()).ok().and_then(|data| data.as_f64());
            if number != Some(self.bell.number.into()) {
                return;
            }
        }
        self.turn();
        self.listen();
    }

    fn turn(&self) {
        self.burst.set(self.burst.get().or_else(|| Some(engine::now())));
        self.bell.word.store(QUIET, Ordering::SeqCst);
        // Copied: a task may be the first of another module.
        let parts = self.turn.borrow().clone();
        parts.iter().for_each(|part| part());
        if !self.is_rung.get() {
            self.burst.set(None);
        }
    }

    /// Waits for the next ring. There is one `waitAsync` at a time: each comes after the last one's end.
    fn listen(&self) {
        if self.bell.by_messages || !cfg!(target_feature = "atomics") {
            return;
        }
        match engine::wait_async(&self.bell.word, QUIET, None) {
            Waited::Pending(promise) => {
                engine::then(&promise, &self.on_ring);
            }
            // Rung meanwhile.
            _ => engine::queue_microtask(&self.on_ring),
        }
    }

    /// The agent rings itself.
    fn ring(&self) {
        if self.is_rung.replace(true) {
            return;
        }
        match self.burst.get() {
            Some(start) if engine::now().saturating_sub(start) > LONGEST_BURST => {
                self.burst.set(None);
                engine::set_timeout(&self.on_own_ring, 0.0);
            }
            _ => engine::queue_microtask(&self.on_own_ring),
        }
    }
}
