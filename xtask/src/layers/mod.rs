//! Which file imports which, crate by crate: no two may need each other, not even through others.
//!
//! `modules.rs` follows the `mod` lines of a crate, collects the paths that a file names, and resolves each to the file that defines
//! the name, also through a re-export. Here the files are put on floors: a file stands one above the highest that it imports. The
//! same is asked of the folders below `src`. Tests are left out; they may import everything.

mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use serde_json::Value;

use crate::line::Stop;
use crate::publish::{list, metadata};
use modules::Modules;

pub(crate) fn run(only: Option<&str>, quiet: bool) -> Result<(), Stop> {
    let mut circles = Vec::new();
    let crates = crates(only)?;
    for (name, entry) in &crates {
        let layers = Layers::of(name, Path::new(entry))?;
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

/// The crates of the workspace: names, and the files in which their modules begin.
fn crates(only: Option<&str>) -> Result<Vec<(String, String)>, Stop> {
    let metadata = metadata(&["--no-deps"])?;
    let mut found = Vec::new();
    for package in list(&metadata["packages"]) {
        let name = package["name"].as_str().unwrap_or_default();
        let is_program = |target: &&Value| target["kind"][0] == "lib" || target["kind"][0] == "bin";
        let entries = list(&package["targets"]).iter().filter(is_program);
        let entries = entries.filter_map(|target| target["src_path"].as_str());
        if only.is_none_or(|only| only == name) {
            found.extend(entries.map(|entry| (name.to_owned(), entry.to_owned())));
        }
    }
    found.sort();
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
        let files: Vec<&str> = modules.files.iter().map(String::as_str).collect();
        let imports: Vec<(&str, &str)> =
            modules.edges().into_iter().map(|(from, to)| (files[from], files[to])).collect();
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
        writeln!(f, "{}", self.krate)?;
        self.floors
            .iter()
            .rev()
            .try_for_each(|(floor, files)| writeln!(f, "  {floor:2}  {}", files.join("  ")))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The layers of a crate of made-up files.
    fn layers(files: &[(&str, &str)]) -> Layers {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Layers::of("made-up", &folder.path().join("lib.rs")).unwrap()
    }

    #[test]
    fn a_file_stands_above_what_it_imports_also_through_a_re_export() {
        let layers = layers(&[
            ("lib.rs", "mod door; mod top; pub use top::Top;"),
            ("top.rs", "use crate::door::Other; pub struct Top(Other);"),
            ("door/mod.rs", "mod thing; pub use thing::{Thing, Thing as Other,};"),
            ("door/thing.rs", "pub struct Thing; #[cfg(test)] mod tests { use crate::Top; }"),
        ]);
        assert_eq!(layers.circles, Vec::<Vec<String>>::new());
        let expected = [(0, vec!["door/thing.rs"]), (1, vec!["door/mod.rs", "top.rs"]), (2, vec!["lib.rs"])];
        let expected =
            expected.map(|(floor, files)| (floor, files.into_iter().map(str::to_owned).collect::<Vec<_>>()));
        assert_eq!(layers.floors, BTreeMap::from(expected));
    }

    #[test]
    fn circles_of_files_and_of_folders_are_found() {
        let folders = layers(&[
            ("lib.rs", "mod a; mod b;"),
            ("a/mod.rs", "pub mod low; pub mod high;"),
            ("a/low.rs", "pub struct Low;"),
            ("a/high.rs", "use crate::b::Middle; pub struct High(Middle);"),
            ("b/mod.rs", "use crate::a::low::Low; pub struct Middle(Low);"),
        ]);
        assert_eq!(folders.circles, [["a", "b"]], "folders, though no files are");

        let visibility = layers(&[
            ("lib.rs", "mod door;"),
            ("door/mod.rs", "mod thing; use thing::Thing; fn door(_: Thing) {}"),
            ("door/thing.rs", "pub(in crate::door) struct Thing;"),
        ]);
        assert_eq!(visibility.circles, Vec::<Vec<String>>::new(), "a visibility is no import");

        let through_a_third = layers(&[
            ("lib.rs", "mod a; mod b; mod c; mod d;"),
            ("a.rs", "pub fn a() { crate::b::b() }"),
            ("b.rs", "pub fn b() { println!(\"{}\", super::c::C); }"),
            ("c.rs", "use super::a; pub const C: u32 = 0; fn c() { a::a() }"),
            ("d.rs", "use crate::a::a; fn d() { a() }"),
        ]);
        assert_eq!(through_a_third.circles, [["a.rs", "b.rs", "c.rs"]], "in macros and without `use`, too");

        let of_groups = layers(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::{c::C, b::{self,}}; pub struct A;"),
            ("b.rs", "use crate::{a::{A as B,}}; pub struct D;"),
            ("c/mod.rs", "mod low; use low::C; pub use low::C;"),
            ("c/low.rs", "use super::*; pub struct C;"),
        ]);
        assert_eq!(
            of_groups.circles,
            [["c/low.rs", "c/mod.rs"], ["a.rs", "b.rs"]],
            "in groups, and of all names"
        );
    }
}
