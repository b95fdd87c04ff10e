//! Reading past the queue, for holders that read already, and for `Debug`.

use std::fmt;

use crate::rwlock::{RwLock, RwLockReadGuard};

impl<T: ?Sized> RwLock<T> {
    /// Reads if there is no writer, even if one is queued; also while an upgrade is pending, if there is another reader.
    /// Never waits.
    ///
    /// It always succeeds for a holder that reads already. For others it is not fair: a stream of such reads starves
    /// writers.
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

/// Shows the value if there is no writer, reading it meanwhile. Does not wait.
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
