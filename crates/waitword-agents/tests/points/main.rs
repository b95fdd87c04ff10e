//! What a script may observe, point by point, as far as no engine is needed for it. The numbers are those of
//! `docs/observable.md`.

#[path = "../common/mod.rs"]
mod common;

mod ends;
mod order;
mod section;
mod wait;
mod wasm;
