//! `waitword run --observe`: the agents of the program in reports, and the report of one that hangs.

use std::borrow::Cow;
#[cfg(unix)]
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use waitword_host::{ObservedAgent, ObservedDeed, ObservedWord, Observer};
use waitword_observe::{
    Access, Actor, Address, BlockPlace, Deed, Ended, Finding, Holder, LockKind, Report, Seen, Site, Snapshot,
    add_source, report,
};

/// The report of an observed program that hangs, kept until the program ends.
#[derive(Clone, Default)]
pub(crate) struct Hang {
    report: Arc<Mutex<Option<Report>>>,
}

/// Whether the variable that [`waitword_observe::init`] reads asks for observation.
pub(crate) fn is_asked_for_by_environment() -> bool {
    std::env::var_os("WAITWORD_OBSERVE").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Adds the agents that the observer sees to all later reports of this process.
pub(crate) fn start(is_traced: bool) -> (Observer, Hang) {
    waitword_observe::enable();
    // Serves, watches and traces as the environment asks.
    waitword_observe::init();
    let hang = Hang::default();
    let keeps = hang.clone();
    let hangs = move || keeps.keep(report());
    let observer = if is_traced { Observer::with_steps(hangs) } else { Observer::new(hangs) };
    let sees = observer.clone();
    let look = move || {
        let words = sees.words();
        let waiters = words.iter().flat_map(|word| word.waiters.iter().map(|waiter| waiter.seen.clone()));
        Seen {
            waiters: waiters.collect(),
            complete: Box::new(move |snapshot: &mut Snapshot, now| {
                // The holders are known: scripts have no others than those added here.
                snapshot.holders.get_or_insert_default();
                words.iter().for_each(|word| add_word(snapshot, now, word));
            }),
        }
    };
    add_source(look).forever();
    #[cfg(unix)]
    if let Err(error) = waitword_observe::report_on_signal(signal_hook::consts::SIGUSR1) {
        let _ = writeln!(std::io::stderr().lock(), "waitword: no report on SIGUSR1: {error}");
    }
    (observer, hang)
}

impl Hang {
    /// Keeps the first report, which has the most waiters, because agents that only wait are ended one by one before the program ends.
    /// Replaces it if a wait has begun since.
    fn keep(&self, now: Report) {
        let mut kept = self.lock();
        let is_part =
            |kept: &Report| now.snapshot.unchanged_since(&kept.snapshot).waiters() == now.snapshot.waiters();
        if !kept.as_ref().is_some_and(is_part) {
            *kept = Some(now);
        }
    }

    /// The report from the time when the program was found to hang, if it has waiters.
    pub(crate) fn report(&self) -> Option<Report> {
        self.lock().clone().filter(|report| report.snapshot.waiters() > 0)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Report>> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the report contains a fault, and not only waits.
pub(crate) fn has_fault(report: &Report) -> bool {
    report.findings.iter().any(Finding::is_fault)
}

/// Adds the agents that wait on or hold a word to a snapshot.
fn add_word(snapshot: &mut Snapshot, now: Instant, word: &ObservedWord) {
    let address = Address(word.address as u64);
    let Some(lock) = snapshot.locks.iter_mut().find(|lock| lock.name.address == address) else { return };
    let deed = |deed: &ObservedDeed, woken| {
        let ago = now.saturating_duration_since(deed.done);
        Deed { actor: actor(deed.agent), site: site(deed.place.as_deref()), ago, woken }
    };
    lock.name.place = Some(BlockPlace { block: word.block, byte_index: word.byte_index as u64 });
    lock.changed = word.changed.as_ref().map(|by| deed(by, None));
    lock.notified = word.notified.as_ref().map(|(by, woken)| deed(by, Some(*woken)));
    if word.holder.is_some() {
        lock.name.kind = LockKind::AsyncLock;
    }
    let is_lock = lock.name.kind == LockKind::AsyncLock;
    for (waiter, seen) in lock.waiters.iter_mut().zip(&word.waiters) {
        if is_lock {
            waiter.wants = Access::Exclusive;
        }
        if let Some(agent) = seen.agent {
            waiter.actor = actor(agent);
            (waiter.site, waiter.timed) = (site(seen.place.as_deref()), seen.is_timed);
        }
    }
    if let Some(holder) = &word.holder {
        add_holder(snapshot, now, address, holder);
    }
}

fn add_holder(snapshot: &mut Snapshot, now: Instant, lock: Address, holder: &ObservedDeed) {
    let actor = actor(holder.agent);
    if let Some(ended) = holder.agent.ended {
        let ago = now.saturating_duration_since(ended);
        snapshot.ended.push(Ended { actor: actor.clone(), ago });
    }
    let holder = Holder {
        lock,
        kind: LockKind::AsyncLock,
        actor,
        mode: Access::Exclusive,
        site: site(holder.place.as_deref()),
        held: Some(now.saturating_duration_since(holder.done)),
        sent_away: false,
        permits: None,
        by_waker: false,
        forgotten: false,
        number: None,
    };
    snapshot.holders.get_or_insert_default().push(holder);
}

/// Parses `file:line:column`, and makes the file relative to the current directory.
pub(crate) fn site(place: Option<&str>) -> Option<Site> {
    static FOLDER: LazyLock<Option<PathBuf>> = LazyLock::new(|| std::env::current_dir().ok());
    let (rest, column) = place?.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    let inside = FOLDER.as_ref().and_then(|folder| Path::new(file).strip_prefix(folder).ok());
    let file = inside.map_or_else(|| file.into(), |file| file.to_string_lossy().into_owned());
    Some(Site { file: Cow::Owned(file), line: line.parse().ok()?, column: column.parse().ok()? })
}

/// A blocked agent can continue only by that wait. An agent that has ended is not blocked.
fn actor(agent: ObservedAgent) -> Actor {
    let (number, name) = (agent.name.thread_id().into(), agent.name.to_string());
    if agent.is_blocked {
        Actor::BlockedAgent { number, name }
    } else {
        Actor::Agent { number, name: Some(name) }
    }
}
