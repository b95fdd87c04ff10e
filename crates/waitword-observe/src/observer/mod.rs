//! The interface to the core: the switches of holders, blame and traces, the thread that keeps the time of records, and the functions that
//! the core then calls. The functions for holders are in `hooks.rs`.

mod hooks;

use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::thread;

use waitword::observe::holders;
use waitword_core::lock;
use waitword_core::observe::{
    self, CONTENDED, Contended, DELAYS, Ended, HOLDERS, OWN, Observer, RELEASES, WAITS, Woken, asks,
    begin_clock, set_observer, start_clock,
};
use waitword_core::time::{Duration, Instant};

use crate::blame::{self, delays};
use crate::names::TYPES;
use crate::record::recorder::{UNRECORDED, stop, switch, tick};
use crate::record::rings::{self, Tracing};
use crate::record::{held_by, numbered, release_under_way, table};
use crate::{notifies, order, tasks};

/// How exact the times of holds are.
const TICK: Duration = Duration::from_millis(10);

/// Starts recording acquisitions: who holds a lock, since when, and where it was acquired (`holders`).
///
/// Costs some 90 instructions for an acquisition and its release, and a thread that wakes up every 10 ms. The
/// first acquisition of each thread allocates. Locks that are held already have no record. Does nothing if recording is on.
pub fn start_holders() {
    let mut switch = switch();
    if switch.is_on {
        return;
    }
    begin_clock();
    (switch.turns, switch.is_on, switch.began) = (switch.turns + 1, true, Some(Instant::now()));
    UNRECORDED.store(0, Ordering::Relaxed);
    table::start();
    tick(switch.turns);
    ask(HOLDERS | RELEASES, 0);
    if !switch.ticks {
        // Without the thread, times are those of the last snapshot.
        let started = thread::Builder::new().name("waitword-holders".into()).spawn(run);
        switch.ticks = started.is_ok();
    }
}

/// Stops recording acquisitions. A record stays until its release, and is not shown.
pub fn stop_holders() {
    let mut switch = switch();
    switch.is_on = false;
    ask(0, HOLDERS);
    stop();
}

/// Stores the time, until the switch is off and no record is left.
fn run() {
    loop {
        thread::sleep(TICK);
        let mut switch = switch();
        if switch.is_on {
            tick(switch.turns);
        } else if table::all().next().is_none() {
            ask(0, RELEASES);
            switch.ticks = false;
            return;
        }
    }
}

/// Starts charging holders with the waits of others. Starts the clock, which each contended release and the end of each wait read.
pub fn start_blame() {
    start_clock();
    let mut is_on = lock(&IS_BLAME_ON);
    if !std::mem::replace(&mut *is_on, true) {
        delays::start(|| ask(DELAYS, 0));
    }
}

/// Stops charging holders. The table stays.
pub fn stop_blame() {
    let mut is_on = lock(&IS_BLAME_ON);
    *is_on = false;
    ask(0, DELAYS);
}

static IS_BLAME_ON: Mutex<bool> = Mutex::new(false);

/// Starts a trace, independent of others. If `all` is true, it has every acquisition and release. Also starts the clock, which gives waits
/// their ages.
pub fn traced(all: bool) -> Tracing {
    start_clock();
    let traced = Tracing::from_now_on(all);
    let mut traces = lock(&TRACES);
    traces[usize::from(all)] += 1;
    ask(if all { WAITS | OWN } else { WAITS }, 0);
    traced
}

impl Drop for Tracing {
    fn drop(&mut self) {
        let mut traces = lock(&TRACES);
        traces[usize::from(self.all)] -= 1;
        match *traces {
            [0, 0] => ask(0, WAITS | OWN),
            [_, 0] => ask(0, OWN),
            _ => {}
        }
    }
}

/// How many traces there are, and how many of these are of all acquisitions.
static TRACES: Mutex<[usize; 2]> = Mutex::new([0; 2]);

/// The flags that were requested, without those that follow from others.
static ASKED: Mutex<u32> = Mutex::new(0);

/// From now on the core calls what the flags `on` request, and no longer what the flags `off` request.
pub(crate) fn ask(on: u32, off: u32) {
    let mut asked = lock(&ASKED);
    *asked = *asked & !off | on;
    set_observer(&OBSERVER);
    holders::set_observer(&OF_LOCKS);
    let contended = if *asked & (DELAYS | WAITS) != 0 { CONTENDED } else { 0 };
    observe::ask(*asked | contended);
}

static OBSERVER: Observer =
    Observer { waits: rings::begun, queued: delays::queued, woken, ended, contended, polled: tasks::polled };

static OF_LOCKS: holders::Observer = holders::Observer {
    acquired: hooks::acquired,
    acquired_by_task: hooks::acquired_by_task,
    changed: hooks::changed,
    released: hooks::released,
    is_sent: hooks::is_sent,
    permits_added: hooks::permits_added,
    dropped: hooks::dropped,
    held_by,
    thread: |number| Some(numbered(number.into())?.thread),
    notified: notifies::note,
    typed: |word, lock_type| {
        TYPES.put(word, lock_type, |_| 0);
    },
    awaited: order::awaited,
};

fn woken(woken: Woken<'_>) {
    let mut count = 0;
    for who in woken.who {
        count += 1;
        if asks(WAITS) {
            rings::woken(woken.at, woken.are_notified, woken.word, who);
        }
    }
    if woken.are_notified && count > 0 && asks(DELAYS) {
        delays::left_many(woken.word, count);
    }
}

fn ended(ended: &Ended) {
    if asks(DELAYS) {
        blame::ended(ended);
    }
    if asks(WAITS) {
        rings::ended(ended);
    }
}

fn contended(contended: &Contended<'_>) {
    let release = release_under_way(contended.held);
    if asks(WAITS) {
        rings::contended_release(contended.word, &release);
    }
    if asks(DELAYS) {
        blame::charge_release(contended, &release);
    }
}
