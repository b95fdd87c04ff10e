//! What there is of Node: the table of `docs/host.md` against what the modules export.

use crate::program::run;

#[test]
fn the_table_of_modules_is_what_they_export() {
    let page = include_str!("../../../../docs/host.md");
    let rows = page.lines().skip_while(|line| !line.starts_with("| module |")).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let mut documented = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let names = cells[0].split(", ").map(|name| name.trim_matches('`'));
        documented.extend(names.map(|name| format!("{name}: {}", cells[1])));
    }
    assert!(!documented.is_empty());
    let lines: Vec<&str> = documented.iter().map(String::as_str).collect();
    run(
        "offered",
        r#"
        for (const name of require("node:module").builtinModules) {
          console.log(`${name}: ${Object.keys(require(`node:${name}`)).sort().join(" ")}`);
        }
        "#,
    )
    .with_code(0)
    .printed(&lines)
    .quietly();
}

#[test]
fn what_is_not_offered_says_so() {
    run(
        "not_offered",
        r#"
        const { SHARE_ENV, Worker, moveMessagePortToContext } = require("node:worker_threads");
        const worker = new Worker("require('worker_threads').parentPort.once('message', () => {})", { eval: true });
        const calls = [
          () => new Worker("", { eval: true, env: SHARE_ENV }),
          () => new Worker("", { eval: true, stdin: true }),
          () => worker.getHeapSnapshot(),
          () => worker.getHeapStatistics(),
          () => worker.cpuUsage(),
          () => worker.startCpuProfile(),
          () => worker.startHeapProfile(),
          () => moveMessagePortToContext(),
          () => require("node:fs"),
          () => require("left-pad"),
        ];
        (async () => {
          for (const call of calls) {
            try {
              await call();
            } catch ({ code, message }) {
              console.log(code, /not offered|Built in are node:assert/.test(message), /\(.{12,}\)/.test(message) || code);
            }
          }
          await worker.terminate();
          await worker.getHeapSnapshot().catch(({ code }) => console.log(code));
        })();
        "#,
    )
    .with_code(0)
    .printed(&[
        "ERR_METHOD_NOT_IMPLEMENTED true true",
        "ERR_METHOD_NOT_IMPLEMENTED true true",
        "ERR_METHOD_NOT_IMPLEMENTED true true",
        "ERR_METHOD_NOT_IMPLEMENTED true true",
        "ERR_METHOD_NOT_IMPLEMENTED true true",
        "ERR_METHOD_NOT_IMPLEMENTED true true",
        "ERR_METHOD_NOT_IMPLEMENTED true true",
        "ERR_METHOD_NOT_IMPLEMENTED true true",
        "ERR_UNKNOWN_BUILTIN_MODULE true ERR_UNKNOWN_BUILTIN_MODULE",
        "MODULE_NOT_FOUND true MODULE_NOT_FOUND",
        "ERR_WORKER_NOT_RUNNING",
    ])
    .quietly();
}
