//! A thread that takes a snapshot once per second. It reports faults and lasting cycles to stderr and to adapters, and all cycles to
//! callbacks.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use waitword_core::lock;

use crate::blame::take_slow;
use crate::finding::{Blocks, Cycle, Finding, Member, OrderMember};
use crate::model::{Actor, Address, LockName, Site, Snapshot};
use crate::order;
use crate::process::snapshot;
use crate::search::{cycles, unpolled, waits};
use crate::sources::unless_it_panics;
use crate::text::lasting;

const PERIOD: Duration = Duration::from_secs(1);

/// Whether the thread also prints slow holds. If not, they are left to [`take_slow`].
pub(super) static PRINTS_SLOW: AtomicBool = AtomicBool::new(false);

/// A cycle that may end by itself is printed when all its waits and holds have lasted for this long.
pub(super) const LASTING: Duration = Duration::from_secs(10);

/// What listeners are called with.
#[derive(Debug)]
pub(super) enum Found {
    /// A fault, or a cycle.
    New(Finding),
    /// A cycle that is not a fault, and has lasted for [`LASTING`]. The listeners were called with it before.
    Lasting(Cycle),
}

type Listener = Arc<dyn Fn(&Found) + Send + Sync>;

/// The thread that is running, if any: each start has a number.
struct Watch {
    last: u64,
    running: Option<u64>,
    listeners: Vec<Listener>,
}

static WATCH: Mutex<Watch> = Mutex::new(Watch { last: 0, running: None, listeners: Vec::new() });
static STOPPED: Condvar = Condvar::new();

/// Prints a fault to the standard error, or a cycle that lasts. A cycle that may end by itself is not a fault.
pub(super) fn print(found: &Found) {
    match found {
        Found::New(finding) if !finding.is_fault() => {}
        #[cfg(feature = "tracing")]
        Found::New(finding) if crate::tracing::receives_faults() => crate::tracing::emit_finding(finding),
        Found::New(finding) => say(finding),
        #[cfg(feature = "tracing")]
        Found::Lasting(cycle) if crate::tracing::receives_warnings() => {
            crate::tracing::emit_lasting(cycle, LASTING);
        }
        Found::Lasting(cycle) => say(lasting(cycle, LASTING)),
    }
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
        say(format_args!("{lost} more were slow"));
    }
}

pub(super) fn say(text: impl Display) {
    // A missing standard error is ignored.
    let _ = writeln!(io::stderr().lock(), "waitword: {text}");
}

/// Calls `listener` with each finding, from the thread, which is started unless it runs.
pub(super) fn start(listener: impl Fn(&Found) + Send + Sync + 'static) -> io::Result<()> {
    let mut watch = lock(&WATCH);
    watch.listeners.push(Arc::new(listener));
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
    PRINTS_SLOW.store(false, Ordering::Relaxed);
    let mut watch = lock(&WATCH);
    watch.running = None;
    let listeners = std::mem::take(&mut watch.listeners);
    drop(watch);
    // Dropping a listener is foreign code: not under the lock.
    drop(listeners);
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
        let listeners = watch.listeners.clone();
        drop(watch);
        for found in watcher.check(snapshot()) {
            for listener in &listeners {
                unless_it_panics(|| listener(&found));
            }
        }
        if PRINTS_SLOW.load(Ordering::Relaxed) {
            unless_it_panics(print_slow);
        }
    }
}

/// Reports each fault and each cycle once; once more if it comes back, and if a cycle becomes a fault, or lasts.
#[derive(Default)]
struct Watcher {
    before: Option<Snapshot>,
    reported: Reported,
    lasting: Reported,
}

/// The latest findings: whether each is a fault, and its identity.
#[derive(Default)]
struct Reported(Vec<(bool, Identity)>);

impl Reported {
    /// The findings that were not there last time.
    fn new_of(&mut self, mut found: Vec<Finding>) -> Vec<Finding> {
        let seen: Vec<_> = found.iter().map(|finding| (finding.is_fault(), identity(finding))).collect();
        let mut is_new = seen.iter().map(|seen| !self.0.contains(seen));
        found.retain(|_| is_new.next() == Some(true));
        self.0 = seen;
        found
    }
}

/// The locks and actors of a finding; for a potential deadlock also the places: from other lines it is another one.
type Identity = Vec<(Address, Option<Actor>, Option<[Site; 2]>)>;

impl Watcher {
    /// The faults and cycles in `now` that were not there before, and the cycles that have begun to count as lasting.
    fn check(&mut self, now: Snapshot) -> Vec<Found> {
        let mut found = Vec::new();
        if let Some(before) = &self.before {
            found.extend(cycles(before, &now));
            found.extend(unpolled(before, &now));
        }
        found.extend(waits(&now));
        found.extend(order::findings());
        found.retain(|finding| finding.is_fault() || matches!(finding, Finding::Cycle(_)));
        let lasting = found.iter().filter(|finding| !finding.is_fault() && has_lasted(finding)).cloned();
        let lasting = self.lasting.new_of(lasting.collect());
        let lasting = lasting.into_iter().filter_map(|finding| match finding {
            Finding::Cycle(cycle) => Some(Found::Lasting(cycle)),
            _ => None,
        });
        let new = self.reported.new_of(found);
        self.before = Some(now);
        new.into_iter().map(Found::New).chain(lasting).collect()
    }
}

/// Whether it is a cycle whose waits and holds have all lasted for [`LASTING`].
fn has_lasted(finding: &Finding) -> bool {
    let Finding::Cycle(cycle) = finding else { return false };
    let is_old = |member: &Member| match member.blocks {
        Blocks::Holds { held, .. } => held.is_some_and(|held| held >= LASTING),
        _ => true,
    };
    cycle.since >= LASTING && cycle.members.iter().all(is_old)
}

/// Sorted: a cycle may be found from another member.
fn identity(finding: &Finding) -> Identity {
    let one = |lock: &LockName, actor: Option<&Actor>| vec![(lock.address, actor.cloned(), None)];
    let mut identity: Identity = match finding {
        Finding::Cycle(cycle) => {
            let waits = |member: &Member| Some(one(&member.waits.as_ref()?.lock, Some(&member.actor)));
            cycle.members.iter().filter_map(waits).flatten().collect()
        }
        Finding::PotentialDeadlock(order) => {
            let wants = |member: &OrderMember| {
                let places = [member.taken.clone(), member.site.clone()];
                (member.wants.address, Some(member.actor.clone()), Some(places))
            };
            order.members.iter().map(wants).collect()
        }
        Finding::HolderEnded(held) => one(&held.lock, Some(&held.actor)),
        Finding::NeverPolled(wait) => one(&wait.lock, Some(&wait.actor)),
        Finding::LongWait(waits) => one(&waits.lock, None),
        Finding::NoKnownNotifier(waits) => one(&waits.lock, None),
    };
    identity.sort();
    identity
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::PotentialDeadlock;
    use crate::model::State;

    /// At a given second: two locks, of which each task holds one and waits for the other in this state.
    fn snapshot_at(second: u64, state: State) -> Snapshot {
        let task = |number: u64| serde_json::json!({"type": "task", "number": number, "name": null});
        let age = Duration::from_secs(1 + second).as_nanos() as u64;
        let lock = |at: u64| {
            serde_json::json!({
                "address": format!("{at:#x}"), "kind": "mutex", "name": null, "type_name": null,
                "waiters": [{
                    "position": 0, "actor": task(at), "wants": "exclusive", "state": state, "site": null, "age_ns": age,
                    "timed": false,
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
        let free = |second| Snapshot { locks: Vec::new(), ..snapshot_at(second, State::Queued) };
        let checks = [
            (snapshot_at(0, State::Skipped), 2),
            (snapshot_at(1, State::Skipped), 0),
            (free(2), 0),
            (snapshot_at(3, State::Skipped), 2),
        ];
        for (snapshot, new) in checks {
            assert_eq!(watcher.check(snapshot).len(), new);
        }
    }

    #[test]
    fn the_same_locks_in_another_order_at_other_lines_are_another_fault() {
        let order_at = |line| {
            let site = Site { file: "src/pay.rs".into(), line, column: 1 };
            let lock = snapshot_at(0, State::Queued).locks[0].clone();
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

    /// No waiter is behind them, so the watchdog skips neither.
    #[test]
    fn a_task_that_stays_signalled_while_its_lock_is_free_is_a_fault_at_the_second_check() {
        let free = |second, state| Snapshot { holders: Some(Vec::new()), ..snapshot_at(second, state) };
        let signalled = |second| free(second, State::Signalled);
        for (before, now, new) in [
            (signalled(0), signalled(1), 2),
            // It ran in between, or another has the lock.
            (free(0, State::Queued), signalled(1), 0),
            (signalled(0), free(1, State::Queued), 0),
            (signalled(0), snapshot_at(1, State::Signalled), 0),
        ] {
            let mut watcher = Watcher::default();
            assert_eq!(watcher.check(before).len(), 0);
            let found = watcher.check(now);
            assert_eq!(found.len(), new, "{found:?}");
            let said = "it was signalled and has not run for 1.0 s; 0 behind it";
            assert!(
                found.iter().all(|found| {
                    matches!(found, Found::New(found) if found.to_string().replace("\n ", "").contains(said))
                }),
                "{found:?}",
            );
        }
    }

    #[test]
    fn a_cycle_of_tasks_that_lasts_is_told_once_more_and_is_no_fault() {
        let mut watcher = Watcher::default();
        let mut told = Vec::new();
        for second in 0..60 {
            for found in watcher.check(snapshot_at(second, State::Queued)) {
                match found {
                    Found::New(finding) => told.push((second, finding.is_fault(), String::new())),
                    Found::Lasting(cycle) => {
                        told.push((second, cycle.is_certain(), lasting(&cycle, LASTING)))
                    }
                }
            }
        }
        // At the second check, and when it has lasted.
        let [(1, false, _), (9, false, text)] = &told[..] else { panic!("{told:?}") };
        assert!(text.starts_with("cycle of waits, for 10 s: 2 members, since 10 s\n"), "{text}");
        let ends = "\nmay still end: task 1 has another way on (timeout, select!), or task 2 has another way on (timeout,\n  select!)";
        assert!(text.ends_with(ends) && !text.contains("deadlock"), "{text}");
        // If another hold has replaced one in between, the cycle has not lasted.
        let changed = |second: u64| {
            let mut snapshot = snapshot_at(second, State::Queued);
            let held = Some(Duration::from_secs(second % 7));
            snapshot.holders.iter_mut().flatten().for_each(|holder| holder.held = held);
            snapshot
        };
        let mut watcher = Watcher::default();
        let all: Vec<_> = (0..60).flat_map(|second| watcher.check(changed(second))).collect();
        assert!(all.iter().all(|found| matches!(found, Found::New(_))), "{all:?}");
    }
}
