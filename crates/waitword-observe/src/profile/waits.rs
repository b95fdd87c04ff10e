//! The waits for one lock from one site, and the names of both in a profile.

use std::time::Duration;

use crate::model::{LockName, Site};
use crate::text::short_type;

/// The waits for one lock from one site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// How many.
    pub count: u64,
    /// How long all of them together. Waits of unknown age count nothing here.
    pub delay: Duration,
}

impl Waits {
    pub(super) fn add(&mut self, other: Self) {
        self.count += other.count;
        self.delay = self.delay.saturating_add(other.delay);
    }
}

/// `Mutex<Accounts> "accounts"`, or `Mutex at 0x7f3a10`.
pub(super) fn label(lock: &LockName) -> String {
    let kind = lock.type_name.as_deref().map_or_else(|| lock.kind.to_string(), short_type);
    match &lock.name {
        Some(name) => format!("{kind} \"{name}\""),
        None if lock.address.0 == 0 => kind,
        None => format!("{kind} at {}", lock.address),
    }
}

pub(super) fn place(site: Option<&Site>) -> String {
    match site {
        None => "unknown".to_owned(),
        // What is no place in a file.
        Some(site) if site.line == 0 => site.file.clone().into_owned(),
        Some(site) => site.to_string(),
    }
}
