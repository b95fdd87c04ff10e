//! Who made others wait: delays by the site where the lock was taken.
//!
//! A holder that releases a lock with waiters is charged with what they have waited since the last charge ([`Delays`](super::delays)), and
//! so all charges together are all waits, to the nanosecond. What no holder is to blame for has rows of its own ([`Blamed`]).
//!
//! The table has a fixed size, and its rows are found by hashing the site: a compare-and-swap to claim one, and additions. Sites that find
//! no row are one row together.

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use super::asked;
use super::clock::start_clock;
use super::delays::Delay;
use super::origin::WaitsFor;
use super::site::Site;
use super::site_ptr::AtomicSite;
use crate::sync::OnceLock;

/// How many sites have a row.
const SITES: usize = 512;

/// After so many rows of others a site has none.
const PROBES: usize = 32;

/// How many buckets a histogram has.
pub const BUCKETS: usize = 32;

/// Durations below 2^8 ns are in the first bucket, each other one has those of twice as long as the one before.
const FIRST_BUCKET: u32 = 8;

/// Whether it was started, and not stopped since.
static IS_ON: AtomicBool = AtomicBool::new(false);
static TABLE: OnceLock<Table> = OnceLock::new();

struct Table {
    sites: Box<[Row]>,
    woken: Row,
    unknown: Row,
    other_sites: Row,
}

/// Whom a row of the table blames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Blamed {
    /// The holders that took the lock at this place.
    Site(&'static Site),
    /// Nobody: the lock was free, and a signalled waiter had not run yet. Also holders that barged past it for less than a barging window.
    NotYetRun,
    /// Holders of which it is not known where they took the lock.
    Unknown,
    /// Holders of all sites for which the table has no row left.
    OtherSites,
}

/// A row of the table.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Blame {
    /// Whom it is about.
    pub blamed: Blamed,
    /// What others waited for, last.
    pub waits_for: WaitsFor,
    /// The word that they waited at, if it always was the same.
    pub word: Option<usize>,
    /// How often a lock was released while others waited.
    pub releases: u64,
    /// How many waited, added up over these releases.
    pub waiters: u64,
    /// How long they waited together.
    pub delay: Duration,
    /// The longest that one holder made another wait.
    pub longest: Duration,
    /// Where that one waited.
    pub longest_at: Option<&'static Site>,
    /// How long each release had made the head of the queue wait, by powers of two: [`bucket_limit`].
    pub waits: [u32; BUCKETS],
    /// How long the lock had been held at these releases, as far as that is known.
    pub holds: [u32; BUCKETS],
    /// The sum of these.
    pub held: Duration,
}

/// The durations in a bucket of a histogram are less than this. The last bucket has all that are longer, too.
pub fn bucket_limit(bucket: usize) -> Duration {
    Duration::from_nanos(1 << (FIRST_BUCKET + bucket as u32))
}

fn bucket(nanos: u64) -> usize {
    let bits = u64::BITS - nanos.leading_zeros();
    (bits.saturating_sub(FIRST_BUCKET) as usize).min(BUCKETS - 1)
}

/// From now on holders are charged with the waits of others. Starts the clock. Each contended release, and the end of each wait, reads the
/// clock, and locks the queue's shard.
pub fn start_blame() {
    TABLE.get_or_init(|| Table {
        sites: (0..SITES).map(|_| Row::new()).collect(),
        woken: Row::new(),
        unknown: Row::new(),
        other_sites: Row::new(),
    });
    start_clock();
    if !IS_ON.swap(true, Ordering::SeqCst) {
        asked::begin(asked::BLAME);
    }
}

/// Holders are charged no more. The table stays.
pub fn stop_blame() {
    if IS_ON.swap(false, Ordering::SeqCst) {
        asked::end(asked::BLAME);
    }
}

/// The table as it is, without rows that nobody was charged in. Rows are read while they change: what belongs together may be one charge
/// apart.
pub fn blame() -> Vec<Blame> {
    let Some(table) = TABLE.get() else { return Vec::new() };
    let sites = table.sites.iter().filter_map(|row| Some((Blamed::Site(row.site.load()?), row)));
    let others = [
        (Blamed::NotYetRun, &table.woken),
        (Blamed::Unknown, &table.unknown),
        (Blamed::OtherSites, &table.other_sites),
    ];
    sites.chain(others).map(|(blamed, row)| row.read(blamed)).filter(|row| row.releases > 0).collect()
}

/// What is charged at once.
pub(crate) struct Charge {
    pub(crate) delay: Delay,
    pub(crate) word: usize,
    pub(crate) waits_for: WaitsFor,
    /// Where the head of the queue waits.
    pub(crate) head_at: Option<&'static Site>,
    /// How long the lock was held, in nanoseconds.
    pub(crate) held: Option<u64>,
}

pub(crate) fn charge(blamed: Blamed, charge: &Charge) {
    let Some(table) = TABLE.get() else { return };
    let row = match blamed {
        Blamed::Site(site) => table.row(site).unwrap_or(&table.other_sites),
        Blamed::NotYetRun => &table.woken,
        Blamed::Unknown => &table.unknown,
        Blamed::OtherSites => &table.other_sites,
    };
    row.add(charge);
}

impl Table {
    fn row(&self, site: &'static Site) -> Option<&Row> {
        let hash = (ptr::from_ref(site).addr() as u64 >> 3).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let probed = (0..PROBES).map(|probe| &self.sites[(hash as usize + probe) % SITES]);
        probed.into_iter().find(|row| ptr::eq(row.site.claim(site), site))
    }
}

struct Row {
    site: AtomicSite,
    waits_for: AtomicU8,
    /// 0: none yet; [`MANY`]: not always the same.
    word: AtomicUsize,
    releases: AtomicU64,
    waiters: AtomicU64,
    delay: AtomicU64,
    longest: AtomicU64,
    longest_at: AtomicSite,
    held: AtomicU64,
    waits: [AtomicU32; BUCKETS],
    holds: [AtomicU32; BUCKETS],
}

/// No word has this address.
const MANY: usize = 1;

impl Row {
    fn new() -> Self {
        Self {
            site: AtomicSite::none(),
            waits_for: AtomicU8::new(0),
            word: AtomicUsize::new(0),
            releases: AtomicU64::new(0),
            waiters: AtomicU64::new(0),
            delay: AtomicU64::new(0),
            longest: AtomicU64::new(0),
            longest_at: AtomicSite::none(),
            held: AtomicU64::new(0),
            waits: [const { AtomicU32::new(0) }; BUCKETS],
            holds: [const { AtomicU32::new(0) }; BUCKETS],
        }
    }

    fn add(&self, charge: &Charge) {
        let Delay { waiters, sum, longest } = charge.delay;
        self.waits_for.store(charge.waits_for as u8, Ordering::Relaxed);
        let word = self.word.load(Ordering::Relaxed);
        if word != charge.word && word != MANY {
            self.word.store(if word == 0 { charge.word } else { MANY }, Ordering::Relaxed);
        }
        self.releases.fetch_add(1, Ordering::Relaxed);
        self.waiters.fetch_add(waiters, Ordering::Relaxed);
        self.delay.fetch_add(sum, Ordering::Relaxed);
        if self.longest.fetch_max(longest, Ordering::Relaxed) < longest {
            self.longest_at.store(charge.head_at);
        }
        self.waits[bucket(longest)].fetch_add(1, Ordering::Relaxed);
        if let Some(held) = charge.held {
            self.held.fetch_add(held, Ordering::Relaxed);
            self.holds[bucket(held)].fetch_add(1, Ordering::Relaxed);
        }
    }

    fn read(&self, blamed: Blamed) -> Blame {
        let read = |value: &AtomicU64| value.load(Ordering::Relaxed);
        let histogram =
            |buckets: &[AtomicU32; BUCKETS]| std::array::from_fn(|at| buckets[at].load(Ordering::Relaxed));
        let word = self.word.load(Ordering::Relaxed);
        let waits_for = WaitsFor::ALL.get(usize::from(self.waits_for.load(Ordering::Relaxed)));
        Blame {
            blamed,
            waits_for: waits_for.copied().unwrap_or(WaitsFor::Word),
            word: (word > MANY).then_some(word),
            releases: read(&self.releases),
            waiters: read(&self.waiters),
            delay: Duration::from_nanos(read(&self.delay)),
            longest: Duration::from_nanos(read(&self.longest)),
            longest_at: self.longest_at.load(),
            waits: histogram(&self.waits),
            holds: histogram(&self.holds),
            held: Duration::from_nanos(read(&self.held)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::Location;

    #[track_caller]
    fn here() -> &'static Site {
        Location::caller()
    }

    fn charge_of(sum: u64) -> Charge {
        let delay = Delay { waiters: 1, sum, longest: sum };
        Charge { delay, word: 8, waits_for: WaitsFor::Mutex, head_at: None, held: Some(sum) }
    }

    #[test]
    fn sites_beyond_the_table_are_one_row() {
        let table = Table {
            sites: (0..SITES).map(|_| Row::new()).collect(),
            woken: Row::new(),
            unknown: Row::new(),
            other_sites: Row::new(),
        };
        let leaked = |_| -> &'static Site { Box::leak(Box::new(*here())) };
        let sites: Vec<_> = (0..2 * SITES).map(leaked).collect();
        let with_row = sites.iter().filter(|site| table.row(site).is_some()).count();
        assert!((SITES / 2..=SITES).contains(&with_row), "{with_row}");
        for site in &sites {
            assert!(table.row(site).is_none_or(|row| ptr::eq(row.site.load().unwrap(), *site)));
        }
    }

    #[test]
    fn buckets_are_powers_of_two() {
        for nanos in [0, 255, 256, 511, 512, 1_000_000, 1 << 38, u64::MAX] {
            let at = bucket(nanos);
            assert!(nanos < bucket_limit(at).as_nanos() as u64 || at == BUCKETS - 1, "{nanos}");
            assert!(at == 0 || nanos >= bucket_limit(at - 1).as_nanos() as u64, "{nanos}");
        }
        let row = Row::new();
        row.add(&charge_of(300));
        row.add(&charge_of(200));
        let read = row.read(Blamed::Unknown);
        assert_eq!(
            (read.releases, read.delay, read.longest),
            (2, Duration::from_nanos(500), Duration::from_nanos(300))
        );
        assert_eq!((read.waits[0], read.waits[1], read.holds[1], read.word), (1, 1, 1, Some(8)));
    }
}
