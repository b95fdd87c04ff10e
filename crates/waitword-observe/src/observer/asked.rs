//! What is asked of the core, and the functions that it then calls.

use std::sync::Mutex;

use waitword::observe::holders;
use waitword_core::lock;
use waitword_core::observe::{
    self, CONTENDED, Contended, DELAYS, Ended, Observer, WAITS, Woken, asks, set_observer,
};

use super::hooks;
use crate::blame::{self, delays};
use crate::names::TYPES;
use crate::record::rings;
use crate::record::{held_by, numbered, release_under_way};
use crate::{notifies, order, tasks};

/// The flags that were set, without those that follow from others.
static ASKED: Mutex<u32> = Mutex::new(0);

/// From now on the core tells what the flags `on` ask for, and no longer what the flags `off` ask for.
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
