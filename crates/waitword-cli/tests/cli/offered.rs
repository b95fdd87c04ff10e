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
