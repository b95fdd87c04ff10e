//! A snapshot of this process.

use std::sync::OnceLock;
use std::thread::Thread;
use std::time::Instant;

use waitword_core::Table;
use waitword_core::observe::{self, WaiterSeen, WaiterState, WaitsFor};

use crate::model::{Access, Actor, Lock, LockKind, Site, Snapshot, State, Waiter};
use crate::names::names;
use crate::numbers::{Register, Round};
use crate::sources;

static TASKS: Register = Register::new();
static AGENTS: Register = Register::new();

/// The origin of [`Snapshot::taken`].
static ORIGIN: OnceLock<Instant> = OnceLock::new();

/// All waiters of the process's common queue, lock by lock.
///
/// Those of shared blocks with a [`Table`] of their own are among them if a [source](crate::add_source) sees them. Nothing is stopped: each queue is copied in short stays
/// under its shard's lock, some microseconds each.
///
/// ```
/// use std::sync::atomic::AtomicU32;
///
/// let word = AtomicU32::new(0);
/// let mut waiting = std::pin::pin!(waitword_core::wait_async(&word, 0));
/// # let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
/// # use std::future::Future;
/// assert!(waiting.as_mut().poll(&mut cx).is_pending());
///
/// let snapshot = waitword_observe::snapshot();
/// assert_eq!(snapshot.waiters(), 1);
/// let waiter = &snapshot.locks[0].waiters[0];
/// println!("{:?} waits at {}", waiter.actor, waiter.site.as_ref().unwrap());
/// ```
pub fn snapshot() -> Snapshot {
    let origin = *ORIGIN.get_or_init(Instant::now);
    let mut seen = Table::global().snapshot();
    let completions = sources::see(&mut seen);
    let now = Instant::now();
    let mut snapshot = Snapshot {
        taken: now - origin,
        locks: locks(seen, now),
        holders: None,
        last_polls: Vec::new(),
        ended: Vec::new(),
    };
    for complete in completions {
        complete(&mut snapshot, now);
    }
    snapshot
}

/// Groups waiters by lock. They come word by word, in the order of the queues.
fn locks(seen: Vec<WaiterSeen>, now: Instant) -> Vec<Lock> {
    let (mut tasks, mut agents) = (TASKS.round(), AGENTS.round());
    let names = names();
    let mut locks: Vec<(usize, Lock)> = Vec::new();
    for seen in seen {
        let (kind, wants) = sort(seen.waits_for);
        if locks.last().is_none_or(|(word, _)| *word != seen.word) {
            locks.push((seen.word, Lock::new(names.of(seen.word, kind))));
        }
        let Some((_, lock)) = locks.last_mut() else { continue };
        // A waiter of a condition variable says so in the queue of the mutex, too: any other waiter there knows better.
        if lock.name.kind == LockKind::Condvar && kind != LockKind::Condvar {
            lock.name = names.of(seen.word, kind);
        }
        lock.waiters.push(Waiter {
            position: seen.position,
            actor: actor(&seen, &mut tasks, &mut agents),
            wants,
            state: state(seen.state),
            site: seen.site.map(Site::from),
            age: seen.since.map(|since| now.saturating_duration_since(since)),
            timed: None,
        });
    }
    locks.into_iter().map(|(_, lock)| lock).collect()
}

/// What has the queue, and what the waiter wants of it.
fn sort(waits_for: WaitsFor) -> (LockKind, Access) {
    match waits_for {
        WaitsFor::Mutex => (LockKind::Mutex, Access::Exclusive),
        WaitsFor::Read => (LockKind::RwLock, Access::Shared),
        WaitsFor::Write => (LockKind::RwLock, Access::Exclusive),
        WaitsFor::UpgradableRead => (LockKind::RwLock, Access::Upgradable),
        WaitsFor::Semaphore => (LockKind::Semaphore, Access::Permits),
        WaitsFor::Condvar => (LockKind::Condvar, Access::Notification),
        WaitsFor::Event => (LockKind::Event, Access::Notification),
        WaitsFor::WaitGroup => (LockKind::WaitGroup, Access::Notification),
        WaitsFor::Barrier => (LockKind::Barrier, Access::Notification),
        WaitsFor::OnceLock => (LockKind::OnceLock, Access::Initialization),
        WaitsFor::AsyncLock => (LockKind::AsyncLock, Access::Exclusive),
        // A kind that this version does not know is still a word.
        _ => (LockKind::Word, Access::Notification),
    }
}

fn state(state: WaiterState) -> State {
    match state {
        WaiterState::Queued => State::Queued,
        WaiterState::Signalled => State::Signalled,
        WaiterState::Overdue => State::Overdue,
        WaiterState::Skipped => State::Skipped,
    }
}

fn actor(seen: &WaiterSeen, tasks: &mut Round<'_>, agents: &mut Round<'_>) -> Actor {
    match &seen.actor {
        observe::Actor::Thread(thread) => self::thread(thread),
        observe::Actor::Agent(agent) => Actor::Agent { number: agents.number(*agent), name: None },
        observe::Actor::Task(task) => self::task(*task, tasks),
        // So is an actor that this version does not know, of which not even the address is known.
        _ => Actor::Task { number: tasks.number(usize::MAX), name: None },
    }
}

/// By its executor's number if it was asked for that ([`identify`](crate::identify)).
fn task(identity: usize, tasks: &mut Round<'_>) -> Actor {
    if let Some(number) = observe::task_number(identity) {
        return Actor::Task { number, name: None };
    }
    // Our numbers and those of the executor must not look the same.
    let name = observe::are_tasks_identified().then(|| "not identified".to_owned());
    Actor::Task { number: tasks.number(identity), name }
}

fn thread(thread: &Thread) -> Actor {
    // The number itself is unstable; its `Debug` form, `ThreadId(3)`, is what users see in other logs.
    let shown = format!("{:?}", thread.id());
    let digits: String = shown.chars().filter(char::is_ascii_digit).collect();
    Actor::Thread { id: digits.parse().unwrap_or(0), name: thread.name().map(str::to_owned) }
}

/// Lets the process's clock begin, if it has not.
pub(crate) fn begin() {
    ORIGIN.get_or_init(Instant::now);
}
