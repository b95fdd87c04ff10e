//! Fair releases (handoff to the head waiter, no barging) and `bump`.

use waitword_core::{Masked64, Table};

use crate::acquire::Acquire as _;
use crate::holders::{Hold, HoldId, released};
use crate::raw_rwlock::{FAIR, Mode, ONE_READER, QUEUED, RawRwLock, SIGNALLED, UPGRADABLE, WAITED, WRITER};
use crate::sync::atomic::Ordering;
use crate::sync::mutant;
use crate::unlocked;

impl RawRwLock {
    /// Releases it to the head waiter and acquires it again behind that one. `instead` names the method for threads that must
    /// not block.
    #[inline]
    #[track_caller]
    pub(crate) fn bump(&self, mode: Mode, hold: &mut HoldId, instead: Option<&str>) {
        let others = match mode {
            Mode::Read | Mode::Upgradable => QUEUED | SIGNALLED | WRITER,
            Mode::Write | Mode::Upgrade => QUEUED | SIGNALLED,
        };
        if self.state.load(Ordering::Relaxed) & others != 0 {
            // `QUEUED` may be stale: a waiter that entered from the queue leaves it set.
            let waiters = |at| Table::global().waiters::<Masked64<WAITED>>(at);
            let has_waiters = || waiters(&self.state) > 0 || waiters(&self.drain) > 0;
            unlocked::bump(self, mode, hold, instead, has_waiters, |hold| match mode {
                Mode::Read => self.release_read_fair(hold),
                Mode::Upgradable => self.release_upgradable_fair(hold),
                Mode::Write | Mode::Upgrade => self.release_write_fair(hold),
            });
        }
    }

    /// One reader leaves. Room, now or when the others have left, is reserved for queued waiters.
    pub(crate) fn release_read_fair(&self, hold: HoldId) {
        released(self.held_at(), Hold::Read, hold);
        let allows_barging = |state| state & (QUEUED | SIGNALLED) != 0 && state & (FAIR | WRITER) == 0;
        // Signal the head waiter even while others read: the watchdog skips an unresponsive waiter only if it was signalled,
        // and readers behind it could enter.
        let leave = |state| {
            allows_barging(state).then(|| {
                let state = reserve_for_queue(state - ONE_READER);
                if state & SIGNALLED == 0 { state ^ (QUEUED | SIGNALLED) } else { state }
            })
        };
        match self.state.fetch_update(Ordering::Release, Ordering::Relaxed, leave) {
            Ok(before) if before & SIGNALLED == 0 => {
                mutant!("rwlock-signal-fair" => return);
                self.signal();
            }
            Ok(_) => {}
            // No waiter is queued; or room is reserved already; or an upgrade is pending.
            Err(_) => self.release_read(HoldId::NONE),
        }
    }

    /// The upgradable reader leaves; room is reserved for queued waiters.
    #[inline]
    pub(crate) fn release_upgradable_fair(&self, hold: HoldId) {
        released(self.held_at(), Hold::UpgradableRead, hold);
        if self.state.compare_exchange(UPGRADABLE, 0, Ordering::Release, Ordering::Relaxed).is_err() {
            self.make_room(|state| reserve_for_queue(state & !UPGRADABLE));
        }
    }

    /// The writer leaves; room is reserved for queued waiters.
    #[inline]
    pub(crate) fn release_write_fair(&self, hold: HoldId) {
        released(self.held_at(), Hold::Write, hold);
        if self.state.compare_exchange(WRITER, 0, Ordering::Release, Ordering::Relaxed).is_err() {
            self.make_room(|state| reserve_for_queue(state & !WRITER));
        }
    }
}

/// Sets `FAIR` if waiters may be queued: no barging.
fn reserve_for_queue(state: u64) -> u64 {
    state | if state & (QUEUED | SIGNALLED) == 0 { 0 } else { FAIR }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::task::{Context, Poll, Wake, Waker};
    use std::thread;

    use waitword_core::time::{Duration, Instant};

    use super::*;
    use crate::acquire::future::AcquireAsync;
    use crate::acquire::{self, Acquire};

    struct Panics;

    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("the waker");
        }
    }

    /// A reader bumps for a writer; when it reads again it signals a task behind it, whose waker panics.
    #[test]
    fn a_bump_whose_signal_panics_at_its_end_has_the_lock_again() {
        fn until(condition: impl Fn() -> bool) {
            let start = Instant::now();
            while !condition() {
                assert!(start.elapsed() < Duration::from_secs(60), "waited for a minute");
                thread::yield_now();
            }
        }
        let lock = RawRwLock::new();
        let queued = || Table::global().waiters(&lock.state);
        let (inside, ended) = (AtomicBool::new(false), AtomicBool::new(false));
        assert!(lock.take(Mode::Read));
        thread::scope(|scope| {
            scope.spawn(|| {
                let Ok(_) = acquire::block::block(&lock, Mode::Write, "");
                inside.store(true, Ordering::SeqCst);
                until(|| queued() == 1);
                let mut behind = pin!(AcquireAsync::new(&lock, Mode::Read));
                let panics = Waker::from(Arc::new(Panics));
                assert!(behind.as_mut().poll(&mut Context::from_waker(&panics)).is_pending());
                lock.release_write(HoldId::NONE);
                until(|| ended.load(Ordering::SeqCst));
                let Poll::Ready(_) = behind.poll(&mut Context::from_waker(Waker::noop())) else {
                    panic!("room")
                };
                lock.release_read(HoldId::NONE);
            });
            until(|| queued() == 1);
            lock.bump(Mode::Read, &mut { HoldId::NONE }, None);
            let readers = lock.state.load(Ordering::SeqCst) / ONE_READER;
            ended.store(true, Ordering::SeqCst);
            assert!(inside.load(Ordering::SeqCst));
            assert_eq!(readers, 1);
        });
        lock.release_read(HoldId::NONE);
        assert!(lock.take(Mode::Write));
    }
}
