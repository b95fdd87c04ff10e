//! A thread that takes a snapshot once per second. It reports faults and lasting cycles to stderr and to adapters, and all cycles to
//! callbacks.

use std::collections::HashSet;
use std::fmt::Display;
use std::io::{self, Write};
use std::mem::{self, Discriminant};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use waitword_core::lock;

use crate::blame::take_slow;
use crate::finding::{Blocks, Finding, Member, MemberWait, OrderMember};
use crate::model::{Actor, Address, LockName, Site, Snapshot};
use crate::order;
use crate::process::snapshot;
use crate::report::report;
use crate::search::{LASTING, cycles, waits};
use crate::sources::unless_it_panics;
use crate::text::lasting;

const PERIOD: Duration = Duration::from_secs(1);

/// What listeners are called with.
#[derive(Debug)]
pub(super) enum Found {
    /// A fault, or a cycle.
    New(Finding),
    /// A finding that is no fault and has lasted for [`LASTING`]. For a cycle, the listeners were called before.
    Lasting(Finding),
}

type Listener = Arc<dyn Fn(&Found) + Send + Sync>;

/// What the thread does with its findings.
#[derive(Clone)]
pub(super) struct Asked {
    /// Print each once, however many callers asked for that.
    pub(super) prints: bool,
    /// Print slow holds too. Otherwise [`take_slow`] returns them.
    pub(super) prints_slow: bool,
    /// Abort the process at a certain cycle.
    pub(super) aborts: bool,
    pub(super) listeners: Vec<Listener>,
}

impl Asked {
    const NOTHING: Self = Self { prints: false, prints_slow: false, aborts: false, listeners: Vec::new() };
}

/// The thread that is running, if any: each start has a number.
struct Watch {
    last: u64,
    running: Option<u64>,
    asked: Asked,
}

static WATCH: Mutex<Watch> = Mutex::new(Watch { last: 0, running: None, asked: Asked::NOTHING });
static STOPPED: Condvar = Condvar::new();

/// Prints a fault or a lasting finding to the standard error. A cycle that may end by itself is not a fault.
fn print(found: &Found) {
    match found {
        Found::New(finding) if !finding.is_fault() => {}
        #[cfg(feature = "tracing")]
        Found::New(finding) if crate::tracing::receives_faults() => crate::tracing::emit_finding(finding),
        Found::New(finding) => say(finding),
        #[cfg(feature = "tracing")]
        Found::Lasting(finding) if crate::tracing::receives_warnings() => {
            crate::tracing::emit_lasting(finding, LASTING);
        }
        Found::Lasting(finding) => say(lasting(finding, LASTING)),
    }
}

/// Whether nothing known can end it.
fn is_deadlock(found: &Found) -> bool {
    matches!(found, Found::New(Finding::Cycle(cycle)) if cycle.is_certain())
}

/// Aborts the process, with a report of which this cycle is a part.
fn abort_for(cycle: Finding) -> ! {
    let mut report = report();
    let is_deadlock = |finding: &Finding| matches!(finding, Finding::Cycle(cycle) if cycle.is_certain());
    if !report.findings.iter().any(is_deadlock) {
        report.findings.insert(0, cycle);
    }
    let unless = "a false alarm if a borrowed guard was sent to another thread: send owned guards";
    let _ = writeln!(io::stderr().lock(), "{report}\nwaitword: aborted because of a deadlock; {unless}");
    std::process::abort()
}

/// Prints the holds that were slow since the last time.
fn print_slow() {
    let (slow, lost) = take_slow();
    for slow in slow {
        #[cfg(feature = "tracing")]
        if crate::tracing::receives_warnings() {
            crate::tracing::emit_slow(&slow);
            continue;
        }
        say(slow);
    }
    if lost > 0 {
        say(format_args!("{lost} more slow holds, without details"));
    }
}

pub(super) fn say(text: impl Display) {
    // A missing standard error is ignored.
    let _ = writeln!(io::stderr().lock(), "waitword: {text}");
}

/// Asks the thread for more, and starts it unless it runs.
pub(super) fn start(ask: impl FnOnce(&mut Asked)) -> io::Result<()> {
    let mut watch = lock(&WATCH);
    ask(&mut watch.asked);
    if watch.running.is_some() {
        return Ok(());
    }
    let number = watch.last + 1;
    thread::Builder::new().name("waitword-observe".into()).spawn(move || run(number))?;
    (watch.last, watch.running) = (number, Some(number));
    Ok(())
}

/// Ends the thread, which makes no more calls from now on.
pub(super) fn stop() {
    let mut watch = lock(&WATCH);
    watch.running = None;
    let asked = mem::replace(&mut watch.asked, Asked::NOTHING);
    drop(watch);
    // Dropping a listener is foreign code: not under the lock.
    drop(asked);
    STOPPED.notify_all();
}

fn run(number: u64) {
    let mut watcher = Watcher::default();
    loop {
        let is_running = |watch: &mut Watch| watch.running == Some(number);
        let waited = STOPPED.wait_timeout_while(lock(&WATCH), PERIOD, is_running);
        let (watch, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if watch.running != Some(number) {
            return;
        }
        let asked = watch.asked.clone();
        drop(watch);
        for found in watcher.check(snapshot()) {
            // The report that is printed before the abort contains the finding.
            let aborts = asked.aborts && is_deadlock(&found);
            if asked.prints && !aborts {
                unless_it_panics(|| print(&found));
            }
            for listener in &asked.listeners {
                unless_it_panics(|| listener(&found));
            }
            match found {
                Found::New(cycle) if aborts => abort_for(cycle),
                _ => {}
            }
        }
        if asked.prints_slow {
            unless_it_panics(print_slow);
        }
    }
}

/// Reports each fault and each cycle once, and again if it ends and comes back, or if a cycle becomes a fault or lasts.
#[derive(Default)]
struct Watcher {
    before: Option<Snapshot>,
    reported: Reported,
    lasting: Reported,
}

/// What was reported and lasts.
#[derive(Default)]
struct Reported {
    /// Findings about waits: the kind of each, whether it is a fault, and its waits. A finding is forgotten when one of its waits has ended,
    /// and not when the cycle seems to: a signalled member of a cycle is no member until it has run and found that it cannot acquire the lock.
    of_waits: Vec<(Discriminant<Finding>, bool, Vec<Wait>)>,
    /// The other findings of the last check.
    others: Vec<Identity>,
}

/// A wait: its lock, its actor and its beginning.
type Wait = (Address, Actor, i128);

impl Reported {
    /// The findings that are not reported yet. A finding that shares a wait with another of its kind is the same one in another form.
    fn new_of(&mut self, now: &Snapshot, mut found: Vec<Finding>) -> Vec<Finding> {
        if !self.of_waits.is_empty() {
            let all: HashSet<_> = now.waits().collect();
            let lasts = |(lock, actor, began): &Wait| all.contains(&(*lock, actor, *began));
            self.of_waits.retain(|(.., waits)| waits.iter().all(lasts));
        }
        let mut others = Vec::new();
        found.retain(|finding| {
            let waits = waits_of(finding, now);
            if waits.is_empty() {
                let identity = identity(finding);
                let is_new = !self.others.contains(&identity);
                others.push(identity);
                return is_new;
            }
            let (kind, is_fault) = (mem::discriminant(finding), finding.is_fault());
            let is_new = !self.of_waits.iter().any(|(known, was_fault, of)| {
                *known == kind && (*was_fault || !is_fault) && of.iter().any(|wait| waits.contains(wait))
            });
            if is_new {
                self.of_waits.push((kind, is_fault, waits));
            }
            is_new
        });
        self.others = others;
        found
    }
}

/// The waits that the finding is about: while all of them last, it is the same finding.
fn waits_of(finding: &Finding, now: &Snapshot) -> Vec<Wait> {
    let wait = |lock: &LockName, actor: &Actor, age| (lock.address, actor.clone(), now.began(age));
    match finding {
        Finding::Cycle(cycle) => {
            let wait_of = |member: &Member| {
                let MemberWait { lock, age, .. } = member.waits.as_ref()?;
                Some(wait(lock, &member.actor, *age))
            };
            cycle.members.iter().filter_map(wait_of).collect()
        }
        Finding::NeverPolled(of) => vec![wait(&of.lock, &of.actor, of.age)],
        Finding::HolderWaits(of) => vec![wait(&of.waits, &of.actor, of.age)],
        _ => Vec::new(),
    }
}

/// The locks and actors of a finding; for a potential deadlock also the places: from other lines it is another one.
type Identity = Vec<(Address, Option<Actor>, Option<[Site; 2]>)>;

impl Watcher {
    /// The faults and cycles in `now` that were not reported before, and the findings that now count as lasting.
    fn check(&mut self, now: Snapshot) -> Vec<Found> {
        let mut found = Vec::new();
        if let Some(before) = &self.before {
            found.extend(cycles(before, &now));
        }
        found.extend(waits(&now));
        found.extend(order::findings());
        let lasting = found.iter().filter(|finding| !finding.is_fault() && has_lasted(finding)).cloned();
        let lasting = self.lasting.new_of(&now, lasting.collect());
        found.retain(|finding| finding.is_fault() || matches!(finding, Finding::Cycle(_)));
        let new = self.reported.new_of(&now, found);
        self.before = Some(now);
        new.into_iter().map(Found::New).chain(lasting.into_iter().map(Found::Lasting)).collect()
    }
}

/// Whether all waits and holds of the finding have lasted for [`LASTING`].
fn has_lasted(finding: &Finding) -> bool {
    let is_old = |member: &Member| match member.blocks {
        Blocks::Holds { held, .. } => held.is_some_and(|held| held >= LASTING),
        _ => true,
    };
    match finding {
        Finding::Cycle(cycle) => cycle.since >= LASTING && cycle.members.iter().all(is_old),
        Finding::HolderWaits(_) => true,
        _ => false,
    }
}

/// The identity of a finding that is about no wait. Sorted, because a search may find the same order beginning with another member.
fn identity(finding: &Finding) -> Identity {
    let mut identity: Identity = match finding {
        Finding::PotentialDeadlock(order) => {
            let wants = |member: &OrderMember| {
                let places = [member.taken.clone(), member.site.clone()];
                (member.wants.address, Some(member.actor.clone()), Some(places))
            };
            order.members.iter().map(wants).collect()
        }
        Finding::HolderEnded(held) => vec![(held.lock.address, Some(held.actor.clone()), None)],
        _ => Vec::new(),
    };
    identity.sort();
    identity
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::PotentialDeadlock;
    use crate::model::{Access, LockKind, State, Waiter};

    /// At a given second: two locks, of which each task holds one and waits for the other in this state; and whether a signalled one has not
    /// run for a second.
    fn snapshot_at(second: u64, state: State, is_unpolled: bool) -> Snapshot {
        let task = |number: u64| serde_json::json!({"type": "task", "number": number, "name": null});
        let age = Duration::from_secs(1 + second).as_nanos() as u64;
        let lock = |at: u64| {
            serde_json::json!({
                "address": format!("{at:#x}"), "kind": "mutex", "name": null, "type_name": null,
                "waiters": [{
                    "position": 0, "actor": task(at), "wants": "exclusive", "state": state, "site": null, "age_ns": age,
                    "timed": false, "signalled_ns": is_unpolled.then_some(1_000_000_000_u64),
                }],
            })
        };
        let holder = |at: u64| {
            serde_json::json!({
                "lock": format!("{at:#x}"), "kind": "mutex", "actor": task(3 - at), "mode": "exclusive", "site": null,
                "held_ns": age, "sent_away": false,
            })
        };
        let snapshot = serde_json::json!({
            "taken_ns": Duration::from_secs(100 + second).as_nanos() as u64, "locks": [lock(1), lock(2)],
            "holders": [holder(1), holder(2)], "last_polls": [],
        });
        serde_json::from_value(snapshot).unwrap()
    }

    #[test]
    fn a_fault_is_new_once_and_again_when_it_comes_back() {
        let mut watcher = Watcher::default();
        let unpolled = |second| snapshot_at(second, State::Skipped, true);
        let free = |second| Snapshot { locks: Vec::new(), ..unpolled(second) };
        for (snapshot, new) in [(unpolled(0), 2), (unpolled(1), 0), (free(2), 0), (unpolled(3), 2)] {
            assert_eq!(watcher.check(snapshot).len(), new);
        }
    }

    /// At a given second: a thread holds a read of a lock, and waits for another one behind two writers, the first of which is in this state.
    fn recursion_at(second: u64, first: State) -> Snapshot {
        let mut snapshot = snapshot_at(second, State::Queued, false);
        snapshot.locks.truncate(1);
        snapshot.holders.iter_mut().flatten().for_each(|holder| {
            (holder.kind, holder.mode) = (LockKind::RwLock, Access::Shared);
            holder.actor = Actor::Thread { id: 1, name: None };
        });
        snapshot.holders.iter_mut().for_each(|holders| holders.truncate(1));
        let lock = &mut snapshot.locks[0];
        lock.name.kind = LockKind::RwLock;
        let waits = [
            (2, Access::Exclusive, first),
            (3, Access::Exclusive, State::Queued),
            (1, Access::Shared, State::Queued),
        ];
        lock.waiters = waits
            .into_iter()
            .enumerate()
            .map(|(position, (id, wants, state))| {
                let actor = Actor::Thread { id, name: None };
                Waiter { position, actor, wants, state, ..lock.waiters[0].clone() }
            })
            .collect();
        snapshot
    }

    /// The head of the queue is signalled now and then, and finds that it cannot have the lock. Meanwhile it is no member, or in no cycle.
    #[test]
    fn a_deadlock_is_told_once_while_its_waits_last() {
        for states in [[State::Queued, State::Signalled], [State::Signalled, State::Queued]] {
            let mut watcher = Watcher::default();
            let mut told = Vec::new();
            for second in 0..12 {
                let state = states[usize::from(second % 4 > 1)];
                told.extend(watcher.check(recursion_at(second, state)));
            }
            let [Found::New(finding)] = &told[..] else { panic!("{told:?}") };
            let text = finding.to_string().replace("\n ", "");
            assert!(finding.is_fault() && text.ends_with("; use try_read_recursive"), "{text}");
            // Another read within a read, of the same thread at the same lock.
            let mut again = |second| {
                let mut snapshot = recursion_at(second, State::Queued);
                let young = Some(Duration::from_secs(second - 11));
                snapshot.locks[0].waiters.iter_mut().for_each(|waiter| waiter.age = young);
                watcher.check(snapshot).len()
            };
            assert_eq!([12, 13, 14].map(&mut again), [0, 1, 0]);
        }
    }

    /// Others wait for its lock, and give up one after the other.
    #[test]
    fn a_holder_that_waits_is_told_once_while_it_waits() {
        let mut watcher = Watcher::default();
        let at = |second: u64| {
            let mut snapshot = snapshot_at(second, State::Queued, false);
            snapshot.locks[0].name.kind = LockKind::Event;
            snapshot.locks[0].waiters[0].wants = Access::Notification;
            let waits = if second > 15 { second - 15 } else { second };
            snapshot.locks[1].waiters[0].age = Some(Duration::from_secs(waits));
            snapshot
        };
        let told: Vec<_> = (0..40)
            .flat_map(|second| {
                Vec::from_iter(watcher.check(at(second)).into_iter().map(|found| (second, found)))
            })
            .collect();
        let [(10, Found::Lasting(Finding::HolderWaits(_)))] = &told[..] else { panic!("{told:?}") };
    }

    #[test]
    fn the_same_locks_in_another_order_at_other_lines_are_another_fault() {
        let order_at = |line| {
            let site = Site { file: "src/pay.rs".into(), line, column: 1 };
            let lock = snapshot_at(0, State::Queued, false).locks[0].clone();
            let member = OrderMember {
                actor: lock.waiters[0].actor.clone(),
                holds: lock.name.clone(),
                mode: lock.waiters[0].wants,
                taken: site.clone(),
                wants: lock.name,
                access: lock.waiters[0].wants,
                site,
            };
            let order = PotentialDeadlock { found: Duration::ZERO, members: vec![member] };
            identity(&Finding::PotentialDeadlock(order))
        };
        assert_eq!(order_at(1), order_at(1));
        assert_ne!(order_at(1), order_at(2));
    }

    /// It may be signalled at each check, and have run in between.
    #[test]
    fn a_task_is_a_futurelock_if_it_has_not_run_between_two_checks() {
        let free = |second, state, is_unpolled| Snapshot {
            holders: Some(Vec::new()),
            ..snapshot_at(second, state, is_unpolled)
        };
        for (state, is_unpolled, new) in [
            (State::Signalled, true, 2),
            (State::Skipped, true, 2),
            (State::Signalled, false, 0),
            (State::Skipped, false, 0),
            (State::Queued, false, 0),
        ] {
            let mut watcher = Watcher::default();
            assert_eq!(watcher.check(free(0, state, false)).len(), 0);
            let found = watcher.check(free(1, state, is_unpolled));
            assert_eq!(found.len(), new, "{found:?}");
            let said = "never polled (futurelock): task ";
            let is_said =
                |found: &Found| matches!(found, Found::New(found) if found.to_string().starts_with(said));
            assert!(found.iter().all(is_said), "{found:?}");
        }
    }

    #[test]
    fn a_cycle_of_tasks_that_lasts_is_told_once_more_and_is_no_fault() {
        let mut watcher = Watcher::default();
        let mut told = Vec::new();
        for second in 0..60 {
            for found in watcher.check(snapshot_at(second, State::Queued, false)) {
                match found {
                    Found::New(finding) => told.push((second, finding.is_fault(), String::new())),
                    Found::Lasting(cycle) => told.push((second, cycle.is_fault(), lasting(&cycle, LASTING))),
                }
            }
        }
        // At the second check, and when it has lasted.
        let [(1, false, _), (9, false, text)] = &told[..] else { panic!("{told:?}") };
        assert!(text.starts_with("cycle of waits, for 10 s: 2 members, youngest wait 10 s\n"), "{text}");
        let ends = "\nmay still end: task 1 awaits something else too (timeout, select!), or task 2 awaits something else\n  too (timeout, select!)";
        assert!(text.ends_with(ends) && !text.contains("deadlock"), "{text}");
        // If another hold has replaced one in between, the cycle has not lasted.
        let changed = |second: u64| {
            let mut snapshot = snapshot_at(second, State::Queued, false);
            let held = Some(Duration::from_secs(second % 7));
            snapshot.holders.iter_mut().flatten().for_each(|holder| holder.held = held);
            snapshot
        };
        let mut watcher = Watcher::default();
        let all: Vec<_> = (0..60).flat_map(|second| watcher.check(changed(second))).collect();
        assert!(all.iter().all(|found| matches!(found, Found::New(_))), "{all:?}");
    }
}
