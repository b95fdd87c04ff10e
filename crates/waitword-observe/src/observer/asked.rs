//! What is asked of the core, and the functions that it then calls.

use std::sync::Mutex;

use waitword_core::lock;
use waitword_core::observe::{
    self, AWAITED, CONTENDED, Contended, DELAYS, Ended, HOLDERS, OWN, Observer, RELEASES, TASKS, WAITS,
    Woken, asks, set_observer,
};

use super::hooks;
use crate::blame::{self, delays};
use crate::record::rings;
use crate::record::{held_by, release_under_way, thread_of};
use crate::{names, notifies, order, tasks};

/// What is asked for.
#[derive(Default)]
pub(crate) struct Asked {
    /// Holders are recorded.
    pub(crate) holders: bool,
    /// There may be records, which releases have to erase.
    pub(crate) releases: bool,
    pub(crate) blame: bool,
    pub(crate) order: bool,
    pub(crate) tasks: bool,
    /// How many traces there are, and how many of these are of all acquisitions.
    pub(crate) traces: [usize; 2],
}

static ASKED: Mutex<Asked> = Mutex::new(Asked {
    holders: false,
    releases: false,
    blame: false,
    order: false,
    tasks: false,
    traces: [0; 2],
});

/// Changes what is asked for.
pub(crate) fn ask(change: impl FnOnce(&mut Asked)) {
    let mut asked = lock(&ASKED);
    change(&mut asked);
    set_observer(&OBSERVER);
    let flags = [
        (asked.holders, HOLDERS),
        (asked.releases, RELEASES),
        (asked.blame, DELAYS | CONTENDED),
        (asked.order, AWAITED),
        (asked.tasks, TASKS),
        (asked.traces[0] > 0, WAITS | CONTENDED),
        (asked.traces[1] > 0, OWN),
    ];
    observe::ask(
        flags.iter().filter(|(is_asked, _)| *is_asked).map(|(_, flag)| flag).fold(0, |all, flag| all | flag),
    );
}

static OBSERVER: Observer = Observer {
    waits: rings::begun,
    queued: delays::queued,
    woken,
    ended,
    contended,
    polled: tasks::polled,
    acquired: hooks::acquired,
    acquired_by_task: hooks::acquired_by_task,
    changed: hooks::changed,
    released: hooks::released,
    is_sent: hooks::is_sent,
    permits_added: hooks::permits_added,
    dropped: hooks::dropped,
    held_by,
    thread: |number| thread_of(u64::from(number)),
    notified: notifies::note,
    typed: names::note_type,
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
