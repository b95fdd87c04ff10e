//! Names for locks, by their addresses.

use std::any::type_name;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64};
use std::sync::{Mutex, MutexGuard};

use waitword::observe::LockType;
use waitword_core::lock;

use crate::by_word::ByWord;
use crate::model::{Address, LockKind, LockName};

/// Names a lock in reports, until the returned [`Name`] is dropped.
///
/// Reports then also show the lock's type. (They show the type of a lock without a name, of up to 4,096 at a time, if an acquirer has waited
/// for it while holders were recorded.) Keep the name beside the lock: dropping the name removes it, so that another lock at the same address
/// does not get it. A lock in a `static` keeps its name with [`Name::forever`]. Of two names of one lock, the younger is shown.
///
/// A lock that lies inside the value of a named lock of the same kind (a `Mutex<Pair>` with a `Mutex` among the fields of `Pair`) is
/// shown under the name of the outer lock, unless it has a name itself.
///
/// ```
/// use waitword::Mutex;
///
/// static ACCOUNTS: Mutex<Vec<u64>> = Mutex::new(Vec::new());
///
/// waitword_observe::name(&ACCOUNTS, "accounts").forever(); // in reports: Mutex<Vec<u64>> "accounts"
/// ```
///
/// The locks of `waitword::lock_api` and `lock_api_05` can be named with the features of the same names; reports show their types only if
/// they are named. To name an `AsyncLock` on a word elsewhere, name that word.
///
/// An `Arc` or a reference is not a lock, so this does not compile. Write `&*ledger`:
///
/// ```compile_fail
/// let ledger = std::sync::Arc::new(waitword::Mutex::new(0));
/// let _name = waitword_observe::name(&ledger, "ledger");
/// ```
pub fn name<L: Nameable + ?Sized>(lock: &L, name: impl Into<String>) -> Name {
    let named = Named {
        size: size_of_val(lock).max(1),
        kind: L::KIND,
        name: name.into(),
        type_name: without_own_path(type_name::<L>()).into_owned(),
    };
    let mut names = names();
    names.last += 1;
    let key = (std::ptr::from_ref(lock).cast::<()>().addr(), names.last);
    names.longest = names.longest.max(named.size);
    names.by_start.insert(key, named);
    Name { key }
}

/// A lock's name in reports. Dropping it removes the name.
#[must_use = "dropping it removes the name; to keep the name, call `forever`"]
#[derive(Debug)]
pub struct Name {
    key: Key,
}

impl Name {
    /// Keeps the name until the process ends, for a lock in a `static` or one that is leaked.
    pub fn forever(self) {
        std::mem::forget(self);
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        let named = names().by_start.remove(&self.key);
        // Its text is freed after the names are unlocked.
        drop(named);
    }
}

/// A type with a queue that can be given a [`name`]: the locks of `waitword`, and words of memory.
pub trait Nameable: sealed::Sealed {
    #[doc(hidden)]
    const KIND: LockKind;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! nameable {
    ($([$($generics:tt)*] $Lock:ty => $kind:ident;)+) => {$(
        impl<$($generics)*> sealed::Sealed for $Lock {}
        impl<$($generics)*> Nameable for $Lock {
            const KIND: LockKind = LockKind::$kind;
        }
    )+};
}

nameable! {
    [T: ?Sized] waitword::Mutex<T> => Mutex;
    [T: ?Sized] waitword::RwLock<T> => RwLock;
    [T] waitword::OnceLock<T> => OnceLock;
    [T, F] waitword::LazyLock<T, F> => OnceLock;
    [] waitword::Semaphore => Semaphore;
    [] waitword::Condvar => Condvar;
    [] waitword::Event => Event;
    [] waitword::WaitGroup => WaitGroup;
    [] waitword::Barrier => Barrier;
    [] waitword::word::AsyncLock => AsyncLock;
    [] AtomicU32 => Word;
    [] AtomicI32 => Word;
    [] AtomicU64 => Word;
    [] AtomicI64 => Word;
}

#[cfg(feature = "lock_api")]
nameable! {
    [T: ?Sized] waitword::lock_api::Mutex<T> => Mutex;
    [T: ?Sized] waitword::lock_api::RwLock<T> => RwLock;
}

#[cfg(feature = "lock_api_05")]
nameable! {
    [T: ?Sized] waitword::lock_api_05::Mutex<T> => Mutex;
    [T: ?Sized] waitword::lock_api_05::RwLock<T> => RwLock;
}

/// The address of a named lock, and a number that rises: an outer lock and one inside it may have the same address.
type Key = (usize, u64);

struct Named {
    size: usize,
    kind: LockKind,
    name: String,
    type_name: String,
}

/// The present names.
pub(crate) struct Names {
    by_start: BTreeMap<Key, Named>,
    last: u64,
    /// The size of the largest lock that ever had a name: a lock that begins further below an address cannot contain it.
    longest: usize,
}

static NAMES: Mutex<Names> = Mutex::new(Names { by_start: BTreeMap::new(), last: 0, longest: 0 });

/// Locked only for look-ups and changes, during which no foreign code runs.
pub(crate) fn names() -> MutexGuard<'static, Names> {
    lock(&NAMES)
}

impl Names {
    /// The name of the lock with this word, which is of this kind according to a waiter.
    pub(crate) fn of(&self, word: usize, kind: LockKind) -> LockName {
        let near = self.by_start.range((word.saturating_sub(self.longest), 0)..=(word, u64::MAX)).rev();
        let mut found =
            near.filter(|((start, _), named)| word < start + named.size && fits(named.kind, kind));
        let named = found.next().map(|(_, named)| named);
        // An `AsyncLock` on a named word does not have the word's type.
        let typed = named.filter(|named| (named.kind, kind) != (LockKind::Word, LockKind::AsyncLock));
        LockName {
            address: Address(word as u64),
            kind: typed.map_or(kind, |named| named.kind),
            name: named.map(|named| named.name.clone()),
            type_name: typed.map(|named| named.type_name.clone()).or_else(|| type_of(word, kind)),
            place: None,
        }
    }
}

/// Whether a waiter of kind `seen` may belong to a lock that was named as kind `named`: the same kind, a waiter on the word itself, or one of
/// an `AsyncLock` on a word that was named.
fn fits(named: LockKind, seen: LockKind) -> bool {
    use LockKind::{AsyncLock, Word};
    named == seen || seen == Word || (named, seen) == (Word, AsyncLock)
}

/// The type of a lock without a name, if an acquirer has waited for it while holders were recorded.
fn type_of(word: usize, kind: LockKind) -> Option<String> {
    let lock_type = TYPES.get(word)?.to_string();
    let lock = lock_type.split('<').next();
    // The type may be that of another lock, which was here before.
    let is_it = |kind: LockKind| lock == Some(&*kind.to_string());
    let fits = is_it(kind) || kind == LockKind::OnceLock && lock == Some("LazyLock");
    fits.then_some(lock_type)
}

/// The types of up to 4,096 locks that an acquirer has waited for while holders were recorded, by the addresses of their words. A further lock
/// may displace another.
///
/// A queue knows a word, but not that the word is in a `Mutex<Pool>`: only the code that locks the mutex knows that. So an acquirer that has
/// to wait reports the type; an acquirer that finds the lock free does nothing. A lock of another type at the same address is shown with the
/// old type until its own first waiter.
pub(crate) static TYPES: ByWord<&'static LockType, 256> = ByWord::new();

/// `waitword::mutex::lock::Mutex<alloc::vec::Vec<u8>>` as `Mutex<alloc::vec::Vec<u8>>`, because the modules are not public; and
/// `lock_api::mutex::Mutex<waitword::raw_traits::mutex::RawMutex, u8>` as `Mutex<u8>`.
fn without_own_path(type_name: &'static str) -> Cow<'static, str> {
    let head = type_name.find('<').unwrap_or(type_name.len());
    let Some(path) = type_name[..head].rfind("::") else { return type_name.into() };
    if type_name.starts_with("waitword::") {
        return type_name[path + 2..].into();
    }
    match type_name[head..].strip_prefix("<waitword::raw_traits::").and_then(|raw| raw.split_once(", ")) {
        Some((_, value)) => format!("{}<{value}", &type_name[path + 2..head]).into(),
        None => type_name.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of<T>(word: &T, kind: LockKind) -> Option<String> {
        names().of(std::ptr::from_ref(word).addr(), kind).name
    }

    #[test]
    fn a_name_goes_with_its_handle() {
        let word = AtomicU32::new(0);
        assert_eq!(name_of(&word, LockKind::Word), None);
        let first = name(&word, "first");
        assert_eq!(name_of(&word, LockKind::Word).as_deref(), Some("first"));
        let second = name(&word, "second");
        assert_eq!(name_of(&word, LockKind::Word).as_deref(), Some("second"));
        drop(second);
        assert_eq!(name_of(&word, LockKind::Word).as_deref(), Some("first"));
        drop(first);
        assert_eq!(name_of(&word, LockKind::Word), None);
    }

    #[test]
    fn a_lock_has_its_own_name_and_not_its_neighbours() {
        let words = [AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0)];
        let large = waitword::Mutex::new([0_u8; 4096]);
        let _large = name(&large, "large");
        let _middle = name(&words[1], "middle");
        let seen: Vec<_> = words.iter().map(|word| name_of(word, LockKind::Word)).collect();
        assert_eq!(seen, [None, Some("middle".to_owned()), None]);
    }

    #[test]
    fn a_lock_inside_a_named_one_of_another_kind_has_not_its_name() {
        let outer = waitword::Mutex::new(waitword::Event::new());
        let _outer = name(&outer, "outer");
        assert_eq!(name_of(&outer, LockKind::Event), None);
        assert_eq!(name_of(&outer, LockKind::Mutex).as_deref(), Some("outer"));
    }

    #[test]
    fn a_type_is_told_without_our_modules() {
        let own = without_own_path("waitword::rwlock::lock::RwLock<alloc::vec::Vec<u8>>");
        assert_eq!(own, "RwLock<alloc::vec::Vec<u8>>");
        assert_eq!(without_own_path("waitword::event::source::Event"), "Event");
        assert_eq!(without_own_path("core::sync::atomic::AtomicU32"), "core::sync::atomic::AtomicU32");
        let raw = "lock_api::rwlock::RwLock<waitword::raw_traits::rwlock::RawRwLock, (u8, shop::Pool)>";
        assert_eq!(without_own_path(raw), "RwLock<(u8, shop::Pool)>");
    }
}
