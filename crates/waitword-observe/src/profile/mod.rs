//! Waits by site, in the formats of profilers.

mod pprof;
mod protobuf;
mod waits;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::model::{LockName, Site, Snapshot};
pub use waits::Waits;
use waits::{label, place};

/// Waits by lock and site: how many, and for how long.
///
/// A profile of a [`Snapshot`] has the waits that stand at that moment with their ages. It says where waiters are, as a dump of stacks
/// does; it does not say what was waited for before. Profiles add up: one per second over a minute shows where waiters usually are.
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
    rows: BTreeMap<(LockName, Option<Site>), Waits>,
}

impl Profile {
    /// The waits of a snapshot.
    pub fn of(snapshot: &Snapshot) -> Self {
        let mut profile = Self::default();
        for lock in &snapshot.locks {
            for waiter in &lock.waiters {
                profile.record(&lock.name, waiter.site.as_ref(), waiter.age.unwrap_or_default());
            }
        }
        profile
    }

    /// Adds one wait.
    pub fn record(&mut self, lock: &LockName, site: Option<&Site>, delay: Duration) {
        let one = Waits { count: 1, delay };
        self.rows.entry((lock.clone(), site.cloned())).or_default().add(one);
    }

    /// Adds all waits of another profile.
    pub fn add(&mut self, other: &Self) {
        for (key, waits) in &other.rows {
            self.rows.entry(key.clone()).or_default().add(*waits);
        }
    }

    /// The waits by lock and site.
    pub fn rows(&self) -> impl Iterator<Item = (&LockName, Option<&Site>, Waits)> {
        self.rows.iter().map(|((lock, site), waits)| (lock, site.as_ref(), *waits))
    }

    /// Folded stacks, as flame graph tools read them: a line `lock;site nanoseconds` for each lock and site.
    ///
    /// ```
    /// # use waitword_observe::{Profile, snapshot};
    /// // Mutex<Accounts> "accounts";src/pay.rs:41 1200000000
    /// print!("{}", Profile::of(&snapshot()).folded());
    /// ```
    pub fn folded(&self) -> String {
        // A semicolon parts frames, and the last space the count.
        let frame = |text: String| text.replace(';', ":").replace(char::is_control, " ");
        let line = |(lock, site, waits): (&LockName, Option<&Site>, Waits)| {
            format!("{};{} {}\n", frame(label(lock)), frame(place(site)), waits.delay.as_nanos())
        };
        self.rows().map(line).collect()
    }

    /// A profile in the format of pprof, compressed: `go tool pprof`, Grafana and speedscope open it.
    ///
    /// The values are those of Go's mutex profile, `contentions/count` and `delay/nanoseconds`. A stack is the site of the wait, in the
    /// file and the line where it is, and above it the lock.
    pub fn pprof(&self) -> Vec<u8> {
        pprof::encoded(self.rows())
    }
}
