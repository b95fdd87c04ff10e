//! A condition variable with its mutex, and all futures that wait for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use waitword::{Condvar, CondvarGuard, LockError, Mutex, OwnedMutexGuard};

use crate::common::exclusive::{self, Exclusive, Held, Waiting};
use crate::common::{Task, far};

/// The futures of a condition variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Once,
    /// With a deadline that is not reached.
    Until,
    While,
    WhileUntil,
}

/// The ways for a task to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Borrowed(Form),
    /// With a guard that has a share in the mutex.
    Owned(Form),
    /// And with a share in the condition variable, too.
    OwnedBoth(Form),
}

pub(crate) const WAYS: [Way; 12] = {
    use Form::*;
    use Way::*;
    [
        Borrowed(Once),
        Borrowed(Until),
        Borrowed(While),
        Borrowed(WhileUntil),
        Owned(Once),
        Owned(Until),
        Owned(While),
        Owned(WhileUntil),
        OwnedBoth(Once),
        OwnedBoth(Until),
        OwnedBoth(While),
        OwnedBoth(WhileUntil),
    ]
};

/// As many tokens as there are notifies that have counted a wait which has not ended so far.
#[derive(Default)]
pub(crate) struct Room {
    pub(crate) mutex: Arc<Mutex<()>>,
    pub(crate) changed: Arc<Condvar>,
    tokens: AtomicUsize,
}

impl Room {
    /// Notifies one waiter. None comes or leaves meanwhile.
    pub(crate) fn notify_one(&self) -> usize {
        self.notify(self.waiters().min(1), Condvar::notify_one)
    }

    /// Notifies all waiters. None comes or leaves meanwhile.
    pub(crate) fn notify_all(&self) -> usize {
        self.notify(self.waiters(), Condvar::notify_all)
    }

    fn notify(&self, expected: usize, notify: impl FnOnce(&Condvar) -> usize) -> usize {
        // Before the notified waiters check for them.
        self.tokens.fetch_add(expected, Ordering::Relaxed);
        let notified = notify(&self.changed);
        assert_eq!(notified, expected);
        notified
    }

    pub(crate) fn tokens(&self) -> usize {
        self.tokens.load(Ordering::Relaxed)
    }

    /// Waits, and takes a token. Until the first poll nothing happens; with that, if the mutex is free, it is queued.
    pub(crate) fn wait(&self, way: Way) -> Waiting<'_> {
        Box::pin(async move {
            match way {
                Way::Borrowed(form) => self.wait_with(self.mutex.lock_async().await, form).await,
                Way::Owned(form) => self.wait_with(self.mutex.lock_owned_async().await, form).await,
                Way::OwnedBoth(form) => {
                    let guard = self.mutex.lock_owned_async().await;
                    let (guard, result) = wait_owned(&self.changed, guard, form, self.is_empty()).await;
                    self.waited(guard, result)
                }
            }
        })
    }

    async fn wait_with<'a, G>(&'a self, guard: G, form: Form) -> Held<'a>
    where
        G: CondvarGuard<Target = ()> + Send + 'a,
    {
        let is_empty = self.is_empty();
        let (guard, result) = match form {
            Form::Once => (self.changed.wait_async(guard).await, Ok(())),
            Form::Until => self.changed.wait_async_until(guard, far()).await,
            Form::While => (self.changed.wait_while_async(guard, is_empty).await, Ok(())),
            Form::WhileUntil => self.changed.wait_while_async_until(guard, far(), is_empty).await,
        };
        self.waited(guard, result)
    }

    /// Whether to wait: at least once, because a token that is there belongs to an earlier waiter.
    fn is_empty(&self) -> impl FnMut(&mut ()) -> bool + Send + '_ {
        let mut waited = false;
        move |_| !std::mem::replace(&mut waited, true) || self.tokens() == 0
    }

    fn waited<'a, G: Send + 'a>(&self, guard: G, result: Result<(), LockError>) -> Held<'a> {
        result.unwrap();
        self.take_token();
        Box::new(guard)
    }

    /// Waits, polled once.
    pub(crate) fn queued(&self, way: Way) -> Task<'_, Held<'_>> {
        let mut wait = Task::new(self.wait(way));
        assert!(wait.poll().is_pending());
        wait
    }

    /// As a thread.
    pub(crate) fn block(&self) {
        let mut guard = self.mutex.lock();
        self.changed.wait(&mut guard);
        self.take_token();
    }

    /// With the mutex held.
    fn take_token(&self) {
        let before = self.tokens.fetch_sub(1, Ordering::Relaxed);
        assert_ne!(before, 0, "a wait has ended that no notify had counted");
    }

    /// How many are queued and have not been notified.
    pub(crate) fn waiters(&self) -> usize {
        exclusive::waiters!(&self.changed, Condvar as [AtomicU64; 1])
    }

    /// How many are queued for the mutex: notified waiters, and others.
    pub(crate) fn waiters_for_mutex(&self) -> usize {
        self.mutex.waiters()
    }

    /// The mutex is free, and both queues are empty.
    #[track_caller]
    pub(crate) fn assert_left(&self) {
        assert!(self.mutex.is_free());
        assert_eq!((self.waiters(), self.waiters_for_mutex()), (0, 0));
    }
}

/// A wait that borrows neither the mutex nor the condition variable.
async fn wait_owned(
    changed: &Arc<Condvar>,
    guard: OwnedMutexGuard<()>,
    form: Form,
    is_empty: impl FnMut(&mut ()) -> bool,
) -> (OwnedMutexGuard<()>, Result<(), LockError>) {
    match form {
        Form::Once => (changed.wait_owned_async(guard).await, Ok(())),
        Form::Until => changed.wait_owned_async_until(guard, far()).await,
        Form::While => (changed.wait_while_owned_async(guard, is_empty).await, Ok(())),
        Form::WhileUntil => changed.wait_while_owned_async_until(guard, far(), is_empty).await,
    }
}
