//! A potential deadlock: what each member held, and what it took then.

use super::words::{actor, lock, site, wrapped};
use crate::finding::{OrderMember, PotentialDeadlock};
use crate::model::{Access, LockKind, LockName};

/// Two lines for each member.
pub(super) fn potential_deadlock(order: &PotentialDeadlock) -> String {
    let mut text = match order.members.len() {
        2 => "potential deadlock: 2 locks were taken in opposite orders".to_owned(),
        count => format!("potential deadlock: {count} locks were taken in orders that form a circle"),
    };
    let names: Vec<String> = order.members.iter().map(|member| actor(&member.actor)).collect();
    let wide = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (member, name) in order.members.iter().zip(&names) {
        let OrderMember { holds, mode, taken, wants, access, site: at, .. } = member;
        let took = format!("took {}{} at {}", lock(wants), how(wants, *access), site(Some(at)));
        let held = format!("holding {}{}, taken at {}", lock(holds), how(holds, *mode), site(Some(taken)));
        for line in [format!("  {name:wide$}  {took}"), format!("  {:wide$}  {held}", "")] {
            text += "\n";
            text += &wrapped(&line, wide + 6);
        }
    }
    text
}

fn how(lock: &LockName, mode: Access) -> &'static str {
    match (lock.kind, mode) {
        (LockKind::RwLock, Access::Shared) => " for reading",
        (LockKind::RwLock, Access::Upgradable) => " for upgradable reading",
        (LockKind::RwLock, Access::Upgrade) => " to upgrade",
        (LockKind::RwLock, _) => " for writing",
        _ => "",
    }
}
