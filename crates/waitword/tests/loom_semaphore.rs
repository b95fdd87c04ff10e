//! Model checks of the semaphore: every interleaving, up to the preemption bound.
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release -p waitword --test loom_semaphore`
#![cfg(loom)]

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use loom::sync::Arc;
use loom::thread;
use waitword::Semaphore;

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// One for whom permits are kept gives up, and calls the next: there is none yet, and when there is, no permits are left.
/// It must be called when there are some again.
#[test]
fn permits_are_forgotten_while_somebody_is_called_to_them() {
    let mut builder = loom::model::Builder::new();
    // Overridden by LOOM_MAX_PREEMPTIONS.
    builder.preemption_bound = builder.preemption_bound.or(Some(2));
    builder.check(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let mut wants_many = Box::pin(semaphore.acquire_many_async(2));
        assert!(poll(wants_many.as_mut()).is_pending());
        semaphore.add_permits(1);
        // Called, and too few: kept from now on.
        assert!(poll(wants_many.as_mut()).is_pending());
        let next = {
            let semaphore = Arc::clone(&semaphore);
            thread::spawn(move || drop(semaphore.acquire().unwrap()))
        };
        let forgets = {
            let semaphore = Arc::clone(&semaphore);
            thread::spawn(move || semaphore.forget_permits(1))
        };
        drop(wants_many);
        forgets.join().unwrap();
        semaphore.add_permits(1);
        next.join().unwrap();
    });
}
