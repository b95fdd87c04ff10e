//! Structured clone, as the web defines it: a graph of values becomes a [`SerializedMessage`], which any agent makes a copy of.
//!
//! `writer.rs` walks the graph, depth first and in the order in which the standard has it, because getters see the order.
//! `reader.rs` builds it anew. Neither uses the thread's stack for depth. Both know the values that messages are mostly made
//! of; the rest (Maps, dates, errors, typed arrays, ...) the JavaScript half takes apart and puts together, `js/core/clone.js`.
//!
//! A message on the tape is one value. After its tag:
//! ```text
//!   value   one of the immediate ones, or:
//!   REF     number of an object; they are numbered in the order in which they are met
//!   OBJECT  (key value)* END
//!   ARRAY   length (key value)* END           holes, or other properties than elements
//!   LIST    length (value | HOLE)*            elements only
//!   MAP     count (key value)*                 SET the same; count is that of the values
//!   ROW     heads count kind value*            what else clone.js made of it: heads, what is put into it afterwards
//!   BUFFER, BLOCK, MOVED, PORT                 bytes; or a number in the serialized message
//!   key     0 and a STRING the first time, then its number from 1; 0 and END instead of one that does not come
//! ```
//! Numbers are of 7 bits a byte, the lowest first.

mod functions;
mod reader;
mod serialized;
mod writer;

pub(crate) use functions::CloneFunctions;
pub(crate) use reader::read;
pub(crate) use serialized::SerializedMessage;
pub(crate) use writer::write;
