//! Structured clone, as the web defines it: a graph of values becomes a [`SerializedMessage`], of which any agent can make a copy.
//!
//! `writer.rs` walks the graph depth first, in the standard's order, which getters can observe. `reader.rs` builds the copy. Neither uses the
//! thread's stack for depth. Both handle the most common values. The others (Maps, dates, errors, typed arrays, ...) are taken apart and put
//! together by the JavaScript half, `js/core/clone.js`.
//!
//! A message on the tape is one value. After its tag:
//! ```text
//!   value   one of the immediate ones, or:
//!   REF     number of an object; objects are numbered in the order in which they are visited
//!   OBJECT  (key value)* END
//!   ARRAY   length (key value)* END           holes, or other properties than elements
//!   LIST    length (value | HOLE)*            elements only
//!   MAP     count (key value)*                 SET the same; count is that of the values
//!   ROW     heads count kind value*            other kinds, by clone.js: heads, then what is put in afterwards
//!   BUFFER, BLOCK, MOVED, PORT                 bytes; or a number in the serialized message
//!   key     0 and a STRING the first time, then its number from 1; 0 and END instead of one that does not come
//! ```
//! Numbers are encoded with 7 bits per byte, the lowest first.

mod functions;
mod reader;
mod serialized;
mod writer;

pub(crate) use functions::CloneFunctions;
pub(crate) use reader::read;
pub(crate) use serialized::SerializedMessage;
pub(crate) use writer::write;
