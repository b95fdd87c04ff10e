//! The waits for one lock from one site, and the names of both in a profile: whole, but without control characters, as reports have them.

use std::time::Duration;

use crate::model::{LockName, Site};
use crate::text::{clean, short_type};

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
    let label = match &lock.name {
        Some(name) => format!("{kind} \"{name}\""),
        None if lock.address.0 == 0 => kind,
        None => format!("{kind} at {}", lock.address),
    };
    clean(&label, usize::MAX)
}

pub(super) fn place(site: Option<&Site>) -> String {
    match site {
        None => "unknown".to_owned(),
        // What is no place in a file.
        Some(site) if site.line == 0 => file(Some(site)),
        Some(site) => clean(&site.to_string(), usize::MAX),
    }
}

pub(super) fn file(site: Option<&Site>) -> String {
    site.map(|site| clean(&site.file, usize::MAX)).unwrap_or_default()
}
