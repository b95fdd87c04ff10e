//! The lines whose guards are sent to other threads, as far as that was seen.
//!
//! A guard is `Send`: a thread may acquire a lock, and another release it. The record of such a hold names a thread that may wait for this
//! very lock without a deadlock. Nobody says so when a guard is sent; but its upgrade, downgrade or release tells that it was. A line of a
//! program does with its guards what it did before, so holds that were acquired there are reported as "acquired by", and make no certain
//! deadlock.
//!
//! The set is fixed: of lines beyond it nothing is learned. A release looks at the record only where that is asked for anyway: while holders
//! are charged, or a trace is written.

use waitword_core::observe::Site;

use crate::site_ptr::AtomicSite;

/// So many lines are known.
const SITES: usize = 64;

static SENT: [AtomicSite; SITES] = [const { AtomicSite::none() }; SITES];

/// A guard that was acquired at `site` was released, or changed, by another thread.
#[cold]
pub(crate) fn learn(site: &'static Site) {
    // One line may have several addresses.
    let _ = SENT.iter().any(|sent| sent.claim(site) == site);
}

/// Whether guards that are acquired at `site` are sent.
pub(crate) fn is_known(site: &Site) -> bool {
    SENT.iter().map_while(AtomicSite::load).any(|sent| sent == site)
}
