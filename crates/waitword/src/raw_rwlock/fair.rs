//! Who leaves for the sake of those in line: with the release after which nobody overtakes them, or for a moment only.

use waitword_core::{Masked64, Table};

use crate::bump;
use crate::raw_rwlock::{CALLED, FAIR, LINE, Mode, ONE_READER, RawRwLock, UPGRADABLE, WRITER};
use crate::sync::atomic::Ordering;
use crate::sync::broken;

impl RawRwLock {
    /// Whoever has it so lets the first in line have its turn, and has it again then. `instead` is for the one that must not
    /// block.
    #[inline]
    #[track_caller]
    pub(crate) fn bump(&self, mode: Mode, instead: &str) {
        let others = match mode {
            Mode::Read | Mode::Upgradable => LINE | CALLED | WRITER,
            Mode::Write | Mode::Upgrade => LINE | CALLED,
        };
        if self.state.load(Ordering::Relaxed) & others != 0 {
            self.bump_slow(mode, instead);
        }
    }

    #[cold]
    #[track_caller]
    fn bump_slow(&self, mode: Mode, instead: &str) {
        // Whoever got in from the line has left `LINE`, though there may be nobody else.
        let waiters = |at| Table::global().waiters::<Masked64<LINE>>(at);
        if waiters(&self.state) > 0 || waiters(&self.drain) > 0 {
            bump::bump(self, mode, instead, || match mode {
                Mode::Read => self.release_read_fair(),
                Mode::Upgradable => self.release_upgradable_fair(),
                Mode::Write | Mode::Upgrade => self.release_write_fair(),
            });
        }
    }

    /// One reader leaves, and if anybody is in line what room there is, or will be when others have left, is theirs.
    pub(crate) fn release_read_fair(&self) {
        let is_free_for_all = |state| state & (LINE | CALLED) != 0 && state & (FAIR | WRITER) == 0;
        // The first in line is called though others may still read: if it is a task that nobody polls, those behind it may want
        // to read, and only of one who was called is that noticed.
        let leave = |state| {
            is_free_for_all(state).then(|| {
                let state = for_those_in_line(state - ONE_READER);
                if state & CALLED == 0 { state ^ (LINE | CALLED) } else { state }
            })
        };
        match self.state.fetch_update(Ordering::Release, Ordering::Relaxed, leave) {
            Ok(before) if before & CALLED == 0 && !broken!("rwlock-call-fair") => self.call(),
            Ok(_) => {}
            // Nobody is in line; or it is theirs already, or will be of the one who upgrades.
            Err(_) => self.release_read(),
        }
    }

    /// Whoever had it upgradable leaves, and if anybody is in line it is theirs.
    #[inline]
    pub(crate) fn release_upgradable_fair(&self) {
        if self.state.compare_exchange(UPGRADABLE, 0, Ordering::Release, Ordering::Relaxed).is_err() {
            self.make_room(|state| for_those_in_line(state & !UPGRADABLE));
        }
    }

    /// The writer leaves, and if anybody is in line it is theirs.
    #[inline]
    pub(crate) fn release_write_fair(&self) {
        if self.state.compare_exchange(WRITER, 0, Ordering::Release, Ordering::Relaxed).is_err() {
            self.make_room(|state| for_those_in_line(state & !WRITER));
        }
    }
}

/// The state when nobody gets in but from the line, if there is one.
fn for_those_in_line(state: u64) -> u64 {
    state | if state & (LINE | CALLED) == 0 { 0 } else { FAIR }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::task::{Context, Poll, Wake, Waker};
    use std::thread;

    use super::*;
    use crate::acquire::{self, Acquire, AcquireAsync};

    struct Panics;

    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("the waker");
        }
    }

    /// A reader lets a writer have its turn, and when it reads again it calls one behind it, whose waker panics.
    #[test]
    fn a_bump_that_panics_at_its_end_has_the_lock_again() {
        fn until(condition: impl Fn() -> bool) {
            while !condition() {
                thread::yield_now();
            }
        }
        let lock = RawRwLock::new();
        let in_line = || Table::global().waiters(&lock.state);
        let (inside, ended) = (AtomicBool::new(false), AtomicBool::new(false));
        assert!(lock.take(Mode::Read));
        thread::scope(|scope| {
            scope.spawn(|| {
                acquire::block(&lock, Mode::Write, "");
                inside.store(true, Ordering::SeqCst);
                until(|| in_line() == 1);
                let mut behind = pin!(AcquireAsync::new(&lock, Mode::Read));
                let panics = Waker::from(Arc::new(Panics));
                assert!(behind.as_mut().poll(&mut Context::from_waker(&panics)).is_pending());
                lock.release_write();
                until(|| ended.load(Ordering::SeqCst));
                let Poll::Ready(_) = behind.poll(&mut Context::from_waker(Waker::noop())) else {
                    panic!("room")
                };
                lock.release_read();
            });
            until(|| in_line() == 1);
            let bump = catch_unwind(AssertUnwindSafe(|| lock.bump(Mode::Read, "")));
            let readers = lock.state.load(Ordering::SeqCst) / ONE_READER;
            ended.store(true, Ordering::SeqCst);
            assert!(bump.is_err() && inside.load(Ordering::SeqCst));
            assert_eq!(readers, 1);
        });
        lock.release_read();
        assert!(lock.take(Mode::Write));
    }
}
