//! The table of the process, the switch, and the hooks: every acquisition and every release that is seen passes here.

use std::cell::Cell;
use std::sync::{Mutex, MutexGuard};
use std::task::Waker;
use std::thread;

use super::hold::{Hold, HoldId};
use super::records::{ALONE, ELSEWHERE, Entry, FLAG_BITS, FLAGS, FORGOTTEN, HOLD, RECORDS, Records, TASK};
use super::sent;
use crate::observe::{
    self, Acquirer, Actor, Caller, Release, Site, Step, begin_clock, follow, instant, is_anonymous,
    is_anything_asked, note_release, trace_acquired, trace_released, traces_all, tracing,
};
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::lock;
use crate::thread::is_of_thread;
use crate::thread::numbered::{self, Numbered};
use crate::time::{Duration, Instant};

/// How exact the times of holds are.
pub(super) const TICK: Duration = Duration::from_millis(10);

/// What every acquisition and every release looks at: one static, so that code in other crates looks for one address.
struct Recorder {
    /// 0 while the switch is off. Otherwise the number of its turn, and the milliseconds since the first one.
    now: AtomicU64,
    /// Whether there may be records, which releases have to erase.
    erases: AtomicBool,
    table: Records,
}

static RECORDER: Recorder =
    Recorder { now: AtomicU64::new(0), erases: AtomicBool::new(false), table: Records::new() };

static TABLE: &Records = &RECORDER.table;

/// How many acquisitions found no place in this turn.
static UNRECORDED: AtomicU64 = AtomicU64::new(0);

/// Where the number of the turn begins in a time.
const TURN_SHIFT: u32 = 40;

const NANOS_PER_MILLI: u64 = 1_000_000;

#[derive(Default)]
struct Switch {
    turns: u64,
    is_on: bool,
    /// The thread that tells the time runs.
    ticks: bool,
    began: Option<Instant>,
}

static SWITCH: Mutex<Switch> = Mutex::new(Switch { turns: 0, is_on: false, ticks: false, began: None });

fn switch() -> MutexGuard<'static, Switch> {
    lock(&SWITCH)
}

/// From now on acquisitions are recorded: who holds a lock, since when, and taken where ([`holders`]).
///
/// Costs 50 (`Mutex`) to 100 (`Semaphore`) instructions for an acquisition and its release, and a thread that wakes up every 10 ms. The
/// first acquisition of each thread allocates. Locks that are held already have no record. Nothing happens if it is on.
pub fn start_holders() {
    let mut switch = switch();
    if switch.is_on {
        return;
    }
    begin_clock();
    (switch.turns, switch.is_on, switch.began) = (switch.turns + 1, true, Some(Instant::now()));
    UNRECORDED.store(0, Ordering::Relaxed);
    RECORDER.erases.store(true, Ordering::SeqCst);
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
    RECORDER.now.store(0, Ordering::SeqCst);
}

/// Stores the time, under the lock of the switch.
fn tick(turn: u64) {
    let elapsed = observe::now() / NANOS_PER_MILLI;
    RECORDER.now.store(turn << TURN_SHIFT | (elapsed & ((1 << TURN_SHIFT) - 1)), Ordering::SeqCst);
}

/// Tells the time, until the switch is off and no record is left.
fn run() {
    loop {
        thread::sleep(TICK);
        let mut switch = switch();
        if switch.is_on {
            tick(switch.turns);
        } else if TABLE.is_empty() {
            RECORDER.erases.store(false, Ordering::SeqCst);
            switch.ticks = false;
            return;
        }
    }
}

thread_local! {
    /// The number of this thread, as in records: not given again.
    static NUMBER: Cell<u64> = const { Cell::new(0) };
}

#[inline(always)]
fn number() -> u64 {
    match NUMBER.get() {
        0 => new_number(),
        number => number,
    }
}

#[cold]
fn new_number() -> u64 {
    // A lock that is taken meanwhile, by an allocator, is one of an unknown thread.
    NUMBER.set(numbered::UNKNOWN << FLAG_BITS);
    let number = numbered::number_of_this_thread(is_recorded) << FLAG_BITS;
    NUMBER.set(number);
    number
}

/// Whether a record names the thread.
fn is_recorded(number: u64) -> bool {
    TABLE.all().any(|entry| entry.who >> FLAG_BITS == number) || observe::notifies::is_named(number)
}

/// Whether acquisitions are recorded: the switch is on. One load.
#[inline(always)]
pub fn records() -> bool {
    RECORDER.now.load(Ordering::Relaxed) != 0
}

/// Whether the release of a guard that keeps this has to erase a record.
#[inline(always)]
pub fn may_be_recorded(id: HoldId) -> bool {
    id != HoldId::NONE
}

/// What a guard keeps that has no room for it: the release looks for the record, if there are any. One load.
#[inline(always)]
pub fn not_kept() -> HoldId {
    if RECORDER.erases.load(Ordering::Relaxed) { HoldId::UNKNOWN } else { HoldId::NONE }
}

/// A thread has acquired the lock with this word; it `gives_up` if it would not have waited for ever. Returns what its
/// guard has to keep, if there may be several holders.
#[inline(always)]
pub fn acquired(word: usize, hold: Hold, caller: Caller, gives_up: bool) -> HoldId {
    let now = RECORDER.now.load(Ordering::Relaxed);
    if now == 0 {
        return HoldId::NONE;
    }
    // Without a call up to here: the shortest path of all.
    if !traces_all()
        && let number @ 1.. = NUMBER.get()
        && let Some(at) = RECORDER.table.claim(word, now, caller.site(), number | hold as u64)
    {
        return id(at);
    }
    record(word, hold, caller.site(), gives_up)
}

#[cold]
#[inline(never)]
fn record(word: usize, hold: Hold, site: &'static Site, gives_up: bool) -> HoldId {
    let (now, who) = (RECORDER.now.load(Ordering::Relaxed), number() | hold as u64);
    let mut at = None;
    if traces_all() {
        trace_acquired(word, None, Some(site));
        at = TABLE.claim(word, now, site, who);
    }
    let elsewhere = || {
        if matches!(hold, Hold::Mutex | Hold::AsyncLock) {
            // This is its only holder: an earlier record is that of a leaked guard, of a lock that a script has released, or of a lock that
            // was here before.
            erase_all(word);
        }
        TABLE.claim_elsewhere(word, now, site, who)
    };
    let id = at.or_else(elsewhere).map_or_else(unrecorded, id);
    if tracing::is_followed() {
        tell_acquired(id, gives_up);
    }
    id
}

/// The place of the record is in the low bits, and the highest one is set.
fn id(at: usize) -> HoldId {
    HoldId(at as u32 | HoldId::KEPT)
}

/// Where the record is, of a guard that keeps that.
#[inline(always)]
fn place(id: HoldId) -> usize {
    id.0 as usize % RECORDS
}

#[cold]
fn unrecorded() -> HoldId {
    UNRECORDED.fetch_add(1, Ordering::Relaxed);
    HoldId::NONE
}

/// As [`acquired`], by a task that is polled with this waker, and with the number of permits. `is_alone` says whether only this thread can
/// poll it.
#[inline(always)]
pub fn acquired_by_task(
    word: usize,
    hold: Hold,
    permits: usize,
    caller: Caller,
    task: &Waker,
    is_alone: impl FnOnce() -> bool,
    gives_up: bool,
) -> HoldId {
    if RECORDER.now.load(Ordering::Relaxed) == 0 {
        return HoldId::NONE;
    }
    let flags = match is_of_thread(task) || is_anonymous(task) {
        // A thread that drives a future by parking, or polls it once.
        true => 0,
        false => TASK | if is_alone() { ALONE } else { 0 },
    };
    record_with(word, hold as u64 | flags, permits, caller.site(), task.data().addr(), gives_up)
}

#[cold]
#[inline(never)]
fn tell_acquired(id: HoldId, gives_up: bool) {
    let Some((hold, entry)) = own(id) else { return };
    let Some(mode) = Hold::from_number(entry.who & HOLD) else { return };
    let otherwise = match entry.who & TASK != 0 {
        true => Acquirer::Task(entry.task),
        false => Acquirer::Thread(entry.who >> FLAG_BITS),
    };
    let Entry { word, site, .. } = entry;
    follow::tell(|| Step::Acquired { hold, word, mode, site, by: follow::acquirer(otherwise), gives_up });
}

#[cold]
#[inline(never)]
fn tell_released(at: Option<usize>) {
    let Some(hold) = at else { return };
    let thread = Acquirer::Thread(number() >> FLAG_BITS);
    follow::tell(|| Step::Released { hold, by: follow::acquirer(thread) });
}

/// As [`acquired`], of so many permits of a semaphore.
#[inline(always)]
pub fn acquired_permits(word: usize, permits: usize, caller: Caller) -> HoldId {
    let now = RECORDER.now.load(Ordering::Relaxed);
    if now == 0 || permits == 0 {
        return HoldId::NONE;
    }
    let hold = Hold::Permits as u64;
    if !traces_all()
        && let number @ 1.. = NUMBER.get()
        && let Some(at) = RECORDER.table.claim_permits(word, now, caller.site(), number | hold, permits)
    {
        return id(at);
    }
    record_with(word, hold, permits, caller.site(), 0, false)
}

#[inline(never)]
fn record_with(
    word: usize,
    flags: u64,
    permits: usize,
    site: &'static Site,
    task: usize,
    gives_up: bool,
) -> HoldId {
    if traces_all() {
        trace_acquired(word, (flags & TASK != 0).then_some(task), Some(site));
    }
    const OF_ONE: u64 = 1 << Hold::Mutex as u64 | 1 << Hold::AsyncLock as u64;
    if OF_ONE >> (flags & HOLD) & 1 != 0 {
        // As in `record_elsewhere`.
        TABLE.free_at_home(word);
    }
    let now = RECORDER.now.load(Ordering::Relaxed);
    let at = TABLE.claim_with(word, now, site, number() | flags, task, permits);
    let id = at.map_or_else(unrecorded, id);
    if tracing::is_followed() {
        tell_acquired(id, gives_up);
    }
    id
}

/// The holder is about to release it.
#[inline(always)]
pub fn released(word: usize, hold: Hold, id: HoldId) {
    if may_be_recorded(id) && !released_quickly(id) {
        released_slowly(word, hold, id);
    }
}

/// As [`released`], of a guard that keeps the place of its record, if nothing else is asked of the release. Calls nothing. Otherwise it is
/// `false`, and [`released_slowly`] is due.
#[inline(always)]
pub fn released_quickly(id: HoldId) -> bool {
    let is_quick = id != HoldId::UNKNOWN && !is_anything_asked();
    if is_quick {
        RECORDER.table.free(place(id));
    }
    is_quick
}

/// The other half of [`released`].
#[cold]
#[inline(never)]
pub fn released_slowly(word: usize, hold: Hold, id: HoldId) {
    if id == HoldId::UNKNOWN && !RECORDER.erases.load(Ordering::Relaxed) {
        return;
    }
    if is_anything_asked() {
        note(word, hold, id);
    }
    if id == HoldId::UNKNOWN {
        erase(word, hold);
    } else {
        TABLE.free(place(id));
    }
}

#[inline(always)]
fn erase(word: usize, hold: Hold) {
    if hold == Hold::Mutex { erase_only(word) } else { erase_one(word, hold) }
}

/// Keeps what the record says until the release is over and it is known whether others wait (`release.rs`).
#[inline(never)]
fn note(word: usize, hold: Hold, id: HoldId) {
    let found = if id == HoldId::UNKNOWN { one(word, hold) } else { own(id) };
    if tracing::is_followed() {
        tell_released(found.map(|(at, _)| at));
    }
    let release = found.map_or(Release::default(), |(_, entry)| {
        // Of several readers without places in the table any may be meant.
        if (id != HoldId::UNKNOWN || hold != Hold::Read) && is_elsewhere_now(&entry) {
            sent::learn(entry.site);
        }
        let task = (entry.who & TASK != 0).then_some(entry.task);
        Release::new(Some(entry.site), time(entry.since), task)
    });
    note_release(word, release);
    if traces_all() {
        trace_released(word, release.task, release.site, release.since);
    }
}

/// Whether a guard that a thread acquired is with another: this one, which releases it.
fn is_elsewhere_now(entry: &Entry) -> bool {
    let acquirer = entry.who >> FLAG_BITS;
    entry.who & (TASK | ELSEWHERE) == 0
        && acquirer != numbered::UNKNOWN
        && acquirer != NUMBER.get() >> FLAG_BITS
}

/// The record of a word that has one at most.
#[inline(always)]
fn erase_only(word: usize) {
    if !RECORDER.table.free_at_home(word) {
        erase_one(word, Hold::Mutex);
    }
}

/// A record of a guard that keeps no place, preferably of this thread's.
#[cold]
fn erase_one(word: usize, hold: Hold) {
    // Of two that look at once each takes another.
    while let Some((at, entry)) = one(word, hold) {
        if TABLE.take(at, entry.who) {
            return;
        }
    }
}

/// A record of a word, preferably of this thread's.
fn one(word: usize, hold: Hold) -> Option<(usize, Entry)> {
    let is_own = |entry: &Entry| entry.who >> FLAG_BITS == NUMBER.get() >> FLAG_BITS;
    find(word, hold).find(|(_, entry)| is_own(entry)).or_else(|| find(word, hold).next())
}

fn find(word: usize, hold: Hold) -> impl Iterator<Item = (usize, Entry)> {
    TABLE.find(word, move |entry| entry.who & HOLD == hold as u64)
}

/// The holder goes on in another way: it upgrades, or downgrades. Returns what its new guard has to keep.
#[inline(always)]
pub fn changed(word: usize, from: Hold, to: Hold, id: HoldId) -> HoldId {
    if RECORDER.erases.load(Ordering::Relaxed) { change(word, from, to, id) } else { HoldId::NONE }
}

#[cold]
fn change(word: usize, from: Hold, to: Hold, id: HoldId) -> HoldId {
    let found = if id == HoldId::UNKNOWN { find(word, from).next() } else { own(id) };
    let Some((at, entry)) = found else { return HoldId::NONE };
    TABLE.change(at, entry.who & !HOLD | to as u64);
    if tracing::is_followed() {
        follow::tell(|| Step::Changed { hold: at, mode: to });
    }
    self::id(at)
}

/// The record of a guard, which nobody else erases.
fn own(id: HoldId) -> Option<(usize, Entry)> {
    let at = (id != HoldId::NONE && id != HoldId::UNKNOWN).then(|| place(id))?;
    Some((at, TABLE.at(at)?))
}

/// The guard is made to be sent elsewhere.
#[inline(always)]
pub fn may_be_elsewhere(word: usize, hold: Hold, id: HoldId) {
    if RECORDER.now.load(Ordering::Relaxed) != 0 {
        mark_elsewhere(word, hold, id);
    }
}

#[cold]
#[inline(never)]
fn mark_elsewhere(word: usize, hold: Hold, id: HoldId) {
    let found = if id == HoldId::UNKNOWN { find(word, hold).next() } else { own(id) };
    if let Some((at, entry)) = found {
        TABLE.change(at, entry.who | ELSEWHERE);
    }
}

/// Whether the guard was made to be sent elsewhere: its holder is about to release the lock, and to acquire it again for the same guard.
#[inline(always)]
pub fn was_made_to_be_sent(word: usize, hold: Hold, id: HoldId) -> bool {
    RECORDER.now.load(Ordering::Relaxed) != 0 && is_marked(word, hold, id)
}

#[cold]
#[inline(never)]
fn is_marked(word: usize, hold: Hold, id: HoldId) -> bool {
    let found = if id == HoldId::UNKNOWN { find(word, hold).next() } else { own(id) };
    found.is_some_and(|(_, entry)| entry.who & ELSEWHERE != 0)
}

/// The guard is gone, and its hold stays.
#[inline(always)]
pub fn forgotten(id: HoldId) {
    if let Some((at, entry)) = own(id) {
        TABLE.change(at, entry.who | FORGOTTEN | ELSEWHERE);
    }
}

/// A part of the permits has a guard of its own. `left` are with the first one.
#[inline(always)]
pub fn split(word: usize, id: HoldId, left: usize, permits: usize) -> HoldId {
    let Some((at, entry)) = own(id) else { return HoldId::NONE };
    TABLE.set_permits(at, left);
    let place = TABLE.claim_with(word, entry.since, entry.site, entry.who, entry.task, permits);
    place.map_or_else(unrecorded, self::id)
}

/// Two guards have become one, with so many permits. Returns what that has to keep.
#[inline(always)]
pub fn merged(word: usize, id: HoldId, other: HoldId, permits: usize) -> HoldId {
    let (kept, gone) = if id == HoldId::NONE { (other, id) } else { (id, other) };
    if let Some((at, _)) = own(kept) {
        TABLE.set_permits(at, permits);
    }
    released(word, Hold::Permits, gone);
    kept
}

/// Permits were added that nobody gives back: they stand for as many that were forgotten.
#[inline(always)]
pub fn permits_added(word: usize, permits: usize) {
    if RECORDER.erases.load(Ordering::Relaxed) {
        forget_no_more(word, permits);
    }
}

#[cold]
fn forget_no_more(word: usize, mut permits: usize) {
    let mut forgotten: Vec<_> = find(word, Hold::Permits).collect();
    forgotten.retain(|(_, entry)| entry.who & FORGOTTEN != 0);
    forgotten.sort_by_key(|(_, entry)| entry.since);
    for (at, entry) in forgotten {
        match entry.permits.checked_sub(permits) {
            Some(left) if left > 0 => return TABLE.set_permits(at, left),
            _ => TABLE.free(at),
        }
        permits -= entry.permits;
    }
}

/// Where the lock with this word was taken by one that holds it, if that is recorded.
pub(crate) fn site_of(word: usize) -> Option<&'static Site> {
    recorded(word).next().map(|entry| entry.site)
}

/// The records of the lock with this word, of this turn of the switch.
pub(super) fn recorded(word: usize) -> impl Iterator<Item = Entry> {
    let turn = RECORDER.now.load(Ordering::Relaxed) >> TURN_SHIFT;
    TABLE.find(word, move |entry| turn != 0 && entry.since >> TURN_SHIFT == turn).map(|(_, entry)| entry)
}

/// The lock goes. Guards that were leaked held it; another may be made in its place.
#[inline(never)] // or each function that may drop a lock keeps the address of the table in a register
pub fn dropped(word: usize) {
    if RECORDER.erases.load(Ordering::Relaxed) {
        drop_all(word);
    }
}

#[cold]
fn drop_all(word: usize) {
    erase_all(word);
    observe::types::forget(word);
    if tracing::is_followed() {
        follow::tell(|| Step::Dropped { word });
    }
}

/// The time as records have it; 0: the switch is off.
#[inline(always)]
pub(crate) fn record_time() -> u64 {
    RECORDER.now.load(Ordering::Relaxed)
}

/// What [`record_time`] says, if it was in this turn of the switch.
pub(crate) fn time_of_record(at: u64) -> Option<Instant> {
    let turn = record_time() >> TURN_SHIFT;
    if turn == at >> TURN_SHIFT { time(at) } else { None }
}

/// The number of this thread, by which [`numbered`] knows it.
pub(crate) fn recorded_thread() -> u64 {
    number() >> FLAG_BITS
}

#[cold]
fn erase_all(word: usize) {
    TABLE.find(word, |_| true).for_each(|(at, _)| TABLE.free(at));
}

/// A holder, as a snapshot saw it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HolderSeen {
    /// The address of the word.
    pub word: usize,
    /// How it is held.
    pub hold: Hold,
    /// How many permits, of a semaphore's.
    pub permits: usize,
    /// Where it was acquired.
    pub site: &'static Site,
    /// When it was acquired, to 10 ms.
    pub since: Instant,
    /// What acquired it. `None`: a thread that is not known.
    pub actor: Option<Actor>,
    /// The thread on which it was acquired: that of `actor`, or the one that polled the task.
    pub on: Option<thread::Thread>,
    /// No other thread than `on` can poll the task: it is one of a runtime with one thread. Known of tokio's, with the feature `tokio`.
    pub is_polled_only_there: bool,
    /// The guard may be with another than the one that acquired it.
    pub may_be_elsewhere: bool,
    /// Nothing will release it: permits that were forgotten, a guard that was leaked.
    pub is_forgotten: bool,
}

/// The holders, and what is not known of them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Holders {
    /// The holders that are recorded.
    pub seen: Vec<HolderSeen>,
    /// How many acquisitions were not recorded since the switch was turned on, because there was no room.
    pub unrecorded: u64,
    /// When the switch was turned on.
    pub began: Instant,
}

/// All holders that are recorded; `None` if the switch is off ([`start_holders`]).
///
/// A hold that lasts during the whole call is seen exactly once. Takes no lock of a queue, and delays nobody.
pub fn holders() -> Option<Holders> {
    let (turn, began) = {
        let switch = switch();
        if !switch.is_on {
            return None;
        }
        tick(switch.turns);
        (switch.turns, switch.began?)
    };
    let entries: Vec<Entry> = TABLE.all().filter(|entry| entry.since >> TURN_SHIFT == turn).collect();
    let known = numbered::numbered();
    let seen = entries.iter().filter_map(|entry| seen(entry, &known)).collect();
    Some(Holders { seen, unrecorded: UNRECORDED.load(Ordering::Relaxed), began })
}

/// The time in a record.
pub(super) fn time(since: u64) -> Option<Instant> {
    instant((since & ((1 << TURN_SHIFT) - 1)).saturating_mul(NANOS_PER_MILLI))
}

/// Whether the guard may be with another than the one that acquired it. An `AsyncLock` has no guard: anybody may unlock it.
pub(super) fn is_sent(entry: &Entry) -> bool {
    entry.who & ELSEWHERE != 0 || entry.who & HOLD == Hold::AsyncLock as u64 || sent::is_known(entry.site)
}

fn seen(entry: &Entry, known: &std::collections::BTreeMap<u64, Numbered>) -> Option<HolderSeen> {
    let thread = known.get(&(entry.who >> FLAG_BITS));
    let on = thread.map(|numbered| numbered.thread.clone());
    let is_task = entry.who & TASK != 0;
    let has_ended = !is_task && thread.is_none_or(|numbered| numbered.has_ended);
    Some(HolderSeen {
        word: entry.word,
        hold: Hold::from_number(entry.who & HOLD)?,
        permits: entry.permits,
        site: entry.site,
        since: time(entry.since)?,
        actor: if is_task { Some(Actor::Task(entry.task)) } else { on.clone().map(Actor::Thread) },
        on,
        is_polled_only_there: entry.who & ALONE != 0,
        may_be_elsewhere: has_ended || is_sent(entry),
        is_forgotten: entry.who & FORGOTTEN != 0,
    })
}

const _: () = assert!(FLAGS == 0xFF && HOLD < TASK);
