//! Seeing a program from outside, with threads of Rust in the same queue.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread;

use waitword_agents::SharedBlock;
use waitword_host::{Actor, ObservedWord, Observer, Program};

/// Byte 64.
const SCRIPT: &str = r#"const { Worker, workerData } = require("worker_threads");
const words = new Int32Array(workerData);
const takes = "Atomics.compareExchange(require('worker_threads').workerData, 16, 0, 1)";
new Worker(takes, { eval: true, workerData: words }).on("exit", () => {
  Atomics.waitAsync(words, 16, 1);
});
"#;

/// The word once it has so many waiters.
fn until(observer: &Observer, waiters: usize) -> ObservedWord {
    loop {
        let word = observer.words().into_iter().find(|word| word.waiters.len() == waiters);
        // A wait is recorded just after it has been enqueued.
        match word.filter(|word| word.waiters[0].place.is_some()) {
            Some(word) => return word,
            None => thread::yield_now(),
        }
    }
}

#[test]
fn a_lock_whose_holder_has_ended_is_seen_with_its_agents_and_threads() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("observed.js");
    std::fs::write(&path, SCRIPT).unwrap();
    let block = SharedBlock::new(128).unwrap();
    let observer = Observer::new(|| {});
    let program = Program::new(&path).share(block.clone()).observe(&observer);
    let word = block.i32(64).unwrap();
    let ended = thread::scope(|scope| {
        let program = scope.spawn(|| program.run());
        until(&observer, 1);
        let host = thread::Builder::new().name("host".into());
        let host = host.spawn_scoped(scope, || waitword_core::wait(&word, 1)).unwrap();
        let seen = until(&observer, 2);
        word.store(0, Ordering::SeqCst);
        assert_eq!(waitword_core::notify_all(&word), 2);
        assert_eq!(host.join().unwrap(), waitword_core::Outcome::Notified);

        assert_eq!((seen.block, seen.byte_index, seen.value), (block.number(), 64, 1));
        let holder = seen.holder.expect("a worker took it");
        assert_eq!(holder.agent.name.to_string(), "worker 1");
        assert!(holder.agent.ended.is_some());
        assert!(holder.place.is_some_and(|place| place.starts_with("[worker eval]:1:")));
        let [main, host] = &seen.waiters[..] else { panic!("{:?}", seen.waiters) };
        let agent = main.agent.expect("it is an agent");
        assert_eq!((agent.name.to_string().as_str(), agent.is_blocked, agent.ended), ("main", false, None));
        assert!(main.place.as_ref().is_some_and(|place| place.contains("observed.js:5:")), "{main:?}");
        assert_eq!(main.is_timed, Some(false));
        assert_eq!((host.agent, host.place.as_deref()), (None, None));
        assert!(matches!(&host.seen.actor, Actor::Thread(thread) if thread.name() == Some("host")));
        program.join().unwrap()
    });
    assert_eq!(ended.exit_code, 0, "{ended:?}");
    assert!(observer.words().iter().all(|word| word.address != block.id() + 64));
}
