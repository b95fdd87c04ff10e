//! What the maps have in common: how they are made and counted, and what leads to them.

macro_rules! map {
    ($Map:ident<$K:ident $(, $V:ident)?> of $Value:ty) => {
        impl<$K $(, $V)?> $Map<$K $(, $V)?> {
            /// Creates an empty map.
            pub fn new() -> Self {
                Self::with_hasher(std::collections::hash_map::RandomState::new())
            }
        }

        impl<$K $(, $V)?, S> $Map<$K $(, $V)?, S> {
            $crate::sync::const_fn! {
                /// Creates an empty map with this hasher. If others can choose the keys, its seed must be a secret.
                pub const fn with_hasher(hasher: S) -> Self {
                    Self { uses: $crate::keyed::uses::Uses::new(), hasher }
                }
            }

            /// Returns how many keys have an entry. The shards of the map are counted one after the other, so the sum may never have been true at
            /// one moment.
            pub fn len(&self) -> usize {
                self.uses.len()
            }

            /// Returns whether no key has an entry, counted as by [`len`](Self::len).
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }

        impl<$K $(, $V)?, S: Default> Default for $Map<$K $(, $V)?, S> {
            fn default() -> Self {
                Self::with_hasher(S::default())
            }
        }

        impl<$K $(, $V)?, S> std::fmt::Debug for $Map<$K $(, $V)?, S> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($Map)).field("keys", &self.len()).finish()
            }
        }

        map! { @leads &$Map<$K $(, $V)?, S>; $K $(, $V)?; $Value }
        map! { @leads std::sync::Arc<$Map<$K $(, $V)?, S>>; $K $(, $V)?; $Value }
    };
    (@leads $Lead:ty; $K:ident $(, $V:ident)?; $Value:ty) => {
        impl<$K $(, $V)?, S> $crate::keyed::uses::Lead for $Lead {
            type Key = $K;
            type Value = $Value;

            fn uses(&self) -> &$crate::keyed::uses::Uses<$K, $Value> {
                &self.uses
            }
        }
    };
}

pub(super) use map;
