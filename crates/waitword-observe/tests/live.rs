//! Snapshots of this process.

#[path = "common/mod.rs"]
mod common;

use std::any::type_name;
use std::panic;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Wake, Waker};
use std::thread;
use std::time::Duration;

use common::{address_of, poll, waker};
use waitword::{Mutex, RwLock};
use waitword_core::{notify_all, wait, wait_async};
use waitword_observe::{
    Actor, Finding, Lock, LockKind, Seen, Snapshot, State, add_source, enable, name, report, snapshot,
};

fn lock_at(word: &AtomicU32) -> Option<Lock> {
    snapshot().locks.into_iter().find(|lock| lock.name.address.0 == address_of(word))
}

fn until_queued(word: &AtomicU32, waiters: usize) -> Lock {
    loop {
        match lock_at(word) {
            Some(lock) if lock.waiters.len() == waiters => return lock,
            _ => thread::yield_now(),
        }
    }
}

/// Notifies when it is dropped: an assertion that fails in a scope must not leave the scope's threads waiting.
struct NotifiesAll<'a>(&'a AtomicU32);

impl Drop for NotifiesAll<'_> {
    fn drop(&mut self) {
        notify_all(self.0);
    }
}

#[test]
fn threads_and_tasks_of_one_word_are_one_lock_in_order() {
    enable();
    let word = AtomicU32::new(0);
    let _name = name(&word, "ready");
    let line = line!() + 1;
    let mut task = pin!(wait_async(&word, 0));
    assert!(poll(task.as_mut(), Waker::noop()).is_pending());
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("alpha".into());
        let started = thread.spawn_scoped(scope, || wait(&word, 0)).unwrap();
        let _notifies = NotifiesAll(&word);
        let lock = until_queued(&word, 2);
        assert_eq!(lock.name.kind, LockKind::Word);
        assert_eq!(lock.name.name.as_deref(), Some("ready"));
        assert_eq!(lock.name.type_name.as_deref(), Some(type_name::<AtomicU32>()));
        let [first, second] = &lock.waiters[..] else { panic!("{lock:?}") };
        assert!(matches!(first.actor, Actor::Task { name: None, .. }), "{first:?}");
        let site = first.site.as_ref().unwrap();
        assert_eq!((site.file.as_ref(), site.line), (file!(), line));
        let id = format!("{:?}", started.thread().id());
        let Actor::Thread { id: number, name } = &second.actor else { panic!("{second:?}") };
        assert_eq!((format!("ThreadId({number})"), name.as_deref()), (id, Some("alpha")));
        assert_eq!((first.state, second.state), (State::Queued, State::Queued));
        assert!(first.age >= second.age && second.age.is_some(), "{lock:?}");

        // The next snapshot says the same of the same.
        let now = snapshot();
        thread::yield_now();
        let again = snapshot();
        let of = |lock: &&Lock| lock.name == until_queued(&word, 2).name;
        let both = again.unchanged_since(&now);
        assert_eq!(both.locks.iter().find(of).map(|lock| lock.waiters.len()), Some(2));
        assert_eq!(both.locks.iter().find(of).map(|lock| &lock.waiters[0].actor), Some(&first.actor));
    });
    assert_eq!(lock_at(&word), None);
}

/// A task that began to wait after the outer one had looked at its queue, and was seen by the one within, stays the same. A further one is taken
/// on the thread of the outer one, while that is made: the registers of numbers must be free.
#[test]
fn a_source_may_take_snapshots_itself_and_tasks_stay_the_same_while_they_overlap() {
    static WORD: AtomicU32 = AtomicU32::new(0);
    let (to_us, taken) = mpsc::channel();
    let is_first = AtomicBool::new(true);
    let source = add_source(move || {
        let (to_us, is_first) = (to_us.clone(), is_first.swap(false, Ordering::Relaxed));
        let seen = is_first.then(|| {
            let mut task = Box::pin(wait_async(&WORD, 0));
            assert!(poll(task.as_mut(), &waker()).is_pending());
            (task, lock_at(&WORD).unwrap())
        });
        let complete = move |_: &mut Snapshot, _| {
            if let Some(seen) = seen {
                snapshot();
                to_us.send(seen).unwrap();
            }
        };
        Seen { waiters: Vec::new(), complete: Box::new(complete) }
    });
    let outer = thread::spawn(snapshot);
    let (task, seen) = taken.recv_timeout(Duration::from_secs(60)).expect("the inner snapshots end");
    assert_eq!(lock_at(&WORD).unwrap().waiters[0].actor, seen.waiters[0].actor);
    drop((source, task));
    outer.join().unwrap();
}

/// A waker, and with it the thread that notifies, may take a snapshot; it holds no lock of the queue then.
#[test]
fn a_report_can_be_made_in_a_waker() {
    struct Looks(mpsc::Sender<usize>);
    impl Wake for Looks {
        fn wake(self: Arc<Self>) {
            self.0.send(report().to_string().len()).unwrap();
        }
    }
    let word = AtomicU32::new(0);
    let (sender, receiver) = mpsc::channel();
    let waker = Waker::from(Arc::new(Looks(sender)));
    let mut task = pin!(wait_async(&word, 0));
    assert!(poll(task.as_mut(), &waker).is_pending());
    assert_eq!(notify_all(&word), 1);
    assert!(receiver.recv().unwrap() > 0);
}

#[test]
fn a_report_can_be_made_in_a_panic_hook() {
    static SEEN: AtomicU32 = AtomicU32::new(0);
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if thread::current().name() == Some("panics") {
            SEEN.store(report().to_string().len() as u32, Ordering::SeqCst);
        } else {
            before(info);
        }
    }));
    let panics = thread::Builder::new().name("panics".into()).spawn(|| panic!("on purpose")).unwrap();
    assert!(panics.join().is_err());
    assert!(SEEN.load(Ordering::SeqCst) > 0);
}

/// Each queue is seen from its head without a gap while it changes, and waiters that come and go are no faults.
#[test]
fn locks_that_are_in_use_have_whole_queues_and_no_faults() {
    enable();
    let (mutex, rwlock) = (Mutex::new(0_u64), RwLock::new(0_u64));
    let _names = (name(&mutex, "in use"), name(&rwlock, "in use"));
    let ends = AtomicU32::new(0);
    let mut seen = 0;
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while ends.load(Ordering::Relaxed) == 0 {
                    let mut held = mutex.lock();
                    *held += 1;
                    let read = *rwlock.read();
                    *rwlock.write() = read.wrapping_add(*held);
                    thread::yield_now();
                }
            });
        }
        // The threads end before an assertion can fail.
        let mut wrong = None;
        while seen < 200 && wrong.is_none() {
            let report = report();
            let is_whole =
                |lock: &Lock| lock.waiters.iter().enumerate().all(|(at, waiter)| waiter.position == at);
            let ours = |lock: &&Lock| lock.name.name.as_deref() == Some("in use");
            let locks: Vec<&Lock> = report.snapshot.locks.iter().filter(ours).collect();
            seen += locks.iter().map(|lock| lock.waiters.len()).sum::<usize>();
            let is_right =
                locks.iter().all(|lock| is_whole(lock)) && !report.findings.iter().any(Finding::is_fault);
            wrong = (!is_right).then_some(report);
        }
        ends.store(1, Ordering::Relaxed);
        assert_eq!(wrong, None);
    });
}
