//! Snapshots and timelines made by hand: what is found in them, and what reports, profiles and pictures of them say. Nothing here is the
//! process's own.

#![cfg(feature = "json")]

mod agents;
mod no_false_alarms;
mod profile;
mod report;
#[path = "../common/chrome_format.rs"]
mod rules;
mod scenarios;
#[path = "../../../waitword/tests/common/skip.rs"]
mod skip;
mod timeline;

use std::time::Duration;

use waitword_observe::{
    Access, Actor, Address, Ended, Finding, Holder, LastPoll, Lock, LockKind, LockName, Recording, Site,
    Snapshot, State, Waiter, cycles, waits,
};

fn thread(id: u64, name: &str) -> Actor {
    Actor::Thread { id, name: Some(name.into()) }
}

fn task(number: u64, name: Option<&str>) -> Actor {
    Actor::Task { number, name: name.map(str::to_owned) }
}

fn site(text: &str) -> Option<Site> {
    let (file, line) = text.rsplit_once(':').unwrap();
    Some(Site { file: file.to_owned().into(), line: line.parse().unwrap(), column: 5 })
}

fn millis(millis: u64) -> Option<Duration> {
    Some(Duration::from_millis(millis))
}

/// A snapshot with holders, that grows by locks, waiters and holders.
struct Made(Snapshot);

fn texts(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}

impl Made {
    fn new() -> Self {
        let taken = Duration::from_secs(100_000);
        let recording = Some(Recording { since: Duration::from_secs(3600), unrecorded: 0, lost_notifies: 0 });
        Self(Snapshot { taken, holders: Some(Vec::new()), recording, ..Snapshot::default() })
    }

    /// A lock by its address, kind and type.
    fn lock(mut self, address: u64, kind: LockKind, type_name: Option<&str>) -> Self {
        let type_name = type_name.map(str::to_owned);
        let name = LockName { address: Address(address), kind, name: None, type_name, place: None };
        self.0.locks.push(Lock::new(name));
        self
    }

    /// A waiter at the tail of the last lock that was made, or the one that upgrades it.
    fn waits(mut self, actor: Actor, wants: Access, at: &str, age: u64) -> Self {
        let lock = self.0.locks.last_mut().unwrap();
        let is_upgrade = wants == Access::Upgrade;
        let waiter = Waiter {
            position: if is_upgrade { 0 } else { lock.waiters.len() },
            actor,
            wants,
            state: State::Queued,
            site: site(at),
            age: millis(age),
            timed: Some(false),
            signalled: None,
        };
        if is_upgrade {
            lock.upgrade = Some(waiter);
        } else {
            lock.waiters.push(waiter);
        }
        self
    }

    /// Changes the last waiter that was made.
    fn but(mut self, change: impl FnOnce(&mut Waiter)) -> Self {
        change(self.0.locks.last_mut().unwrap().waiters.last_mut().unwrap());
        self
    }

    /// A holder of the last lock that was made.
    fn held(mut self, actor: Actor, mode: Access, at: &str, held: u64) -> Self {
        let LockName { address: lock, kind, .. } = self.0.locks.last().unwrap().name;
        let holder = Holder {
            number: None,
            lock,
            kind,
            actor,
            mode,
            permits: None,
            site: site(at),
            held: millis(held),
            sent_away: false,
            by_waker: false,
            forgotten: false,
        };
        self.0.holders.as_mut().unwrap().push(holder);
        self
    }

    /// Changes the last holder that was made.
    fn but_held(mut self, change: impl FnOnce(&mut Holder)) -> Self {
        change(self.0.holders.as_mut().unwrap().last_mut().unwrap());
        self
    }

    fn ended(mut self, actor: Actor, ago: u64) -> Self {
        self.0.ended.push(Ended { actor, ago: Duration::from_millis(ago) });
        self
    }

    fn polled(mut self, task: Actor, thread: Actor, only_there: bool) -> Self {
        self.0.last_polls.push(LastPoll { task, thread, only_there });
        self
    }

    /// The findings of cycles when all is still so a second later.
    fn found(&self) -> Vec<Finding> {
        let now = cycles(&self.0, &self.0);
        assert_eq!(cycles(&self.0, &later(&self.0)).len(), now.len(), "time alone changes nothing");
        now
    }

    fn cycles(&self) -> Vec<String> {
        texts(&self.found())
    }

    /// The findings of waits.
    fn waits_found(&self) -> Vec<String> {
        texts(&waits(&self.0))
    }
}

/// The same a second later: only the ages have grown.
fn later(snapshot: &Snapshot) -> Snapshot {
    let second = Duration::from_secs(1);
    let mut later = snapshot.clone();
    later.taken += second;
    for waiter in later.locks.iter_mut().flat_map(|lock| lock.upgrade.iter_mut().chain(&mut lock.waiters)) {
        waiter.age = waiter.age.map(|age| age + second);
        waiter.signalled = waiter.signalled.map(|ago| ago + second);
    }
    later.ended.iter_mut().for_each(|ended| ended.ago += second);
    for holder in later.holders.iter_mut().flatten() {
        holder.held = holder.held.map(|held| held + second);
    }
    later
}

/// Two locks, of which each actor holds one and waits for the other.
fn abba(first: Actor, second: Actor) -> Made {
    Made::new()
        .lock(0xa0, LockKind::Mutex, Some("Mutex<Accounts>"))
        .waits(first.clone(), Access::Exclusive, "src/pay.rs:41", 1_250)
        .held(second.clone(), Access::Exclusive, "src/audit.rs:17", 1_390)
        .lock(0xb0, LockKind::Mutex, Some("Mutex<Ledger>"))
        .waits(second, Access::Exclusive, "src/audit.rs:19", 1_210)
        .held(first, Access::Exclusive, "src/pay.rs:38", 1_300)
}
