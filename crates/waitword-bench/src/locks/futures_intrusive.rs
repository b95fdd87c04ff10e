//! futures-intrusive's mutex, which hands over in turn if it is told to be fair, as here.

use std::future::Future;

use ::futures_intrusive::sync::MutexGuard;

use super::{AsyncMutex, Mutex};

pub(crate) type FuturesIntrusive = ::futures_intrusive::sync::Mutex<()>;

impl Mutex for FuturesIntrusive {
    const NAME: &'static str = "futures-intrusive";

    type Guard<'a> = MutexGuard<'a, ()>;

    fn new() -> Self {
        FuturesIntrusive::new((), true)
    }

    fn try_lock(&self) -> Option<Self::Guard<'_>> {
        self.try_lock()
    }
}

impl AsyncMutex for FuturesIntrusive {
    fn lock_async(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.lock()
    }
}
