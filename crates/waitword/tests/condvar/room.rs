//! A condition variable with its mutex, and all futures that wait for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use waitword::{Condvar, Mutex};

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
        self.notify(self.waiters().min(1), |changed| usize::from(changed.notify_one()))
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
        macro_rules! waited {
            ($form:ident, $guard:expr; $once:ident, $while:ident) => {{
                let (guard, changed, is_empty) = ($guard, &self.changed, self.is_empty());
                let (guard, result) = match $form {
                    Form::Once => (changed.$once(guard).await, Ok(())),
                    Form::Until => changed.$once(guard).deadline(far()).await,
                    Form::While => (changed.$while(guard, is_empty).await, Ok(())),
                    Form::WhileUntil => changed.$while(guard, is_empty).deadline(far()).await,
                };
                result.unwrap();
                self.take_token();
                Box::new(guard) as Held<'_>
            }};
        }
        Box::pin(async move {
            match way {
                Way::Borrowed(form) => waited!(form, self.mutex.lock_async().await;
                    wait_async, wait_while_async),
                Way::Owned(form) => waited!(form, self.mutex.lock_owned_async().await;
                    wait_async, wait_while_async),
                Way::OwnedBoth(form) => waited!(form, self.mutex.lock_owned_async().await;
                    wait_owned_async, wait_while_owned_async),
            }
        })
    }

    /// Whether to wait: at least once, because a token that is there belongs to an earlier waiter.
    fn is_empty(&self) -> impl FnMut(&mut ()) -> bool + Send + '_ {
        let mut waited = false;
        move |_| !std::mem::replace(&mut waited, true) || self.tokens() == 0
    }

    /// Waits, polled once.
    pub(crate) fn queued(&self, way: Way) -> Task<'_, Held<'_>> {
        Task::queued(self.wait(way))
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
