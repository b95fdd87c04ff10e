//! Collisions, growth and the watchdog, with made-up addresses in a table of one shard.
#![allow(unsafe_code)]

use std::pin::Pin;

use super::key::Key;
use super::node::Waiter;
use super::table::Table;
use crate::outcome::Cancelled;
use crate::wake::{Wake, WakeBatch};

/// A word that has one waiter.
struct Waited {
    key: Key,
    node: Pin<Box<Waiter>>,
}

impl Waited {
    fn new(table: &Table, address: usize) -> Self {
        let (key, node) = (table.key_of(address), Box::pin(Waiter::new(None)));
        // SAFETY: idle, and it leaves in `leave`.
        unsafe { table.section(key).enqueue(node.as_ref().pointer()) };
        Self { key, node }
    }

    fn leave(self, table: &Table) {
        let mut section = table.section(self.key);
        assert_eq!(section.len(), 1);
        assert_eq!(section.leave(self.node.as_ref()), Cancelled::BeforeNotify);
    }
}

/// Made-up addresses of words that are in this one of so many buckets.
fn addresses(table: &Table, buckets: usize, bucket: usize) -> impl Iterator<Item = usize> + '_ {
    (4..usize::MAX).step_by(4).filter(move |&address| table.key_of(address).bucket(buckets - 1) == bucket)
}

/// Between two critical sections of a pass the shard shrinks, and a queue moves to a bucket that the pass has already checked.
#[test]
fn a_pass_misses_no_queue_that_moves_meanwhile() {
    let table = Table::with_shards(1);
    let strangers = (0..100).map(|n| Waited::new(&table, (1 << 20) + 4 * n)).collect::<Vec<_>>();
    let address = addresses(&table, 256, 200).next().expect("one of many");
    let called = Waited::new(&table, address);
    let behind = Box::pin(Waiter::new(None));
    // SAFETY: idle, and it leaves below.
    unsafe { table.section(called.key).enqueue(behind.as_ref().pointer()) };
    let mut section = table.section(called.key);
    let mut wake = Wake::Task(std::task::Waker::noop().clone());
    assert_eq!(section.exchange_wake(called.node.as_ref(), &mut wake), Some(false));
    assert!(section.signal(false).is_some());
    drop(section);
    let mut batch = WakeBatch::new();
    let mut next = table.section(called.key).pass(0, &mut batch);
    strangers.into_iter().for_each(|stranger| stranger.leave(&table));
    while let Some(first) = next {
        next = table.section(called.key).pass(first, &mut batch);
    }
    assert!(table.is_watched());
    let mut section = table.section(called.key);
    assert_eq!(section.leave(behind.as_ref()), Cancelled::BeforeNotify);
    assert_eq!(section.leave(called.node.as_ref()), Cancelled::AfterSignal);
}

/// Through growth and shrinking: a notify skips the lock if and only if no word with the same bit has waiters.
#[test]
fn a_shard_is_idle_for_a_word_while_none_of_its_bit_has_a_queue() {
    let table = Table::with_shards(1);
    // Half of them collide.
    let addresses = addresses(&table, 4096, 7).take(100).chain((1..=100).map(|n| (1 << 30) + 4 * n));
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
        let bit = |address| 1_usize << table.key_of(address).bit();
        let present =
            words.iter().filter(|(_, waited)| waited.is_some()).fold(0, |all, &(a, _)| all | bit(a));
        for &(address, _) in &words {
            assert_eq!(table.is_idle(table.key_of(address)), present & bit(address) == 0);
        }
    }
    words.into_iter().filter_map(|(_, waited)| waited).for_each(|word| word.leave(&table));
    assert!(table.is_idle(Key::NONE));
}

/// A snapshot has copied some waiters of a word when its queue moves to another bucket: what it has copied is forgotten.
#[test]
fn a_snapshot_begins_again_when_all_queues_have_moved() {
    use super::snapshot::{Copying, Next, STAY};

    let (table, words) = (Table::with_shards(1), [0; 100]);
    let address = |index: usize| std::ptr::from_ref(&words[index]).addr();
    let mut waiters = (0..=STAY).map(|_| Waited::new(&table, address(0))).collect::<Vec<_>>();
    let shard = || table.section(table.key_of(address(0)));
    let (mut copying, mut copied) = (Copying::begin(), 0);
    let mut stay = || shard().copy(&mut copying, |_| copied += 1);
    assert_eq!(stay(), Next::GoOn);
    waiters.extend((1..words.len()).map(|index| Waited::new(&table, address(index))));
    assert_eq!(stay(), Next::Again);
    while stay() != Next::End {}
    assert_eq!(copied, STAY + waiters.len());
    for waiter in waiters {
        assert_eq!(table.section(waiter.key).leave(waiter.node.as_ref()), Cancelled::BeforeNotify);
    }
}
