//! The limits of what `tests/auto_traits.rs` allows.

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
struct MustNotBeShortened;

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
