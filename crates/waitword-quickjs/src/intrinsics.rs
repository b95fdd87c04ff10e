//! What is taken from each realm before a script can change it.

use crate::ffi::Value;

/// Functions of a fresh realm that ours are built on.
pub(crate) struct Intrinsics {
    /// The engine's `SharedArrayBuffer`.
    pub(crate) constructor: Value,
    /// The getter of `SharedArrayBuffer.prototype.maxByteLength`.
    pub(crate) max_byte_length: Value,
    /// The getter of `%TypedArray%.prototype.length`.
    pub(crate) view_length: Value,
}
