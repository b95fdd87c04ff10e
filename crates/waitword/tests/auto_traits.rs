//! What may cross threads, move, be seen after a panic, and live shorter or longer; checked by the compiler, as tables.
//! What else must be refused is in `tests/doc/refused.rs`.

#[path = "../../waitword-core/tests/common/is.rs"]
mod is;

use std::cell::Cell;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicI32;

use waitword::future::*;
use waitword::word::AsyncLock;
use waitword::*;

use is::is;

/// `Send` and `Sync`; one of them; neither.
const BOTH: [bool; 2] = [true, true];
const SEND: [bool; 2] = [true, false];
const SYNC: [bool; 2] = [false, true];
const NONE: [bool; 2] = [false, false];

macro_rules! crosses {
    ($Type:ty: $should:ident, $name:expr, $of:literal) => {
        assert!(is!($Type: Send) == $should[0] && is!($Type: Sync) == $should[1], concat!($name, $of));
    };
}

/// Whether a type may move when it is pinned; and whether it, and a reference to it, may be seen after a panic.
macro_rules! moves {
    ($Type:ty: $unpin:ident $unwind:ident $by_ref:ident, $name:expr) => {
        assert!(is!($Type: Unpin) == $unpin, concat!($name, ": Unpin"));
        assert!(is!($Type: UnwindSafe) == $unwind, concat!($name, ": UnwindSafe"));
        assert!(is!($Type: RefUnwindSafe) == $by_ref, concat!($name, ": RefUnwindSafe"));
    };
}

const NO: bool = false;
const YES: bool = true;

/// How a type crosses threads, by how `T` does: `Send` and `Sync`; `Send` alone; `Sync` alone; neither. And how it moves.
macro_rules! crossing {
    ($(<$T:ident> $Type:ty: $both:ident $send:ident $sync:ident $none:ident $unpin:ident $unwind:ident $by_ref:ident;)+) => {$(
        const _: () = {
            type Of<$T> = $Type;
            type OnlySync = std::sync::MutexGuard<'static, u8>;
            crosses!(Of<u8>: $both, stringify!($Type), " of both");
            crosses!(Of<Cell<u8>>: $send, stringify!($Type), " of `Send`");
            crosses!(Of<OnlySync>: $sync, stringify!($Type), " of `Sync`");
            crosses!(Of<Rc<u8>>: $none, stringify!($Type), " of neither");
            moves!(Of<u8>: $unpin $unwind $by_ref, stringify!($Type));
        };
    )+};
}

crossing! {
    //                                                             of T:  both send sync none  Unpin, UnwindSafe, RefUnwindSafe
    // Without poison a panic leaves the value as it is.
    <T> Mutex<T>:                                                         BOTH BOTH NONE NONE  YES YES NO;
    <T> MutexGuard<'static, T>:                                           BOTH SEND NONE NONE  YES NO  NO;
    <T> OwnedMutexGuard<T>:                                               BOTH SEND NONE NONE  YES NO  NO;
    // They do not lead to the mutex, or only to its word: what they show is all that counts.
    <T> MappedMutexGuard<'static, T>:                                     BOTH SEND SYNC NONE  YES NO  YES;
    <T> OwnedMappedMutexGuard<u8, T>:                                     BOTH SEND SYNC NONE  YES NO  NO;
    <T> OwnedMappedMutexGuard<T, u8>:                                     BOTH BOTH NONE NONE  YES NO  NO;
    // The guard comes out at the end, on whatever thread polls last.
    <T> MutexLock<&'static Mutex<T>>:                                            BOTH BOTH NONE NONE  NO  NO  NO;
    <T> MutexLock<&'static Mutex<T>, Until>:                                       BOTH BOTH NONE NONE  NO  NO  NO;
    <T> MutexLock<Arc<Mutex<T>>>:                                                BOTH BOTH NONE NONE  NO  NO  NO;
    <T> MutexLock<Arc<Mutex<T>>, Until>:                                           BOTH BOTH NONE NONE  NO  NO  NO;
    // Readers share the value, so it has to be both.
    <T> RwLock<T>:                                                        BOTH SEND NONE NONE  YES YES NO;
    // Borrowed, it leads to the value alone, of which it is a `&T`. No writer has changed it meanwhile.
    <T> RwLockReadGuard<'static, T>:                                      BOTH NONE BOTH NONE  YES YES YES;
    <T> OwnedRwLockReadGuard<T>:                                          BOTH NONE NONE NONE  YES NO  NO;
    <T> RwLockUpgradableReadGuard<'static, T>:                            BOTH NONE NONE NONE  YES NO  NO;
    <T> OwnedRwLockUpgradableReadGuard<T>:                                BOTH NONE NONE NONE  YES NO  NO;
    <T> RwLockWriteGuard<'static, T>:                                     BOTH NONE NONE NONE  YES NO  NO;
    <T> OwnedRwLockWriteGuard<T>:                                         BOTH NONE NONE NONE  YES NO  NO;
    <T> MappedRwLockReadGuard<'static, T>:                                BOTH NONE BOTH NONE  YES YES YES;
    <T> MappedRwLockWriteGuard<'static, T>:                               BOTH SEND SYNC NONE  YES NO  YES;
    <T> OwnedMappedRwLockReadGuard<u8, T>:                                BOTH NONE BOTH NONE  YES NO  NO;
    <T> OwnedMappedRwLockReadGuard<T, u8>:                                BOTH NONE NONE NONE  YES NO  NO;
    <T> OwnedMappedRwLockWriteGuard<u8, T>:                               BOTH SEND SYNC NONE  YES NO  NO;
    <T> OwnedMappedRwLockWriteGuard<T, u8>:                               BOTH NONE NONE NONE  YES NO  NO;
    <T> RwLockRead<&'static RwLock<T>>:                                           BOTH NONE NONE NONE  NO  NO  NO;
    <T> RwLockRead<&'static RwLock<T>, Until>:                                      BOTH NONE NONE NONE  NO  NO  NO;
    <T> RwLockRead<Arc<RwLock<T>>>:                                               BOTH NONE NONE NONE  NO  NO  NO;
    <T> RwLockRead<Arc<RwLock<T>>, Until>:                                          BOTH NONE NONE NONE  NO  NO  NO;
    <T> RwLockUpgradableRead<&'static RwLock<T>>:                                 BOTH NONE NONE NONE  NO  NO  NO;
    <T> RwLockUpgradableRead<&'static RwLock<T>, Until>:                            BOTH NONE NONE NONE  NO  NO  NO;
    <T> RwLockUpgradableRead<Arc<RwLock<T>>>:                                     BOTH NONE NONE NONE  NO  NO  NO;
    <T> RwLockUpgradableRead<Arc<RwLock<T>>, Until>:                                BOTH NONE NONE NONE  NO  NO  NO;
    <T> RwLockWrite<&'static RwLock<T>>:                                          BOTH NONE NONE NONE  NO  NO  NO;
    <T> RwLockWrite<&'static RwLock<T>, Until>:                                     BOTH NONE NONE NONE  NO  NO  NO;
    <T> RwLockWrite<Arc<RwLock<T>>>:                                              BOTH NONE NONE NONE  NO  NO  NO;
    <T> RwLockWrite<Arc<RwLock<T>>, Until>:                                         BOTH NONE NONE NONE  NO  NO  NO;
    <T> RwLockUpgrade<RwLockUpgradableReadGuard<'static, T>>:                                        BOTH NONE NONE NONE  NO  NO  NO;
    <T> RwLockUpgrade<RwLockUpgradableReadGuard<'static, T>, Until>:                                   BOTH NONE NONE NONE  NO  NO  NO;
    <T> RwLockUpgrade<OwnedRwLockUpgradableReadGuard<T>>:                                            BOTH NONE NONE NONE  NO  NO  NO;
    <T> RwLockUpgrade<OwnedRwLockUpgradableReadGuard<T>, Until>:                                       BOTH NONE NONE NONE  NO  NO  NO;
    <T> NotUpgraded<T>:                                                   BOTH SEND SYNC NONE  YES YES YES;
    // The guard goes in at the beginning.
    <T> CondvarWait<&'static Condvar, MutexGuard<'static, T>>:                     BOTH SEND NONE NONE  NO  NO  NO;
    <T> CondvarWait<&'static Condvar, MutexGuard<'static, T>, Until>:                BOTH SEND NONE NONE  NO  NO  NO;
    <T> CondvarWaitWhile<&'static Condvar, MutexGuard<'static, T>, fn(&mut T)>:    BOTH SEND NONE NONE  NO  NO  NO;
    <T> CondvarWaitWhile<&'static Condvar, OwnedMutexGuard<T>, fn(&mut T), Until>:   BOTH SEND NONE NONE  NO  NO  NO;
    <T> CondvarWait<Arc<Condvar>, OwnedMutexGuard<T>>:                             BOTH SEND NONE NONE  NO  NO  NO;
    <T> CondvarWait<Arc<Condvar>, OwnedMutexGuard<T>, Until>:                        BOTH SEND NONE NONE  NO  NO  NO;
    <T> CondvarWaitWhile<Arc<Condvar>, OwnedMutexGuard<T>, fn(&mut T)>:            BOTH SEND NONE NONE  NO  NO  NO;
    <T> CondvarWaitWhile<Arc<Condvar>, OwnedMutexGuard<T>, fn(&mut T), Until>:       BOTH SEND NONE NONE  NO  NO  NO;
    // So does what the callback has with it.
    <T> CondvarWaitWhile<&'static Condvar, MutexGuard<'static, u8>, T>:            BOTH SEND SYNC NONE  NO  NO  NO;
    <T> CondvarWaitWhile<&'static Condvar, MutexGuard<'static, u8>, T, Until>:       BOTH SEND SYNC NONE  NO  NO  NO;
    <T> CondvarWaitWhile<Arc<Condvar>, OwnedMutexGuard<u8>, T>:                    BOTH SEND SYNC NONE  NO  NO  NO;
    <T> CondvarWaitWhile<Arc<Condvar>, OwnedMutexGuard<u8>, T, Until>:               BOTH SEND SYNC NONE  NO  NO  NO;
    // All share what one has made: it has to be both.
    <T> OnceLock<T>:                                                      BOTH SEND NONE NONE  YES YES YES;
    <T> OnceWait<'static, T>:                                             BOTH NONE NONE NONE  NO  NO  NO;
    <T> OnceWait<'static, T, Until>:                                        BOTH NONE NONE NONE  NO  NO  NO;
    <T> LazyLock<T>:                                                      BOTH SEND NONE NONE  YES YES YES;
    <T> LazyLock<u8, T>:                                                  BOTH BOTH NONE NONE  YES YES YES;
    <T> keyed::KeyedMutex<T>:                                             BOTH SEND NONE NONE  YES YES YES;
    <T> keyed::KeyedRwLock<T>:                                            BOTH SEND NONE NONE  YES YES YES;
    <T> keyed::KeyedGuard<&'static keyed::KeyedMutex<T>, keyed::Exclusive>: BOTH NONE NONE NONE  YES YES YES;
    <T> keyed::KeyedAcquire<Arc<keyed::KeyedMutex<T>>, keyed::Exclusive>: BOTH NONE NONE NONE  NO  NO  NO;
    <T> keyed::OnceMap<T, u8>:                                            BOTH SEND NONE NONE  YES YES YES;
    <T> keyed::OnceMap<u8, T>:                                            BOTH SEND NONE NONE  YES YES YES;
    <T> Poison<T>:                                                        BOTH SEND SYNC NONE  YES YES YES;
    <T> PoisonGuard<'static, T>:                                          BOTH SEND SYNC NONE  YES NO  YES;
}

/// What crosses threads whatever it is used for; and the rest as above.
macro_rules! moving {
    ($($Type:ty: $unpin:ident $unwind:ident $by_ref:ident;)+) => {$(
        const _: () = {
            assert!(is!($Type: Send) && is!($Type: Sync), concat!(stringify!($Type), " crosses threads"));
            moves!($Type: $unpin $unwind $by_ref, stringify!($Type));
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
    // With poison the next holder is warned of a panic.
    Mutex<Poison<u8>>:                              YES YES YES;
    RwLock<Poison<u8>>:                             YES YES YES;
    Condvar:                                        YES YES YES;
    Semaphore:                                      YES YES YES;
    SemaphorePermit<'static>:                       YES YES YES;
    OwnedSemaphorePermit:                           YES YES YES;
    SemaphoreAcquire<&'static Semaphore>:                      NO  NO  NO;
    SemaphoreAcquire<Arc<Semaphore>>:                          NO  NO  NO;
    Event:                                          YES YES YES;
    EventWait<&'static Event>:                             NO  NO  NO;
    EventListener<'static>:                         NO  NO  NO;
    EventWait<Arc<Event>>:                                 NO  NO  NO;
    OwnedEventListener:                             NO  NO  NO;
    WaitGroup:                                      YES YES YES;
    WaitGroupToken<'static>:                        YES YES YES;
    OwnedWaitGroupToken:                            YES YES YES;
    WaitGroupWait<&'static WaitGroup>:                         NO  NO  NO;
    WaitGroupWait<Arc<WaitGroup>>:                             NO  NO  NO;
    Barrier:                                        YES YES YES;
    BarrierWait<&'static Barrier>:                           NO  NO  NO;
    BarrierWait<Arc<Barrier>>:                               NO  NO  NO;
    BarrierWaitResult:                              YES YES YES;
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
/// through a trait, behind which there might be anything. Nor what is written through a guard, see `tests/doc/refused.rs`.)
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
    <'a> CondvarWait<&'a Condvar, Guard>;
    <'a> CondvarWait<&'a Condvar, Guard, Until>;
    <'a> CondvarWaitWhile<&'a Condvar, Guard, &'a str>;
    <'a> CondvarWaitWhile<&'a Condvar, Guard, &'a str, Until>;
    <'a> SemaphorePermit<'a>;
    <'a> WaitGroupToken<'a>;
    <'a> PoisonGuard<'a, u8>;
    <'a> Poison<&'a str>;
}

/// What has a share in all that it needs can be given to a task of its own.
const _: () = {
    const fn spawned<T: Send + 'static>() {}
    spawned::<MutexLock<Arc<Mutex<u8>>>>();
    spawned::<SemaphoreAcquire<Arc<Semaphore>>>();
    spawned::<EventWait<Arc<Event>>>();
    spawned::<EventWait<Arc<Event>, Until>>();
    spawned::<OwnedEventListener>();
    spawned::<WaitGroupWait<Arc<WaitGroup>>>();
    spawned::<WaitGroupWait<Arc<WaitGroup>, Until>>();
    spawned::<BarrierWait<Arc<Barrier>>>();
    spawned::<BarrierWait<Arc<Barrier>, Until>>();
    spawned::<CondvarWait<Arc<Condvar>, OwnedGuard>>();
    spawned::<CondvarWait<Arc<Condvar>, OwnedGuard, Until>>();
    spawned::<CondvarWaitWhile<Arc<Condvar>, OwnedGuard, ()>>();
    spawned::<CondvarWaitWhile<Arc<Condvar>, OwnedGuard, (), Until>>();
};

fn send<T: Send>(_: &T) {}
const fn error<T: std::error::Error + Send + Sync + Copy + 'static>() {}

/// With a name in it.
const fn larger_error<T: std::error::Error + Send + Sync + Clone + 'static>() {}

const _: () = {
    error::<LockError>();
    error::<NotLocked>();
    error::<AcquireError>();
    error::<TryAcquireError>();
    error::<Closed>();
    larger_error::<Poisoned>();
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
    send(&LazyLock::force_async(&LazyLock::new(|| 1)));
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
    assert_eq!(size_of::<EventWait<Arc<Event>>>(), size_of::<EventWait<&Event>>());
    let limit = 128 + record;
    assert!(size_of::<EventWait<&Event>>() <= limit && size_of::<WaitGroupWait<&WaitGroup>>() <= limit);
    assert!(size_of::<OnceWait<'_, String>>() <= limit && size_of::<BarrierWait<&Barrier>>() <= limit + 8);
    // A waiter is 72 bytes; beside it, the future has the lock, and what its waiter is queued under.
    assert!(
        size_of::<MutexLock<&Mutex<()>>>() <= 96 + record
            && size_of::<MutexLock<Arc<Mutex<()>>>>() <= 96 + record
    );
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

/// Each is declared before what it borrows, so what it borrows is dropped first. Dropping a cell or a lock reads nothing of that.
#[test]
#[allow(clippy::needless_late_init, reason = "in which order things are declared is what is tested")]
fn cells_and_locks_are_dropped_after_what_their_value_borrows() {
    let (once, from): (OnceLock<&String>, OnceLock<&String>);
    let (forced, unforced): (LazyLock<&String, _>, LazyLock<&String, _>);
    let (mutex, rwlock, poison): (Mutex<&String>, RwLock<&String>, Poison<&String>);
    let text = "text".to_owned();
    once = OnceLock::new();
    assert_eq!(once.set(&text), Ok(()));
    from = OnceLock::from(&text);
    forced = LazyLock::new(|| &text);
    unforced = LazyLock::new(|| &text);
    mutex = Mutex::new(&text);
    rwlock = RwLock::new(&text);
    poison = Poison::new(&text);
    assert_eq!((once.get(), from.get()), (Some(&&text), Some(&&text)));
    assert_eq!((LazyLock::force(&forced), LazyLock::get(&unforced)), (&&text, None));
    assert_eq!((*mutex.lock(), *rwlock.read(), poison.get()), (&text, &text, Ok(&&text)));
}
