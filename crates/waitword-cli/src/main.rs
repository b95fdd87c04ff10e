//! The `waitword` command.
fn main() {}
