//! From a word's address to the shard that holds its waiters.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;

#[cfg(any(waitword_loom, waitword_shuttle))]
use crate::order_of_a_model;
use crate::shard::{After, Locked, Shard};
use crate::sync::{MODEL, OnceLock, broken};
use crate::waiter::Waiter;
use crate::wake::WakeBatch;
use crate::word::sealed::LoadBits;
use crate::word::{Location, Word, key};

/// How many shards a table has unless told otherwise: enough that threads on unrelated words seldom meet.
const SHARDS: usize = if MODEL { 1 } else { 256 };

/// Bytes in a cache line, or about that: what matters is locality.
pub(crate) const LINE: u64 = 64;

/// The wait queues of many words.
///
/// A table is a value. Words waited on through `&AtomicI32` and its siblings use one table of the process; a
/// block of shared memory has its own, so that an address that is used again cannot meet old waiters.
///
/// It is sharded by a keyed hash of the address. A shard has a lock and the queues of its words, each by itself,
/// in an array of buckets that follows the number of words waited on, up and down. For a word that nobody waits
/// on, nothing is stored.
///
/// # Collisions
/// The key is a secret of the process, so that nobody can pick words that collide. For one who has learned it all the same,
/// words can be found that share a shard, and have their waiters and notifiers take turns; and words that share a bucket,
/// until there are more of them than chance would have there. Then the shard draws a secret of its own. So no look-up ever
/// passes more than about 16 strangers, whoever picked them.
///
/// ```
/// use std::sync::atomic::AtomicU32;
/// use waitword_core::{Outcome, Table, notify_all, wait};
///
/// let table = Table::new();
/// let word = AtomicU32::new(5);
/// assert_eq!(wait(table.at(&word), 4), Outcome::NotEqual);
/// assert_eq!(notify_all(table.at(&word)), 0);
/// ```
pub struct Table {
    shards: Box<[Shard]>,
    hasher: Hasher,
}

impl Table {
    /// A table for a whole program.
    pub fn new() -> Self {
        Self::with_shards(SHARDS)
    }

    /// A table of `shards` shards, rounded up to a power of two and at most 65,536. Each takes some 300
    /// bytes while few words of it are waited on; threads that wait on and notify words of the same shard take turns.
    pub fn with_shards(shards: usize) -> Self {
        Self::with_hasher(shards, Hasher::of_process())
    }

    fn with_hasher(shards: usize, hasher: Hasher) -> Self {
        let shards = shards.clamp(1, 1 << 16).next_power_of_two();
        #[cfg(any(waitword_loom, waitword_shuttle))]
        order_of_a_model::begin();
        Self { shards: (0..shards).map(|_| Shard::new(hasher)).collect(), hasher }
    }

    /// `word`, with its waiters in this table.
    ///
    /// All who wait on the word and all who notify it must name the same table to meet.
    pub fn at<'a, W: Word>(&'a self, word: &'a W) -> At<'a, W> {
        At { word, table: self }
    }

    /// How many waiters are queued on `word` in this table at this moment: threads, tasks and agents alike.
    ///
    /// For tests and tools; by the time it returns the answer may be another.
    pub fn waiters<W: Word>(&self, word: &W) -> usize {
        let key = self.key_of(std::ptr::from_ref(word).addr());
        self.lock(key).len(key)
    }

    /// What somebody would know of a word at `address` who had read the secret out of the process's memory: words whose
    /// low bits agree collide. For those who measure what that would cost.
    #[doc(hidden)]
    pub fn secret_hash(&self, address: usize) -> u64 {
        self.hasher.hash(address)
    }

    /// Sweeps the table for waiters that were called ([`call_one`](crate::call_one)) and do not look: if all at the front of
    /// a line were called before the last sweep, and no later call of them has been answered since, the next in line is
    /// called. Returns whether anybody stands behind one who was called; if not, no sweep is needed before the next call.
    ///
    /// The table of the process is swept by its timer, every [`PATIENCE`](crate::PATIENCE). This is for those who make calls
    /// in a table of their own, and for tests that would rather not wait.
    ///
    /// Takes the lock of each shard in turn, O(1), and where somebody may be waited for in vain O(words waited on there), in
    /// short stays.
    ///
    /// # Panics
    /// When a waker does, once all others have been woken.
    pub fn call_overdue(&self) -> bool {
        let mut batch = WakeBatch::new();
        let mut sweep = Sweep::default();
        while self.sweep(&mut sweep, &mut batch) {
            batch.ring();
        }
        batch.ring();
        batch.finish();
        sweep.watched
    }

    /// One stay of a sweep under the lock of a shard. Returns whether it goes on. Whom it calls is to be rung before that.
    pub(crate) fn sweep(&self, sweep: &mut Sweep, batch: &mut WakeBatch) -> bool {
        let mut locked = self.shards[sweep.shard].lock();
        sweep.bucket = locked.call_overdue(sweep.bucket, batch).unwrap_or_else(|| {
            sweep.watched |= locked.is_watched();
            sweep.shard += 1;
            0
        });
        sweep.shard < self.shards.len()
    }

    /// Whether the next sweep has to look anywhere.
    #[cfg(not(any(waitword_loom, waitword_shuttle)))]
    pub(crate) fn is_watched(&self) -> bool {
        self.shards.iter().any(|shard| shard.lock().is_watched())
    }

    /// The table of the process.
    #[cfg(not(any(waitword_loom, waitword_shuttle)))]
    #[inline]
    pub fn global() -> &'static Table {
        static GLOBAL: OnceLock<Table> = OnceLock::new();
        GLOBAL.get_or_init(Table::new)
    }

    /// The table of the process; each execution of a model has one.
    #[cfg(any(waitword_loom, waitword_shuttle))]
    pub fn global() -> &'static Table {
        crate::sync::lazy_static! {
            static ref GLOBAL: Table = Table::new();
        }
        // Fixed by the type of what is returned.
        &GLOBAL
    }

    #[inline]
    pub(crate) fn key_of(&self, address: usize) -> Key {
        Key { address, hash: self.hasher.hash(address) }
    }

    #[inline]
    pub(crate) fn shard(&self, key: Key) -> &Shard {
        // The buckets use the low bits.
        &self.shards[(key.hash >> 32) as usize & (self.shards.len() - 1)]
    }

    #[inline]
    pub(crate) fn lock(&self, key: Key) -> Locked<'_> {
        self.shard(key).lock()
    }

    /// The lock of the shard that `node` is queued in, or was, and the word's key.
    #[inline]
    pub(crate) fn lock_of(&self, node: Pin<&Waiter>) -> (Key, Locked<'_>) {
        loop {
            let key = self.key_of(node.address());
            let locked = self.lock(key);
            // It may have been moved while we waited for the lock.
            if node.address() == key.address || broken!("lock-of") {
                return (key, locked);
            }
        }
    }

    /// The locks of the shards of two words; of one shard, once. Always in the same order, so that nobody waits for the other.
    pub(crate) fn lock_two(&self, first: Key, second: Key) -> Two<'_> {
        let order = std::ptr::from_ref(self.shard(first)).cmp(&std::ptr::from_ref(self.shard(second)));
        match order {
            std::cmp::Ordering::Equal => Two { first: self.lock(first), second: None },
            std::cmp::Ordering::Less => {
                let first = self.lock(first);
                Two { first, second: Some(self.lock(second)) }
            }
            std::cmp::Ordering::Greater => {
                let second = Some(self.lock(second));
                Two { first: self.lock(first), second }
            }
        }
    }
}

#[cfg(any(waitword_loom, waitword_shuttle))]
impl Drop for Table {
    fn drop(&mut self) {
        order_of_a_model::end();
    }
}

impl Default for Table {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("shards", &self.shards.len()).finish_non_exhaustive()
    }
}

/// The shards of two words, locked.
pub(crate) struct Two<'a> {
    pub(crate) first: Locked<'a>,
    second: Option<Locked<'a>>,
}

impl<'a> Two<'a> {
    pub(crate) fn second(&mut self) -> &mut Locked<'a> {
        self.second.as_mut().unwrap_or(&mut self.first)
    }

    /// Unlocks both. What remains to be done is the caller's to settle.
    pub(crate) fn unlock(self) -> (After<'a>, Option<After<'a>>) {
        (self.first.unlock(), self.second.map(Locked::unlock))
    }
}

/// Rule 1, for every kind of waiter: puts `node` at the end of the line of `at`, if the word still holds
/// `expected`, in one step against every notify. Returns whether it did.
///
/// The node's wake has been set, and the caller makes it leave again before its memory goes (I1).
#[allow(unsafe_code)]
pub(crate) fn enqueue_while_equal<L: Location>(at: &L, expected: u64, node: Pin<&Waiter>) -> bool {
    // Foreign code: not under the lock.
    let (table, word) = (at.table(), at.word());
    let key = table.key_of(key(at));
    // From here on a notify that finds nobody present (its fence N) is one whose store the load sees (operation W).
    let early = broken!("compare-under-lock").then(|| word.load_bits());
    let mut locked = table.lock(key);
    if early.unwrap_or_else(|| word.load_bits()) != expected {
        return false;
    }
    // SAFETY: idle, so in no list; pinned; and the caller makes it leave (I1).
    unsafe { locked.enqueue(key, node) };
    locked.release();
    true
}

/// Whether the word holds `expected`, asked in the critical section of its queue, for a wait that ends at once: it
/// too comes after every notify that went through before.
pub(crate) fn is_equal<L: Location>(at: &L, expected: u64) -> bool {
    let (table, word) = (at.table(), at.word());
    let _locked = table.lock(table.key_of(key(at)));
    word.load_bits() == expected
}

/// How far a sweep has come.
#[derive(Debug, Default)]
pub(crate) struct Sweep {
    shard: usize,
    bucket: usize,
    /// Whether somebody waits behind one who was called in the shards that it has been to.
    pub(crate) watched: bool,
}

/// A word's address and its hash in one table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) address: usize,
    pub(crate) hash: u64,
}

/// A word with its waiters in a table of one's own. Made by [`Table::at`].
#[derive(Debug)]
pub struct At<'a, W> {
    word: &'a W,
    table: &'a Table,
}

impl<W> Clone for At<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for At<'_, W> {}

// SAFETY: both references are fixed for the life of the value.
#[allow(unsafe_code)]
unsafe impl<W: Word> Location for At<'_, W> {
    type Word = W;

    #[inline]
    fn word(&self) -> &W {
        self.word
    }

    #[inline]
    fn table(&self) -> &Table {
        self.table
    }
}

/// A hash keyed by a secret of the process: without it nobody can pick words that collide.
///
/// One folded multiplication (the halves of a 128-bit product, xored), keyed on both sides, of the cache line that the
/// word is in; words of one line follow each other from there. Whoever walks along an array of words so walks along the
/// buckets too, instead of missing the cache for each. Lines are spread about as by chance: with most secrets the lines of an
/// array collide less than random ones, with about one in a hundred so much more that a shard draws another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hasher {
    flip: u64,
    factor: u64,
}

impl Hasher {
    fn of_process() -> Self {
        static HASHER: OnceLock<Hasher> = OnceLock::new();
        *HASHER.get_or_init(|| Self { flip: 0, factor: 0 }.another())
    }

    /// One with another secret, which nobody can tell from this one's. After the first of the process nothing can fail here,
    /// as it must not in a shard that has nodes.
    pub(crate) fn another(self) -> Self {
        // The standard library's map keys: random bits from the system, without a dependency.
        static SECRET: OnceLock<RandomState> = OnceLock::new();
        let draw = |which: u8| SECRET.get_or_init(RandomState::new).hash_one((self.flip, self.factor, which));
        Self { flip: draw(0), factor: draw(1) | 1 }
    }

    #[inline]
    pub(crate) fn hash(self, address: usize) -> u64 {
        #[cfg(any(waitword_loom, waitword_shuttle))]
        let address = order_of_a_model::address_of(address);
        let (line, word) = (address as u64 / LINE, address as u64 % LINE / 4);
        let product = u128::from(line ^ self.flip) * u128::from(self.factor);
        (product as u64 ^ (product >> 64) as u64).wrapping_add(word)
    }
}

#[cfg(test)]
#[allow(unsafe_code)]
mod tests {
    use super::*;

    const KNOWN: Hasher = Hasher { flip: 12345, factor: 0x9E37_79B9_7F4A_7C15 };

    /// A word that has one waiter.
    struct Waited {
        key: Key,
        node: Pin<Box<Waiter>>,
    }

    impl Waited {
        fn new(table: &Table, address: usize) -> Self {
            let (key, node) = (table.key_of(address), Box::pin(Waiter::new()));
            let mut locked = table.lock(key);
            // SAFETY: idle, and it leaves in `leave`.
            unsafe { locked.enqueue(key, node.as_ref()) };
            locked.release();
            Self { key, node }
        }

        fn leave(self, table: &Table) {
            let mut locked = table.lock(self.key);
            assert_eq!(locked.len(self.key), 1);
            assert_eq!(locked.leave(self.key, self.node.as_ref()), crate::cancel::Cancelled::BeforeNotify);
            locked.release();
        }
    }

    /// Words at made-up addresses whose hashes, cut to so many bits, are this.
    fn addresses(table: &Table, bits: u64, hash: u64) -> impl Iterator<Item = usize> {
        let hasher = table.hasher;
        (4..usize::MAX).step_by(4).filter(move |&address| hasher.hash(address) % (1 << bits) == hash)
    }

    /// Words of a known secret, all in one bucket, until the shard draws a secret of its own.
    #[test]
    fn words_that_collide_do_so_only_until_they_are_too_many() {
        let table = Table::with_hasher(1, KNOWN);
        let (mut words, mut longest) = (Vec::new(), 0);
        for address in addresses(&table, 12, 7).take(2000) {
            words.push(Waited::new(&table, address));
            longest = longest.max(table.shards[0].lock().longest_chain());
        }
        assert!((10..20).contains(&longest), "{longest} words in one bucket");
        words.into_iter().rev().for_each(|word| word.leave(&table));
    }

    /// One secret in two or three hundred puts too many words that lie side by side into one bucket; so may the one that is drawn
    /// because others collide.
    #[test]
    fn a_secret_that_does_not_suit_the_words_is_not_kept() {
        const SIZE: usize = 1024;
        let side_by_side = || (0..500).map(|n| (1 << 20) + 4 * n);
        let suits = |hasher: Hasher| {
            let mut buckets = vec![0; SIZE];
            side_by_side().for_each(|address| buckets[hasher.hash(address) as usize & (SIZE - 1)] += 1);
            buckets.into_iter().max() <= Some(16)
        };
        let mut secrets = std::iter::successors(Some(KNOWN), |hasher| Some(hasher.another()));
        let drawn_from = secrets.find(|&hasher| suits(hasher) && !suits(hasher.another())).expect("endless");
        let table = Table::with_hasher(1, drawn_from);
        let mut words = side_by_side().map(|address| Waited::new(&table, address)).collect::<Vec<_>>();
        words.extend(addresses(&table, 10, 7).take(20).map(|address| Waited::new(&table, address)));
        let longest = table.shards[0].lock().longest_chain();
        assert!(longest <= 16, "{longest} words in one bucket");
        words.into_iter().for_each(|word| word.leave(&table));
    }

    /// Words of a known secret, not too many in each of four buckets, but in the one that takes their place.
    #[test]
    fn words_that_collide_when_the_shard_shrinks_do_not_stay_together() {
        let table = Table::with_hasher(1, KNOWN);
        let strangers = (0..2_000).map(|n| Waited::new(&table, (1 << 20) + 4 * n)).collect::<Vec<_>>();
        let collide = |bucket: u64| addresses(&table, 12, 7 + (bucket << 10)).take(12);
        let colliding =
            (0..4).flat_map(collide).map(|address| Waited::new(&table, address)).collect::<Vec<_>>();
        let mut longest = 0;
        for stranger in strangers {
            stranger.leave(&table);
            longest = longest.max(table.shards[0].lock().longest_chain());
        }
        assert!((10..20).contains(&longest), "{longest} words in one bucket");
        colliding.into_iter().for_each(|word| word.leave(&table));
    }

    /// Between two stays of a sweep the shard shrinks, and a queue moves to where the sweep has been.
    #[test]
    fn a_sweep_forgets_nobody_whose_queue_moves_meanwhile() {
        let table = Table::with_hasher(1, KNOWN);
        let strangers = (0..100).map(|n| Waited::new(&table, (1 << 20) + 4 * n)).collect::<Vec<_>>();
        let address = addresses(&table, 8, 200).next().expect("one of many");
        let called = Waited::new(&table, address);
        let behind = Box::pin(Waiter::new());
        let mut locked = table.lock(called.key);
        // SAFETY: idle, and it leaves below.
        unsafe { locked.enqueue(called.key, behind.as_ref()) };
        let mut wake = crate::wake::Wake::Task(std::task::Waker::noop().clone());
        assert_eq!(locked.exchange_wake(called.key, called.node.as_ref(), &mut wake), Some(false));
        assert!(locked.call_first(called.key).is_some());
        locked.release();
        let mut batch = WakeBatch::new();
        let mut stay = table.lock(called.key).call_overdue(0, &mut batch);
        strangers.into_iter().for_each(|stranger| stranger.leave(&table));
        while let Some(first) = stay {
            stay = table.lock(called.key).call_overdue(first, &mut batch);
        }
        assert!(table.is_watched());
        let mut locked = table.lock(called.key);
        assert_eq!(locked.leave(called.key, behind.as_ref()), crate::cancel::Cancelled::BeforeNotify);
        assert_eq!(locked.leave(called.key, called.node.as_ref()), crate::cancel::Cancelled::AfterCall);
        locked.release();
    }

    /// Through growth, shrinking and other secrets: a notify passes a word by if and only if no word of its bit has waiters.
    #[test]
    fn a_shard_is_idle_for_a_word_while_none_of_its_bit_has_a_queue() {
        let table = Table::with_hasher(1, KNOWN);
        // Half of them collide, so that the shard draws a secret.
        let addresses = addresses(&table, 12, 7).take(100).chain((1..=100).map(|n| (1 << 30) + 4 * n));
        let mut words = addresses.map(|address| (address, None)).collect::<Vec<_>>();
        let mut seed = 1_u64;
        for _ in 0..20 * words.len() {
            seed = seed.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            let place = (seed >> 33) as usize % words.len();
            let (address, waited) = &mut words[place];
            match waited.take() {
                Some(word) => Waited::leave(word, &table),
                None => *waited = Some(Waited::new(&table, *address)),
            }
            let bit = |address| crate::presence::bit(table.hasher.hash(address));
            let present =
                words.iter().filter(|(_, waited)| waited.is_some()).fold(0, |all, &(a, _)| all | bit(a));
            for &(address, _) in &words {
                assert_eq!(table.shards[0].is_idle(table.hasher.hash(address)), present & bit(address) == 0);
            }
        }
        words.into_iter().filter_map(|(_, waited)| waited).for_each(|word| word.leave(&table));
        assert!(table.shards[0].is_idle(0));
    }
}
