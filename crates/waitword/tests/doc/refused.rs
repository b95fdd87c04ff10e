//! What the compiler has to refuse, one program each. For the tests of the documentation only.
//!
//! Each differs by one thing from a program that is all right, and says by its error code that it is refused for that.
//! What must not cross threads or move is in the tables of `tests/auto_traits.rs`.

/// A guard does not outlive the mutex, a future its lock, a permit its semaphore, a token its group, nor a reference the cell.
macro_rules! must_not_outlive {
    ($($Lock:ident, $new:literal, $get:literal;)+) => {$(
        #[doc = concat!(
            "```compile_fail,E0597\n# use waitword::", stringify!($Lock), ";\nlet got = {\n    let lock = ", stringify!($Lock), "::", $new,
            ";\n    lock.", $get, "\n};\nlet _ = &got;\n```",
        )]
        const _: () = {
            struct MustNotOutlive;
        };
    )+};
}

must_not_outlive! {
    Mutex, "new(1)", "lock()";
    Event, "new()", "wait_async()";
    Semaphore, "new(1)", "acquire()";
    WaitGroup, "new()", "add()";
    OnceLock, "from(1)", "wait()";
}

/// Not even for the moment in which both are dropped.
///
/// ```compile_fail,E0597
/// # use waitword::Event;
/// let wait;
/// let event = Event::new();
/// wait = event.wait_async();
/// # let _ = &wait;
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

/// What is written into a lock lives as long as its value says, whichever guard it is written through. A guard that leads back to the
/// lock, or can become the writer's, is not shortened either, though it only reads.
macro_rules! must_not_be_shortened {
    ($($Lock:ident, $Guard:literal, $write:literal, $acquire:literal;)+) => {$(
        #[doc = concat!(
            "```compile_fail,E0597\n# use {std::sync::Arc, waitword::*};\nfn write<'a>(mut guard: ", $Guard, ", text: &'a str) {\n    ",
            $write, "\n}\n\nlet name: Arc<", stringify!($Lock), "<&'static str>> = Arc::new(", stringify!($Lock),
            "::new(\"for ever\"));\n{\n    let text = \"not for long\".to_owned();\n    write(", $acquire, ", &text);\n}\n```",
        )]
        const _: () = {
            struct MustNotBeShortened;
        };
    )+};
}

must_not_be_shortened! {
    Mutex, "MutexGuard<'_, &'a str>", "*guard = text;", "name.lock()";
    Mutex, "MappedMutexGuard<'_, &'a str>", "*guard = text;", "MutexGuard::map(name.lock(), |name| name)";
    Mutex, "OwnedMutexGuard<&'a str>", "*guard = text;", "name.lock_owned()";
    Mutex, "OwnedMappedMutexGuard<&'static str, &'a str>", "*guard = text;", "OwnedMutexGuard::map(name.lock_owned(), |name| name)";
    RwLock, "RwLockWriteGuard<'_, &'a str>", "*guard = text;", "name.write()";
    RwLock, "MappedRwLockWriteGuard<'_, &'a str>", "*guard = text;", "RwLockWriteGuard::map(name.write(), |name| name)";
    RwLock, "OwnedMappedRwLockWriteGuard<&'static str, &'a str>", "*guard = text;",
        "OwnedRwLockWriteGuard::map(name.write_owned(), |name| name)";
    RwLock, "RwLockUpgradableReadGuard<'_, &'a str>", "*RwLockUpgradableReadGuard::upgrade(guard) = text;", "name.upgradable_read()";
    RwLock, "OwnedRwLockReadGuard<&'a str>", "*OwnedRwLockReadGuard::into_arc(guard).write() = text;", "name.read_owned()";
}

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

/// A reader's guard can be shortened, and so it does not lead back to the lock.
///
/// ```compile_fail,E0599
/// # use waitword::{RwLock, RwLockReadGuard};
/// static NAME: RwLock<&'static str> = RwLock::new("for ever");
/// let guard = NAME.read();
/// RwLockReadGuard::rwlock(&guard);
/// ```
struct MustNotBeShortenedEither;

/// A value whose destructor may read what it borrows is dropped before that: in a cell, in one that makes its value itself, in the value
/// or in what makes it, or in a lock.
macro_rules! must_be_dropped_first {
    ($($Type:literal, $make:literal;)+) => {$(
        #[doc = concat!(
            "```compile_fail,E0597\n# use waitword::*;\nstruct Prints<'a>(&'a str);\nimpl Drop for Prints<'_> {\n    fn drop(&mut self) {\n",
            "        println!(\"{}\", self.0);\n    }\n}\n\nlet value: ", $Type,
            ";\nlet text = \"gone by then\".to_owned();\nlet prints = Prints(&text);\nvalue = ", $make, ";\n# let _ = &value;\n```",
        )]
        const _: () = {
            struct MustBeDroppedFirst;
        };
    )+};
}

must_be_dropped_first! {
    "OnceLock<Prints<'_>>", "OnceLock::from(prints)";
    "LazyLock<usize, _>", "LazyLock::new(move || { &prints }.0.len())";
    "RwLock<Prints<'_>>", "RwLock::new(prints)";
}

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
