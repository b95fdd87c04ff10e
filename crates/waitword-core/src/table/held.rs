//! A shard whose lock is held for long: what an agent does that finds it so, a test has to be able to bring about.

use super::shards::Table;

impl Table {
    /// Runs `section` with the lock of the shard of `word` held, as if the agent had lost its CPU there. For tests: `section` must not
    /// wait nor notify.
    #[doc(hidden)]
    pub fn while_locked<T>(&self, word: &std::sync::atomic::AtomicI32, section: impl FnOnce() -> T) -> T {
        let _locked = self.lock(self.key_of(std::ptr::from_ref(word).addr()));
        section()
    }
}
