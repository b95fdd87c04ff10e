//! A value for each of some words, in a table of fixed size: adding a word allocates nothing.
//!
//! Words are spread over shards, each with a lock that is held for some nanoseconds, and under which nothing else is locked.

use std::sync::{Mutex, MutexGuard};

use waitword_core::lock;

/// How many words a shard has at most.
const WORDS: usize = 16;

/// Filled from the first place on, so that a search ends at the first free place.
type Shard<V> = [Option<(usize, V)>; WORDS];

/// The place of the word, or else the first free place.
fn place_of<V>(shard: &Shard<V>, word: usize) -> Option<usize> {
    shard.iter().position(|place| place.as_ref().is_none_or(|(of, _)| *of == word))
}

/// Values of up to 16 words per shard.
pub(crate) struct ByWord<V, const SHARDS: usize>([Mutex<Shard<V>>; SHARDS]);

impl<V, const SHARDS: usize> ByWord<V, SHARDS> {
    pub(crate) const fn new() -> Self {
        Self([const { Mutex::new([const { None }; WORDS]) }; SHARDS])
    }

    fn shard(&self, word: usize) -> MutexGuard<'_, Shard<V>> {
        // Words lie side by side, or at equal distances.
        let hash = (word as u64 >> 2).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        lock(&self.0[hash as usize % SHARDS])
    }

    /// Calls `work` with the place of the word, which it may empty. If the word has no value, `add` returns its first one. `None`: the word
    /// has no value, or the shard is full.
    pub(crate) fn with<R>(
        &self,
        word: usize,
        add: impl FnOnce() -> Option<V>,
        work: impl FnOnce(&mut Option<(usize, V)>) -> R,
    ) -> Option<R> {
        let shard = &mut *self.shard(word);
        let at = place_of(shard, word)?;
        if shard[at].is_none() {
            shard[at] = Some((word, add()?));
        }
        let result = work(&mut shard[at]);
        if shard[at].is_none()
            && let Some(last) = shard.iter().rposition(Option::is_some).filter(|last| *last > at)
        {
            shard.swap(at, last);
        }
        Some(result)
    }

    /// Sets the value of the word. In a full shard, it replaces the value with the lowest `order`. Returns the replaced value.
    pub(crate) fn put(&self, word: usize, value: V, order: impl Fn(&V) -> u64) -> Option<(usize, V)> {
        let shard = &mut *self.shard(word);
        let oldest = || (0..WORDS).min_by_key(|at| shard[*at].as_ref().map(|(_, value)| order(value)));
        let at = place_of(shard, word).or_else(oldest)?;
        // The caller drops what was replaced, not under the lock.
        shard[at].replace((word, value))
    }

    pub(crate) fn remove(&self, word: usize) {
        drop(self.with(word, || None, Option::take));
    }

    pub(crate) fn clear(&self) {
        self.0.iter().for_each(|shard| *lock(shard) = [const { None }; WORDS]);
    }
}

impl<V: Clone, const SHARDS: usize> ByWord<V, SHARDS> {
    pub(crate) fn get(&self, word: usize) -> Option<V> {
        self.with(word, || None, |place| place.as_ref().map(|(_, value)| value.clone())).flatten()
    }

    pub(crate) fn all(&self) -> Vec<(usize, V)> {
        let mut all = Vec::new();
        for shard in &self.0 {
            // Not under the lock: the allocator may be one that waits.
            all.reserve(WORDS);
            all.extend(lock(shard).iter().flatten().cloned());
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_of_each_word_is_kept_until_it_is_removed() {
        let map = ByWord::<u64, 2>::new();
        let put = |word, value| map.put(word, value, |value| *value);
        assert_eq!([put(64, 1), put(72, 2), put(64, 3)], [None, None, Some((64, 1))]);
        assert_eq!((map.get(64), map.get(72), map.get(80)), (Some(3), Some(2), None));
        map.remove(64);
        assert_eq!(map.all(), [(72, 2)]);
    }

    #[test]
    fn of_words_that_find_no_place_the_youngest_displaces_the_oldest_or_is_refused() {
        let map = ByWord::<u64, 1>::new();
        let last = WORDS as u64 + 1;
        let displaced =
            (1..=last).filter(|at| map.put(64 * *at as usize, *at, |value| *value).is_some()).count();
        let mut times: Vec<u64> = map.all().into_iter().map(|(_, at)| at).collect();
        times.sort_unstable();
        assert_eq!((displaced, times), (1, (2..=last).collect()));
        assert!(map.with(8, || Some(0), |_| ()).is_none(), "refused");
        // Where one was removed there is a place again, and none is lost.
        map.remove(64 * 3);
        let [there, gone] =
            [4..=last, 3..=3].map(|mut all| all.all(|at| map.get(64 * at as usize).is_some()));
        assert!(there && !gone && map.with(8, || Some(0), |_| ()).is_some());
        map.clear();
        assert!(map.all().is_empty() && map.with(8, || Some(0), |_| ()).is_some());
    }
}
