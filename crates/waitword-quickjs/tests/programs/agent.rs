//! One agent of a program: its realms, its world, and the thread that wakes it when it blocks.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use waitword_agents::Timeout;
use waitword_core::notify_all;
use waitword_quickjs::{JsAgent, JsAgentOptions, JsValue, SharedBlock, WaitObserver};

use super::program::{Program, REALMS, WOKEN};
use super::script;

/// An agent of the program's world. `woken` counts whom it and others were woken by when it blocked.
pub(super) fn agent(
    program: &Program,
    can_block: bool,
    blocks: &[Option<SharedBlock>],
    woken: &Arc<AtomicU64>,
) -> Rc<JsAgent> {
    let js = Rc::new(JsAgent::new(&JsAgentOptions { can_block, ..JsAgentOptions::default() }).unwrap());
    js.set_wait_observer(Waker { woken: Arc::clone(woken), rescue: RefCell::default() });
    let collector = Rc::downgrade(&js);
    js.set_function("gc", 0, move |realm, _| {
        Weak::upgrade(&collector).inspect(|js| js.runtime().gc());
        Ok(realm.undefined())
    })
    .unwrap();
    for (index, block) in blocks.iter().enumerate() {
        if let Some(block) = block {
            js.set_global(&format!("shared{index}"), block.clone()).unwrap();
        }
    }
    let mut globals = vec![js.realm().global()];
    globals.resize_with(REALMS, || js.new_realm().unwrap().global());
    js.set_global("realms", js.realm().array(&globals).unwrap()).unwrap();
    js.set_global("world", js.realm().eval("world.js", include_str!("world.js")).unwrap()).unwrap();
    js.eval("world.js", "const $ = world(realms, gc);").unwrap();
    js.eval("world.js", &script::world(program)).unwrap();
    js
}

/// Whatever a script of the agent writes as its last value.
pub(super) fn run(js: &JsAgent, source: &str) -> Result<String, String> {
    match js.eval("step.js", source) {
        Ok(JsValue::String(text)) => Ok(text),
        other => Err(format!("a script gave {other:?}")),
    }
}

/// Wakes the agent when it blocks for long: a thread waits until the agent is queued, and notifies all waiters of the word.
struct Waker {
    woken: Arc<AtomicU64>,
    rescue: RefCell<Option<Rescue>>,
}

struct Rescue {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl WaitObserver for Waker {
    fn before_wait(&self, block: &SharedBlock, byte_index: usize, timeout: Timeout) {
        if timeout < Timeout::After(Duration::from_millis(WOKEN as u64)) {
            return;
        }
        let word = block.i32(byte_index).expect("a wait is on a word");
        // Nobody else comes or goes meanwhile.
        let others = block.table().waiters(&*word);
        let is_over = Arc::new(AtomicBool::new(false));
        let (block, woken, is_back) = (block.clone(), Arc::clone(&self.woken), Arc::clone(&is_over));
        let thread = thread::spawn(move || {
            while !is_back.load(SeqCst) {
                if block.table().waiters(&*word) > others {
                    woken.fetch_add(notify_all(word) as u64, SeqCst);
                    return;
                }
                thread::yield_now();
            }
        });
        *self.rescue.borrow_mut() = Some(Rescue { is_over, thread });
    }

    fn after_wait(&self) {
        if let Some(Rescue { is_over, thread }) = self.rescue.borrow_mut().take() {
            is_over.store(true, SeqCst);
            thread.join().expect("the thread that wakes does not panic");
        }
    }
}
