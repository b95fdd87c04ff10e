//! loom behind the facade.

pub(crate) use loom::cell::UnsafeCell;
pub use loom::sync::atomic;
pub(crate) use loom::{lazy_static, thread_local};
// Process-wide initialisation is not modelled.
pub use std::sync::OnceLock;

use std::sync::PoisonError;

use loom::sync::MutexGuard;

pub(crate) mod thread {
    use std::sync::Arc;
    use std::time::Instant;

    use loom::thread::ThreadId;

    use super::{Condvar, Mutex};

    loom::thread_local! {
        static TOKEN: Arc<Token> = Arc::new(Token::new());
    }

    /// A thread that can be unparked. loom's own `unpark` is lost if the thread waits for a mutex before it parks, so this one is made of a
    /// mutex and a condition variable.
    #[derive(Debug)]
    pub(crate) struct Thread {
        id: ThreadId,
        token: Arc<Token>,
    }

    #[derive(Debug)]
    struct Token {
        is_there: Mutex<bool>,
        left: Condvar,
    }

    impl Token {
        fn new() -> Self {
            Self { is_there: Mutex::new(false), left: Condvar::new() }
        }
    }

    impl Thread {
        pub(crate) fn id(&self) -> ThreadId {
            self.id
        }

        pub(crate) fn unpark(&self) {
            *self.token.is_there.lock() = true;
            self.token.left.notify_one();
        }
    }

    pub(crate) fn current() -> Thread {
        Thread { id: loom::thread::current().id(), token: TOKEN.with(Arc::clone) }
    }

    pub(crate) fn park() {
        let token = TOKEN.with(Arc::clone);
        let mut is_there = token.is_there.lock();
        while !*is_there {
            is_there = token.left.wait(is_there);
        }
        *is_there = false;
    }

    /// loom has no clock. In a model a timeout is another thread that cancels.
    pub(crate) fn park_until(_deadline: Instant) {
        panic!("a model has no clock: let another thread cancel instead of waiting with a deadline")
    }
}

/// loom treats a sequentially consistent read-modify-write as one that acquires and releases. The fence makes it sequentially consistent.
pub(crate) fn announced() {
    atomic::fence(atomic::Ordering::SeqCst);
}

#[derive(Debug)]
pub struct Mutex<T>(loom::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
pub(crate) struct Condvar(loom::sync::Condvar);

impl Condvar {
    pub(crate) fn new() -> Self {
        Self(loom::sync::Condvar::new())
    }

    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }
}
