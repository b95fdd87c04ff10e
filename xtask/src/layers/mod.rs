//! Which file imports which, crate by crate: no two may need each other, not even through others.
//!
//! The sources are parsed, not searched: `modules.rs` follows the `mod` lines of a crate, `imports.rs` collects the paths that
//! a file names, and resolves each to the file that defines the name, also through a re-export. Here the files are put on
//! floors: a file stands one above the highest that it imports. The same is asked of the folders below `src`. Tests are left
//! out; they may import everything.

mod imports;
mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::line::{Stop, root};
use modules::Modules;

pub(crate) fn run(only: Option<&str>, quiet: bool) -> Result<(), Stop> {
    let mut circles = Vec::new();
    let crates = crates(&root(), only)?;
    for (name, entry) in &crates {
        let layers = Layers::of(name, entry)?;
        if !quiet {
            print!("{layers}");
        }
        circles.extend(layers.circles.iter().map(|circle| format!("{name}: {}", circle.join(" ↔ "))));
    }
    if circles.is_empty() {
        let names: Vec<&str> = crates.iter().map(|(name, _)| name.as_str()).collect();
        println!("layers: no circle of imports in {}", names.join(", "));
        return Ok(());
    }
    let circles = circles.join("\n  ");
    Err(Stop::Failed(format!(
        "files or folders that import each other:\n  {circles}\nLet one of each pair know nothing of the other: move what both need below them."
    )))
}

/// The crates of the workspace that have sources: names, and the files in which their modules begin.
fn crates(root: &Path, only: Option<&str>) -> Result<Vec<(String, std::path::PathBuf)>, Stop> {
    let mut folders = vec![root.join("xtask")];
    let listed = fs::read_dir(root.join("crates"))
        .map_err(|error| Stop::Failed(format!("the folder `crates` cannot be read: {error}")))?;
    folders.extend(listed.flatten().map(|entry| entry.path()));
    folders.sort();
    let mut found = Vec::new();
    for folder in folders {
        let Some(name) = folder.file_name().map(|name| name.to_string_lossy().into_owned()) else { continue };
        if only.is_some_and(|only| only != name) {
            continue;
        }
        let entries = ["src/lib.rs", "src/main.rs"].map(|entry| folder.join(entry));
        found.extend(entries.into_iter().filter(|entry| entry.is_file()).map(|entry| (name.clone(), entry)));
    }
    match only {
        Some(only) if found.is_empty() => {
            Err(Stop::Usage(format!("no crate of the workspace is called {only}")))
        }
        _ => Ok(found),
    }
}

/// The files of a crate by the floor that they stand on, and the circles among them.
struct Layers {
    krate: String,
    floors: BTreeMap<usize, Vec<String>>,
    circles: Vec<Vec<String>>,
}

impl Layers {
    fn of(krate: &str, entry: &Path) -> Result<Self, Stop> {
        let modules = Modules::read(entry)?;
        let files: Vec<&str> = modules.files().collect();
        let imports: Vec<(&str, &str)> =
            imports::edges(&modules).into_iter().map(|(from, to)| (files[from], files[to])).collect();
        let (floors, mut circles) = floors(&files, &imports);
        let between_rooms: Vec<(&str, &str)> = imports
            .iter()
            .map(|&(from, to)| (room(from), room(to)))
            .filter(|(from, to)| from != to)
            .collect();
        let rooms: Vec<&str> =
            files.iter().map(|file| room(file)).collect::<BTreeSet<_>>().into_iter().collect();
        let (_, circles_of_rooms) = self::floors(&rooms, &between_rooms);
        for circle in circles_of_rooms {
            // Of files that are in no folder it is known already.
            if !circles.contains(&circle) {
                circles.push(circle);
            }
        }
        Ok(Self { krate: krate.to_owned(), floors, circles })
    }
}

/// The folder that a file is in, below that of the sources; or the file, if it is in none.
fn room(file: &str) -> &str {
    file.split_once('/').map_or(file, |(folder, _)| folder)
}

/// Puts each of `names` one above the highest that it imports. Those that import each other are on one floor, and a circle.
fn floors(names: &[&str], imports: &[(&str, &str)]) -> (BTreeMap<usize, Vec<String>>, Vec<Vec<String>>) {
    let mut graph = DiGraph::<&str, ()>::new();
    let nodes: BTreeMap<&str, NodeIndex> = names.iter().map(|&name| (name, graph.add_node(name))).collect();
    for (from, to) in imports {
        graph.update_edge(nodes[from], nodes[to], ());
    }
    let mut floor_of = BTreeMap::new();
    let mut floors: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let mut circles = Vec::new();
    // What is imported comes before what imports it.
    for group in tarjan_scc(&graph) {
        let imported = group.iter().flat_map(|&node| graph.neighbors(node));
        let below = imported.filter_map(|node| floor_of.get(&node)).max();
        let floor = below.map_or(0, |&floor: &usize| floor + 1);
        let mut members: Vec<String> = group.iter().map(|&node| graph[node].to_owned()).collect();
        members.sort();
        floor_of.extend(group.iter().map(|&node| (node, floor)));
        floors.entry(floor).or_default().extend(members.iter().cloned());
        if members.len() > 1 {
            circles.push(members);
        }
    }
    floors.values_mut().for_each(|members| members.sort());
    (floors, circles)
}

impl std::fmt::Display for Layers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = format!("{}\n", self.krate);
        for (floor, files) in self.floors.iter().rev() {
            writeln!(text, "  {floor:2}  {}", files.join("  "))?;
        }
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use super::*;

    /// A crate of made-up files, in a folder of its own.
    struct Sources(PathBuf);

    impl Sources {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let folder = std::env::temp_dir().join(format!("waitword-layers-{name}-{}", std::process::id()));
            for (path, text) in files {
                let path = folder.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Self(folder)
        }

        fn layers(&self) -> Layers {
            Layers::of("made-up", &self.0.join("lib.rs")).unwrap()
        }
    }

    impl Drop for Sources {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn floors(floors: &[(usize, &[&str])]) -> BTreeMap<usize, Vec<String>> {
        floors
            .iter()
            .map(|(floor, files)| (*floor, files.iter().map(|&file| file.to_owned()).collect()))
            .collect()
    }

    #[test]
    fn a_file_stands_above_what_it_imports_also_through_a_re_export() {
        let sources = Sources::new(
            "floors",
            &[
                ("lib.rs", "mod door; mod top; pub use top::Top;"),
                ("top.rs", "use crate::door::Thing; pub struct Top(Thing);"),
                ("door/mod.rs", "mod thing; pub use thing::Thing;"),
                ("door/thing.rs", "pub struct Thing; #[cfg(test)] mod tests { use crate::Top; }"),
            ],
        );
        let layers = sources.layers();
        assert_eq!(layers.circles, Vec::<Vec<String>>::new());
        let expected = floors(&[(0, &["door/thing.rs"]), (1, &["door/mod.rs", "top.rs"]), (2, &["lib.rs"])]);
        assert_eq!(layers.floors, expected);
    }

    #[test]
    fn folders_that_need_each_other_are_a_circle_though_no_files_are() {
        let sources = Sources::new(
            "rooms",
            &[
                ("lib.rs", "mod a; mod b;"),
                ("a/mod.rs", "pub mod low; pub mod high;"),
                ("a/low.rs", "pub struct Low;"),
                ("a/high.rs", "use crate::b::Middle; pub struct High(Middle);"),
                ("b/mod.rs", "use crate::a::low::Low; pub struct Middle(Low);"),
            ],
        );
        assert_eq!(sources.layers().circles, [["a", "b"]]);
    }

    #[test]
    fn a_visibility_is_no_import() {
        let sources = Sources::new(
            "visibility",
            &[
                ("lib.rs", "mod door;"),
                ("door/mod.rs", "mod thing; use thing::Thing; fn door(_: Thing) {}"),
                ("door/thing.rs", "pub(in crate::door) struct Thing;"),
            ],
        );
        assert_eq!(sources.layers().circles, Vec::<Vec<String>>::new());
    }

    #[test]
    fn a_circle_is_found_through_a_third_file_in_macros_and_in_paths_without_use() {
        let sources = Sources::new(
            "circle",
            &[
                ("lib.rs", "mod a; mod b; mod c; mod d;"),
                ("a.rs", "pub fn a() { crate::b::b() }"),
                ("b.rs", "pub fn b() { println!(\"{}\", super::c::C); }"),
                ("c.rs", "use super::a; pub const C: u32 = 0; fn c() { a::a() }"),
                ("d.rs", "use crate::a::a; fn d() { a() }"),
            ],
        );
        assert_eq!(sources.layers().circles, [["a.rs", "b.rs", "c.rs"]]);
    }
}
