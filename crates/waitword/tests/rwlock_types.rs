//! What of the readers-writer lock may cross threads, checked by the compiler; its size; and that no wait allocates.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use common::far;
use waitword::{
    MappedRwLockReadGuard, MappedRwLockWriteGuard, NotUpgraded, OwnedMappedRwLockReadGuard,
    OwnedMappedRwLockWriteGuard, OwnedRwLockReadGuard, OwnedRwLockUpgradableReadGuard, OwnedRwLockWriteGuard,
    RwLock, RwLockRead, RwLockReadGuard, RwLockReadOwned, RwLockReadOwnedUntil, RwLockReadUntil,
    RwLockUpgradableRead, RwLockUpgradableReadGuard, RwLockUpgradableReadOwned,
    RwLockUpgradableReadOwnedUntil, RwLockUpgradableReadUntil, RwLockUpgrade, RwLockUpgradeOwned,
    RwLockUpgradeOwnedUntil, RwLockUpgradeUntil, RwLockWrite, RwLockWriteGuard, RwLockWriteOwned,
    RwLockWriteOwnedUntil, RwLockWriteUntil,
};

/// Tells at compile time whether a type has an auto trait: if it has, the compiler cannot choose between the two.
macro_rules! lacks {
    ($trait:ident: $($type:ty),+ $(,)?) => {$({
        trait Lacks<Ambiguous> {
            fn check() {}
        }
        struct IfItHas;
        impl<T: ?Sized> Lacks<()> for T {}
        impl<T: ?Sized + $trait> Lacks<IfItHas> for T {}
        <$type as Lacks<_>>::check();
    })+};
}

fn send_and_sync<T: Send + Sync>() {}
fn send<T: Send>() {}
fn sync<T: Sync>() {}
fn unpin<T: Unpin>() {}

type NotSync = Cell<u8>;
type NotSend = std::sync::MutexGuard<'static, u8>;

#[test]
fn locks_guards_and_futures_cross_threads_if_the_value_can() {
    send_and_sync::<RwLock<u8>>();
    send_and_sync::<RwLockReadGuard<'_, u8>>();
    send_and_sync::<RwLockUpgradableReadGuard<'_, u8>>();
    send_and_sync::<RwLockWriteGuard<'_, u8>>();
    send_and_sync::<OwnedRwLockReadGuard<u8>>();
    send_and_sync::<OwnedRwLockUpgradableReadGuard<u8>>();
    send_and_sync::<OwnedRwLockWriteGuard<u8>>();
    send_and_sync::<MappedRwLockReadGuard<'_, u8>>();
    send_and_sync::<MappedRwLockWriteGuard<'_, u8>>();
    send_and_sync::<OwnedMappedRwLockReadGuard<u8, u8>>();
    send_and_sync::<OwnedMappedRwLockWriteGuard<u8, u8>>();
    send_and_sync::<(
        RwLockRead<'_, u8>,
        RwLockReadUntil<'_, u8>,
        RwLockReadOwned<u8>,
        RwLockReadOwnedUntil<u8>,
    )>();
    send_and_sync::<(RwLockWrite<'_, u8>, RwLockWriteUntil<'_, u8>)>();
    send_and_sync::<(RwLockWriteOwned<u8>, RwLockWriteOwnedUntil<u8>)>();
    send_and_sync::<(RwLockUpgradableRead<'_, u8>, RwLockUpgradableReadUntil<'_, u8>)>();
    send_and_sync::<(RwLockUpgradableReadOwned<u8>, RwLockUpgradableReadOwnedUntil<u8>)>();
    send_and_sync::<(RwLockUpgrade<'_, u8>, RwLockUpgradeUntil<'_, u8>)>();
    send_and_sync::<(RwLockUpgradeOwned<u8>, RwLockUpgradeOwnedUntil<u8>)>();
    send_and_sync::<NotUpgraded<RwLockUpgradableReadGuard<'_, u8>>>();
}

#[test]
fn and_not_if_it_cannot() {
    send::<RwLock<NotSync>>();
    lacks!(Sync: RwLock<NotSync>, RwLock<NotSend>, MappedRwLockWriteGuard<'_, NotSync>);
    lacks!(Send: RwLock<NotSend>, RwLockReadGuard<'_, NotSync>, RwLockReadGuard<'_, NotSend>);
    lacks!(Send: RwLockUpgradableReadGuard<'_, NotSync>, RwLockUpgradableReadGuard<'_, NotSend>);
    lacks!(Send: RwLockWriteGuard<'_, NotSync>, RwLockWriteGuard<'_, NotSend>, RwLockRead<'_, NotSend>);
    lacks!(Send: OwnedRwLockReadGuard<NotSync>, OwnedRwLockWriteGuard<NotSend>, RwLockReadOwned<NotSync>);
    lacks!(Send: MappedRwLockReadGuard<'_, NotSync>, MappedRwLockWriteGuard<'_, NotSend>);
    lacks!(Send: OwnedMappedRwLockReadGuard<u8, NotSync>, OwnedMappedRwLockReadGuard<NotSend, u8>);
    lacks!(Send: OwnedMappedRwLockWriteGuard<u8, NotSend>, OwnedMappedRwLockWriteGuard<NotSync, u8>);
    // Parts that can, of a value that cannot.
    sync::<MappedRwLockReadGuard<'_, u8>>();
    send::<MappedRwLockWriteGuard<'_, NotSync>>();
}

#[test]
fn futures_that_wait_do_not_move() {
    lacks!(Unpin: RwLockRead<'_, u8>, RwLockReadUntil<'_, u8>, RwLockReadOwned<u8>, RwLockReadOwnedUntil<u8>);
    lacks!(Unpin: RwLockWrite<'_, u8>, RwLockUpgradableRead<'_, u8>, RwLockUpgrade<'_, u8>);
    lacks!(Unpin: RwLockUpgradeUntil<'_, u8>, RwLockUpgradeOwned<u8>, RwLockUpgradeOwnedUntil<u8>);
    unpin::<RwLockWriteGuard<'_, u8>>();
}

#[test]
fn two_words_besides_the_value() {
    assert_eq!(size_of::<RwLock<()>>(), 16);
    assert_eq!(size_of::<RwLock<u64>>(), 24);
    assert_eq!(size_of::<RwLockReadGuard<'_, u64>>(), size_of::<usize>());
}

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: all is left to the system's allocator; counting allocates nothing and cannot unwind.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on, and it was `System` that allocated.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn no_wait_allocates() {
    let lock = RwLock::new(0);
    let mut cx = Context::from_waker(Waker::noop());
    let mut waits = || {
        let held = lock.write();
        {
            let mut reader = pin!(lock.read_async());
            assert!(reader.as_mut().poll(&mut cx).is_pending());
            let mut dropped = pin!(lock.write_async_until(far()));
            assert!(dropped.as_mut().poll(&mut cx).is_pending());
            drop(held);
            assert!(reader.as_mut().poll(&mut cx).is_ready());
        }
        let reader = lock.read();
        let mut upgrade = pin!(RwLockUpgradableReadGuard::upgrade_async(lock.upgradable_read()));
        assert!(upgrade.as_mut().poll(&mut cx).is_pending());
        drop(reader);
        let Poll::Ready(writer) = upgrade.as_mut().poll(&mut cx) else { panic!("the reader has left") };
        drop(writer);
    };
    // The first starts the timer's thread.
    waits();
    let before = ALLOCATIONS.get();
    waits();
    assert_eq!(ALLOCATIONS.get() - before, 0);
}
