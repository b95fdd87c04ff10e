//! What a wait expects its word to hold.

/// The value that a wait expects, which also says what kind of word it is: Int32Array or BigInt64Array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Expected {
    /// 32 bits.
    I32(i32),
    /// 64 bits.
    I64(i64),
}

impl Expected {
    /// The size of the word in bytes.
    pub(crate) fn size(self) -> usize {
        match self {
            Self::I32(_) => size_of::<i32>(),
            Self::I64(_) => size_of::<i64>(),
        }
    }
}
