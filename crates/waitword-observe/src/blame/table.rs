//! Delays by the site where the lock was taken.
//!
//! The table has a fixed size, and its rows are found by hashing the site: a compare-and-swap to claim one, and additions. Sites that find
//! no row are one row together.

use std::ptr;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use waitword_core::OnceLock;
use waitword_core::observe::{LockType, Site, WaitsFor};

use super::delays::Delay;
use super::rows::{Blame, Blamed, Bucket};
use crate::names::{lock_type_of, names};
use crate::process::sort;
use crate::site_ptr::{AtomicSite, AtomicStatic};

/// How many sites have a row.
const SITES: usize = 512;

/// After so many rows of others a site has none.
const PROBES: usize = 32;

/// How many buckets a histogram has.
const BUCKETS: usize = 32;

/// Durations below 2^8 ns are in the first bucket, each other one has those of twice as long as the one before.
const FIRST_BUCKET: u32 = 8;

static TABLE: OnceLock<Table> = OnceLock::new();

struct Table {
    sites: Box<[Row]>,
    woken: Row,
    unknown: Row,
    other_sites: Row,
}

/// The durations in a bucket are less than this. The last bucket has all that are longer, too.
fn bucket_limit(bucket: usize) -> Duration {
    Duration::from_nanos(1 << (FIRST_BUCKET + bucket as u32))
}

fn bucket(nanos: u64) -> usize {
    let bits = u64::BITS - nanos.leading_zeros();
    (bits.saturating_sub(FIRST_BUCKET) as usize).min(BUCKETS - 1)
}

/// Makes the table.
pub(super) fn start() {
    TABLE.get_or_init(Table::new);
}

/// The table as it is, without rows that nobody was charged in. Rows are read while they change: what belongs together may be one charge
/// apart.
pub(super) fn rows() -> Vec<Blame> {
    let Some(table) = TABLE.get() else { return Vec::new() };
    let sites =
        table.sites.iter().filter_map(|row| Some((Blamed::Site { site: row.site.load()?.into() }, row)));
    let others = [
        (Blamed::NotYetRun, &table.woken),
        (Blamed::Unknown, &table.unknown),
        (Blamed::OtherSites, &table.other_sites),
    ];
    sites.chain(others).map(|(blamed, row)| row.read(blamed)).filter(|row| row.releases > 0).collect()
}

/// Who is charged.
#[derive(Clone, Copy)]
pub(super) enum Charged {
    /// The holders that took the lock at this place, if that is known.
    Holder(Option<&'static Site>),
    /// Nobody: the lock was free.
    NotYetRun,
}

/// What is charged at once.
#[derive(Clone, Copy)]
pub(super) struct Charge {
    pub(super) delay: Delay,
    pub(super) word: usize,
    pub(super) waits_for: WaitsFor,
    /// Where the head of the queue waits.
    pub(super) head_at: Option<&'static Site>,
    /// How long the lock was held, in nanoseconds.
    pub(super) held: Option<u64>,
}

pub(super) fn charge(charged: Charged, charge: &Charge) {
    let Some(table) = TABLE.get() else { return };
    let row = match charged {
        Charged::Holder(Some(site)) => table.row(site).unwrap_or(&table.other_sites),
        Charged::NotYetRun => &table.woken,
        Charged::Holder(None) => &table.unknown,
    };
    row.add(charge);
}

impl Table {
    fn new() -> Self {
        let sites = (0..SITES).map(|_| Row::new()).collect();
        Self { sites, woken: Row::new(), unknown: Row::new(), other_sites: Row::new() }
    }

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
    /// [`MIXED`]: not always the same.
    lock_type: AtomicStatic<LockType>,
    releases: AtomicU64,
    waiters: AtomicU64,
    delay: AtomicU64,
    longest: AtomicU64,
    longest_at: AtomicSite,
    waits: [AtomicU32; BUCKETS],
    holds: [AtomicU32; BUCKETS],
}

/// No word has this address.
const MANY: usize = 1;

/// No lock is of this type.
static MIXED: LockType = LockType::new::<()>("");

impl Row {
    fn new() -> Self {
        Self {
            site: AtomicSite::none(),
            waits_for: AtomicU8::new(0),
            word: AtomicUsize::new(0),
            lock_type: AtomicStatic::none(),
            releases: AtomicU64::new(0),
            waiters: AtomicU64::new(0),
            delay: AtomicU64::new(0),
            longest: AtomicU64::new(0),
            longest_at: AtomicSite::none(),
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
        if let Some(lock_type) = lock_type_of(charge.word) {
            match self.lock_type.load() {
                None => self.lock_type.store(Some(lock_type)),
                Some(before) if before == lock_type => {}
                Some(_) => self.lock_type.store(Some(&MIXED)),
            }
        }
        self.releases.fetch_add(1, Ordering::Relaxed);
        self.waiters.fetch_add(waiters, Ordering::Relaxed);
        self.delay.fetch_add(sum, Ordering::Relaxed);
        if self.longest.fetch_max(longest, Ordering::Relaxed) < longest {
            self.longest_at.store(charge.head_at);
        }
        self.waits[bucket(longest)].fetch_add(1, Ordering::Relaxed);
        if let Some(held) = charge.held {
            self.holds[bucket(held)].fetch_add(1, Ordering::Relaxed);
        }
    }

    fn read(&self, blamed: Blamed) -> Blame {
        let read = |value: &AtomicU64| value.load(Ordering::Relaxed);
        let time = |value: &AtomicU64| Duration::from_nanos(read(value));
        let word = self.word.load(Ordering::Relaxed);
        let waits_for = WaitsFor::ALL.get(usize::from(self.waits_for.load(Ordering::Relaxed)));
        let (kind, _) = sort(waits_for.copied().unwrap_or(WaitsFor::Word));
        let lock_type = self.lock_type.load().filter(|lock_type| *lock_type != &MIXED);
        Blame {
            blamed,
            kind,
            lock: (word > MANY).then(|| names().of(word, kind)),
            type_name: lock_type.map(ToString::to_string),
            releases: read(&self.releases),
            waiters: read(&self.waiters),
            delay: time(&self.delay),
            longest: time(&self.longest),
            longest_at: self.longest_at.load().map(Into::into),
            waits: histogram(&self.waits),
            holds: histogram(&self.holds),
        }
    }
}

/// The buckets that are not empty.
fn histogram(buckets: &[AtomicU32; BUCKETS]) -> Vec<Bucket> {
    let counts = buckets.iter().map(|count| u64::from(count.load(Ordering::Relaxed))).enumerate();
    let counts = counts.filter(|(_, count)| *count > 0);
    counts.map(|(at, count)| Bucket { below: bucket_limit(at), count }).collect()
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
        let table = Table::new();
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
        let counts = |buckets: &[Bucket]| buckets.iter().map(|bucket| bucket.count).collect::<Vec<_>>();
        assert_eq!((counts(&read.waits), counts(&read.holds)), (vec![1, 1], vec![1, 1]));
        assert_eq!(read.lock.map(|lock| lock.address.0), Some(8));
    }
}
