//! The workers of a group: one for each token.

use std::sync::Arc;

use crate::wait_group::WaitGroup;
use crate::wait_group::raw::MAX;

impl WaitGroup {
    /// Adds a worker, until the token is dropped.
    ///
    /// # Panics
    /// If there are [`MAX_TOKENS`](Self::MAX_TOKENS) already. A program gets there by leaking tokens.
    #[doc(alias("token", "enter"))]
    #[track_caller]
    pub fn add(&self) -> WaitGroupToken<'_> {
        self.add_one();
        WaitGroupToken { group: self }
    }

    /// As [`add`](Self::add), with a token that owns a share of the group.
    ///
    /// # Panics
    /// As [`add`](Self::add).
    #[track_caller]
    pub fn add_owned(self: &Arc<Self>) -> OwnedWaitGroupToken {
        self.add_one();
        OwnedWaitGroupToken { group: Arc::clone(self) }
    }

    #[track_caller]
    fn add_one(&self) {
        assert!(self.raw.add(), "a wait group has {MAX} tokens and can have no more: are tokens leaked?");
    }
}

macro_rules! token {
    ($(#[$docs:meta])* $Token:ident$(<$life:lifetime>)? of $Shared:ty, $add:ident) => {
        $(#[$docs])*
        #[must_use = "the work is done at once if nobody keeps the token: `let token = ...`"]
        #[derive(Debug)]
        pub struct $Token$(<$life>)? {
            group: $Shared,
        }

        impl$(<$life>)? Clone for $Token$(<$life>)? {
            /// # Panics
            /// As [`WaitGroup::add`].
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
    /// A worker, until this is dropped. Made by [`WaitGroup::add`]; a clone is one more.
    #[doc(alias("done", "count_down"))]
    WaitGroupToken<'a> of &'a WaitGroup, add
}

token! {
    /// A worker, until this is dropped. Made by [`WaitGroup::add_owned`]; a clone is one more.
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
