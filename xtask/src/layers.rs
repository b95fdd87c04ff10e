//! Which file imports which, crate by crate. No two files may import each other, directly or through others.
//!
//! The sources are read as tokens. A path is recognized by its `::`, also in the arguments and rules of a macro, and leads to the file that
//! defines the name, also through a re-export. A file's layer is the one above the highest that it imports. No two folders below `src` may
//! import each other either. Tests are left out; they may import everything.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use proc_macro2::{Delimiter, Group, LexError, TokenStream, TokenTree};

use crate::files::{resolve, texts};
use crate::line::{Stop, none_of};

pub(crate) fn run(quiet: bool) -> Result<(), Stop> {
    let mut crates: BTreeMap<String, Sources> = BTreeMap::new();
    for (path, text) in texts()? {
        let below = path.strip_prefix("crates/").unwrap_or(&path);
        if let Some((krate, file)) = below.split_once("/src/").filter(|(krate, _)| !krate.contains('/')) {
            crates.entry(krate.to_owned()).or_default().insert(file.to_owned(), text);
        }
    }
    let mut all_cycles = Vec::new();
    for (krate, sources) in &crates {
        let Layers { levels, cycles } = layers(sources)?;
        if !quiet {
            println!("{krate}");
            levels.iter().rev().for_each(|(level, files)| println!("  {level:2}  {}", files.join("  ")));
        }
        all_cycles.extend(cycles.iter().map(|cycle| format!("{krate}: {}", cycle.join(" ↔ "))));
    }
    let advice = "Remove the import of one in each pair: move what both need into a file below them.";
    none_of(&format!("files or folders import each other. {advice}"), &all_cycles)?;
    println!("layers: no import cycle in {}", crates.into_keys().collect::<Vec<_>>().join(", "));
    Ok(())
}

/// The files of a crate below its `src`, with their texts.
type Sources = BTreeMap<String, String>;

/// The files of a crate by their layers, counted from 0, and the cycles among them and their folders.
#[derive(Debug, Default)]
struct Layers {
    levels: BTreeMap<usize, Vec<String>>,
    cycles: BTreeSet<Vec<String>>,
}

fn layers(sources: &Sources) -> Result<Layers, Stop> {
    let mut modules = Modules::default();
    let entry = ["lib.rs", "main.rs"].into_iter().find(|entry| sources.contains_key(*entry));
    modules.add(sources, entry.unwrap_or("lib.rs"), Path::new())?;
    let imports = modules.imports();
    let files: DiGraphMap<&str, ()> = imports.iter().copied().collect();
    // The folder of a file below `src`; or the file itself, if it is directly in `src`.
    let folder = |file| str::split_once(file, '/').map_or(file, |(folder, _)| folder);
    let folders: DiGraphMap<&str, ()> = imports.iter().map(|(from, to)| (folder(from), folder(to))).collect();
    // Imported files come before those that import them.
    let groups = tarjan_scc(&files);
    let mut level_of: BTreeMap<&str, usize> = BTreeMap::new();
    for group in &groups {
        let imported = group.iter().flat_map(|file| files.neighbors(file));
        let level = imported.filter_map(|file| level_of.get(file)).max().map_or(0, |below| below + 1);
        level_of.extend(group.iter().map(|file| (*file, level)));
    }
    let mut layers = Layers::default();
    for (file, level) in level_of {
        layers.levels.entry(level).or_default().push(file.to_owned());
    }
    for mut cycle in groups.into_iter().chain(tarjan_scc(&folders)).filter(|group| group.len() > 1) {
        cycle.sort_unstable();
        layers.cycles.insert(cycle.into_iter().map(str::to_owned).collect());
    }
    Ok(layers)
}

/// `["queue", "lock"]`: a module below the crate, or what is named in one.
type Path = Vec<String>;

/// The names that a crate's files define and use.
#[derive(Default)]
struct Modules {
    /// The files of each module; each platform may have one.
    files: BTreeMap<Path, BTreeSet<String>>,
    /// The paths that a module re-exports under a name.
    exports: BTreeMap<(Path, String), Vec<Path>>,
    /// The paths that a file's module uses.
    named: Vec<(String, Path, Path)>,
}

impl Modules {
    /// Adds a module with the names of its file, and the modules of its `mod` lines.
    fn add(&mut self, sources: &Sources, file: &str, module: Path) -> Result<(), Stop> {
        let failed = |what: String| Stop::Failed(format!("{file}: {what}"));
        let text =
            sources.get(file).ok_or_else(|| failed(format!("no file for `mod {}`", module.join("::"))))?;
        let mut words = Vec::new();
        split(text.parse().map_err(|error: LexError| failed(error.to_string()))?, &mut words);
        for (module, explicit) in self.scan(&words, file, module) {
            let path = module.join("/");
            let candidates =
                [explicit.map_or(path.clone() + ".rs", |name| resolve(file, &name)), path + "/mod.rs"];
            let found = candidates.iter().find(|path| sources.contains_key(*path)).unwrap_or(&candidates[0]);
            self.add(sources, found, module)?;
        }
        Ok(())
    }

    /// Which file imports which. Each file is paired with itself, too, so that none is missing.
    fn imports(&self) -> BTreeSet<(&str, &str)> {
        let named = self
            .named
            .iter()
            .flat_map(|(file, module, path)| self.origins(path, module).into_iter().map(|to| (&**file, to)));
        named.chain(self.files.values().flatten().map(|file| (&**file, &**file))).collect()
    }

    /// The files that define the name `path` in `module`; none if it leads out of the crate.
    fn origins(&self, path: &[String], module: &[String]) -> Vec<&str> {
        let Some(path) = self.absolute(path, module) else { return Vec::new() };
        // The longest part of the path that is a module, and the name in it.
        let end = (0..=path.len()).rev().find(|&end| self.files.contains_key(&path[..end])).unwrap_or(0);
        let (module, name) = (&path[..end], path.get(end));
        let exported = name.and_then(|name| self.exports.get(&(module.to_vec(), name.clone())));
        let others = exported.into_iter().flatten();
        let others = others.filter(|it| self.absolute(it, module).as_ref() != Some(&path));
        let files: Vec<_> = others.flat_map(|it| self.origins(it, module)).collect();
        if files.is_empty() { self.files[module].iter().map(String::as_str).collect() } else { files }
    }

    /// A path that is used in `module`, from the crate's root.
    fn absolute(&self, path: &[String], module: &[String]) -> Option<Path> {
        let (mut base, mut rest) = (module.to_vec(), path);
        match path.first()?.as_str() {
            "crate" => (base, rest) = (Vec::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {}
            _ if self.files.contains_key(&[module, &path[..1]].concat()) => {}
            _ => return None,
        }
        while rest.first().is_some_and(|first| first == "super") {
            base.pop()?;
            rest = &rest[1..];
        }
        Some([&base, rest].concat())
    }

    /// Adds the paths of two or more parts among the tokens of a file (those in a group of a `use` with the prefix of the group), and the modules
    /// between braces. Returns the modules that are separate files, each with the path of its `#[path]`, if it has one.
    fn scan(&mut self, words: &[String], file: &str, module: Path) -> Vec<(Path, Option<String>)> {
        let word = |at: usize| words.get(at).map_or("", String::as_str);
        self.files.entry(module.clone()).or_default().insert(file.to_owned());
        let (mut children, mut explicit) = (Vec::new(), None);
        // For each open brace: the module, and the prefix of the group of a `use`.
        let mut outer = vec![(module, Path::new())];
        let mut path = Path::new();
        let mut is_exported = false;
        for at in 0..words.len() {
            let (module, prefix) = outer.last().expect("the file itself");
            let [last, before] = [1, 2].map(|back| word(at.wrapping_sub(back)));
            let is_joined = last == "::" || !prefix.is_empty() && ["{", ","].contains(&last);
            let is_name = word(at) == "*" || word(at).starts_with(|c: char| c.is_alphabetic() || c == '_');
            if word(at) == "::" {
                continue;
            } else if is_name && is_joined && !path.is_empty() {
                path.push(word(at).to_owned());
                continue;
            }
            let child = || [&module[..], &[last.to_owned()]].concat();
            let inner = match word(at) {
                "{" if is_joined => Some((module.clone(), std::mem::take(&mut path))),
                "{" if before == "mod" => Some((child(), Path::new())),
                "{" => Some((module.clone(), Path::new())),
                _ => None,
            };
            // A path ends here. With `self` or `*` it leads to the module that it names.
            if path.len() > prefix.len().max(1) {
                let name =
                    if word(at) == "as" { word(at + 1) } else { path.last().map_or("", String::as_str) };
                if is_exported {
                    self.exports.entry((module.clone(), name.to_owned())).or_default().push(path.clone());
                }
                self.named.push((file.to_owned(), module.clone(), path));
            }
            path = match word(at) {
                "{" | "," => inner.as_ref().map_or(prefix, |(_, prefix)| prefix).clone(),
                _ if is_name => vec![word(at).to_owned()],
                _ => Path::new(),
            };
            match word(at) {
                "use" => is_exported = last == "pub",
                "=" if [before, last] == ["[", "path"] => {
                    explicit = Some(word(at + 1).trim_matches('"').to_owned())
                }
                ";" => {
                    is_exported = false;
                    children.extend((before == "mod").then(|| (child(), explicit.take())));
                }
                "}" => drop(outer.pop()),
                _ => {}
            }
            if let Some(inner) = inner {
                self.files.entry(inner.0.clone()).or_default().insert(file.to_owned());
                outer.push(inner);
            }
        }
        children
    }
}

/// Splits a source into tokens, among them `::` and brackets; without items that are compiled only for tests or documentation.
fn split(tokens: TokenStream, words: &mut Vec<String>) {
    let ends_item = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        token => token.to_string() == ";",
    };
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        let last = words.last().map_or("", String::as_str);
        match token {
            TokenTree::Group(attribute) if last == "#" && begins(&attribute, &OF_TESTS) => {
                drop(tokens.find(ends_item));
            }
            // `pub(in crate::door)` names the importers of this item, not an import.
            TokenTree::Group(visibility) if last == "pub" && begins(&visibility, &OF_VISIBILITY) => {}
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket | Delimiter::None => ("[", "]"),
                };
                words.push(open.to_owned());
                split(group.stream(), words);
                words.push(close.to_owned());
            }
            TokenTree::Punct(punct) if punct.as_char() == ':' && last == ":" => {
                words.pop();
                words.push("::".to_owned());
            }
            other => words.push(other.to_string()),
        }
    }
}

const OF_TESTS: [&str; 3] = ["cfg(test)", "cfg(doc", "cfg(all(test"];
const OF_VISIBILITY: [&str; 6] = ["crate", "super", "self", "incrate", "insuper", "inself"];

fn begins(group: &Group, starts: &[&str]) -> bool {
    let text = group.stream().to_string().replace(' ', "");
    starts.iter().any(|start| text.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The layers of a crate of made-up files, each a line `PATH: TEXT`.
    fn layers(files: &str) -> Layers {
        let files = files.lines().filter_map(|line| line.trim().split_once(": "));
        super::layers(&files.map(|(path, text)| (path.to_owned(), text.to_owned())).collect()).unwrap()
    }

    #[test]
    fn a_file_stands_above_what_it_imports_also_through_a_re_export() {
        let layers = layers(
            "lib.rs: mod door; mod top; pub use top::Top;
            top.rs: use crate::door::Other; pub struct Top(Other);
            door/mod.rs: mod thing; pub use thing::{Thing, Thing as Other,};
            door/thing.rs: pub struct Thing; #[cfg(test)] mod tests { use crate::Top; }",
        );
        let levels = layers.levels.values().map(|files| files.join(" "));
        assert_eq!(levels.collect::<Vec<_>>(), ["door/thing.rs", "door/mod.rs top.rs", "lib.rs"]);
        assert!(layers.cycles.is_empty(), "{layers:?}");
    }

    #[test]
    fn cycles_of_files_and_of_folders_are_found() {
        for (what, files, cycles) in [
            (
                "folders, though no files are",
                "lib.rs: mod a; mod b;
                a/mod.rs: pub mod low; pub mod high;
                a/low.rs: pub struct Low;
                a/high.rs: use crate::b::Middle; pub struct High(Middle);
                b/mod.rs: use crate::a::low::Low; pub struct Middle(Low);",
                vec!["a b"],
            ),
            (
                "a visibility is no import",
                "lib.rs: mod door;
                door/mod.rs: mod thing; use thing::Thing; fn door(_: Thing) {}
                door/thing.rs: pub(in crate::door) struct Thing;",
                vec![],
            ),
            (
                "in macros, without `use` and in a module of the file, too",
                "lib.rs: mod a; mod b; mod c; mod d;
                a.rs: pub fn a() { crate::b::b() }
                b.rs: pub fn b() { println!(\"{}\", super::c::C); }
                c.rs: mod inner { use super::super::a; fn c() { a::a() } } pub const C: u32 = 0;
                d.rs: use crate::a::a; fn d() { a() }",
                vec!["a.rs b.rs c.rs"],
            ),
            (
                "in groups, and of all names",
                "lib.rs: mod a; mod b; mod c;
                a.rs: use crate::{c::C, b::{self,}}; pub struct A;
                b.rs: use crate::{a::{A as B,}}; pub struct D;
                c/mod.rs: mod low; use low::C; pub use low::C;
                c/low.rs: use super::*; pub struct C;",
                vec!["a.rs b.rs", "c/low.rs c/mod.rs"],
            ),
        ] {
            let found: Vec<_> = layers(files).cycles.iter().map(|cycle| cycle.join(" ")).collect();
            assert_eq!(found, cycles, "{what}");
        }
    }
}
