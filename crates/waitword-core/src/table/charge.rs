//! Charges who made others wait: see [`observe`](crate::observe).

use std::time::Duration;

use super::location::{Location, address};
use super::shards::Table;
use crate::observe::{
    Blamed, Charge, Release, Slow, blames, is_anything_asked, keep_slow, nanos_at, noted, now, tracing,
};
use crate::shard::Crowd;
use crate::thread::known_threads;

/// For building locks: a lock was released for which others wait at `at`. The holder is charged with what they have waited since somebody
/// was charged last, if [`start_blame`](crate::observe::start_blame) was called, and a trace shows the hold. The holder is the one that
/// this thread [noted](crate::observe::note_release) last, if that was for the word at the address `held`.
///
/// Call it after the release and before the signal. Off, it costs a load. On, it locks the shard of the word if there are waiters, and
/// reads the clock.
#[inline]
pub fn charge_release<L: Location>(at: L, held: usize) {
    if is_anything_asked() {
        charge_or_trace(at.table(), address(&at), &noted(held));
    }
}

#[cold]
fn charge_or_trace(table: &Table, address: usize, release: &Release) {
    tracing::contended_release(address, release);
    if blames() {
        charge(table, address, release);
    }
}

fn charge(table: &Table, address: usize, hold: &Release) {
    let key = table.key_of(address);
    if table.shard(key).is_idle(key.hash) {
        return;
    }
    let mut crowd = None;
    let mut locked = table.lock(key);
    let charge = locked.delay_at_release(key, |waiters| crowd = Some(waiters));
    drop(locked);
    let Some(mut charge) = charge else { return };
    charge.held = hold.since.map(|since| now().saturating_sub(nanos_at(since)));
    crate::observe::charge(hold.site.map_or(Blamed::Unknown, Blamed::Site), &charge);
    if let Some(crowd) = crowd {
        keep_slow(slow(&charge, hold, &crowd));
    }
}

fn slow(charge: &Charge, hold: &Release, crowd: &Crowd) -> Slow {
    let threads = || {
        let known = known_threads();
        crowd.who.iter().take(crowd.len).filter(|who| known.contains_key(who)).count()
    };
    Slow {
        word: charge.word,
        waits_for: charge.waits_for,
        site: hold.site,
        task: hold.task,
        thread: std::thread::current(),
        held: charge.held.map(Duration::from_nanos),
        waiters: crowd.len,
        threads: (crowd.len <= crowd.who.len()).then(threads),
        longest: Duration::from_nanos(charge.delay.longest),
        longest_at: charge.head_at,
    }
}

#[cfg(not(any(waitword_loom, waitword_shuttle)))]
use crate::observe::holders::site_of as holder_of;

/// A model records no holders.
#[cfg(any(waitword_loom, waitword_shuttle))]
fn holder_of(_: usize) -> Option<&'static crate::observe::Site> {
    None
}

/// What a waiter that leaves has taken of its queue's delay ([`delay_at_leave`](crate::shard::Locked::delay_at_leave)).
pub(crate) fn charge_at_leave(charge: Charge, acquired: bool) {
    let blamed = match acquired {
        true => Blamed::NotYetRun,
        // It was the last, so no release will be charged with its wait.
        false => holder_of(charge.word).map_or(Blamed::Unknown, Blamed::Site),
    };
    crate::observe::charge(blamed, &charge);
}
