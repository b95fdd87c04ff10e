//! Guards of parts, and what else guards can become: with the reason why not, as a reader, or as the lock that they had a share in.

/// A test of each function, which `$run` calls with a lock, its method and its guard, for each kind of guard.
macro_rules! for_each_guard {
    ($run:ident: $($test:ident,)+) => {
        mod $run {
            use super::*;

            $(#[test]
            fn $test() {
                let (mutex, lock) = (on(rows::mutex()), on(rows::writers()));
                $run!($test, mutex.lock, MutexGuard);
                $run!($test, mutex.lock_owned, OwnedMutexGuard);
                $run!($test, lock.read, RwLockReadGuard);
                $run!($test, lock.read_owned, OwnedRwLockReadGuard);
                $run!($test, lock.upgradable_read, RwLockUpgradableReadGuard);
                $run!($test, lock.upgradable_read_owned, OwnedRwLockUpgradableReadGuard);
                $run!($test, lock.write, RwLockWriteGuard);
                $run!($test, lock.write_owned, OwnedRwLockWriteGuard);
            })+
        }
    };
}

mod bump;
mod unlocked;
mod unlocked_async;

use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::thread;

use waitword::*;

use crate::common::law::{Held, Row, Waiting};
use crate::common::{Panics, block_on};
use crate::rows;

/// A lock whose guards are tested beside holders who are alone with it.
struct On<L> {
    row: Row<L>,
    lock: Arc<L>,
}

fn on<L>(row: Row<L>) -> On<L> {
    On { lock: (row.closed)(), row }
}

impl<L> Deref for On<L> {
    type Target = Arc<L>;

    fn deref(&self) -> &Arc<L> {
        &self.lock
    }
}

impl<L> On<L> {
    fn hold(&self) -> Held<'_> {
        self.row.lock(&self.lock)
    }

    fn is_free(&self) -> bool {
        self.row.is_free(&self.lock)
    }

    fn waits(&self) -> Waiting<'_> {
        self.row.task().wait(&self.lock)
    }

    /// A queued waiter.
    fn queued(&self, waker: &Waker) -> Waiting<'_> {
        let mut waiting = self.waits();
        assert!(waiting.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
        waiting
    }
}

#[derive(Debug, PartialEq)]
struct Why(&'static str);

/// The part, or why there is none, of each kind of guard; and again of the part.
macro_rules! maps_or_says_why {
    ($($test:ident: $Guard:ident -> $Mapped:ident, $lock:ident.$acquire:ident, $($mutable:ident)?;)+) => {$(
        #[test]
        fn $test() {
            let $lock = Arc::new(Lock::new((1, (2, 3))));
            let none = $Guard::try_map_or_err($lock.$acquire(), |_| Err::<&$($mutable)? i32, _>(Why("no part")));
            let (guard, why) = none.map(drop).unwrap_err();
            assert_eq!((guard.0, why), (1, Why("no part")));
            assert!($lock.is_locked());
            let guard = $Guard::filter_map(guard, |_| None::<&$($mutable)? i32>).map(drop).unwrap_err();
            let pair = $Guard::try_map_or_err(guard, |all| Ok::<_, Why>(&$($mutable)? all.1)).unwrap();
            let none = $Mapped::try_map_or_err(pair, |_| Err::<&$($mutable)? i32, _>(Why("no part of it")));
            let (pair, why) = none.map(drop).unwrap_err();
            assert_eq!((*pair, why), ((2, 3), Why("no part of it")));
            let last = $Mapped::try_map_or_err(pair, |pair| Ok::<_, Why>(&$($mutable)? pair.1)).unwrap();
            let last = $Mapped::filter_map(last, |last| Some(last)).unwrap();
            assert!(*last == 3 && $lock.is_locked());
            drop(last);
            assert!(!$lock.is_locked());
            let pair = $Mapped::map($Guard::map($lock.$acquire(), |all| &$($mutable)? all.1), |pair| pair);
            let pair = $Mapped::filter_map(pair, |_| None::<&$($mutable)? i32>).unwrap_err();
            let last = $Mapped::map(pair, |pair| &$($mutable)? pair.1);
            assert_eq!(format!("{} {last} {last:?}", *last), "3 3 3");
            drop(last);
            assert_eq!(*$Guard::filter_map($lock.$acquire(), |all| Some(&$($mutable)? all.0)).unwrap(), 1);
            assert!(!$lock.is_locked() && Arc::strong_count(&$lock) == 1);
            // The guard is dropped with what panics.
            let panics = || $Guard::try_map_or_err($lock.$acquire(), |_| -> Result<&$($mutable)? i32, ()> { panic!() });
            assert!(catch_unwind(AssertUnwindSafe(|| drop(panics()))).is_err());
            assert!(!$lock.is_locked());
        }
    )+};
}

mod of_a_mutex {
    use super::*;
    use waitword::Mutex as Lock;

    maps_or_says_why! {
        borrowed: MutexGuard -> MappedMutexGuard, mutex.lock, mut;
        owned: OwnedMutexGuard -> OwnedMappedMutexGuard, mutex.lock_owned, mut;
    }
}

mod of_a_rwlock {
    use super::*;
    use waitword::RwLock as Lock;

    maps_or_says_why! {
        a_reader: RwLockReadGuard -> MappedRwLockReadGuard, rwlock.read,;
        a_writer: RwLockWriteGuard -> MappedRwLockWriteGuard, rwlock.write, mut;
        an_owned_reader: OwnedRwLockReadGuard -> OwnedMappedRwLockReadGuard, rwlock.read_owned,;
        an_owned_writer: OwnedRwLockWriteGuard -> OwnedMappedRwLockWriteGuard, rwlock.write_owned, mut;
    }
}

/// A part that is changed is the part of the value, and not of a copy.
#[test]
fn what_is_written_through_a_part_is_in_the_lock() {
    let mutex = Mutex::new((1, "one"));
    *MutexGuard::try_map_or_err(mutex.lock(), |pair| Ok::<_, ()>(&mut pair.0)).unwrap() = 2;
    *MutexGuard::map(mutex.lock(), |pair| &mut pair.0) += 1;
    *MappedMutexGuard::map(MutexGuard::map(mutex.lock(), |pair| pair), |pair| &mut pair.0) += 1;
    assert_eq!(mutex.into_inner(), (4, "one"));
    let rwlock = Arc::new(RwLock::new((1, "one")));
    *OwnedRwLockWriteGuard::try_map_or_err(rwlock.write_owned(), |pair| Ok::<_, ()>(&mut pair.0)).unwrap() =
        2;
    *OwnedRwLockWriteGuard::map(rwlock.write_owned(), |pair| &mut pair.0) += 1;
    *RwLockWriteGuard::map(rwlock.write(), |pair| &mut pair.0) += 1;
    assert_eq!(*rwlock.read(), (4, "one"));
    // The part of a lock, on another thread, that nobody else has any more.
    let part = OwnedRwLockReadGuard::map(rwlock.read_owned(), |pair| &pair.1);
    drop(rwlock);
    thread::spawn(move || assert_eq!(*part, "one")).join().unwrap();
}

macro_rules! a_writer_becomes_a_reader_of_a_part {
    ($($test:ident: $Guard:ident, $write:ident;)+) => {$(
        #[test]
        fn $test() {
            let rwlock = Arc::new(RwLock::new((1, "one")));
            let part = $Guard::downgrade_map(rwlock.$write(), |pair| &pair.1);
            assert!(!rwlock.is_write_locked() && rwlock.try_write().is_none());
            assert_eq!((*part, rwlock.try_read().map(|pair| pair.0)), ("one", Some(1)));
            drop(part);
            let mut writer = $Guard::try_downgrade_map(rwlock.$write(), |_| None::<&i32>).map(drop).unwrap_err();
            writer.0 = 2;
            assert!(rwlock.is_write_locked() && rwlock.try_read().is_none());
            let part = $Guard::try_downgrade_map(writer, |pair| Some(&pair.0)).unwrap();
            assert_eq!((*part, rwlock.try_read().map(|pair| pair.0)), (2, Some(2)));
            drop(part);
            let panics = || $Guard::downgrade_map(rwlock.$write(), |_| -> &i32 { panic!("no part") });
            assert!(catch_unwind(AssertUnwindSafe(|| drop(panics()))).is_err());
            assert!(rwlock.try_write().is_some());
        }
    )+};
}

a_writer_becomes_a_reader_of_a_part! {
    a_writer_becomes_a_reader_of_a_part: RwLockWriteGuard, write;
    an_owned_writer_becomes_a_reader_of_a_part: OwnedRwLockWriteGuard, write_owned;
}

/// It has become a reader by then, and signals the readers that wait, or another upgradable one, whose waker panics.
#[test]
fn a_downgrade_whose_signal_panics_has_a_guard() {
    let rwlock = Arc::new(RwLock::new(()));
    macro_rules! downgrades {
        ($($acquire:ident, $wait:ident, $downgrade:expr;)+) => {$(
            let guard = rwlock.$acquire();
            let mut waiter = Box::pin(rwlock.$wait());
            assert!(waiter.as_mut().poll(&mut Context::from_waker(&Panics::waker())).is_pending());
            let reader = $downgrade(guard);
            drop(waiter);
            assert!(rwlock.try_read().is_some() && rwlock.try_write().is_none());
            drop(reader);
            assert!(rwlock.try_write().is_some());
        )+};
    }
    downgrades! {
        write_owned, write_async, OwnedRwLockWriteGuard::downgrade;
        write_owned, write_async, OwnedRwLockWriteGuard::downgrade_to_upgradable;
        write_owned, write_async, |writer| OwnedRwLockWriteGuard::downgrade_map(writer, |value| value);
        upgradable_read, upgradable_read_async, RwLockUpgradableReadGuard::downgrade;
    }
}

#[test]
fn guards_of_parts_are_released_for_the_head_waiter() {
    let (mutex, rwlock) = (on(rows::mutex()), on(rows::writers()));
    macro_rules! reserves {
        ($($Guard:ident -> $Mapped:ident, $lock:ident.$acquire:ident;)+) => {$(
            $Mapped::unlock_fair($Guard::map($lock.$acquire(), |value| value));
            assert!($lock.is_free(), "there is no waiter");
            let guard = $Guard::map($lock.$acquire(), |value| value);
            let waiter = $lock.queued(Waker::noop());
            $Mapped::unlock_fair(guard);
            assert!(!$lock.is_free(), "for the waiter");
            drop(block_on(waiter));
            assert!($lock.is_free());
        )+};
    }
    reserves! {
        MutexGuard -> MappedMutexGuard, mutex.lock;
        OwnedMutexGuard -> OwnedMappedMutexGuard, mutex.lock_owned;
        RwLockReadGuard -> MappedRwLockReadGuard, rwlock.read;
        RwLockWriteGuard -> MappedRwLockWriteGuard, rwlock.write;
        OwnedRwLockReadGuard -> OwnedMappedRwLockReadGuard, rwlock.read_owned;
        OwnedRwLockWriteGuard -> OwnedMappedRwLockWriteGuard, rwlock.write_owned;
    }
}

#[test]
fn owned_guards_lead_to_their_lock_and_give_their_share_in_it_back() {
    let (mutex, rwlock) = (on(rows::mutex()), on(rows::writers()));
    macro_rules! gives_back {
        ($($Guard:ident, $lock:ident.$acquire:ident;)+) => {$(
            for into_arc in [$Guard::into_arc, $Guard::into_arc_fair] {
                let share = into_arc($lock.$acquire());
                assert!(Arc::ptr_eq(&share, &$lock) && $lock.is_free());
                assert_eq!(Arc::strong_count(&$lock), 2);
            }
            // A waiter that is not polled has it reserved by one of the two.
            let (guard, waiter) = ($lock.$acquire(), $lock.queued(Waker::noop()));
            drop($Guard::into_arc_fair(guard));
            assert!(!$lock.is_free());
            drop(block_on(waiter));
        )+};
    }
    gives_back! {
        OwnedMutexGuard, mutex.lock_owned;
        OwnedRwLockReadGuard, rwlock.read_owned;
        OwnedRwLockUpgradableReadGuard, rwlock.upgradable_read_owned;
        OwnedRwLockWriteGuard, rwlock.write_owned;
    }
    let part = OwnedMutexGuard::map(mutex.lock_owned(), |value| value);
    assert!(Arc::ptr_eq(OwnedMappedMutexGuard::mutex(&part), &mutex));
    let reader = OwnedRwLockReadGuard::map(rwlock.read_owned(), |value| value);
    assert!(Arc::ptr_eq(OwnedMappedRwLockReadGuard::rwlock(&reader), &rwlock));
    drop(reader);
    let writer = OwnedRwLockWriteGuard::map(rwlock.write_owned(), |value| value);
    assert!(Arc::ptr_eq(OwnedMappedRwLockWriteGuard::rwlock(&writer), &rwlock));
}

#[test]
fn a_leaked_guard_is_the_value_for_as_long_as_the_mutex_lives() {
    let mut mutex = Mutex::new(vec![1]);
    {
        let value = MutexGuard::leak(mutex.lock());
        value.push(2);
        assert!(mutex.try_lock().is_none());
        value.push(3);
    }
    assert!(mutex.is_locked(), "for good");
    assert_eq!(mutex.get_mut(), &[1, 2, 3]);
}

#[test]
fn the_value_is_where_the_pointer_says() {
    let (mutex, rwlock) = (Mutex::new(1), RwLock::new(1));
    assert!(ptr::eq(mutex.data_ptr(), &*mutex.lock()));
    assert!(ptr::eq(rwlock.data_ptr(), &*rwlock.read()));
    let unsized_value: &Mutex<[u8]> = &Mutex::new([1, 2, 3]);
    assert_eq!(unsized_value.data_ptr().len(), 3);
    let unsized_value: &RwLock<[u8]> = &RwLock::new([1, 2, 3]);
    assert!(ptr::eq(unsized_value.data_ptr(), &*unsized_value.read()));
    let shown: &RwLock<dyn std::fmt::Debug> = &RwLock::new(7_u64);
    assert_eq!(format!("{:?}", shown.read()), "7");
}

#[test]
fn locks_and_guards_are_shown_as_tokios_are() {
    let (ours, theirs) = (Mutex::new(Some("data")), tokio::sync::Mutex::new(Some("data")));
    assert_eq!(format!("{ours:?} {ours:#?}"), format!("{theirs:?} {theirs:#?}"));
    let guards = (ours.lock(), theirs.try_lock().unwrap());
    assert_eq!(format!("{ours:?} {ours:#?}"), format!("{theirs:?} {theirs:#?}"));
    assert_eq!(format!("{:?} {:#?}", guards.0, guards.0), format!("{:?} {:#?}", guards.1, guards.1));
    let (ours, theirs) = (RwLock::new(Some("data")), tokio::sync::RwLock::new(Some("data")));
    let readers = (ours.read(), theirs.try_read().unwrap());
    assert_eq!(format!("{ours:?} {ours:#?}"), format!("{theirs:?} {theirs:#?}"));
    assert_eq!(format!("{:#?}", readers.0), format!("{:#?}", readers.1));
    drop(readers);
    let _writers = (ours.write(), theirs.try_write().unwrap());
    assert_eq!(format!("{ours:?} {ours:#?}"), format!("{theirs:?} {theirs:#?}"));
}
