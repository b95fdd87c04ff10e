//! usync's mutex.

use ::usync::MutexGuard;

use super::{BlockingMutex, Mutex};

pub(crate) type Usync = ::usync::Mutex<()>;

impl Mutex for Usync {
    const NAME: &'static str = "usync";

    type Guard<'a> = MutexGuard<'a, ()>;

    fn new() -> Self {
        Usync::new(())
    }

    fn try_lock(&self) -> Option<Self::Guard<'_>> {
        self.try_lock()
    }
}

impl BlockingMutex for Usync {
    fn lock(&self) -> Self::Guard<'_> {
        self.lock()
    }
}
