//! futures-util's mutex.

use std::future::Future;

use ::futures_util::lock::MutexGuard;

use super::{AsyncMutex, Mutex};

pub(crate) type FuturesUtil = ::futures_util::lock::Mutex<()>;

impl Mutex for FuturesUtil {
    const NAME: &'static str = "futures-util";

    type Guard<'a> = MutexGuard<'a, ()>;

    fn new() -> Self {
        FuturesUtil::new(())
    }

    #[inline]
    fn try_lock(&self) -> Option<Self::Guard<'_>> {
        self.try_lock()
    }
}

impl AsyncMutex for FuturesUtil {
    #[inline]
    fn lock_async(&self) -> impl Future<Output = Self::Guard<'_>> + Send {
        self.lock()
    }
}
