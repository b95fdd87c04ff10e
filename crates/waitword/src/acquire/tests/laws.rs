//! The laws of the locks' transitions, in every state that can be reached.
//!
//! A walk begins with a free lock, and takes each transition from each state that it finds: the attempts and releases on a real lock
//! without waiters, and the rest as functions. What depends on the clock is normalised, so that there are few states.

use std::collections::BTreeSet;
use std::fmt::Debug;

use crate::acquire::attempts::{competes, take_if, take_or_mark};
use crate::acquire::transitions::State;
use crate::acquire::{Acquire, Ask, Attempt, Kind, Left, Next, StateWord as _};
use crate::raw_mutex::RawMutex;
use crate::raw_rwlock::{Mode, RawRwLock};
use crate::raw_semaphore::RawSemaphore;
use crate::sync::atomic::Ordering;

/// What the laws need to know of a lock.
trait Walked: Acquire<Word: Sync> + Sized {
    /// What may be requested in this state.
    fn asks(state: State<Self>) -> Vec<Ask<Self>>;

    fn free() -> Self;

    /// The state without what only the clock decides. `None`: there are as many holders or permits as the walk considers.
    fn normal(state: State<Self>) -> Option<State<Self>>;

    /// The number of holders for each request, or the number of free permits.
    fn held(state: State<Self>) -> [u64; 3];

    /// `held` once another acquirer has acquired it with this request.
    fn held_by_one_more(held: [u64; 3], ask: Ask<Self>) -> [u64; 3];

    /// Whether there is a holder with this request, which may release it.
    fn may_release(state: State<Self>, ask: Ask<Self>) -> bool;

    /// Whether a waiter with this request may be queued in this state.
    fn may_leave(_state: State<Self>, _ask: Ask<Self>) -> bool {
        true
    }

    /// No waiter but those that were signalled is queued, as far as the word says.
    fn says_nobody(state: State<Self>) -> bool;

    /// A signal is under way.
    fn is_signalled(state: State<Self>) -> bool;
}

const BY: [Attempt; 5] = [
    Attempt::Barging,
    Attempt::Signalled(Kind::Thread),
    Attempt::Signalled(Kind::Task),
    Attempt::Queued(Kind::Thread),
    Attempt::Queued(Kind::Task),
];

fn walk<R: Walked>() -> usize
where
    State<R>: Ord + Debug + std::hash::Hash,
    Ask<R>: Debug,
{
    let mut found = BTreeSet::from([State::<R>::default()]);
    let mut new: Vec<_> = found.iter().copied().collect();
    while let Some(state) = new.pop() {
        let mut next: Vec<State<R>> = Vec::new();
        for ask in R::asks(state) {
            BY.into_iter().for_each(|by| next.extend(attempts::<R>(state, ask, by)));
            for was_signalled in [false, true].into_iter().filter(|_| R::may_leave(state, ask)) {
                next.extend(leaves::<R>(state, ask, was_signalled));
            }
            let emptied = R::emptied(state, ask);
            assert_eq!(
                R::held(emptied),
                R::held(state),
                "{state:?}: the queue is empty, and the holders stay"
            );
            if competes(&R::free(), ask) {
                assert!(R::says_nobody(emptied) || R::is_signalled(emptied), "{state:?}: the queue is empty");
            }
            next.push(emptied);
            next.extend(release::<R>(state, ask));
        }
        for are_waiters in [false, true] {
            let unanswered = R::unanswered(state, are_waiters);
            assert!(!R::is_signalled(unanswered), "{state:?}: no signal is under way any more");
            assert!(are_waiters || R::says_nobody(unanswered), "{state:?}: nobody is queued");
            next.push(unanswered);
        }
        next.push(R::passed(state));
        for &next in &next {
            assert_eq!(
                is_closed::<R>(next),
                is_closed::<R>(state),
                "{state:?} to {next:?}: only `close` closes"
            );
        }
        new.extend(next.into_iter().filter_map(R::normal).filter(|&next| found.insert(next)));
    }
    found.len()
}

fn is_closed<R: Walked>(state: State<R>) -> bool {
    R::asks(state).into_iter().all(|ask| matches!(R::next(state, ask, Attempt::THREAD), Next::Closed(_)))
}

/// A lock in this state.
fn in_state<R: Walked>(state: State<R>) -> R {
    let lock = R::free();
    lock.word().change(Ordering::Relaxed, |_| state);
    lock
}

/// The states that an attempt leads to.
fn attempts<R: Walked>(state: State<R>, ask: Ask<R>, by: Attempt) -> Vec<State<R>>
where
    State<R>: Ord + Debug,
    Ask<R>: Debug,
{
    let said = format!("{state:?}, {ask:?} by {by:?}");
    let is_taken = matches!(R::next(state, ask, by), Next::Take { .. });
    if by == Attempt::Barging {
        let by_waiter = R::next(state, ask, Attempt::THREAD);
        assert!(
            !is_taken || matches!(by_waiter, Next::Take { .. }),
            "{said}: a waiter may do what others may"
        );
    }

    // Without a mark.
    let lock = in_state::<R>(state);
    assert_eq!(take_if(&lock, ask, by), is_taken, "{said}");
    let taken = lock.word().state();
    match is_taken {
        true => assert_eq!(R::held(taken), R::held_by_one_more(R::held(state), ask), "{said}"),
        false => assert_eq!(taken, state, "{said}: no trace"),
    }

    let lock = in_state::<R>(state);
    assert_eq!(take_or_mark(&lock, ask, by).is_ok(), is_taken, "{said}");
    let marked = lock.word().state();
    if is_taken {
        // Others may be queued behind a waiter.
        let hides = by != Attempt::Barging && competes(&lock, ask) && R::says_nobody(marked);
        assert!(!hides, "{said}: the release has to signal");
        return vec![taken, marked];
    }
    assert_eq!(R::held(marked), R::held(state), "{said}: a mark is no acquisition");
    match (by, R::next(state, ask, by)) {
        (_, Next::Closed(_)) => assert_eq!(marked, state, "{said}"),
        // If an acquirer is about to wait for a signal, the word says so. (An upgrade waits on a word of its own.)
        (Attempt::Barging | Attempt::Queued(_), _) if competes(&lock, ask) => {
            assert!(!R::says_nobody(marked), "{said}: the release has to signal");
        }
        (Attempt::Signalled(_), _) => {
            assert_eq!(R::is_signalled(marked), R::is_signalled(state), "{said}: it has not acknowledged")
        }
        _ => {}
    }
    assert!(!matches!(R::next(marked, ask, by), Next::Take { .. }), "{said}: a mark frees nothing");
    vec![marked]
}

/// The states once a waiter has left the queue without it.
fn leaves<R: Walked>(state: State<R>, ask: Ask<R>, was_signalled: bool) -> Vec<State<R>>
where
    State<R>: Debug,
    Ask<R>: Debug,
{
    let left = Left { holds: false, was_signalled, is_last: false };
    let (after, signals) = R::left(state, ask, left);
    if was_signalled && !is_closed::<R>(state) && competes(&R::free(), ask) {
        // Its signal is not lost: it is forwarded now, or by the release that the word requests.
        let is_kept = signals || !R::says_nobody(after) && !R::is_signalled(after);
        assert!(is_kept, "{state:?}, {ask:?} gives up: {after:?}");
    }
    assert!(!signals || R::is_signalled(after), "{state:?}, {ask:?} gives up: {after:?}");
    vec![after]
}

/// The state once a holder has released it, without waiters.
fn release<R: Walked>(state: State<R>, ask: Ask<R>) -> Option<State<R>>
where
    State<R>: Ord + Debug,
    Ask<R>: Debug,
{
    if !R::may_release(state, ask) {
        return None;
    }
    let lock = in_state::<R>(state);
    lock.give_back(ask);
    let after = lock.word().state();
    let is_free = R::asks(after)
        .into_iter()
        .all(|ask| matches!(R::next(after, ask, Attempt::THREAD), Next::Take { .. }));
    // A waiter that was not signalled yet is signalled. Here the signal finds no waiter, so the word says that none is queued.
    assert!(
        !is_free || R::says_nobody(after) || R::is_signalled(after),
        "{state:?}, {ask:?} is released: {after:?} sleeps"
    );
    assert!(
        R::is_signalled(state) || !R::is_signalled(after),
        "{state:?}, {ask:?} is released: {after:?} says that there is a signal, and none was sent"
    );
    Some(after)
}

impl Walked for RawMutex {
    fn asks(_: u32) -> Vec<()> {
        vec![()]
    }

    fn free() -> Self {
        Self::new()
    }

    fn normal(state: u32) -> Option<u32> {
        Some(Self::without_time(state))
    }

    fn held(state: u32) -> [u64; 3] {
        [u64::from(Self::is_locked_in(state)), 0, 0]
    }

    fn held_by_one_more([held, ..]: [u64; 3], (): ()) -> [u64; 3] {
        [held + 1, 0, 0]
    }

    fn may_release(state: u32, (): ()) -> bool {
        Self::is_locked_in(state)
    }

    fn says_nobody(state: u32) -> bool {
        state & Self::WAITERS == 0
    }

    fn is_signalled(state: u32) -> bool {
        Self::is_signalled_in(state)
    }
}

impl Walked for RawSemaphore {
    fn asks(_: u64) -> Vec<usize> {
        vec![0, 1, 3]
    }

    fn free() -> Self {
        Self::new(0)
    }

    fn normal(state: u64) -> Option<u64> {
        (Self::permits_in(state) <= 6).then_some(state)
    }

    fn held(state: u64) -> [u64; 3] {
        [Self::permits_in(state), 0, 0]
    }

    fn held_by_one_more([permits, ..]: [u64; 3], n: usize) -> [u64; 3] {
        [permits - n as u64, 0, 0]
    }

    /// They need not have been acquired.
    fn may_release(state: u64, _n: usize) -> bool {
        Self::permits_in(state) <= 6
    }

    fn says_nobody(state: u64) -> bool {
        state & Self::WAITERS == 0 || matches!(Self::next(state, 0, Attempt::THREAD), Next::Closed(_))
    }

    fn is_signalled(state: u64) -> bool {
        Self::is_signalled_in(state)
    }
}

impl Walked for RawRwLock {
    fn asks(state: u64) -> Vec<Mode> {
        let mut asks = vec![Mode::Read, Mode::Upgradable, Mode::Write];
        asks.extend((Self::holders_in(state)[1] > 0).then_some(Mode::Upgrade));
        asks
    }

    fn free() -> Self {
        Self::new()
    }

    fn normal(state: u64) -> Option<u64> {
        (Self::held(state)[0] <= 3).then(|| Self::without_time(state))
    }

    fn held(state: u64) -> [u64; 3] {
        Self::holders_in(state)
    }

    fn held_by_one_more([readers, upgradable, writers]: [u64; 3], mode: Mode) -> [u64; 3] {
        match mode {
            Mode::Read => [readers + 1, upgradable, writers],
            Mode::Upgradable => [readers, upgradable + 1, writers],
            Mode::Write => [readers, upgradable, writers + 1],
            Mode::Upgrade => [readers, upgradable - 1, writers + 1],
        }
    }

    fn may_release(state: u64, mode: Mode) -> bool {
        let [readers, upgradable, writers] = Self::held(state);
        match mode {
            Mode::Read => readers > 0,
            Mode::Upgradable => upgradable > 0 && !Self::is_upgrading_in(state),
            Mode::Write => writers > 0,
            Mode::Upgrade => false,
        }
    }

    fn may_leave(state: u64, mode: Mode) -> bool {
        mode != Mode::Upgrade || Self::is_upgrading_in(state)
    }

    fn says_nobody(state: u64) -> bool {
        state & Self::WAITERS == 0
    }

    fn is_signalled(state: u64) -> bool {
        Self::is_signalled_in(state)
    }
}

#[test]
fn the_laws_hold_in_every_state() {
    let found = (walk::<RawMutex>(), walk::<RawSemaphore>(), walk::<RawRwLock>());
    println!("mutex, semaphore, readers-writer lock: {found:?} states");
    assert!(found.0 > 1_000 && found.1 > 20 && found.2 > 50, "that is not all: {found:?}");
}
