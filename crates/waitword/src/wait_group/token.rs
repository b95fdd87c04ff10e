//! The workers of a group: one for each token.

use std::sync::Arc;

use crate::wait_group::WaitGroup;
use crate::wait_group::raw::MAX;

impl WaitGroup {
    /// Adds a worker to the group, and returns its token. The worker is done when the token is dropped.
    ///
    /// # Panics
    /// If the group has [`MAX_TOKENS`](Self::MAX_TOKENS) tokens already, a number that only leaked tokens can reach.
    #[doc(alias("token", "enter"))]
    #[track_caller]
    pub fn add(&self) -> WaitGroupToken<'_> {
        self.add_one();
        WaitGroupToken { group: self }
    }

    /// Adds a worker to the group, and returns a token that holds an `Arc` of the group.
    ///
    /// # Panics
    /// As with [`add`](Self::add).
    #[track_caller]
    pub fn add_owned(self: &Arc<Self>) -> OwnedWaitGroupToken {
        self.add_one();
        OwnedWaitGroupToken { group: Arc::clone(self) }
    }

    #[track_caller]
    fn add_one(&self) {
        assert!(self.raw.add(), "a wait group has at most {MAX} tokens: were tokens leaked?");
    }
}

macro_rules! token {
    ($(#[$docs:meta])* $Token:ident$(<$life:lifetime>)? of $Shared:ty, $add:ident) => {
        $(#[$docs])*
        #[must_use = "dropping the token says that the worker is done: keep it with `let token = ...`"]
        #[derive(Debug)]
        pub struct $Token$(<$life>)? {
            group: $Shared,
        }

        impl$(<$life>)? Clone for $Token$(<$life>)? {
            /// Adds one more worker to the group, and returns its token.
            ///
            /// # Panics
            /// As with [`WaitGroup::add`].
            fn clone(&self) -> Self {
                self.group.$add()
            }
        }

        impl$(<$life>)? Drop for $Token$(<$life>)? {
            fn drop(&mut self) {
                self.group.raw.done();
            }
        }
    };
}

token! {
    /// The token of a worker of a [`WaitGroup`]. Dropping it says that the worker is done; cloning it adds a worker.
    ///
    /// Returned by [`WaitGroup::add`].
    #[doc(alias("done", "count_down"))]
    WaitGroupToken<'a> of &'a WaitGroup, add
}

token! {
    /// The token of a worker of a [`WaitGroup`] that holds an `Arc` of the group. Dropping it says that the worker is done; cloning it adds a
    /// worker.
    ///
    /// Returned by [`WaitGroup::add_owned`].
    OwnedWaitGroupToken of Arc<WaitGroup>, add_owned
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wait_group::raw::RawWaitGroup;

    #[test]
    fn a_token_too_many_panics_and_changes_nothing() {
        let group = WaitGroup { raw: RawWaitGroup::with_tokens(MAX - 1) };
        let token = group.add();
        assert_eq!(group.count(), WaitGroup::MAX_TOKENS);
        let panic = std::panic::catch_unwind(|| std::mem::forget(token.clone())).unwrap_err();
        assert!(panic.downcast_ref::<String>().unwrap().contains("leaked"));
        assert_eq!(group.count(), WaitGroup::MAX_TOKENS);
        drop(token);
        assert_eq!(group.count(), WaitGroup::MAX_TOKENS - 1);
    }
}
