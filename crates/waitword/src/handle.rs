//! The object that users share, and its raw part.

/// A lock or a condition, which consists of a raw part and, perhaps, a value.
pub(crate) trait HasRaw {
    type Raw: 'static;

    fn raw(&self) -> &Self::Raw;

    /// For reports: the caller is about to wait. Says what the object is, where its kind does not say everything.
    #[inline(always)]
    fn will_wait(&self) {}
}

/// [`HasRaw`] of a type whose field `raw` is its raw part.
macro_rules! has_raw {
    ($Shared:ty, $Raw:ty) => {
        impl $crate::handle::HasRaw for $Shared {
            type Raw = $Raw;

            #[inline]
            fn raw(&self) -> &$Raw {
                &self.raw
            }
        }
    };
}

pub(crate) use has_raw;
