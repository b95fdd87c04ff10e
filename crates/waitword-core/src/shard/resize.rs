//! How many buckets a shard has: it follows the number of words waited on, up and down.

use super::bucket::Bucket;
#[cfg(test)]
use super::guard::Locked;
use super::guard::Shard;

impl Shard {
    /// Gives it `size` buckets, and another secret if it needs one, as a stay under the lock has found. The buckets are
    /// allocated, and the old ones freed, without the lock.
    ///
    /// If another thread was faster, ours are not needed; if there is no memory, the old ones serve. (Nothing may unwind
    /// here: linked nodes are on stacks further up.)
    #[cold]
    pub(crate) fn resize(&self, size: usize) {
        let mut better_size = Some(size);
        while let Some(size) = better_size {
            let Some(mut spare) = empty_buckets(size) else { return };
            let mut locked = self.lock();
            better_size = locked.with(|queues, _| {
                if queues.better_size() != Some(size) {
                    return None;
                }
                queues.rehash(&mut spare);
                queues.better_size()
            });
            drop(locked);
        }
    }
}

fn empty_buckets(size: usize) -> Option<Box<[Bucket]>> {
    let mut buckets = Vec::new();
    buckets.try_reserve_exact(size).ok()?;
    buckets.resize_with(size, Bucket::default);
    Some(buckets.into_boxed_slice())
}

#[cfg(test)]
impl Locked<'_> {
    /// How many queues the fullest bucket has.
    pub(crate) fn longest_chain(&mut self) -> usize {
        // SAFETY: we hold the lock (I2).
        self.with(|queues, _| queues.buckets.iter().map(|bucket| unsafe { bucket.len() }).max().unwrap_or(0))
    }
}
