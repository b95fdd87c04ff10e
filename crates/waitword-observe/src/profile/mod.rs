//! Waits by site, in the formats of profilers.

mod pprof;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::blame::{Blame, Blamed, blame};
use crate::model::{Address, LockName, Site, Snapshot};
use crate::text::{clean, short_type};
use pprof::Sample;

/// Returns who made others wait since [`enable`](crate::enable) was called first, as a profile: [`Profile::of_blame`] of
/// [`blame`](crate::blame()).
///
/// ```
/// waitword_observe::enable();
/// // ... the program runs ...
/// let path = std::env::temp_dir().join("locks.pb.gz");
/// std::fs::write(&path, waitword_observe::profile().pprof())?; // go tool pprof -top -sample_index=delay locks.pb.gz
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn profile() -> Profile {
    Profile::of_blame(&blame())
}

/// The waits for one lock from one site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// The number of waits; of releases, in a profile of [`blame`](crate::blame()).
    pub count: u64,
    /// Their total duration. Waits of unknown age add nothing.
    pub delay: Duration,
}

/// Waits by lock and site: how many, and how long.
///
/// A profile of a [`Snapshot`] has the waits of that moment with their ages. It shows where waiters are, as a dump of stacks does, and not
/// what they waited for before. Profiles add up: one per second over a minute shows where waiters usually are.
///
/// ```
/// use waitword_observe::{Profile, snapshot};
///
/// let mut profile = Profile::of(&snapshot());
/// profile.add(&Profile::of(&snapshot()));
/// std::fs::write(std::env::temp_dir().join("waits.pb.gz"), profile.pprof())?; // go tool pprof -top waits.pb.gz
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    rows: BTreeMap<Row, Waits>,
}

type Row = (LockName, Option<Site>);

impl Profile {
    /// Creates a profile of the waits of a snapshot.
    pub fn of(snapshot: &Snapshot) -> Self {
        let mut profile = Self::default();
        for lock in &snapshot.locks {
            for waiter in lock.all_waiters() {
                let waits = Waits { count: 1, delay: waiter.age.unwrap_or_default() };
                profile.add_row((lock.name.clone(), waiter.site.clone()), waits);
            }
        }
        profile
    }

    /// Creates a profile of who made others wait: the sites where locks were acquired, how often these locks were released while others
    /// waited, and how long the others had waited. With the rows that no site caused, the delays add up to all waits.
    ///
    /// The profile is cumulative, as Go's is: `go tool pprof -base` shows the difference of two.
    pub fn of_blame(rows: &[Blame]) -> Self {
        let mut profile = Self::default();
        for row in rows {
            let nobody = |text: &'static str| Site { file: text.into(), line: 0, column: 0 };
            let unnamed = LockName::new(Address(0), row.kind);
            let (lock, site) = match &row.blamed {
                Blamed::Site { site } => (row.what(), site.clone()),
                Blamed::NotYetRun => (unnamed, nobody("nobody: signalled, not yet run")),
                Blamed::Unknown => (unnamed, nobody("unknown holders")),
                Blamed::OtherSites => (unnamed, nobody("other sites")),
            };
            profile.add_row((lock, Some(site)), Waits { count: row.releases, delay: row.delay });
        }
        profile
    }

    /// Adds all waits of another profile.
    pub fn add(&mut self, other: &Self) {
        for (key, waits) in &other.rows {
            self.add_row(key.clone(), *waits);
        }
    }

    fn add_row(&mut self, row: Row, waits: Waits) {
        let sum = self.rows.entry(row).or_default();
        sum.count += waits.count;
        sum.delay = sum.delay.saturating_add(waits.delay);
    }

    /// Returns the waits by lock and site.
    pub fn rows(&self) -> impl Iterator<Item = (&LockName, Option<&Site>, Waits)> {
        self.rows.iter().map(|((lock, site), waits)| (lock, site.as_ref(), *waits))
    }

    /// Returns folded stacks, which flame graph tools read: a line `lock;site nanoseconds` for each lock and site.
    ///
    /// ```
    /// # use waitword_observe::{Profile, snapshot};
    /// // Mutex<Accounts> "accounts";src/pay.rs:41 1200000000
    /// print!("{}", Profile::of(&snapshot()).folded());
    /// ```
    pub fn folded(&self) -> String {
        // A semicolon separates frames, and the last space the count.
        let frame = |text: String| text.replace(';', ":");
        let line = |(lock, site, waits): (&LockName, Option<&Site>, Waits)| {
            format!("{};{} {}\n", frame(label(lock)), frame(place(site)), waits.delay.as_nanos())
        };
        self.rows().map(line).collect()
    }

    /// Returns the profile in pprof's format, compressed: `go tool pprof`, Grafana and speedscope open it.
    ///
    /// The values are those of Go's mutex profile, `contentions/count` and `delay/nanoseconds`. A stack is the site, with its file and line,
    /// and above it the lock.
    pub fn pprof(&self) -> Vec<u8> {
        pprof::encoded(self.rows().map(|(lock, site, waits)| Sample {
            place: place(site),
            file: file(site),
            line: site.map_or(0, |site| site.line),
            lock: label(lock),
            count: waits.count,
            delay: waits.delay,
        }))
    }
}

/// `Mutex<Accounts> "accounts"`, or `Mutex at 0x7f3a10`: in full, but without control characters, as names in reports are.
fn label(lock: &LockName) -> String {
    let kind = lock.type_name.as_deref().map_or_else(|| lock.kind.to_string(), short_type);
    let label = match &lock.name {
        Some(name) => format!("{kind} \"{name}\""),
        None if lock.address.0 == 0 => kind,
        None => format!("{kind} at {}", lock.address),
    };
    clean(&label, usize::MAX)
}

fn place(site: Option<&Site>) -> String {
    match site {
        None => "unknown".to_owned(),
        // A site that is not in a file.
        Some(site) if site.line == 0 => file(Some(site)),
        Some(site) => clean(&site.to_string(), usize::MAX),
    }
}

fn file(site: Option<&Site>) -> String {
    site.map(|site| clean(&site.file, usize::MAX)).unwrap_or_default()
}
