//! A cycle: its members, and what would end it.

use std::time::Duration;

use super::words::{self, actor, duration, lock_with_address, site, wrapped};
use crate::finding::{Blocks, Certainty, Cycle, Member, MemberWait, Unless};
use crate::model::{Access, Actor, LockName, Site};

/// As [`words::lock`](super::words::lock); of two locks of the cycle that would look the same, with the address.
fn lock(cycle: &Cycle, name: &LockName) -> String {
    let text = words::lock(name);
    let waits = cycle.members.iter().filter_map(|member| member.waits.as_ref().map(|wait| &wait.lock));
    let mut twins = waits.filter(|other| other.address != name.address && words::lock(other) == text);
    if twins.next().is_some() { lock_with_address(name) } else { text }
}

pub(super) fn cycle(cycle: &Cycle) -> String {
    let mut text = members(cycle);
    if !cycle.unless.is_empty() {
        let blocked = if cycle.certainty == Certainty::Deadlock { "deadlock" } else { "blocked" };
        text += "\n";
        text += &wrapped(&format!("{blocked} unless {}", any_of(cycle)), 2);
    }
    text
}

/// Of a cycle that is no fault, and has lasted for so long: nobody knows whether it will end.
pub(crate) fn lasting(cycle: &Cycle, lasted: Duration) -> String {
    let text = members(cycle);
    let text = text.strip_prefix(heading(cycle)).unwrap_or(&text);
    let ends = match cycle.unless.is_empty() {
        true => "another thread polls the task".to_owned(),
        false => any_of(cycle),
    };
    let ends = wrapped(&format!("may still end: {ends}"), 2);
    format!("cycle of waits, for {}{text}\n{ends}", duration(lasted))
}

fn members(cycle: &Cycle) -> String {
    read_write_read(cycle).or_else(|| one_task_of_one_thread(cycle)).unwrap_or_else(|| table(cycle))
}

/// What would end it.
fn any_of(cycle: &Cycle) -> String {
    cycle.unless.iter().map(unless).collect::<Vec<_>>().join(", or ")
}

fn unless(unless: &Unless) -> String {
    match unless {
        Unless::OtherWay { actor: task @ Actor::Task { .. } } => {
            format!("{} has another way on (timeout, select!)", actor(task))
        }
        Unless::OtherWay { actor: other } => format!("{} has other jobs", actor(other)),
        Unless::Timed { actor: waiter } => format!("the wait of {} has a deadline", actor(waiter)),
        Unless::AnotherTask { actor: task } => {
            format!("{} is not the one that took the lock (identify tells)", actor(task))
        }
        Unless::GuardSentAway { actor: acquirer } => {
            format!("the guard acquired by {} is elsewhere", actor(acquirer))
        }
        Unless::UnlockedByAnother { actor: acquirer } => {
            format!("another unlocks what {} acquired", actor(acquirer))
        }
    }
}

/// The word for what is known, before any conditions.
fn heading(cycle: &Cycle) -> &'static str {
    match cycle.certainty {
        Certainty::Deadlock if cycle.unless.is_empty() => "deadlock",
        Certainty::Deadlock => "cycle",
        Certainty::ExecutorBlocked => "executor blocked",
        Certainty::ExecutorMayBeBlocked => "executor may be blocked",
    }
}

/// Two lines for each member, the youngest wait first.
fn table(cycle: &Cycle) -> String {
    let count = cycle.members.len();
    let plural = if count == 1 { "member" } else { "members" };
    let mut text = format!("{}: {count} {plural}, since {}", heading(cycle), duration(cycle.since));
    let age = |member: &Member| member.waits.as_ref().map(|wait| wait.age);
    let is_newest = |member: &&Member| age(member) == Some(cycle.since);
    let first =
        cycle.members.iter().enumerate().find(|(_, member)| is_newest(member)).map_or(0, |(at, _)| at);
    let ages: Vec<String> = cycle.members.iter().filter_map(age).map(duration).collect();
    let ages_wide = ages.iter().map(String::len).max().unwrap_or(0);
    let names: Vec<String> = cycle.members.iter().map(|member| actor(&member.actor)).collect();
    let names_wide = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for at in (0..count).map(|at| (first + at) % count) {
        let member = &cycle.members[at];
        let waits = match &member.waits {
            Some(wait) => {
                let MemberWait { lock: name, site: at, age, .. } = wait;
                let age = format!("{:>ages_wide$}", duration(*age));
                format!("waits {age} for {} at {}", lock(cycle, name), site(at.as_ref()))
            }
            None => format!("has to be polled by {}", names[(at + 1) % count]),
        };
        let blocks = match &member.blocks {
            Blocks::Holds { lock: name, site: at, held, sent_away, .. } => {
                let [name, at] = [lock(cycle, name), site(at.as_ref())];
                match (held.map(duration), sent_away) {
                    (Some(held), false) => format!("holds {held:>ages_wide$}     {name}, taken at {at}"),
                    (None, false) => format!("holds {name}, taken at {at}"),
                    (Some(held), true) => format!("acquired {name} {held} ago at {at}"),
                    (None, true) => format!("acquired {name} at {at}"),
                }
            }
            Blocks::QueuedAhead { lock: name } => {
                format!("is queued for {} before {}", lock(cycle, name), names[(at + count - 1) % count])
            }
            Blocks::Upgrades { lock: name } => format!("is upgrading {}", lock(cycle, name)),
            Blocks::Polls { .. } => format!("has to poll {}", names[(at + count - 1) % count]),
        };
        let [name, indent] = [&names[at], ""];
        for line in [format!("  {name:names_wide$}  {waits}"), format!("  {indent:names_wide$}  {blocks}")] {
            text += "\n";
            text += &wrapped(&line, names_wide + 6);
        }
    }
    text
}

/// A thread that reads, a writer behind it, and a second read of the same thread behind that.
fn read_write_read(cycle: &Cycle) -> Option<String> {
    let [one, other] = &cycle.members[..] else { return None };
    let (reader, writer) =
        if matches!(one.blocks, Blocks::Holds { .. }) { (one, other) } else { (other, one) };
    let Blocks::Holds { lock: held, mode: Access::Shared, site: taken, sent_away: false, .. } =
        &reader.blocks
    else {
        return None;
    };
    let Blocks::QueuedAhead { lock: queued } = &writer.blocks else { return None };
    let [reads, writes] = [reader.waits.as_ref()?, writer.waits.as_ref()?];
    if queued.address != held.address || reads.wants != Access::Shared {
        return None;
    }
    let [r, w, name] = [actor(&reader.actor), actor(&writer.actor), lock(cycle, held)];
    let [again, write, taken] = [&reads.site, &writes.site, taken].map(|at: &Option<Site>| site(at.as_ref()));
    let [heading, age] = [heading(cycle).to_owned(), duration(reads.age)];
    Some(wrapped(
        &format!(
            "{heading}: {r} waits {age} for a read of {name} at {again} behind {w} ({write}), which waits for the read that {r} \
             took at {taken}; use try_read_recursive"
        ),
        2,
    ))
}

/// A thread that blocks for a task which it has to poll itself.
fn one_task_of_one_thread(cycle: &Cycle) -> Option<String> {
    let [one, other] = &cycle.members[..] else { return None };
    let (thread, task) = if matches!(one.blocks, Blocks::Polls { .. }) { (one, other) } else { (other, one) };
    let Blocks::Polls { only_there } = thread.blocks else { return None };
    let Blocks::Holds { site: taken, sent_away, .. } = &task.blocks else { return None };
    let MemberWait { lock: name, site: at, age, .. } = thread.waits.as_ref()?;
    let polls = if only_there { "has to poll" } else { "polled last" };
    let held = if *sent_away { "acquired" } else { "held" };
    let [who, task, name] = [actor(&thread.actor), actor(&task.actor), lock(cycle, name)];
    let [age, at, taken] = [duration(*age), site(at.as_ref()), site(taken.as_ref())];
    Some(wrapped(
        &format!(
            "{}: {who} waits {age} at {at} for {name}, {held} by {task} ({taken}), which this thread {polls}; use lock_async or \
             forbid_blocking",
            heading(cycle)
        ),
        2,
    ))
}
