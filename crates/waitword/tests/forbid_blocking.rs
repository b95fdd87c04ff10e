//! Threads that must not block: those of a whole runtime, and the closures on them that may.

use std::panic::catch_unwind;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinError, block_in_place, spawn_blocking};
use waitword::{LockError, Mutex, allow_blocking, forbid_blocking, may_block};

/// What a blocking lock says that would have to wait. It waits for a moment if it may; if not, the time is
/// not up before it has been refused, on a slow machine either.
fn refused() -> bool {
    let mutex = Mutex::new(());
    let _held = mutex.lock();
    let timeout = if may_block() { Duration::from_millis(1) } else { Duration::from_secs(30) };
    match mutex.lock_for(timeout).unwrap_err() {
        LockError::BlockingForbidden => true,
        LockError::TimedOut => false,
    }
}

/// The same where blocking is allowed.
fn allowed() -> bool {
    let _allowed = allow_blocking();
    refused()
}

/// The line of the documentation.
fn runtime() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(2)
        .on_thread_start(|| forbid_blocking().forever())
        .build()
        .unwrap()
}

fn text(panic: JoinError) -> String {
    panic.into_panic().downcast_ref::<String>().expect("a formatted text").clone()
}

#[test]
fn a_runtime_whose_workers_must_not_block() {
    let runtime = runtime();
    runtime.block_on(async {
        assert!(tokio::spawn(async { refused() }).await.unwrap());
        // More than one task, so more than the first poll of a worker.
        for _ in 0..100 {
            tokio::task::yield_now().await;
            assert!(tokio::spawn(async { refused() }).await.unwrap());
        }
        let blocks = tokio::spawn(async {
            let mutex = Mutex::new(());
            let _held = mutex.lock();
            drop(mutex.lock());
        });
        let panic = text(blocks.await.unwrap_err());
        assert!(panic.contains("lock_async"), "{panic}");
    });
    // Dropped with its threads, which count nothing back.
    drop(runtime);
    assert!(!refused());
}

/// The runtime calls the hook on all threads that it starts, and does not say for what.
#[test]
fn its_blocking_closures_say_that_they_may_block() {
    runtime().block_on(async {
        assert!(spawn_blocking(refused).await.unwrap(), "forbidden by the hook");
        assert!(!spawn_blocking(allowed).await.unwrap());
        assert!(spawn_blocking(refused).await.unwrap(), "forbidden again");
        let in_place = tokio::spawn(async { block_in_place(|| (refused(), allowed())) });
        assert_eq!(in_place.await.unwrap(), (true, false));
        assert!(tokio::spawn(async { refused() }).await.unwrap());
    });
}

/// It is no thread of the runtime. The same holds for all of a `current_thread` runtime.
#[test]
fn the_thread_that_calls_block_on_forbids_it_itself() {
    runtime().block_on(async { assert!(!refused()) });
    let one = Builder::new_current_thread().on_thread_start(|| forbid_blocking().forever()).build().unwrap();
    one.block_on(async { assert!(!tokio::spawn(async { refused() }).await.unwrap()) });
    let _this_thread = forbid_blocking();
    one.block_on(async {
        assert!(tokio::spawn(async { refused() }).await.unwrap());
        assert!(!spawn_blocking(allowed).await.unwrap());
    });
}

#[test]
fn what_is_newest_holds() {
    let outer = forbid_blocking();
    {
        let _allowed = allow_blocking();
        assert!(!refused());
        let inner = forbid_blocking();
        assert!(refused());
        assert!(!allowed());
        assert!(refused());
        drop(inner);
        assert!(!refused());
    }
    assert!(refused());
    drop(outer);
    assert!(!refused());
}

#[test]
fn a_panic_leaves_it_forbidden() {
    let forbidden = forbid_blocking();
    catch_unwind(|| {
        let _allowed = allow_blocking();
        panic!("on purpose")
    })
    .unwrap_err();
    assert!(refused());
    drop(forbidden);
    assert!(!refused());
}

#[test]
fn guards_may_be_dropped_in_any_order() {
    let allows = allow_blocking();
    let forbids = forbid_blocking();
    drop(allows);
    assert!(refused());
    let allows = allow_blocking();
    drop(forbids);
    assert!(!refused());
    drop(allows);
    assert!(!refused() && may_block());

    let (one, two) = (forbid_blocking(), forbid_blocking());
    let allows = allow_blocking();
    drop(one);
    drop(allows);
    assert!(refused(), "the other is there still");
    drop(two);
    assert!(!refused());
}

/// Where nothing can be awaited, the panic says what else to do.
#[test]
fn a_destructor_that_would_block_gets_advice_that_it_can_follow() {
    struct Logs<'a>(&'a Mutex<Vec<&'static str>>, bool);

    impl Drop for Logs<'_> {
        fn drop(&mut self) {
            let _allowed = self.1.then(allow_blocking);
            self.0.lock().push("dropped");
        }
    }

    let log = Mutex::new(Vec::new());
    let _must_not = forbid_blocking();
    let held = log.lock();
    let panic = catch_unwind(std::panic::AssertUnwindSafe(|| drop(Logs(&log, false)))).unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    for advice in ["`lock_async`", "destructor", "`try_`", "`allow_blocking`"] {
        assert!(text.contains(advice), "{advice} is missing in: {text}");
    }
    std::thread::scope(|scope| {
        let dropped = scope.spawn(|| {
            let _must_not = forbid_blocking();
            drop(Logs(&log, true));
        });
        drop(held);
        dropped.join().unwrap();
    });
    assert_eq!(log.into_inner(), ["dropped"]);
}

#[test]
fn for_ever_is_until_the_thread_ends() {
    std::thread::spawn(|| {
        forbid_blocking().forever();
        drop(forbid_blocking());
        assert!(refused());
    })
    .join()
    .unwrap();
    assert!(!refused());
}
