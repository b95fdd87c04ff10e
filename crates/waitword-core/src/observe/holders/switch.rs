//! The switch, and the thread that tells the time while it is on.

use std::sync::{Mutex, MutexGuard};
use std::thread;

use super::recorder::{ERASES, TABLE, UNRECORDED, stop, tick};
use crate::observe::begin_clock;
use crate::sync::atomic::Ordering;
use crate::sync::lock;
use crate::time::{Duration, Instant};

/// How exact the times of holds are.
const TICK: Duration = Duration::from_millis(10);

#[derive(Default)]
pub(super) struct Switch {
    pub(super) turns: u64,
    pub(super) is_on: bool,
    /// The thread that tells the time runs.
    ticks: bool,
    pub(super) began: Option<Instant>,
}

static SWITCH: Mutex<Switch> = Mutex::new(Switch { turns: 0, is_on: false, ticks: false, began: None });

pub(super) fn switch() -> MutexGuard<'static, Switch> {
    lock(&SWITCH)
}

/// From now on acquisitions are recorded: who holds a lock, since when, and taken where ([`holders`](super::holders)).
///
/// Costs some 30 instructions for an acquisition and its release, and a thread that wakes up every 10 ms. The
/// first acquisition of each thread allocates. Locks that are held already have no record. Nothing happens if it is on.
pub fn start_holders() {
    let mut switch = switch();
    if switch.is_on {
        return;
    }
    begin_clock();
    (switch.turns, switch.is_on, switch.began) = (switch.turns + 1, true, Some(Instant::now()));
    UNRECORDED.store(0, Ordering::Relaxed);
    ERASES.store(true, Ordering::SeqCst);
    tick(switch.turns);
    if !switch.ticks {
        // Without the thread, times are those of the last snapshot.
        let started = thread::Builder::new().name("waitword-holders".into()).spawn(run);
        switch.ticks = started.is_ok();
    }
}

/// Acquisitions are not recorded any more. What is recorded stays until its release, and is not shown.
pub fn stop_holders() {
    let mut switch = switch();
    switch.is_on = false;
    stop();
}

/// Tells the time, until the switch is off and no record is left.
fn run() {
    loop {
        thread::sleep(TICK);
        let mut switch = switch();
        if switch.is_on {
            tick(switch.turns);
        } else if TABLE.all().next().is_none() {
            ERASES.store(false, Ordering::SeqCst);
            switch.ticks = false;
            return;
        }
    }
}
