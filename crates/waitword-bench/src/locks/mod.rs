//! The locks: contenders behind small traits, one file each.
//!
//! `mutex.rs`, `rw_lock.rs`, `semaphore.rs` and `monitor.rs` have the traits. Everything is generic over the lock, so that
//! what is measured is inlined as it would be in a program. A lock takes part wherever it implements what the workload
//! asks for; `adapters.rs` has what a program that needs the other side does to it.

mod adapters;
mod async_lock;
mod asyncband;
mod futures_intrusive;
mod futures_util;
mod limits;
mod maitake;
mod monitor;
mod mutex;
mod parking_lot;
mod rw_lock;
mod saa;
mod semaphore;
mod std;
mod tokio;
mod waitword;

pub(crate) use self::adapters::{OnThread, OnWorker, Permits, Reads, Writes};
pub(crate) use self::async_lock::{AsyncLock, AsyncLockMonitor, AsyncLockRwLock, AsyncLockSemaphore};
pub(crate) use self::asyncband::{Asyncband, AsyncbandMonitor, AsyncbandRwLock, AsyncbandSemaphore};
pub(crate) use self::futures_intrusive::{FuturesIntrusive, FuturesIntrusiveSemaphore};
pub(crate) use self::futures_util::FuturesUtil;
pub(crate) use self::limits::{CasAndSwap, NoLock};
pub(crate) use self::maitake::{Maitake, MaitakeRwLock, MaitakeSemaphore};
pub(crate) use self::monitor::{AsyncMonitor, BlockingMonitor, Condition, Monitor, State};
pub(crate) use self::mutex::{AsyncMutex, BlockingMutex, Mutex};
pub(crate) use self::parking_lot::{
    ParkingLot, ParkingLotMonitor, ParkingLotRwLock, Usync, UsyncMonitor, UsyncRwLock,
};
pub(crate) use self::rw_lock::{AsyncRwLock, BlockingRwLock, RwLock};
pub(crate) use self::saa::{Saa, SaaRwLock, SaaSemaphore};
pub(crate) use self::semaphore::{AsyncSemaphore, BlockingSemaphore, Semaphore};
pub(crate) use self::std::{Std, StdMonitor, StdRwLock};
pub(crate) use self::tokio::{Tokio, TokioMonitor, TokioRwLock, TokioSemaphore};
pub(crate) use self::waitword::{Waitword, WaitwordMonitor, WaitwordRwLock, WaitwordSemaphore};
