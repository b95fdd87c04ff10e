//! Reading past the queue, for those who read already, and for `Debug`.

use std::fmt;

use crate::rwlock::{RwLock, RwLockReadGuard};

impl<T: ?Sized> RwLock<T> {
    /// Reads if nobody writes, even if somebody waits to; also while one who reads waits to upgrade, if there is another reader.
    /// Never waits.
    ///
    /// It succeeds always for those who read already. For others it is not fair: whoever reads this way all the time lets no
    /// writer in.
    ///
    /// ```
    /// let lock = waitword::RwLock::new(1);
    /// let outer = lock.read();
    /// // Somewhere inside; perhaps somebody waits to write.
    /// let inner = lock.try_read_recursive().expect("read already");
    /// assert_eq!(*outer, *inner);
    /// ```
    #[doc(alias("read_recursive", "recursive_read"))]
    #[must_use = "if it is a guard, the lock is released when that is dropped"]
    pub fn try_read_recursive(&self) -> Option<RwLockReadGuard<'_, T>> {
        // SAFETY: acquired just now, if at all.
        self.raw.read_recursive().then(|| unsafe { RwLockReadGuard::new(self) })
    }
}

/// Shows the value if nobody writes, for which it is read meanwhile. Does not wait.
impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RwLock");
        match self.try_read_recursive() {
            Some(guard) => shown.field("data", &&*guard),
            None => shown.field("data", &format_args!("<locked>")),
        };
        shown.finish()
    }
}
