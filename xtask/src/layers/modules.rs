//! The modules of a crate, and the files that they are in.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::line::Stop;
use syn::{Attribute, Expr, Item, Lit, Meta, UseTree, Visibility};

/// A module's path below the crate: `["shard", "lock"]`.
pub(super) type ModulePath = Vec<String>;

/// The crate's files as they were parsed, and its modules.
pub(super) struct Modules {
    files: Vec<File>,
    /// Platforms may each have a file for one module.
    by_path: BTreeMap<ModulePath, Vec<usize>>,
    /// What a module re-exports: under which name, and from where.
    exports: BTreeMap<(ModulePath, String), Vec<ModulePath>>,
}

pub(super) struct File {
    /// Below the folder of the crate's sources.
    name: String,
    pub(super) module: ModulePath,
    pub(super) items: Vec<Item>,
}

impl Modules {
    /// Follows the `mod` lines from `entry` on.
    pub(super) fn read(entry: &Path) -> Result<Self, Stop> {
        let mut modules = Self { files: Vec::new(), by_path: BTreeMap::new(), exports: BTreeMap::new() };
        let folder = entry.parent().unwrap_or(Path::new("")).to_path_buf();
        modules.add(entry, &folder, &folder, Vec::new())?;
        Ok(modules)
    }

    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.name.as_str())
    }

    pub(super) fn parsed(&self) -> &[File] {
        &self.files
    }

    pub(super) fn has(&self, path: &[String]) -> bool {
        self.by_path.contains_key(path)
    }

    /// The files that define `name` in the module at `path`: its own, or whence it re-exports the name.
    pub(super) fn definers(&self, path: &[String], name: Option<&String>) -> Vec<usize> {
        let exported = name.and_then(|name| self.exports.get(&(path.to_vec(), name.clone())));
        let from: Vec<usize> = exported
            .into_iter()
            .flatten()
            .filter(|origin| origin.as_slice() != path)
            .flat_map(|origin| {
                let known = (0..=origin.len()).rev().find(|&end| self.has(&origin[..end])).unwrap_or(0);
                self.definers(&origin[..known], origin.get(known))
            })
            .collect();
        if from.is_empty() { self.by_path.get(path).cloned().unwrap_or_default() } else { from }
    }

    /// `below` is the folder in which the file's own `mod` lines look for theirs.
    fn add(&mut self, path: &Path, root: &Path, below: &Path, module: ModulePath) -> Result<(), Stop> {
        let failed = |what: &dyn std::fmt::Display| Stop::Failed(format!("{}: {what}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| failed(&error))?;
        let items = syn::parse_file(&text).map_err(|error| failed(&error))?.items;
        let index = self.files.len();
        let name = path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/");
        self.files.push(File { name, module: module.clone(), items: Vec::new() });
        self.enter(&items, index, path, root, below, &module)?;
        self.files[index].items = items;
        Ok(())
    }

    /// Notes the modules and re-exports among `items`, which are in the file `index` and the module `module`.
    fn enter(
        &mut self,
        items: &[Item],
        index: usize,
        file: &Path,
        root: &Path,
        below: &Path,
        module: &ModulePath,
    ) -> Result<(), Stop> {
        self.by_path.entry(module.clone()).or_default().push(index);
        for item in items {
            match item {
                Item::Mod(inner) if !is_test(&inner.attrs) => {
                    let name = inner.ident.to_string();
                    let path: ModulePath = module.iter().cloned().chain([name.clone()]).collect();
                    if let Some((_, items)) = &inner.content {
                        self.enter(items, index, file, root, &below.join(&name), &path)?;
                        continue;
                    }
                    let candidates = match explicit_path(&inner.attrs) {
                        Some(explicit) => vec![file.parent().unwrap_or(root).join(explicit)],
                        None => vec![below.join(format!("{name}.rs")), below.join(&name).join("mod.rs")],
                    };
                    let Some(found) = candidates.into_iter().find(|path| path.is_file()) else {
                        return Err(Stop::Failed(format!("{}: no file for `mod {name}`", file.display())));
                    };
                    let inside: PathBuf = match found.file_stem() {
                        Some(stem) if stem != "mod" => found.with_file_name(stem),
                        _ => found.parent().unwrap_or(root).to_path_buf(),
                    };
                    self.add(&found, root, &inside, path)?;
                }
                Item::Use(inner) if !matches!(inner.vis, Visibility::Inherited) && !is_test(&inner.attrs) => {
                    for (path, name) in leaves(&inner.tree) {
                        let origin = absolute(&path, module, self.declares(items, path.first()));
                        self.exports.entry((module.clone(), name)).or_default().extend(origin);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether `items` have a `mod` line of this name, so that a path may begin with it.
    fn declares(&self, items: &[Item], name: Option<&String>) -> bool {
        items
            .iter()
            .any(|item| matches!(item, Item::Mod(inner) if name.is_some_and(|name| inner.ident == name)))
    }
}

/// The paths that a `use` names, and under which name each is known from there on.
pub(super) fn leaves(tree: &UseTree) -> Vec<(Vec<String>, String)> {
    match tree {
        UseTree::Path(path) => {
            let first = path.ident.to_string();
            let below = leaves(&path.tree).into_iter();
            below.map(|(path, name)| ([vec![first.clone()], path].concat(), name)).collect()
        }
        UseTree::Name(name) if name.ident == "self" => vec![(Vec::new(), String::new())],
        UseTree::Name(name) => vec![(vec![name.ident.to_string()], name.ident.to_string())],
        UseTree::Rename(name) => vec![(vec![name.ident.to_string()], name.rename.to_string())],
        UseTree::Glob(_) => vec![(Vec::new(), "*".to_owned())],
        UseTree::Group(group) => group.items.iter().flat_map(leaves).collect(),
    }
}

/// A path as it is named in `module`, from the crate's root on; `None` if it leads out of the crate.
pub(super) fn absolute(path: &[String], module: &[String], is_child: bool) -> Option<ModulePath> {
    let mut base = module.to_vec();
    let mut rest = path;
    match rest.first().map(String::as_str) {
        Some("crate") => {
            base.clear();
            rest = &rest[1..];
        }
        Some("self") => rest = &rest[1..],
        Some("super") => {}
        _ if is_child => {}
        _ => return None,
    }
    while rest.first().is_some_and(|first| first == "super") {
        base.pop()?;
        rest = &rest[1..];
    }
    base.extend(rest.iter().cloned());
    Some(base)
}

/// Whether what has these attributes is compiled for tests or documentation alone.
pub(super) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string();
            let condition = condition.trim();
            ["test", "doc"].contains(&condition)
                || condition.starts_with("all (test")
                || condition.starts_with("all(test")
        }
        _ => false,
    })
}

fn explicit_path(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    })
}
