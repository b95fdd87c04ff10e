//! Who made others wait, in the metrics of the program.

use std::collections::HashMap;

use ::metrics::{counter, histogram};

use crate::blame::{Blame, Blamed, Bucket, blame};
use crate::json::count_nanos;
use crate::text::clean;

/// Publishes [`blame`](crate::blame()) through the `metrics` crate:
///
/// | metric | labels | |
/// |---|---|---|
/// | `waitword_wait_seconds` | `site`, `lock` | histogram: how long the head of the queue had waited at a release |
/// | `waitword_hold_seconds` | `site`, `lock` | histogram: how long the lock had been held at these releases |
/// | `waitword_contended_releases` | `site`, `lock` | counter: how often the lock was released while others waited |
/// | `waitword_delay_nanoseconds` | `site`, `lock` | counter: how long others waited, in total |
///
/// `site` is where the lock was acquired. The buckets of the histograms are powers of two, so a value is exact to a factor of two.
///
/// ```
/// waitword_observe::enable();
/// let mut metrics = waitword_observe::Metrics::default();
/// // Once per scrape, or every few seconds:
/// metrics.publish();
/// ```
#[derive(Debug, Default)]
pub struct Metrics {
    /// What has been published of each row: only increments are published.
    before: HashMap<Blamed, Blame>,
}

impl Metrics {
    /// Publishes the delays and releases since the last call.
    pub fn publish(&mut self) {
        for row in blame() {
            self.publish_row(row);
        }
    }

    fn publish_row(&mut self, row: Blame) {
        let before = self.before.get(&row.blamed);
        let site = match &row.blamed {
            Blamed::Site { site } => site.to_string(),
            Blamed::NotYetRun => "not yet run".to_owned(),
            Blamed::Unknown => "unknown".to_owned(),
            Blamed::OtherSites => "other sites".to_owned(),
        };
        let what = row.what();
        let lock = what.name.or(what.type_name).unwrap_or_else(|| row.kind.to_string());
        let labels = [("site", clean(&site, usize::MAX)), ("lock", clean(&lock, usize::MAX))];
        let since = |now: u64, before: Option<u64>| now.saturating_sub(before.unwrap_or(0));
        counter!("waitword_contended_releases", &labels)
            .increment(since(row.releases, before.map(|row| row.releases)));
        counter!("waitword_delay_nanoseconds", &labels)
            .increment(since(count_nanos(row.delay), before.map(|row| count_nanos(row.delay))));
        let [waits, holds] =
            [histogram!("waitword_wait_seconds", &labels), histogram!("waitword_hold_seconds", &labels)];
        for (histogram, now, before) in [
            (waits, &row.waits, before.map(|row| &row.waits)),
            (holds, &row.holds, before.map(|row| &row.holds)),
        ] {
            for bucket in now {
                let same = |other: &&Bucket| other.below == bucket.below;
                let there = before.and_then(|buckets| buckets.iter().find(same)).map(|bucket| bucket.count);
                let count = usize::try_from(since(bucket.count, there)).unwrap_or(usize::MAX);
                if count > 0 {
                    // The middle of the bucket.
                    histogram.record_many(bucket.below.as_secs_f64() * 0.75, count);
                }
            }
        }
        self.before.insert(row.blamed.clone(), row);
    }
}
