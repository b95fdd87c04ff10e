//! A cycle: its members, and what would end it.

use std::time::Duration;

use super::who::Who;
use super::words::{counted, lock_with_address, member_lines, short_duration, site, wrapped};
use crate::finding::{Blocks, Certainty, Cycle, Member, MemberWait, Unless};
use crate::model::{Access, Actor, LockName};

/// The lock's name; with the address, if two locks of the cycle would look the same.
fn lock(cycle: &Cycle, name: &LockName) -> String {
    let text = name.to_string();
    let waits = cycle.members.iter().filter_map(|member| member.waits.as_ref().map(|wait| &wait.lock));
    let mut twins = waits.filter(|other| other.address != name.address && other.to_string() == text);
    if twins.next().is_some() { lock_with_address(name) } else { text }
}

pub(super) fn cycle(cycle: &Cycle, who: &Who<'_>) -> String {
    let mut text = members(cycle, who);
    if !cycle.unless.is_empty() {
        let blocked = if cycle.certainty == Certainty::Deadlock { "deadlock" } else { "blocked" };
        text += "\n";
        text += &wrapped(&format!("{blocked} unless {}", any_of(cycle, who)), 2);
    }
    text
}

/// For a cycle that is not a fault, and has lasted for `lasted`: it is not known whether it will end.
pub(super) fn lasting(cycle: &Cycle, lasted: Duration, who: &Who<'_>) -> String {
    let text = members(cycle, who);
    let text = text.strip_prefix(heading(cycle)).unwrap_or(&text);
    let ends = match cycle.unless.is_empty() {
        true => "another thread polls the task".to_owned(),
        false => any_of(cycle, who),
    };
    let ends = wrapped(&format!("may still end: {ends}"), 2);
    format!("cycle of waits, for {}{text}\n{ends}", short_duration(lasted))
}

fn members(cycle: &Cycle, who: &Who<'_>) -> String {
    let short = read_write_read(cycle, who).or_else(|| one_task_of_one_thread(cycle, who));
    short.unwrap_or_else(|| table(cycle, who))
}

/// What would end the cycle.
fn any_of(cycle: &Cycle, who: &Who<'_>) -> String {
    cycle.unless.iter().map(|of| unless(of, who)).collect::<Vec<_>>().join(", or ")
}

fn unless(unless: &Unless, who: &Who<'_>) -> String {
    match unless {
        Unless::OtherWay { actor: task @ Actor::Task { .. } } => {
            format!("{task} awaits something else too (timeout, select!)")
        }
        Unless::OtherWay { actor } => format!("{} runs other jobs", who.is(actor)),
        Unless::Timed { actor } => format!("the wait of {} ends at a deadline", who.is(actor)),
        Unless::AnotherTask { actor } => {
            format!("{actor} is not the task that took the lock (identify tells them apart)")
        }
        Unless::GuardSentAway { actor } => {
            format!("{} sent its guard to another thread or task", who.is(actor))
        }
        Unless::UnlockedByAnother { actor } => {
            format!("another thread or task unlocks what {} took", who.is(actor))
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

fn table(cycle: &Cycle, who: &Who<'_>) -> String {
    let count = cycle.members.len();
    let heading = format!(
        "{}: {}, youngest wait {}",
        heading(cycle),
        counted(count, "member"),
        short_duration(cycle.since)
    );
    let age = |member: &Member| member.waits.as_ref().map(|wait| wait.age);
    let ages = cycle.members.iter().filter_map(age).map(|age| short_duration(age).len());
    let wide = ages.max().unwrap_or(0);
    let lines = (0..count).map(|at| {
        let [before, member, after] = [at + count - 1, at, at + 1].map(|at| &cycle.members[at % count]);
        let waits = match &member.waits {
            Some(MemberWait { lock: name, site: at, age, .. }) => {
                let [age, name, at] = [short_duration(*age), lock(cycle, name), site(at.as_ref())];
                format!("waits {age:>wide$} for {name} at {at}")
            }
            None => format!("has to be polled by {}", who.is(&after.actor)),
        };
        let blocks = match &member.blocks {
            Blocks::Holds { lock: name, site: at, held, sent_away, .. } => {
                let [name, at] = [lock(cycle, name), site(at.as_ref())];
                match (held.map(short_duration), sent_away) {
                    (Some(held), false) => format!("holds {held:>wide$}     {name}, taken at {at}"),
                    (None, false) => format!("holds {name}, taken at {at}"),
                    (Some(held), true) => format!("acquired {name} {held} ago at {at}"),
                    (None, true) => format!("acquired {name} at {at}"),
                }
            }
            Blocks::QueuedAhead { lock: name } => {
                format!("is queued for {} before {}", lock(cycle, name), who.is(&before.actor))
            }
            Blocks::Upgrades { lock: name } => format!("is upgrading {}", lock(cycle, name)),
            Blocks::Polls { .. } => format!("has to poll {}", who.is(&before.actor)),
        };
        (who.is(&member.actor), [waits, blocks])
    });
    heading + &member_lines(&lines.collect::<Vec<_>>())
}

/// A thread that reads, a writer behind it, and a second read by the same thread behind the writer.
fn read_write_read(cycle: &Cycle, who: &Who<'_>) -> Option<String> {
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
    let [r, w] = [&reader.actor, &writer.actor].map(|actor| who.is(actor));
    let (name, heading) = (lock(cycle, held), heading(cycle));
    let [again, write, taken] = [&reads.site, &writes.site, taken].map(|at| site(at.as_ref()));
    let age = short_duration(reads.age);
    Some(wrapped(
        &format!(
            "{heading}: {r} waits {age} to read {name} at {again}, queued behind {w} ({write}), which waits for {r} to release \
             the read lock taken at {taken}; use try_read_recursive"
        ),
        2,
    ))
}

/// A thread that blocks for a task that it has to poll itself.
fn one_task_of_one_thread(cycle: &Cycle, who: &Who<'_>) -> Option<String> {
    let [one, other] = &cycle.members[..] else { return None };
    let (thread, task) = if matches!(one.blocks, Blocks::Polls { .. }) { (one, other) } else { (other, one) };
    let Blocks::Polls { only_there } = thread.blocks else { return None };
    let Blocks::Holds { site: taken, sent_away, .. } = &task.blocks else { return None };
    let MemberWait { lock: name, site: at, age, .. } = thread.waits.as_ref()?;
    let polls = if only_there { "only this thread polls" } else { "this thread polled last" };
    let held = if *sent_away { "acquired" } else { "held" };
    let [thread, task] = [&thread.actor, &task.actor].map(|actor| who.is(actor));
    let (name, heading) = (lock(cycle, name), heading(cycle));
    let [age, at, taken] = [short_duration(*age), site(at.as_ref()), site(taken.as_ref())];
    Some(wrapped(
        &format!(
            "{heading}: {thread} waits {age} at {at} for {name}, {held} by {task} ({taken}), which {polls}; use lock_async \
             (forbid_blocking finds such calls)"
        ),
        2,
    ))
}
