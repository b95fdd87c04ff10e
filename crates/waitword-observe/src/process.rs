//! A snapshot of this process.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::Ordering;
use std::thread::Thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use waitword::observe::holders::Hold;
use waitword::observe::{self, WaiterSeen, WaiterState};
use waitword_core::observe::{begin_clock, nanos_at};
use waitword_core::time::Instant;

use crate::model::{
    Access, Actor, Address, Deed, Ended, Holder, LastPoll, Lock, LockKind, Recording, Site, Snapshot, State,
    Waiter, held_as, is_notified, sort,
};
use crate::names::names;
use crate::notifies::{LOST, last_notify};
use crate::numbers::{Register, Round};
use crate::record::{Entry, Numbered, Task, holds, is_sent, numbered, time, unrecorded};
use crate::signalled::{self, FirstSeen};
use crate::sources;
use crate::tasks::{are_tasks_identified, kept_number, task_number};

static TASKS: Register = Register::new();
static AGENTS: Register = Register::new();

/// Takes a snapshot of all waiters in the global table, lock by lock.
///
/// Waiters in other `Table`s, such as those of shared blocks, are included if a [source](crate::add_source) adds them. No thread is
/// stopped: the queues are copied in critical sections of their shards, some microseconds each.
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
    begin_clock();
    let (before_tasks, before_agents) = (TASKS.now(), AGENTS.now());
    let (mut waiters, first_seen) = signalled::waiters();
    let completions = sources::see(&mut waiters);
    let holds = holds();
    let now = Instant::now();
    let mut numbers =
        Numbers { tasks: TASKS.round(Some(before_tasks)), agents: AGENTS.round(Some(before_agents)) };
    let locks = locks(waiters, &first_seen, now, &mut numbers);
    let taken = Duration::from_nanos(nanos_at(now));
    let mut snapshot = Snapshot { taken, locks, ..Snapshot::default() };
    if let Some((began, holds)) = holds {
        let since = now.saturating_duration_since(began);
        snapshot.recording = Some(Recording { since, unrecorded: unrecorded(), lost_notifies: 0 });
        add_holders(&mut snapshot, &holds, now, &mut numbers);
        add_notifies(&mut snapshot, now);
    }
    // The functions that complete the snapshot may take another snapshot.
    drop(numbers);
    for complete in completions {
        sources::unless_it_panics(|| complete(&mut snapshot, now));
    }
    snapshot
}

fn add_holders(to: &mut Snapshot, holds: &[(u64, Entry)], now: Instant, numbers: &mut Numbers<'_>) {
    let mut last_polls: HashMap<Actor, (u64, LastPoll)> = HashMap::new();
    let (mut all, mut ended) = (Vec::with_capacity(holds.len()), BTreeMap::new());
    for (number, entry) in holds {
        let on = numbered(entry.thread);
        let holder = holder(*number, entry, on.as_ref(), now, numbers);
        let actor = holder.actor.clone();
        match (entry.task, on) {
            (None, Some(Numbered { ended: Some(at), .. })) => {
                ended.insert(actor, now.saturating_duration_since(at));
            }
            (Some(task), Some(on)) => {
                let thread = thread(&on.thread);
                let poll = LastPoll { task: actor.clone(), thread, only_there: task.is_alone };
                // An older record is of an earlier poll, or of another task whose waker this task has by now.
                let last = last_polls.entry(actor).or_insert((entry.at, poll.clone()));
                if last.0 < entry.at {
                    *last = (entry.at, poll);
                }
            }
            _ => {}
        }
        all.push(holder);
    }
    to.holders = Some(all);
    to.ended = ended.into_iter().map(|(actor, ago)| Ended { actor, ago }).collect();
    to.last_polls = last_polls.into_values().map(|(_, poll)| poll).collect();
    to.last_polls.sort_by(|one, other| one.task.cmp(&other.task));
}

/// Adds the last notify of each object that is waited for.
fn add_notifies(to: &mut Snapshot, now: Instant) {
    for lock in to.locks.iter_mut().filter(|lock| is_notified(lock.name.kind)) {
        let last = last_notify(lock.name.address.0 as usize);
        lock.notified = last.map(|(seen, at)| Deed {
            actor: match (seen.task, &seen.thread) {
                (Some(number), _) => Actor::Task { number, name: None },
                (None, Some(thread)) => self::thread(thread),
                (None, None) => Actor::Thread { id: 0, name: None },
            },
            site: Some(Site::from(seen.site)),
            ago: now.saturating_duration_since(at),
            woken: Some(seen.woken),
        });
    }
    // Read after the notifies: a notify that was displaced in between is missing above, so it must be counted here.
    if let Some(recording) = &mut to.recording {
        recording.lost_notifies = LOST.load(Ordering::Relaxed);
    }
}

/// Groups waiters by lock. They come word by word, in the order of the queues; an `RwLock` has two words, whose queues may be far apart.
fn locks(
    seen: Vec<WaiterSeen>,
    first_seen: &FirstSeen,
    now: Instant,
    numbers: &mut Numbers<'_>,
) -> Vec<Lock> {
    let names = names();
    let mut locks: Vec<Lock> = Vec::new();
    let mut rwlocks = HashMap::new();
    let (mut word, mut at) = (None, 0);
    for seen in seen {
        let (kind, wants) = sort(seen.waits_for);
        if word.replace(seen.word) != Some(seen.word) {
            let lock = observe::lock_of(seen.word, seen.waits_for);
            let mut add = || {
                locks.push(Lock::new(names.of(lock, kind)));
                locks.len() - 1
            };
            at = if kind == LockKind::RwLock { *rwlocks.entry(lock).or_insert_with(add) } else { add() };
        }
        let waiter = Waiter {
            position: seen.position,
            actor: actor(&seen.actor, numbers),
            wants,
            state: state(seen.state),
            site: seen.site.map(Site::from),
            age: seen.since.map(|since| now.saturating_duration_since(since)),
            timed: seen.timed,
            signalled: first_seen.of(&seen).map(|at| now.saturating_duration_since(at)),
        };
        match wants {
            Access::Upgrade => locks[at].upgrade = Some(waiter),
            _ => locks[at].waiters.push(waiter),
        }
    }
    locks
}

fn state(state: WaiterState) -> State {
    match state {
        WaiterState::Queued => State::Queued,
        WaiterState::Signalled => State::Signalled,
        WaiterState::Overdue => State::Overdue,
        WaiterState::Skipped => State::Skipped,
    }
}

struct Numbers<'a> {
    tasks: Round<'a>,
    agents: Round<'a>,
}

fn holder(
    number: u64,
    entry: &Entry,
    on: Option<&Numbered>,
    now: Instant,
    numbers: &mut Numbers<'_>,
) -> Holder {
    let (kind, mode) = held_as(entry.hold);
    let (actor, is_unknown) = match (entry.task, on) {
        (None, None) => (Actor::Thread { id: 0, name: None }, true),
        (None, Some(on)) => (thread(&on.thread), false),
        (Some(Task { identity, number: 0, .. }), _) => (unidentified(identity, &mut numbers.tasks), false),
        (Some(Task { identity, number, .. }), _) => {
            // Another task has the waker by now.
            let has_ended = task_number(identity).is_some_and(|now| kept_number(Some(now)) != number);
            (Actor::Task { number: number - 1, name: None }, has_ended)
        }
    };
    Holder {
        number: Some(number),
        lock: Address(entry.word as u64),
        kind,
        actor,
        by_waker: entry.task.is_some_and(|task| task.number == 0),
        mode,
        permits: (entry.hold == Hold::Permits).then_some(entry.permits as u64),
        site: Some(Site::from(entry.site)),
        held: time(entry.at).map(|since| now.saturating_duration_since(since)),
        sent_away: is_unknown || is_sent(entry),
        forgotten: entry.is_forgotten,
    }
}

fn actor(seen: &observe::Actor, numbers: &mut Numbers<'_>) -> Actor {
    let Numbers { tasks, agents } = numbers;
    match seen {
        observe::Actor::Thread(thread) => self::thread(thread),
        observe::Actor::Agent(agent) => Actor::Agent { number: agents.number(*agent), name: None },
        observe::Actor::Task(task) => self::task(*task, tasks),
        observe::Actor::Identified(number) => Actor::Task { number: *number, name: None },
        // An actor of a kind that this version does not know is shown as a task; not even its address is known.
        _ => Actor::Task { number: tasks.number(usize::MAX), name: None },
    }
}

/// A task by its executor's number, if it has one ([`identify`](crate::identify)).
pub(crate) fn task(identity: usize, tasks: &mut Round<'_>) -> Actor {
    match task_number(identity) {
        Some(number) => Actor::Task { number, name: None },
        None => unidentified(identity, tasks),
    }
}

fn unidentified(identity: usize, tasks: &mut Round<'_>) -> Actor {
    // Tells our numbers from those of the executor.
    let name = are_tasks_identified().then(|| "not identified".to_owned());
    Actor::Task { number: tasks.number(identity), name }
}

pub(crate) fn thread(thread: &Thread) -> Actor {
    // The number itself is unstable; its `Debug` form, `ThreadId(3)`, is what users see in other logs.
    let shown = format!("{:?}", thread.id());
    let digits: String = shown.chars().filter(char::is_ascii_digit).collect();
    Actor::Thread { id: digits.parse().unwrap_or(0), name: thread.name().map(str::to_owned) }
}

/// A task on its own: its number is the one that it has in snapshots.
pub(crate) fn task_actor(task: usize) -> Actor {
    self::task(task, &mut TASKS.round(None))
}

/// Numbers for tasks and agents outside of a snapshot.
pub(crate) fn more_numbers() -> (Round<'static>, Round<'static>) {
    (TASKS.round(None), AGENTS.round(None))
}

/// Returns the time since the beginning of 1970. In a page, where the standard library has no system clock, it returns zero.
pub(crate) fn since_1970() -> Duration {
    if cfg!(all(target_family = "wasm", target_os = "unknown")) {
        return Duration::ZERO;
    }
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The file name of the program, if it is known.
pub(crate) fn program() -> Option<String> {
    Some(std::env::current_exe().ok()?.file_name()?.to_string_lossy().into_owned())
}
