//! Holders are charged with the waits of others, and all charges together are all waits.

use std::panic::Location;
use std::pin::Pin;
use std::sync::atomic::AtomicU32;
use std::task::Waker;
use std::thread;
use std::time::{Duration, Instant};

use waitword_core::observe::{Origin, Site, WaitsFor};
use waitword_core::{
    Inbox, InboxWait, WaitAsync, charge_release, notify_all, notify_one, requeue_while_equal, wait_async_from,
};
use waitword_observe::internals::{Release, note_release, start_blame};
use waitword_observe::{Blame, Blamed, LockKind, blame};

use crate::common::{address_of, poll, turn};

type Wait<'a> = Pin<Box<WaitAsync<&'a AtomicU32>>>;

#[track_caller]
fn here() -> &'static Site {
    Location::caller()
}

/// Between which times something happened.
#[derive(Clone, Copy)]
struct When(Instant, Instant);

fn timed<R>(act: impl FnOnce() -> R) -> (R, When) {
    let before = Instant::now();
    let result = act();
    (result, When(before, Instant::now()))
}

/// At least and at most so long, in which a wait between the two is.
fn between(begin: When, end: When) -> [Duration; 2] {
    [end.0.saturating_duration_since(begin.1), end.1.duration_since(begin.0)]
}

fn sum(of: &[[Duration; 2]]) -> [Duration; 2] {
    [of.iter().map(|bounds| bounds[0]).sum(), of.iter().map(|bounds| bounds[1]).sum()]
}

#[track_caller]
fn queued_as(waits_for: WaitsFor, word: &AtomicU32) -> (Wait<'_>, When) {
    let mut wait = Box::pin(wait_async_from(Origin::here(waits_for), word, 0));
    let (polled, when) = timed(|| poll(wait.as_mut(), Waker::noop()));
    assert!(polled.is_pending());
    (wait, when)
}

fn delay_of(blamed: Blamed) -> Duration {
    blame().into_iter().find(|row| row.blamed == blamed).map_or(Duration::ZERO, |row| row.delay)
}

fn blamed(site: &'static Site) -> Blamed {
    Blamed::Site { site: site.into() }
}

fn of_site(site: &'static Site) -> Blame {
    blame().into_iter().find(|row| row.blamed == blamed(site)).expect("charged")
}

fn release(word: &AtomicU32, site: &'static Site) -> When {
    let address = address_of(word) as usize;
    let release = || {
        note_release(address, Release { site: Some(site), ..Release::default() });
        charge_release(word, address);
    };
    timed(release).1
}

fn pass_time() {
    thread::sleep(Duration::from_millis(3));
}

#[track_caller]
fn assert_within(delay: Duration, bounds: &[[Duration; 2]]) {
    let [least, most] = sum(bounds);
    assert!(least <= delay && delay <= most, "{delay:?} is not between {least:?} and {most:?}");
}

#[test]
fn each_holder_is_charged_with_the_time_since_the_one_before() {
    let _turn = turn();
    start_blame();
    let before = delay_of(Blamed::NotYetRun);
    let word = AtomicU32::new(0);
    let [first, second] = [here(), here()];
    let (mut one, one_begins) = queued_as(WaitsFor::Mutex, &word);
    let (other, other_begins) = queued_as(WaitsFor::Mutex, &word);
    pass_time();
    let released = release(&word, first);
    pass_time();
    let (_, left) = timed(|| one.as_mut().cancel_acquired());
    pass_time();
    let released_again = release(&word, second);
    let charged = of_site(first);
    assert_eq!((charged.releases, charged.waiters, charged.kind), (1, 2, LockKind::Mutex));
    let waits = [between(one_begins, released), between(other_begins, released)];
    assert_within(charged.delay, &waits);
    assert_within(charged.longest, &waits[..1]);
    let charged = of_site(second);
    assert_eq!((charged.releases, charged.waiters), (1, 1));
    assert_within(charged.delay, &[between(left, released_again)]);
    assert_within(charged.longest, &[between(left, released_again)]);
    // While the first had the signal and had not run, both waited.
    assert_within(delay_of(Blamed::NotYetRun) - before, &[between(released, left), between(released, left)]);
    release(&word, second);
    assert_eq!(notify_one(&word), 1);
    drop(other);
}

/// Where the times are not known exactly each sum has an upper bound: what the waiters measure themselves.
#[test]
fn all_charges_together_are_all_waits() {
    let _turn = turn();
    start_blame();
    let (word, site) = (AtomicU32::new(0), here());
    let before = delay_of(Blamed::NotYetRun);
    let (mut waits, mut bounds) = (Vec::new(), Vec::new());
    let mut releases = Vec::new();
    for round in 0..20 {
        waits.push(queued_as(WaitsFor::Write, &word));
        if round % 3 == 0 {
            pass_time();
            releases.push(release(&word, site));
        }
        // From the head, from the tail, from the middle.
        if round % 4 == 3 {
            let (mut wait, begun) = waits.remove([0, waits.len() - 1, waits.len() / 2][round % 3]);
            // Those that give up are part of what the next release is charged with.
            let acquired = round % 8 == 3;
            let left =
                timed(|| if acquired { wait.as_mut().cancel_acquired() } else { wait.as_mut().cancel() }).1;
            bounds.push(between(begun, left));
        }
    }
    pass_time();
    for (mut wait, begun) in waits {
        let left = timed(|| wait.as_mut().cancel_acquired()).1;
        bounds.push(between(begun, left));
    }
    assert_within(of_site(site).delay + delay_of(Blamed::NotYetRun) - before, &bounds);
}

#[test]
fn the_last_that_gives_up_leaves_its_wait_to_an_unknown_holder() {
    let _turn = turn();
    start_blame();
    let word = AtomicU32::new(0);
    let before = delay_of(Blamed::Unknown);
    let (wait, begun) = queued_as(WaitsFor::Semaphore, &word);
    pass_time();
    let (_, left) = timed(|| drop(wait));
    assert_within(delay_of(Blamed::Unknown) - before, &[between(begun, left)]);
}

/// Only the lock knows that it is one.
#[test]
fn what_a_script_waits_for_a_lock_is_charged_until_it_gives_up() {
    let _turn = turn();
    start_blame();
    let (word, site, inbox) = (AtomicU32::new(0), here(), Inbox::new(|| {}));
    let mut waits = [1, 2].map(|token| Box::pin(InboxWait::new(&inbox, &word, token)));
    let (_, begun) = timed(|| waits.iter_mut().for_each(|wait| assert!(wait.as_mut().enqueue(0))));
    pass_time();
    let (is_expired, expired) = timed(|| waits[0].as_mut().expire());
    assert!(is_expired);
    let released = release(&word, site);
    assert_eq!(of_site(site).waiters, 1);
    assert_within(of_site(site).delay, &[between(begun, expired), between(begun, released)]);
    drop(waits);
    release(&word, site);
    assert_eq!(of_site(site).releases, 1, "nobody waits");
}

#[test]
fn what_waits_for_a_notify_blames_nobody_until_it_waits_for_a_lock() {
    let _turn = turn();
    start_blame();
    let [condition, mutex, other] = [0, 0, 0].map(AtomicU32::new);
    let site = here();
    let (moves, _) = queued_as(WaitsFor::Condvar, &condition);
    let (stays, _) = queued_as(WaitsFor::Event, &other);
    pass_time();
    let to = address_of(&mutex) as usize;
    let (moved, moves_over) = timed(|| requeue_while_equal(&condition, 0, to, 1));
    assert_eq!(moved, Ok(1));
    pass_time();
    let released = release(&mutex, site);
    let charged = of_site(site);
    assert_within(charged.delay, &[between(moves_over, released)]);
    assert_eq!((notify_one(&mutex), notify_all(&other)), (1, 1));
    drop((moves, stays));
}
