//! The checks that take longer than `.ci/run`, or need tools beside stable Rust.
//!
//! A recipe is a list of command lines; it prints each before it runs it, so that a reader can do without this program.
//! `args.rs` names the recipes, `recipes.rs` says what each runs, the other files how.
#![forbid(unsafe_code)]

mod args;
mod cross;
mod docs;
mod layers;
mod line;
mod miri;
mod mutants;
mod promela;
mod publish;
mod recipes;
mod repeat;
mod skips;
mod tool;
mod web;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match recipes::run(args::Args::parse().recipe) {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => {
            eprintln!("xtask: {stop}");
            ExitCode::from(stop.code())
        }
    }
}
