//! Model checks: every interleaving (up to the preemption bound), and what the memory model allows between.
//!
//! `cargo xtask loom` runs them, and prints its command line.
#![cfg(waitword_loom)]

/// A test that is one model.
macro_rules! model {
    ($name:ident, $body:expr) => {
        #[test]
        fn $name() {
            model($body);
        }
    };
}

/// The same with that many preemptions.
macro_rules! model_within {
    ($name:ident, $preemptions:literal, $body:expr) => {
        #[test]
        fn $name() {
            model_within($preemptions, $body);
        }
    };
}

mod agents;
mod herds;
mod leaving;
mod linearizability;
mod snapshots;
mod waking;

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use loom::sync::Arc;
use loom::sync::atomic::AtomicI32;
use loom::thread::{self, JoinHandle};
use waitword_core::{At, Cancelled, Table, WaitAsync, wait_async};

type Wait<'a> = Pin<Box<WaitAsync<At<'a, AtomicI32>>>>;

struct Shared {
    table: Table,
    words: [AtomicI32; 3],
}

impl Shared {
    fn at(&self, word: usize) -> At<'_, AtomicI32> {
        self.table.at(&self.words[word])
    }

    fn wait(&self, word: usize) -> Wait<'_> {
        Box::pin(wait_async(self.at(word), 0))
    }

    /// A wait that is queued.
    fn queued(&self, word: usize) -> Wait<'_> {
        let mut wait = self.wait(word);
        assert!(poll(wait.as_mut()).is_pending());
        wait
    }
}

fn spawn<R: 'static>(shared: &Arc<Shared>, run: impl FnOnce(&Shared) -> R + 'static) -> JoinHandle<R> {
    let shared = Arc::clone(shared);
    thread::spawn(move || run(&shared))
}

fn model(body: impl Fn(&Arc<Shared>) + Sync + Send + 'static) {
    model_within(3, body);
}

/// With that many preemptions, for a model that takes too long with as many as the others.
fn model_within(preemptions: usize, body: impl Fn(&Arc<Shared>) + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    // One more for `cargo xtask loom --deep`. LOOM_MAX_PREEMPTIONS overrides both.
    let is_deep = std::env::var_os("LOOM_DEEP").is_some();
    let preemptions = preemptions + usize::from(is_deep);
    builder.preemption_bound = builder.preemption_bound.or(Some(preemptions));
    builder.check(move || {
        let words = [AtomicI32::new(0), AtomicI32::new(0), AtomicI32::new(0)];
        body(&Arc::new(Shared { table: Table::with_shards(1), words }));
    });
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Gives the wait up. Whether a notify had counted it.
fn leave(mut wait: Wait<'_>) -> bool {
    wait.as_mut().cancel() == Cancelled::AfterNotify
}
