//! Delays by the site where the lock was acquired: the rows as plain data ([`Blame`]), and the table that holds them.
//!
//! The table has a fixed size, so that a charge allocates nothing. Sites that find no row share one.

use std::collections::BTreeMap;
use std::ptr;
use std::sync::Mutex;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use waitword::observe::LockType;
use waitword_core::lock;
use waitword_core::observe::{Site as StaticSite, WaitsFor};

use super::delays::Delay;
use crate::by_word::ByWord;
use crate::json::nanos;
use crate::model::{Address, LockKind, LockName, Site, sort};
use crate::names::{TYPES, names};

/// The cause of the delays in a row of [`Blame`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "blamed", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Blamed {
    /// The holders that acquired the lock at this place.
    Site {
        /// The place.
        site: Site,
    },
    /// Nobody: the lock was free, and a signalled waiter had not run yet. Includes holders that barged past that waiter, for at most a barging
    /// window.
    #[serde(rename = "not_yet_run")]
    NotYetRun,
    /// Holders whose site is not known: they acquired the lock before holders were recorded, or no record was free.
    Unknown,
    /// Holders of all sites without a row of their own: the table has 512.
    #[serde(rename = "other_sites")]
    OtherSites,
}

/// How long others waited for the holders that acquired a lock at one site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blame {
    /// The cause of the delays.
    #[serde(flatten)]
    pub blamed: Blamed,
    /// The kind of the last lock.
    pub kind: LockKind,
    /// The lock, if it was always the same.
    pub lock: Option<LockName>,
    /// The type of the lock, such as `Mutex<shop::db::Pool>`, if it is known and was always the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// How often it was released while others waited.
    pub releases: u64,
    /// The number of waiters at these releases, added up.
    pub waiters: u64,
    /// The total time that they waited.
    #[serde(rename = "delay_ns", with = "nanos")]
    pub delay: Duration,
    /// The longest wait of one waiter for one of the holders.
    #[serde(rename = "longest_ns", with = "nanos")]
    pub longest: Duration,
    /// Where the longest wait began.
    pub longest_at: Option<Site>,
    /// Histogram: how long the head of the queue had waited at these releases.
    pub waits: Vec<Bucket>,
    /// Histogram: how long the lock had been held at these releases, where that is known.
    pub holds: Vec<Bucket>,
}

/// A bucket of a histogram. Empty buckets are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    /// The upper bound of its durations. The lower bound is half of it, but the first bucket has no lower and the last bucket no upper bound.
    #[serde(rename = "below_ns", with = "nanos")]
    pub below: Duration,
    /// The number of durations.
    pub count: u64,
}

impl Blame {
    /// The lock that the row is about, or else the type of lock.
    pub(crate) fn what(&self) -> LockName {
        let mut lock = self.lock.clone().unwrap_or(LockName::new(Address(0), self.kind));
        // The lock may have been dropped since.
        lock.type_name = lock.type_name.or_else(|| self.type_name.clone());
        lock
    }
}

const BUCKETS: usize = 32;

/// Durations below 2^8 ns are in the first bucket; each other bucket has durations of up to twice those of the one before.
const FIRST_BUCKET: u32 = 8;

/// The durations in a bucket are less than this. The last bucket also has all longer ones.
fn bucket_limit(bucket: usize) -> Duration {
    Duration::from_nanos(1 << (FIRST_BUCKET + bucket as u32))
}

fn bucket(nanos: u64) -> usize {
    let bits = u64::BITS - nanos.leading_zeros();
    (bits.saturating_sub(FIRST_BUCKET) as usize).min(BUCKETS - 1)
}

/// The rows of up to 512 sites, by their addresses.
static SITES: ByWord<(&'static StaticSite, Row), 32> = ByWord::new();

/// The rows of what has no site, in the order of [`OTHERS`].
static OTHER_ROWS: Mutex<[Option<Row>; 3]> = Mutex::new([const { None }; 3]);

const OTHERS: [Blamed; 3] = [Blamed::NotYetRun, Blamed::Unknown, Blamed::OtherSites];

#[derive(Clone, Copy)]
pub(super) enum Charged {
    /// The holders that acquired the lock at this place, if that is known.
    Holder(Option<&'static StaticSite>),
    /// Nobody: the lock was free.
    NotYetRun,
}

#[derive(Clone, Copy)]
pub(super) struct Charge {
    pub(super) delay: Delay,
    pub(super) word: usize,
    pub(super) waits_for: WaitsFor,
    /// Where the head of the queue waits.
    pub(super) head_at: Option<&'static StaticSite>,
    /// How long the lock was held, in nanoseconds.
    pub(super) held: Option<u64>,
}

pub(super) fn charge(charged: Charged, charge: &Charge) {
    // No other lock is taken under the lock of a row.
    let lock_type = TYPES.get(charge.word);
    let other = match charged {
        Charged::NotYetRun => 0,
        Charged::Holder(None) => 1,
        Charged::Holder(Some(site)) => {
            let row = || Some((site, Row::of(charge)));
            let address = ptr::from_ref(site).addr();
            let added = SITES.with(address, row, |place| {
                place.iter_mut().for_each(|(_, (_, row))| row.add(charge, lock_type));
            });
            if added.is_some() {
                return;
            }
            2
        }
    };
    lock(&OTHER_ROWS)[other].get_or_insert_with(|| Row::of(charge)).add(charge, lock_type);
}

pub(super) fn rows() -> Vec<Blame> {
    // One place may have several addresses, one in each codegen unit.
    let mut sites: BTreeMap<&StaticSite, Row> = BTreeMap::new();
    for (_, (site, row)) in SITES.all() {
        sites.entry(site).and_modify(|known| known.merge(&row)).or_insert(row);
    }
    let sites = sites.into_iter().map(|(site, row)| row.read(Blamed::Site { site: site.into() }));
    let others = *lock(&OTHER_ROWS);
    let others = OTHERS.into_iter().zip(others).filter_map(|(blamed, row)| Some(row?.read(blamed)));
    sites.chain(others).collect()
}

/// Charges, added up.
#[derive(Clone, Copy)]
struct Row {
    waits_for: WaitsFor,
    /// `None`: it was not always the same.
    word: Option<usize>,
    /// The type, if one is known.
    lock_type: Option<&'static LockType>,
    /// The type was not always the same.
    is_mixed: bool,
    releases: u64,
    waiters: u64,
    delay: u64,
    longest: u64,
    longest_at: Option<&'static StaticSite>,
    waits: [u32; BUCKETS],
    holds: [u32; BUCKETS],
}

impl Row {
    /// A row for this charge, which is not added yet.
    fn of(charge: &Charge) -> Self {
        Self {
            waits_for: charge.waits_for,
            word: Some(charge.word),
            lock_type: None,
            is_mixed: false,
            releases: 0,
            waiters: 0,
            delay: 0,
            longest: 0,
            longest_at: None,
            waits: [0; BUCKETS],
            holds: [0; BUCKETS],
        }
    }

    fn add(&mut self, charge: &Charge, lock_type: Option<&'static LockType>) {
        let Delay { waiters, sum, longest } = charge.delay;
        self.waits_for = charge.waits_for;
        self.add_lock(Some(charge.word), lock_type);
        self.releases += 1;
        self.waiters += waiters;
        self.delay = self.delay.wrapping_add(sum);
        if longest > self.longest {
            (self.longest, self.longest_at) = (longest, charge.head_at);
        }
        self.waits[bucket(longest)] += 1;
        if let Some(held) = charge.held {
            self.holds[bucket(held)] += 1;
        }
    }

    fn add_lock(&mut self, word: Option<usize>, lock_type: Option<&'static LockType>) {
        self.word = self.word.filter(|_| self.word == word);
        self.is_mixed |= lock_type.is_some() && self.lock_type.is_some() && self.lock_type != lock_type;
        self.lock_type = lock_type.or(self.lock_type);
    }

    fn merge(&mut self, other: &Self) {
        self.add_lock(other.word, other.lock_type);
        self.is_mixed |= other.is_mixed;
        self.releases += other.releases;
        self.waiters += other.waiters;
        self.delay = self.delay.wrapping_add(other.delay);
        if other.longest > self.longest {
            (self.longest, self.longest_at) = (other.longest, other.longest_at);
        }
        for (ours, theirs) in [(&mut self.waits, other.waits), (&mut self.holds, other.holds)] {
            ours.iter_mut().zip(theirs).for_each(|(ours, theirs)| *ours += theirs);
        }
    }

    fn read(&self, blamed: Blamed) -> Blame {
        let (kind, _) = sort(self.waits_for);
        let lock_type = self.lock_type.filter(|_| !self.is_mixed);
        Blame {
            blamed,
            kind,
            lock: self.word.map(|word| names().of(word, kind)),
            type_name: lock_type.map(ToString::to_string),
            releases: self.releases,
            waiters: self.waiters,
            delay: Duration::from_nanos(self.delay),
            longest: Duration::from_nanos(self.longest),
            longest_at: self.longest_at.map(Into::into),
            waits: histogram(&self.waits),
            holds: histogram(&self.holds),
        }
    }
}

/// The buckets that are not empty.
fn histogram(buckets: &[u32; BUCKETS]) -> Vec<Bucket> {
    let counts = buckets.iter().enumerate().filter(|(_, count)| **count > 0);
    counts.map(|(at, count)| Bucket { below: bucket_limit(at), count: u64::from(*count) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::Location;

    fn charge_of(sum: u64) -> Charge {
        let delay = Delay { waiters: 1, sum, longest: sum };
        Charge { delay, word: 8, waits_for: WaitsFor::Mutex, head_at: None, held: Some(sum) }
    }

    #[test]
    fn sites_beyond_the_table_are_one_row() {
        const SITES: usize = 1024;
        // All in one line of the source, at different addresses.
        for _ in 0..SITES {
            let site: &StaticSite = Box::leak(Box::new(*Location::caller()));
            charge(Charged::Holder(Some(site)), &charge_of(300));
        }
        let rows = rows();
        let releases = |blamed: &dyn Fn(&Blamed) -> bool| -> u64 {
            rows.iter().filter(|row| blamed(&row.blamed)).map(|row| row.releases).sum()
        };
        let with_row = releases(&|blamed| matches!(blamed, Blamed::Site { .. }));
        assert!((256..=512).contains(&with_row), "{with_row}");
        assert_eq!(with_row + releases(&|blamed| *blamed == Blamed::OtherSites), SITES as u64);
        assert!(rows.iter().all(|row| row.lock.as_ref().is_some_and(|lock| lock.address.0 == 8)), "{rows:?}");
    }

    #[test]
    fn buckets_are_powers_of_two() {
        for nanos in [0, 255, 256, 511, 512, 1_000_000, 1 << 38, u64::MAX] {
            let at = bucket(nanos);
            assert!(nanos < bucket_limit(at).as_nanos() as u64 || at == BUCKETS - 1, "{nanos}");
            assert!(at == 0 || nanos >= bucket_limit(at - 1).as_nanos() as u64, "{nanos}");
        }
        let mut row = Row::of(&charge_of(300));
        for sum in [300, 200] {
            row.add(&charge_of(sum), None);
        }
        let twice = {
            let mut twice = row;
            twice.merge(&row);
            twice.read(Blamed::Unknown)
        };
        let counts = |buckets: &[Bucket]| buckets.iter().map(|bucket| bucket.count).collect::<Vec<_>>();
        for (read, times) in [(row.read(Blamed::Unknown), 1), (twice, 2)] {
            let nanos = |duration: Duration| duration.as_nanos() as u64;
            assert_eq!(
                (read.releases, nanos(read.delay), nanos(read.longest)),
                (2 * times, 500 * times, 300)
            );
            assert_eq!([counts(&read.waits), counts(&read.holds)], [[times; 2]; 2]);
            assert_eq!(read.lock.map(|lock| lock.address.0), Some(8));
        }
    }
}
