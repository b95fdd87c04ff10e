//! Collisions, growth and the watchdog, with made-up addresses in a table whose secret is known.
#![allow(unsafe_code)]

use std::pin::Pin;

use super::Table;
use super::enqueue::release;
use crate::shard::hash::{Hasher, Key};
use crate::waiter::Cancelled;
use crate::waiter::node::Waiter;
use crate::waiter::wake::{Wake, WakeBatch};

const KNOWN: Hasher = Hasher::KNOWN;

/// A word that has one waiter.
struct Waited {
    key: Key,
    node: Pin<Box<Waiter>>,
}

impl Waited {
    fn new(table: &Table, address: usize) -> Self {
        let (key, node) = (table.key_of(address), Box::pin(Waiter::new(None)));
        let mut locked = table.lock(key);
        // SAFETY: idle, and it leaves in `leave`.
        unsafe { locked.enqueue(key, node.as_ref().pointer()) };
        release(locked);
        Self { key, node }
    }

    fn leave(self, table: &Table) {
        let mut locked = table.lock(self.key);
        assert_eq!(locked.len(self.key), 1);
        assert_eq!(locked.leave(self.key, self.node.as_ref()), Cancelled::BeforeNotify);
        release(locked);
    }
}

/// Made-up addresses of words whose hashes end in `hash`, in the lowest `bits` bits.
fn addresses(table: &Table, bits: u64, hash: u64) -> impl Iterator<Item = usize> {
    let hasher = table.hasher;
    (4..usize::MAX).step_by(4).filter(move |&address| hasher.hash(address) % (1 << bits) == hash)
}

/// Words that were picked with the secret collide in one bucket, until the shard draws a secret of its own.
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

/// One secret in two or three hundred puts too many words that lie side by side into one bucket; so may a secret that was drawn because
/// others collide.
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

/// Words that were picked with the secret: not too many for each of four buckets, but for the one that replaces them.
#[test]
fn words_that_collide_when_the_shard_shrinks_do_not_stay_together() {
    let table = Table::with_hasher(1, KNOWN);
    let strangers = (0..2_000).map(|n| Waited::new(&table, (1 << 20) + 4 * n)).collect::<Vec<_>>();
    let collide = |bucket: u64| addresses(&table, 12, 7 + (bucket << 10)).take(12);
    let colliding = (0..4).flat_map(collide).map(|address| Waited::new(&table, address)).collect::<Vec<_>>();
    let mut longest = 0;
    for stranger in strangers {
        stranger.leave(&table);
        longest = longest.max(table.shards[0].lock().longest_chain());
    }
    assert!((10..20).contains(&longest), "{longest} words in one bucket");
    colliding.into_iter().for_each(|word| word.leave(&table));
}

/// Between two critical sections of a pass the shard shrinks, and a queue moves to a bucket that the pass has already checked.
#[test]
fn a_pass_misses_no_queue_that_moves_meanwhile() {
    let table = Table::with_hasher(1, KNOWN);
    let strangers = (0..100).map(|n| Waited::new(&table, (1 << 20) + 4 * n)).collect::<Vec<_>>();
    let address = addresses(&table, 8, 200).next().expect("one of many");
    let called = Waited::new(&table, address);
    let behind = Box::pin(Waiter::new(None));
    let mut locked = table.lock(called.key);
    // SAFETY: idle, and it leaves below.
    unsafe { locked.enqueue(called.key, behind.as_ref().pointer()) };
    let mut wake = Wake::Task(std::task::Waker::noop().clone());
    assert_eq!(locked.exchange_wake(called.key, called.node.as_ref(), &mut wake), Some(false));
    assert!(locked.signal_first(called.key, false).is_some());
    release(locked);
    let mut batch = WakeBatch::new();
    let mut stay = table.lock(called.key).pass(0, &mut batch);
    strangers.into_iter().for_each(|stranger| stranger.leave(&table));
    while let Some(first) = stay {
        stay = table.lock(called.key).pass(first, &mut batch);
    }
    assert!(table.is_watched());
    let mut locked = table.lock(called.key);
    assert_eq!(locked.leave(called.key, behind.as_ref()), Cancelled::BeforeNotify);
    assert_eq!(locked.leave(called.key, called.node.as_ref()), Cancelled::AfterSignal);
    release(locked);
}

/// Through growth, shrinking and other secrets: a notify skips the lock if and only if no word with the same bit has waiters.
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
        let bit = |address| crate::shard::lock::bit(table.hasher.hash(address));
        let present =
            words.iter().filter(|(_, waited)| waited.is_some()).fold(0, |all, &(a, _)| all | bit(a));
        for &(address, _) in &words {
            assert_eq!(table.shards[0].is_idle(table.hasher.hash(address)), present & bit(address) == 0);
        }
    }
    words.into_iter().filter_map(|(_, waited)| waited).for_each(|word| word.leave(&table));
    assert!(table.shards[0].is_idle(0));
}

/// A snapshot has copied some waiters of a word when its queue moves to another bucket: what it has copied is forgotten.
#[test]
fn a_snapshot_begins_again_when_all_queues_have_moved() {
    use crate::shard::copy::{Copying, Next, STAY};

    let (table, words) = (Table::with_shards(1), [0; 100]);
    let address = |index: usize| std::ptr::from_ref(&words[index]).addr();
    let mut waiters = (0..=STAY).map(|_| Waited::new(&table, address(0))).collect::<Vec<_>>();
    let shard = || table.lock(table.key_of(address(0)));
    let (mut copying, mut copied) = (Copying::default(), 0);
    let mut stay = || shard().copy(&mut copying, |_| copied += 1);
    assert_eq!(stay(), Next::GoOn);
    waiters.extend((1..words.len()).map(|index| Waited::new(&table, address(index))));
    assert_eq!(stay(), Next::Again);
    while stay() != Next::End {}
    assert_eq!(copied, STAY + waiters.len());
    for waiter in waiters {
        let mut locked = table.lock(waiter.key);
        assert_eq!(locked.leave(waiter.key, waiter.node.as_ref()), Cancelled::BeforeNotify);
        release(locked);
    }
}
