//! The locks by key: whoever uses a key excludes the others while its entry comes and goes, and the last one frees what they have seen.

use std::hash::{BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use waitword::keyed::{KeyedMutex, OnceMap};

use super::{Seen, model_of_two, queued, spawn};

/// The same hash in every run.
type Fixed = BuildHasherDefault<DefaultHasher>;

type Locks = KeyedMutex<u8, Fixed>;

// Each may find the entry of the other, or come too late for it.
model_of_two!(an_entry_is_freed_by_its_last_user_alone, |locks: Arc<Locks>| {
    let other = spawn(&locks, |locks| drop(locks.try_lock(1)));
    drop(locks.try_lock(1));
    other.join().unwrap();
    assert!(locks.is_empty());
});

model_of_two!(who_holds_a_key_sees_what_the_one_before_did, |shared: Arc<(Locks, Seen)>| {
    let add = |(locks, seen): &(Locks, Seen)| {
        let _guard = locks.lock(1);
        seen.add();
    };
    let other = spawn(&shared, add);
    add(&shared);
    other.join().unwrap();
    assert_eq!(shared.1.get(), 2);
    assert!(shared.0.is_empty());
});

model_of_two!(a_holder_and_a_dropped_waiter_leave_no_entry, |locks: Arc<Locks>| {
    let held = locks.lock_owned(1);
    let waits = queued(locks.lock_owned_async(1));
    let other = spawn(&locks, |_| drop(held));
    drop(waits);
    other.join().unwrap();
    assert!(locks.is_empty());
});

/// Is read when it is cloned, and written to when it is dropped.
#[derive(Default)]
struct Value(Seen);

impl Clone for Value {
    fn clone(&self) -> Self {
        assert_eq!(self.0.get(), 0);
        Self::default()
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.0.add();
    }
}

model_of_two!(a_shared_value_is_dropped_after_all_have_cloned_it, |map: Arc<OnceMap<u8, Value, Fixed>>| {
    let share = |map: &OnceMap<u8, Value, Fixed>| drop(map.share(1, Value::default));
    let other = spawn(&map, share);
    share(&map);
    other.join().unwrap();
    assert!(map.is_empty());
});
