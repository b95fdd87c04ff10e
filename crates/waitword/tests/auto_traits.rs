//! What may cross threads, move, and be seen after a panic; checked by the compiler, as tables. What must be refused is in
//! `src/refused.rs`.

use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicI32;

use waitword::future::*;
use waitword::*;

/// Whether a type has a trait.
macro_rules! is {
    ($Type:ty: $Trait:path) => {{
        struct Is<T: ?Sized>(PhantomData<T>);
        #[allow(dead_code, reason = "the other answer is the one")]
        trait Otherwise {
            const YES: bool = false;
        }
        impl<T: ?Sized> Otherwise for Is<T> {}
        #[allow(dead_code, reason = "the other answer is the one")]
        impl<T: ?Sized + $Trait> Is<T> {
            // Of two constants of one name, that of the type goes before that of the trait.
            const YES: bool = true;
        }
        <Is<$Type>>::YES
    }};
}

/// `Send` and `Sync`; one of them; neither.
const BOTH: [bool; 2] = [true, true];
const SEND: [bool; 2] = [true, false];
const SYNC: [bool; 2] = [false, true];
const NONE: [bool; 2] = [false, false];

const fn same<const N: usize>(is: [bool; N], should: [bool; N]) -> bool {
    let mut index = 0;
    while index < N {
        if is[index] != should[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// How a type crosses threads, by how `T` does: `Send` and `Sync`; `Send` alone; `Sync` alone; neither.
macro_rules! crossing {
    ($(<$T:ident> $Type:ty: $both:ident $send:ident $sync:ident $none:ident;)+) => {$(
        const _: () = {
            type Of<$T> = $Type;
            type OnlySync = std::sync::MutexGuard<'static, u8>;
            assert!(same([is!(Of<u8>: Send), is!(Of<u8>: Sync)], $both), concat!(stringify!($Type), " of both"));
            assert!(
                same([is!(Of<Cell<u8>>: Send), is!(Of<Cell<u8>>: Sync)], $send),
                concat!(stringify!($Type), " of `Send`")
            );
            assert!(
                same([is!(Of<OnlySync>: Send), is!(Of<OnlySync>: Sync)], $sync),
                concat!(stringify!($Type), " of `Sync`")
            );
            assert!(
                same([is!(Of<Rc<u8>>: Send), is!(Of<Rc<u8>>: Sync)], $none),
                concat!(stringify!($Type), " of neither")
            );
        };
    )+};
}

crossing! {
    //                                                             of T:  both send sync none
    <T> Mutex<T>:                                                         BOTH BOTH NONE NONE;
    <T> MutexGuard<'static, T>:                                           BOTH SEND NONE NONE;
    <T> OwnedMutexGuard<T>:                                               BOTH SEND NONE NONE;
    // They do not lead to the mutex, or only to its word: what they show is all that counts.
    <T> MappedMutexGuard<'static, T>:                                     BOTH SEND SYNC NONE;
    <T> OwnedMappedMutexGuard<u8, T>:                                     BOTH SEND SYNC NONE;
    <T> OwnedMappedMutexGuard<T, u8>:                                     BOTH BOTH NONE NONE;
    // The guard comes out at the end, on whatever thread polls last.
    <T> MutexLock<'static, T>:                                            BOTH BOTH NONE NONE;
    <T> MutexLockUntil<'static, T>:                                       BOTH BOTH NONE NONE;
    <T> MutexLockOwned<T>:                                                BOTH BOTH NONE NONE;
    <T> MutexLockOwnedUntil<T>:                                           BOTH BOTH NONE NONE;
    // Readers share the value, so it has to be both.
    <T> RwLock<T>:                                                        BOTH SEND NONE NONE;
    // Borrowed, it leads to the value alone, of which it is a `&T`.
    <T> RwLockReadGuard<'static, T>:                                      BOTH NONE BOTH NONE;
    <T> OwnedRwLockReadGuard<T>:                                          BOTH NONE NONE NONE;
    <T> RwLockUpgradableReadGuard<'static, T>:                            BOTH NONE NONE NONE;
    <T> OwnedRwLockUpgradableReadGuard<T>:                                BOTH NONE NONE NONE;
    <T> RwLockWriteGuard<'static, T>:                                     BOTH NONE NONE NONE;
    <T> OwnedRwLockWriteGuard<T>:                                         BOTH NONE NONE NONE;
    <T> MappedRwLockReadGuard<'static, T>:                                BOTH NONE BOTH NONE;
    <T> MappedRwLockWriteGuard<'static, T>:                               BOTH SEND SYNC NONE;
    <T> OwnedMappedRwLockReadGuard<u8, T>:                                BOTH NONE BOTH NONE;
    <T> OwnedMappedRwLockReadGuard<T, u8>:                                BOTH NONE NONE NONE;
    <T> OwnedMappedRwLockWriteGuard<u8, T>:                               BOTH SEND SYNC NONE;
    <T> OwnedMappedRwLockWriteGuard<T, u8>:                               BOTH NONE NONE NONE;
    <T> RwLockRead<'static, T>:                                           BOTH NONE NONE NONE;
    <T> RwLockReadUntil<'static, T>:                                      BOTH NONE NONE NONE;
    <T> RwLockReadOwned<T>:                                               BOTH NONE NONE NONE;
    <T> RwLockReadOwnedUntil<T>:                                          BOTH NONE NONE NONE;
    <T> RwLockUpgradableRead<'static, T>:                                 BOTH NONE NONE NONE;
    <T> RwLockUpgradableReadUntil<'static, T>:                            BOTH NONE NONE NONE;
    <T> RwLockUpgradableReadOwned<T>:                                     BOTH NONE NONE NONE;
    <T> RwLockUpgradableReadOwnedUntil<T>:                                BOTH NONE NONE NONE;
    <T> RwLockWrite<'static, T>:                                          BOTH NONE NONE NONE;
    <T> RwLockWriteUntil<'static, T>:                                     BOTH NONE NONE NONE;
    <T> RwLockWriteOwned<T>:                                              BOTH NONE NONE NONE;
    <T> RwLockWriteOwnedUntil<T>:                                         BOTH NONE NONE NONE;
    <T> RwLockUpgrade<'static, T>:                                        BOTH NONE NONE NONE;
    <T> RwLockUpgradeUntil<'static, T>:                                   BOTH NONE NONE NONE;
    <T> RwLockUpgradeOwned<T>:                                            BOTH NONE NONE NONE;
    <T> RwLockUpgradeOwnedUntil<T>:                                       BOTH NONE NONE NONE;
    <T> NotUpgraded<T>:                                                   BOTH SEND SYNC NONE;
    // The guard goes in at the beginning.
    <T> CondvarWait<'static, MutexGuard<'static, T>>:                     BOTH SEND NONE NONE;
    <T> CondvarWaitUntil<'static, MutexGuard<'static, T>>:                BOTH SEND NONE NONE;
    <T> CondvarWaitWhile<'static, MutexGuard<'static, T>, fn(&mut T)>:    BOTH SEND NONE NONE;
    <T> CondvarWaitWhileUntil<'static, OwnedMutexGuard<T>, fn(&mut T)>:   BOTH SEND NONE NONE;
    <T> CondvarWaitOwned<OwnedMutexGuard<T>>:                             BOTH SEND NONE NONE;
    <T> CondvarWaitOwnedUntil<OwnedMutexGuard<T>>:                        BOTH SEND NONE NONE;
    <T> CondvarWaitWhileOwned<OwnedMutexGuard<T>, fn(&mut T)>:            BOTH SEND NONE NONE;
    <T> CondvarWaitWhileOwnedUntil<OwnedMutexGuard<T>, fn(&mut T)>:       BOTH SEND NONE NONE;
    // So does what the callback has with it.
    <T> CondvarWaitWhile<'static, MutexGuard<'static, u8>, T>:            BOTH SEND SYNC NONE;
    <T> CondvarWaitWhileUntil<'static, MutexGuard<'static, u8>, T>:       BOTH SEND SYNC NONE;
    <T> CondvarWaitWhileOwned<OwnedMutexGuard<u8>, T>:                    BOTH SEND SYNC NONE;
    <T> CondvarWaitWhileOwnedUntil<OwnedMutexGuard<u8>, T>:               BOTH SEND SYNC NONE;
    // All share what one has made: it has to be both.
    <T> OnceLock<T>:                                                      BOTH SEND NONE NONE;
    <T> OnceWait<'static, T>:                                             BOTH NONE NONE NONE;
    <T> OnceWaitUntil<'static, T>:                                        BOTH NONE NONE NONE;
    <T> LazyLock<T>:                                                      BOTH SEND NONE NONE;
    <T> LazyLock<u8, T>:                                                  BOTH BOTH NONE NONE;
    <T> LazyForce<'static, T, fn() -> T>:                                 BOTH NONE NONE NONE;
    <T> LazyForceUntil<'static, T, fn() -> T>:                            BOTH NONE NONE NONE;
    <T> Poison<T>:                                                        BOTH SEND SYNC NONE;
    <T> PoisonGuard<'static, T>:                                          BOTH SEND SYNC NONE;
}

/// What crosses threads whatever it is used for; whether it may move when it is pinned; and whether it, and a reference to it, may be
/// seen after a panic.
macro_rules! moving {
    ($($Type:ty: $unpin:ident $unwind:ident $by_ref:ident;)+) => {$(
        const _: () = {
            const NO: bool = false;
            const YES: bool = true;
            _ = (NO, YES);
            assert!(is!($Type: Send) && is!($Type: Sync), concat!(stringify!($Type), " crosses threads"));
            assert!(is!($Type: Unpin) == $unpin, concat!(stringify!($Type), ": Unpin"));
            assert!(is!($Type: UnwindSafe) == $unwind, concat!(stringify!($Type), ": UnwindSafe"));
            assert!(is!($Type: RefUnwindSafe) == $by_ref, concat!(stringify!($Type), ": RefUnwindSafe"));
        };
    )+};
}

type Guard = MutexGuard<'static, u8>;
type OwnedGuard = OwnedMutexGuard<u8>;

moving! {
    //                                             Unpin  UnwindSafe  RefUnwindSafe
    AsyncLock:                                      YES YES YES;
    AsyncLock<Arc<AtomicI32>>:                      YES YES YES;
    AsyncLock<&'static AtomicI32>:                  YES YES YES;
    LockAsync<'static, AtomicI32>:                  NO  NO  NO;
    LockAsyncUntil<'static, AtomicI32>:             NO  NO  NO;
    // Without poison a panic leaves the value as it is, ...
    Mutex<u8>:                                      YES YES NO;
    MutexGuard<'static, u8>:                        YES NO  NO;
    OwnedMutexGuard<u8>:                            YES NO  NO;
    MappedMutexGuard<'static, u8>:                  YES NO  YES;
    OwnedMappedMutexGuard<u8, u8>:                  YES NO  NO;
    // ... and with poison the next holder is warned.
    Mutex<Poison<u8>>:                              YES YES YES;
    Poison<u8>:                                     YES YES YES;
    PoisonGuard<'static, u8>:                       YES NO  YES;
    MutexLock<'static, u8>:                         NO  NO  NO;
    MutexLockUntil<'static, u8>:                    NO  NO  NO;
    MutexLockOwned<u8>:                             NO  NO  NO;
    MutexLockOwnedUntil<u8>:                        NO  NO  NO;
    RwLock<u8>:                                     YES YES NO;
    RwLock<Poison<u8>>:                             YES YES YES;
    // No writer has changed what it shows while it was there.
    RwLockReadGuard<'static, u8>:                   YES YES YES;
    OwnedRwLockReadGuard<u8>:                       YES NO  NO;
    RwLockUpgradableReadGuard<'static, u8>:         YES NO  NO;
    OwnedRwLockUpgradableReadGuard<u8>:             YES NO  NO;
    RwLockWriteGuard<'static, u8>:                  YES NO  NO;
    OwnedRwLockWriteGuard<u8>:                      YES NO  NO;
    MappedRwLockReadGuard<'static, u8>:             YES YES YES;
    MappedRwLockWriteGuard<'static, u8>:            YES NO  YES;
    OwnedMappedRwLockReadGuard<u8, u8>:             YES NO  NO;
    OwnedMappedRwLockWriteGuard<u8, u8>:            YES NO  NO;
    RwLockRead<'static, u8>:                        NO  NO  NO;
    RwLockReadUntil<'static, u8>:                   NO  NO  NO;
    RwLockReadOwned<u8>:                            NO  NO  NO;
    RwLockReadOwnedUntil<u8>:                       NO  NO  NO;
    RwLockUpgradableRead<'static, u8>:              NO  NO  NO;
    RwLockUpgradableReadUntil<'static, u8>:         NO  NO  NO;
    RwLockUpgradableReadOwned<u8>:                  NO  NO  NO;
    RwLockUpgradableReadOwnedUntil<u8>:             NO  NO  NO;
    RwLockWrite<'static, u8>:                       NO  NO  NO;
    RwLockWriteUntil<'static, u8>:                  NO  NO  NO;
    RwLockWriteOwned<u8>:                           NO  NO  NO;
    RwLockWriteOwnedUntil<u8>:                      NO  NO  NO;
    RwLockUpgrade<'static, u8>:                     NO  NO  NO;
    RwLockUpgradeUntil<'static, u8>:                NO  NO  NO;
    RwLockUpgradeOwned<u8>:                         NO  NO  NO;
    RwLockUpgradeOwnedUntil<u8>:                    NO  NO  NO;
    NotUpgraded<u8>:                                YES YES YES;
    Condvar:                                        YES YES YES;
    CondvarWait<'static, Guard>:                    NO  NO  NO;
    CondvarWaitUntil<'static, Guard>:               NO  NO  NO;
    CondvarWaitWhile<'static, Guard, ()>:           NO  NO  NO;
    CondvarWaitWhileUntil<'static, Guard, ()>:      NO  NO  NO;
    CondvarWaitOwned<OwnedGuard>:                   NO  NO  NO;
    CondvarWaitOwnedUntil<OwnedGuard>:              NO  NO  NO;
    CondvarWaitWhileOwned<OwnedGuard, ()>:          NO  NO  NO;
    CondvarWaitWhileOwnedUntil<OwnedGuard, ()>:     NO  NO  NO;
    Semaphore:                                      YES YES YES;
    SemaphorePermit<'static>:                       YES YES YES;
    OwnedSemaphorePermit:                           YES YES YES;
    SemaphoreAcquire<'static>:                      NO  NO  NO;
    SemaphoreAcquireUntil<'static>:                 NO  NO  NO;
    SemaphoreAcquireOwned:                          NO  NO  NO;
    SemaphoreAcquireOwnedUntil:                     NO  NO  NO;
    Event:                                          YES YES YES;
    EventWait<'static>:                             NO  NO  NO;
    EventWaitUntil<'static>:                        NO  NO  NO;
    EventListener<'static>:                         NO  NO  NO;
    EventWaitOwned:                                 NO  NO  NO;
    EventWaitOwnedUntil:                            NO  NO  NO;
    OwnedEventListener:                             NO  NO  NO;
    EventNotified:                                  YES YES YES;
    WaitGroup:                                      YES YES YES;
    WaitGroupToken<'static>:                        YES YES YES;
    OwnedWaitGroupToken:                            YES YES YES;
    WaitGroupWait<'static>:                         NO  NO  NO;
    WaitGroupWaitUntil<'static>:                    NO  NO  NO;
    WaitGroupWaitOwned:                             NO  NO  NO;
    WaitGroupWaitOwnedUntil:                        NO  NO  NO;
    Barrier:                                        YES YES YES;
    BarrierWait<'static>:                           NO  NO  NO;
    BarrierWaitUntil<'static>:                      NO  NO  NO;
    BarrierWaitOwned:                               NO  NO  NO;
    BarrierWaitOwnedUntil:                          NO  NO  NO;
    BarrierWaitResult:                              YES YES YES;
    OnceLock<u8>:                                   YES YES YES;
    OnceWait<'static, u8>:                          NO  NO  NO;
    OnceWaitUntil<'static, u8>:                     NO  NO  NO;
    LazyLock<u8>:                                   YES YES YES;
    LazyForce<'static, u8, fn() -> u8>:             NO  NO  NO;
    LazyForceUntil<'static, u8, fn() -> u8>:        NO  NO  NO;
    NoDeadline:                                     YES YES YES;
    Until:                                          NO  YES NO;
    HeldBy:                                         YES YES YES;
    LockError:                                      YES YES YES;
    NotLocked:                                      YES YES YES;
    AcquireError:                                   YES YES YES;
    TryAcquireError:                                YES YES YES;
    Closed:                                         YES YES YES;
    Poisoned:                                       YES YES YES;
}

/// What lives long serves also where something is asked for that lives shorter. (Not the futures: from a lock to its word they go
/// through a trait, behind which there might be anything. Nor what is written through a guard, see `src/refused.rs`.)
macro_rules! covariant {
    ($(<$a:lifetime> $Type:ty;)+) => {$(
        const _: () = {
            type Of<$a> = $Type;
            #[allow(dead_code, reason = "that it compiles is enough")]
            fn shorten<'short, 'long: 'short>(long: Of<'long>) -> Of<'short> {
                long
            }
        };
    )+};
}

covariant! {
    <'a> MutexGuard<'a, u8>;
    <'a> MappedMutexGuard<'a, u8>;
    <'a> RwLockUpgradableReadGuard<'a, u8>;
    <'a> RwLockWriteGuard<'a, u8>;
    // What is only read may live shorter.
    <'a> RwLockReadGuard<'a, &'a str>;
    <'a> MappedRwLockReadGuard<'a, &'a str>;
    <'a> OwnedMappedRwLockReadGuard<u8, &'a str>;
    <'a> MappedRwLockWriteGuard<'a, u8>;
    <'a> CondvarWait<'a, Guard>;
    <'a> CondvarWaitUntil<'a, Guard>;
    <'a> CondvarWaitWhile<'a, Guard, &'a str>;
    <'a> CondvarWaitWhileUntil<'a, Guard, &'a str>;
    <'a> SemaphorePermit<'a>;
    <'a> WaitGroupToken<'a>;
    <'a> PoisonGuard<'a, u8>;
    <'a> Poison<&'a str>;
}

/// What has a share in all that it needs can be given to a task of its own.
const _: () = {
    const fn spawned<T: Send + 'static>() {}
    spawned::<MutexLockOwned<u8>>();
    spawned::<SemaphoreAcquireOwned>();
    spawned::<EventWaitOwned>();
    spawned::<EventWaitOwnedUntil>();
    spawned::<OwnedEventListener>();
    spawned::<WaitGroupWaitOwned>();
    spawned::<WaitGroupWaitOwnedUntil>();
    spawned::<BarrierWaitOwned>();
    spawned::<BarrierWaitOwnedUntil>();
    spawned::<CondvarWaitOwned<OwnedGuard>>();
    spawned::<CondvarWaitOwnedUntil<OwnedGuard>>();
    spawned::<CondvarWaitWhileOwned<OwnedGuard, ()>>();
    spawned::<CondvarWaitWhileOwnedUntil<OwnedGuard, ()>>();
};

fn send<T: Send>(_: &T) {}
const fn error<T: std::error::Error + Send + Sync + Copy + 'static>() {}

const _: () = {
    error::<LockError>();
    error::<NotLocked>();
    error::<AcquireError>();
    error::<TryAcquireError>();
    error::<Closed>();
    error::<Poisoned>();
};

#[test]
fn a_callback_under_the_lock_crosses_threads_if_it_can() {
    let lock = AsyncLock::new();
    send(&lock.execute_locked(|| 1));
    send(&lock.execute_locked_async(async || lock.is_locked()));
    // Not `Send`, and nobody asks it to be.
    let local = Cell::new(1);
    drop(lock.execute_locked(|| local.set(2)));
}

#[test]
fn an_initialiser_crosses_threads_if_it_can() {
    let cell = OnceLock::new();
    send(&cell.get_or_init_async(async || 1));
    send(&cell.get_or_init_async_until(std::time::Instant::now(), async || 1));
    send(&cell.get_or_try_init_async(async || Err::<u8, ()>(())));
    let local = Cell::new(1);
    drop(cell.get_or_init_async(async || local.replace(2)));
}

#[test]
fn sizes_are_as_documented() {
    assert_eq!(size_of::<AsyncLock>(), 4);
    // On some processors of 32 bits a u64 is aligned to 4 bytes.
    let aligned = 8 + align_of::<u64>();
    assert_eq!((size_of::<Mutex<()>>(), size_of::<Mutex<u32>>(), size_of::<Mutex<u64>>()), (4, 8, aligned));
    // What the observer calls the hold.
    let record = if cfg!(feature = "observe") { size_of::<usize>() } else { 0 };
    assert_eq!(size_of::<MutexGuard<'_, [u64; 9]>>(), size_of::<usize>() + record);
    assert_eq!(size_of::<OwnedMutexGuard<[u64; 9]>>(), size_of::<usize>() + record);
    assert_eq!(size_of::<Option<MappedMutexGuard<'_, u64>>>(), 2 * size_of::<usize>() + record);
    assert_eq!(size_of::<RwLock<()>>(), 16);
    assert_eq!(size_of::<RwLock<u64>>(), 24);
    assert_eq!(size_of::<RwLockReadGuard<'_, u64>>(), size_of::<usize>() + record);
    assert_eq!(size_of::<Semaphore>(), 16);
    assert_eq!((size_of::<Event>(), size_of::<WaitGroup>()), (8, 16));
    assert_eq!(size_of::<EventWaitOwned>(), size_of::<EventWait<'_>>());
    let limit = 112 + record;
    assert!(size_of::<EventWait<'_>>() <= limit && size_of::<WaitGroupWait<'_>>() <= limit);
    assert!(size_of::<OnceWait<'_, String>>() <= limit && size_of::<BarrierWait<'_>>() <= limit + 8);
    // A waiter is 64 bytes; beside it, the future has the lock, and what its waiter is queued under.
    assert!(size_of::<MutexLock<'_, ()>>() <= 88 + record && size_of::<MutexLockOwned<()>>() <= 80 + record);
    assert_eq!(size_of::<OnceLock<u32>>(), 8);
    assert_eq!(size_of::<OnceLock<u64>>(), aligned);
    assert_eq!(size_of::<OnceLock<String>>(), size_of::<String>() + size_of::<usize>());
}

#[test]
fn a_guard_that_lets_go_crosses_threads_if_what_it_runs_does() {
    let (mutex, rwlock) = (Arc::new(Mutex::new(1)), Arc::new(RwLock::new(1)));
    send(&MutexGuard::unlocked_async(mutex.lock(), async || 1));
    send(&OwnedMutexGuard::unlocked_fair_async(mutex.lock_owned(), async || 1));
    send(&RwLockReadGuard::unlocked_async(rwlock.read(), async || 1));
    send(&OwnedRwLockUpgradableReadGuard::unlocked_async(rwlock.upgradable_read_owned(), async || 1));
    let local = Cell::new(1);
    drop(RwLockWriteGuard::unlocked_async(rwlock.write(), async || local.replace(2)));
}
