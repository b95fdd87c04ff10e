//! The checks that take longer than `.ci/run`, or need tools beside stable Rust.
//!
//! A recipe is a list of command lines; it prints each before it runs it, so that a reader can do without this program.
//! `args.rs` names the recipes, `recipes.rs` says what each runs, the other files how.
#![forbid(unsafe_code)]

mod args;
mod docs;
mod line;
mod models;
mod mutants;
mod promela;
mod publish;
mod recipes;
mod tool;

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

/// Why a recipe ended early. What is said for each code in [`args`] has to stay true.
#[derive(Debug)]
enum Stop {
    /// A check failed, or could not be run to its end.
    Failed(String),
    /// The command line asks for something that there is not.
    Usage(String),
    /// A program is not installed.
    Missing(tool::Tool),
}

impl Stop {
    fn code(&self) -> u8 {
        match self {
            Self::Failed(_) => 1,
            Self::Usage(_) => 2,
            Self::Missing(_) => 3,
        }
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Failed(why) | Self::Usage(why) => f.write_str(why),
            Self::Missing(tool) => write!(f, "{} is missing; to get it: {}", tool.name, tool.how_to_get),
        }
    }
}
