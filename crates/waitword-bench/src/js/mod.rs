//! The programs of `benches/js` on waitword and on the engines beside it, in interleaved rounds.
//!
//! `programs.rs` knows which programs there are and what each has to print; `engine.rs` finds the engines; `process.rs` runs
//! one program once and reads its figures. What is done with the figures is the same as for all others (`report/`).

mod engine;
mod process;
mod programs;

use std::path::PathBuf;
use std::sync::Arc;

use crate::js::engine::Engine;
use crate::js::programs::Program;
use crate::report::Plan;
use crate::runner::Common;
use crate::workload::{Contender, Workload};

/// Measure waitword beside Node, and beside Deno and Bun where they are installed, with the programs of benches/js.
///
/// Within a round every engine runs a program once. A complete run writes benches/results/js.md; a quick or filtered one only
/// prints, unless --out says where to write. The exit code is 1 if a program did not get to its end on some engine.
#[derive(Debug, clap::Args)]
pub(crate) struct Javascript {
    #[command(flatten)]
    common: Common,

    /// Measure this engine too: a name, and the words of its command line before the program's file, such as d8=/opt/d8.
    ///
    /// Under the name of an engine that is found without this, it replaces that one.
    #[arg(long = "engine", value_name = "NAME=COMMAND", value_parser = engine::named)]
    engines: Vec<(String, Vec<String>)>,

    /// The binary of waitword to measure [default: the one beside this program].
    #[arg(long, value_name = "FILE")]
    waitword: Option<PathBuf>,
}

/// The engine that the others are compared with.
const BASELINE: &str = "node";

impl Javascript {
    pub(crate) fn plan(&self) -> Result<Plan, String> {
        let engines = engine::find(self.waitword.as_deref(), &self.engines)?;
        let has_baseline = engines.iter().any(|engine| engine.name == BASELINE);
        if !has_baseline {
            eprintln!("{BASELINE} is not installed: there is nothing to be ahead of");
        }
        let engines = engines.into_iter().map(Arc::new).collect::<Vec<_>>();
        let workloads = programs::all().into_iter().map(|program| workload(program, &engines)).collect();
        Ok(Plan {
            workloads: self.common.choose(workloads)?,
            scale: self.common.scale(3, 1),
            command: "cargo xtask bench-js",
            page: "js.md",
            figures: "js.csv",
            folder: self.common.folder(has_baseline),
            against: engines[1..].iter().map(|engine| engine.title.clone()).collect(),
        })
    }
}

fn workload(program: Program, engines: &[Arc<Engine>]) -> Workload {
    let (name, about, goals) = (program.name, program.about, program.goals());
    let program = Arc::new(program);
    let contender = |engine: &Arc<Engine>| {
        let (engine, program) = (Arc::clone(engine), Arc::clone(&program));
        Contender::that_may_fail(engine.name, move |scale| process::run(&engine, &program, scale))
    };
    Workload { name, about, contenders: engines.iter().map(contender).collect(), goals }
}
