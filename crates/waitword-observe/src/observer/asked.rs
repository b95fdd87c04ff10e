//! What is asked of the core, and the functions that it then calls.

use std::sync::Mutex;

use waitword::observe::holders;
use waitword_core::lock;
use waitword_core::observe::{
    self, CONTENDED, Contended, Ended, HOLDERS, Observer, RELEASES, TASKS, Woken, set_observer,
};

use super::hooks;
use crate::asked::{BLAMES, FOLLOWS, TRACES, TRACES_ALL, asks};
use crate::blame::{self, delays};
use crate::record::rings;
use crate::record::{held_by, release_under_way, thread_of};
use crate::{notifies, order, tasks, types};

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
    holders::set_observer(&OF_LOCKS);
    let flags = [
        (asked.holders, HOLDERS),
        (asked.releases, RELEASES),
        (asked.blame, BLAMES | CONTENDED),
        (asked.order, FOLLOWS),
        (asked.tasks, TASKS),
        (asked.traces[0] > 0, TRACES | CONTENDED),
        (asked.traces[1] > 0, TRACES_ALL),
    ];
    observe::ask(
        flags.iter().filter(|(is_asked, _)| *is_asked).map(|(_, flag)| flag).fold(0, |all, flag| all | flag),
    );
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
    thread: |number| thread_of(u64::from(number)),
    notified: notifies::note,
    typed: types::note,
    awaited: order::awaited,
};

fn woken(woken: Woken<'_>) {
    let mut count = 0;
    for who in woken.who {
        count += 1;
        if asks(TRACES) {
            rings::woken(woken.at, woken.are_notified, woken.word, who);
        }
    }
    if woken.are_notified && count > 0 && asks(BLAMES) {
        delays::left_many(woken.word, count);
    }
}

fn ended(ended: &Ended) {
    if asks(BLAMES) {
        blame::ended(ended);
    }
    if asks(TRACES) {
        rings::ended(ended);
    }
}

fn contended(contended: &Contended<'_>) {
    let release = release_under_way(contended.held);
    if asks(TRACES) {
        rings::contended_release(contended.word, &release);
    }
    if asks(BLAMES) {
        blame::charge_release(contended, &release);
    }
}
