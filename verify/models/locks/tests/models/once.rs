//! The cells that are set once: one initialiser at a time, whose value all see, and whose turn is never lost.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use waitword::{LazyLock, OnceLock};

use super::{Seen, check, model, model_of_two, poll, queued, spawn};
use loom::future::block_on;

/// A value that was written to.
fn made() -> Seen {
    let seen = Seen::default();
    seen.add();
    seen
}

/// An initialiser that is dropped, and only then ends.
async fn never() -> Seen {
    pending().await
}

fn init(cell: &OnceLock<Seen>) -> u32 {
    cell.get_or_init(made).get()
}

model!(one_initialiser_runs_and_all_see_what_it_did, |shared: Arc<(OnceLock<Seen>, Seen)>| {
    let init = |(cell, ran): &(OnceLock<Seen>, Seen)| {
        let make = || {
            // Two at once are a race.
            ran.add();
            made()
        };
        cell.get_or_init(make).get()
    };
    let thread = spawn(&shared, init);
    let task = spawn(&shared, |(cell, ran)| {
        let make = async || {
            ran.add();
            made()
        };
        block_on(cell.get_or_init_async(make)).get()
    });
    assert_eq!(init(&shared), 1);
    assert_eq!((thread.join().unwrap(), task.join().unwrap()), (1, 1));
    assert_eq!(shared.1.get(), 1);
});

// An initialiser sees what the failed one before it did.
model_of_two!(an_initialiser_after_one_that_fails_sees_what_that_did, |shared: Arc<(
    OnceLock<Seen>,
    Seen
)>| {
    let fail = |(cell, seen): &(OnceLock<Seen>, Seen)| {
        let make = || {
            seen.add();
            Err(())
        };
        assert!(cell.get_or_try_init(make).is_err());
    };
    let other = spawn(&shared, fail);
    fail(&shared);
    other.join().unwrap();
    assert_eq!(shared.1.get(), 2);
});

// One waits for the value before there is one, and one makes it.
model_of_two!(a_dropped_initialiser_lets_the_next_one_run, |cell: Arc<OnceLock<Seen>>| {
    let turn = queued(cell.get_or_init_async(never));
    let waits = queued(cell.wait_async());
    let sets = spawn(&cell, init);
    drop(turn);
    assert_eq!((block_on(waits).get(), sets.join().unwrap()), (1, 1));
});

// The waiter that is woken first is never polled.
model_of_two!(a_task_that_is_not_polled_does_not_keep_the_turn, |cell: Arc<OnceLock<Seen>>| {
    let turn = queued(cell.get_or_init_async(never));
    let unpolled = queued(cell.get_or_init_async(async || made()));
    let other = spawn(&cell, init);
    drop(turn);
    assert_eq!(other.join().unwrap(), 1);
    drop(unpolled);
});

model_of_two!(a_waiter_for_the_value_sees_it, |cell: Arc<OnceLock<Seen>>| {
    let setter = spawn(&cell, |cell| assert!(cell.set(made()).is_ok()));
    // Not in time, or with it.
    assert!(cell.wait_for(Duration::ZERO).is_ok_and(|seen| seen.get() == 1) || cell.wait().get() == 1);
    setter.join().unwrap();
});

// Also by a check that does not wait.
model_of_two!(a_get_that_finds_the_value_sees_it, |cell: Arc<OnceLock<Seen>>| {
    let setter = spawn(&cell, |cell| assert!(cell.set(made()).is_ok()));
    assert!(cell.get().is_none_or(|seen| seen.get() == 1));
    setter.join().unwrap();
});

check!(a_lazy_value_is_made_once_for_threads_and_tasks, 2, || {
    let lazy = Arc::new(LazyLock::new(made));
    let thread = spawn(&lazy, |lazy: &LazyLock<Seen, _>| lazy.get());
    let task = spawn(&lazy, |lazy| block_on(LazyLock::force_async(lazy)).get());
    // Dropped, woken or not.
    let _ = poll(Box::pin(LazyLock::force_async(&lazy)).as_mut());
    assert_eq!((thread.join().unwrap(), task.join().unwrap()), (1, 1));
});
