//! Tags of values on the tape.

pub(crate) const UNDEFINED: u8 = 0;
pub(crate) const NULL: u8 = 1;
pub(crate) const FALSE: u8 = 2;
pub(crate) const TRUE: u8 = 3;
/// 4 bytes
pub(crate) const INT: u8 = 4;
/// 8 bytes
pub(crate) const NUMBER: u8 = 5;
/// length, bytes
pub(crate) const STRING: u8 = 6;
/// as a STRING, in decimal
pub(crate) const BIGINT: u8 = 7;
pub(crate) const REF: u8 = 8;
pub(crate) const OBJECT: u8 = 9;
pub(crate) const ARRAY: u8 = 10;
pub(crate) const LIST: u8 = 11;
pub(crate) const HOLE: u8 = 12;
pub(crate) const ROW: u8 = 13;
pub(crate) const MAP: u8 = 19;
pub(crate) const SET: u8 = 20;
/// maximum + 1, or 0; length, bytes
pub(crate) const BUFFER: u8 = 14;
pub(crate) const BLOCK: u8 = 15;
pub(crate) const MOVED: u8 = 16;
pub(crate) const PORT: u8 = 17;
/// Where the string of a new key could be: there are no more keys.
pub(crate) const END: u8 = 18;
