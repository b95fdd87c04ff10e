//! What the compiler has to refuse, one program each. For the tests of the documentation only.
//!
//! Each differs by one thing from a program that is all right, and says by its error code that it is refused for that.
//! What must not cross threads or move is in the tables of `tests/auto_traits.rs`.

/// A guard does not outlive the mutex, ...
///
/// ```compile_fail,E0597
/// # use waitword::Mutex;
/// let guard = {
///     let mutex = Mutex::new(1);
///     mutex.lock()
/// };
/// # drop(guard);
/// ```
///
/// ... a future its lock, ...
///
/// ```compile_fail,E0597
/// # use waitword::Event;
/// let wait = {
///     let event = Event::new();
///     event.wait_async()
/// };
/// # drop(wait);
/// ```
///
/// ... not even for the moment in which both are dropped, ...
///
/// ```compile_fail,E0597
/// # use waitword::Event;
/// let wait;
/// let event = Event::new();
/// wait = event.wait_async();
/// # let _ = &wait;
/// ```
///
/// ... a permit its semaphore, ...
///
/// ```compile_fail,E0597
/// # use waitword::Semaphore;
/// let permit = {
///     let semaphore = Semaphore::new(1);
///     semaphore.acquire()
/// };
/// # drop(permit);
/// ```
///
/// ... a token its group, ...
///
/// ```compile_fail,E0597
/// # use waitword::WaitGroup;
/// let token = {
///     let group = WaitGroup::new();
///     group.add()
/// };
/// # drop(token);
/// ```
///
/// ... nor a reference the cell.
///
/// ```compile_fail,E0597
/// # use waitword::OnceLock;
/// let value = {
///     let cell = OnceLock::from(1);
///     cell.wait()
/// };
/// # drop(*value);
/// ```
///
/// Nor does a part outlive its guard: a reference is not taken out of it.
///
/// ```compile_fail,E0505
/// # use waitword::Mutex;
/// let mutex = Mutex::new(1);
/// let guard = mutex.lock();
/// let value = &*guard;
/// drop(guard);
/// assert_eq!(*value, 1);
/// ```
///
/// An exclusive owner of the mutex has no guard of it.
///
/// ```compile_fail,E0502
/// # use waitword::Mutex;
/// let mut mutex = Mutex::new(1);
/// let guard = mutex.lock();
/// *mutex.get_mut() = 2;
/// drop(guard);
/// ```
struct MustNotOutlive;

/// What is written into a mutex lives as long as its value says, whichever guard it is written through: one that borrows, ...
///
/// ```compile_fail,E0597
/// # use waitword::{Mutex, MutexGuard};
/// fn write<'a>(mut guard: MutexGuard<'_, &'a str>, text: &'a str) {
///     *guard = text;
/// }
///
/// static NAME: Mutex<&'static str> = Mutex::new("for ever");
/// let text = "not for long".to_owned();
/// write(NAME.lock(), &text);
/// ```
///
/// ... one of a part, ...
///
/// ```compile_fail,E0597
/// # use waitword::{MappedMutexGuard, Mutex, MutexGuard};
/// fn write<'a>(mut guard: MappedMutexGuard<'_, &'a str>, text: &'a str) {
///     *guard = text;
/// }
///
/// static NAME: Mutex<&'static str> = Mutex::new("for ever");
/// let text = "not for long".to_owned();
/// write(MutexGuard::map(NAME.lock(), |name| name), &text);
/// ```
///
/// ... one that owns, ...
///
/// ```compile_fail,E0597
/// # use {std::sync::Arc, waitword::{Mutex, OwnedMutexGuard}};
/// fn write<'a>(mut guard: OwnedMutexGuard<&'a str>, text: &'a str) {
///     *guard = text;
/// }
///
/// let name: Arc<Mutex<&'static str>> = Arc::new(Mutex::new("for ever"));
/// {
///     let text = "not for long".to_owned();
///     write(name.lock_owned(), &text);
/// }
/// println!("{}", name.lock());
/// ```
///
/// ... or one that owns, of a part.
///
/// ```compile_fail,E0597
/// # use {std::sync::Arc, waitword::{Mutex, OwnedMappedMutexGuard, OwnedMutexGuard}};
/// fn write<'a>(mut guard: OwnedMappedMutexGuard<&'static str, &'a str>, text: &'a str) {
///     *guard = text;
/// }
///
/// let name = Arc::new(Mutex::new("for ever"));
/// {
///     let text = "not for long".to_owned();
///     write(OwnedMutexGuard::map(name.lock_owned(), |name| name), &text);
/// }
/// println!("{}", name.lock());
/// ```
///
/// So with a readers-writer lock.
///
/// ```compile_fail,E0597
/// # use {std::sync::Arc, waitword::{OwnedMappedRwLockWriteGuard, OwnedRwLockWriteGuard, RwLock}};
/// fn write<'a>(mut guard: OwnedMappedRwLockWriteGuard<&'static str, &'a str>, text: &'a str) {
///     *guard = text;
/// }
///
/// let name = Arc::new(RwLock::new("for ever"));
/// {
///     let text = "not for long".to_owned();
///     write(OwnedRwLockWriteGuard::map(name.write_owned(), |name| name), &text);
/// }
/// println!("{}", name.read());
/// ```
///
/// So with the value that a shared cell is set to.
///
/// ```compile_fail,E0597
/// # use waitword::OnceLock;
/// fn set<'a>(cell: &OnceLock<&'a str>, text: &'a str) {
///     cell.set(text).unwrap();
/// }
///
/// static NAME: OnceLock<&'static str> = OnceLock::new();
/// let text = "not for long".to_owned();
/// set(&NAME, &text);
/// ```
struct MustNotBeShortened;

/// A condition variable takes the whole value from its waiter, so a guard of a part does not do.
///
/// ```compile_fail,E0277
/// # use waitword::{Condvar, Mutex, MutexGuard};
/// let mutex = Mutex::new((1, 2));
/// let mut part = MutexGuard::map(mutex.lock(), |pair| &mut pair.0);
/// Condvar::new().wait(&mut part);
/// ```
///
/// A reader changes nothing, not even the upgradable one.
///
/// ```compile_fail,E0594
/// # use waitword::RwLock;
/// let lock = RwLock::new(1);
/// *lock.upgradable_read() += 1;
/// ```
struct MustNotBeUsedSo;

/// The crate root is for what every user reads; the names of futures are in `future`.
///
/// ```compile_fail,E0432
/// use waitword::MutexLock;
/// ```
///
/// ```
/// use waitword::future::MutexLock;
/// ```
mod named_futures_are_not_in_the_root {}

/// And the word level is in `word`.
///
/// ```compile_fail,E0432
/// use waitword::Parker;
/// ```
///
/// ```
/// use waitword::word::Parker;
/// ```
mod the_word_level_is_not_in_the_root {}

/// A guard that leads back to the lock, or can become the writer's, is not shortened either, though it only reads: the
/// upgradable one, ...
///
/// ```compile_fail,E0597
/// # use waitword::{RwLock, RwLockUpgradableReadGuard};
/// fn write<'a>(guard: RwLockUpgradableReadGuard<'_, &'a str>, text: &'a str) {
///     *RwLockUpgradableReadGuard::upgrade(guard) = text;
/// }
///
/// static NAME: RwLock<&'static str> = RwLock::new("for ever");
/// let text = "not for long".to_owned();
/// write(NAME.upgradable_read(), &text);
/// ```
///
/// ... the one that owns, ...
///
/// ```compile_fail,E0597
/// # use {std::sync::Arc, waitword::{OwnedRwLockReadGuard, RwLock}};
/// fn write<'a>(guard: OwnedRwLockReadGuard<&'a str>, text: &'a str) {
///     let lock = Arc::clone(OwnedRwLockReadGuard::rwlock(&guard));
///     drop(guard);
///     *lock.write() = text;
/// }
///
/// let name: Arc<RwLock<&'static str>> = Arc::new(RwLock::new("for ever"));
/// {
///     let text = "not for long".to_owned();
///     write(name.read_owned(), &text);
/// }
/// println!("{}", name.read());
/// ```
///
/// ... and the writer's, borrowed and of a part.
///
/// ```compile_fail,E0597
/// # use waitword::{RwLock, RwLockWriteGuard};
/// fn write<'a>(mut guard: RwLockWriteGuard<'_, &'a str>, text: &'a str) {
///     *guard = text;
/// }
///
/// static NAME: RwLock<&'static str> = RwLock::new("for ever");
/// let text = "not for long".to_owned();
/// write(NAME.write(), &text);
/// ```
///
/// ```compile_fail,E0597
/// # use waitword::{MappedRwLockWriteGuard, RwLock, RwLockWriteGuard};
/// fn write<'a>(mut guard: MappedRwLockWriteGuard<'_, &'a str>, text: &'a str) {
///     *guard = text;
/// }
///
/// static NAME: RwLock<&'static str> = RwLock::new("for ever");
/// let text = "not for long".to_owned();
/// write(RwLockWriteGuard::map(NAME.write(), |name| name), &text);
/// ```
///
/// A reader's guard can be shortened, and so it does not lead back to the lock.
///
/// ```compile_fail,E0599
/// # use waitword::{RwLock, RwLockReadGuard};
/// static NAME: RwLock<&'static str> = RwLock::new("for ever");
/// let guard = NAME.read();
/// RwLockReadGuard::rwlock(&guard);
/// ```
struct MustNotBeShortenedEither;

/// A value whose destructor may read what it borrows is dropped before that: in a cell, ...
///
/// ```compile_fail,E0597
/// # use waitword::OnceLock;
/// struct Prints<'a>(&'a str);
/// impl Drop for Prints<'_> {
///     fn drop(&mut self) {
///         println!("{}", self.0);
///     }
/// }
///
/// let cell: OnceLock<Prints<'_>>;
/// let text = "gone by then".to_owned();
/// cell = OnceLock::new();
/// let _ = cell.set(Prints(&text));
/// ```
///
/// ... in one that makes its value itself, in the value or in what makes it, ...
///
/// ```compile_fail,E0597
/// # use waitword::LazyLock;
/// # struct Prints<'a>(&'a str);
/// # impl Drop for Prints<'_> {
/// #     fn drop(&mut self) {
/// #         println!("{}", self.0);
/// #     }
/// # }
/// let lazy: LazyLock<usize, _>;
/// let text = "gone by then".to_owned();
/// let prints = Prints(&text);
/// lazy = LazyLock::new(move || { &prints }.0.len());
/// ```
///
/// ... or in a lock.
///
/// ```compile_fail,E0597
/// # use waitword::RwLock;
/// # struct Prints<'a>(&'a str);
/// # impl Drop for Prints<'_> {
/// #     fn drop(&mut self) {
/// #         println!("{}", self.0);
/// #     }
/// # }
/// let lock: RwLock<Prints<'_>>;
/// let text = "gone by then".to_owned();
/// lock = RwLock::new(Prints(&text));
/// ```
///
/// Nor does what a reader's guard shows outlive it, though its lifetime can be shortened.
///
/// ```compile_fail,E0505
/// # use waitword::RwLock;
/// let lock = RwLock::new("text".to_owned());
/// let guard = lock.read();
/// let text: &str = &guard;
/// drop(guard);
/// assert_eq!(text, "text");
/// ```
struct MustBeDroppedFirst;
