//! The modules of a crate, the files that they are in, and which file imports which.
//!
//! The sources are read as tokens: a path is known by its `::`, in the arguments and the rules of a macro as well.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::line::Stop;

/// A module's path below the crate: `["shard", "lock"]`.
type ModulePath = Vec<String>;

/// The crate's files and modules.
#[derive(Default)]
pub(super) struct Modules {
    /// Below the folder of the crate's sources.
    pub(super) files: Vec<String>,
    /// Platforms may each have a file for one module.
    by_path: BTreeMap<ModulePath, Vec<usize>>,
    /// What a module re-exports under a name, as the paths that it names.
    exports: BTreeMap<(ModulePath, String), Vec<Vec<String>>>,
    /// The paths that a file names, and in which of its modules.
    named: Vec<(usize, ModulePath, Vec<String>)>,
}

/// Where the lines of a file or an inline module are.
struct Place<'a> {
    file: usize,
    path: &'a Path,
    /// The folder of the crate's sources.
    root: &'a Path,
    /// The folder in which its own `mod` lines look for their files.
    below: PathBuf,
    module: ModulePath,
}

impl Modules {
    /// Follows the `mod` lines from `entry` on.
    pub(super) fn read(entry: &Path) -> Result<Self, Stop> {
        let mut modules = Self::default();
        let folder = entry.parent().unwrap_or(Path::new(""));
        modules.add(entry, folder, folder.to_path_buf(), Vec::new())?;
        Ok(modules)
    }

    /// Which file imports which, by their numbers. A file does not import itself.
    pub(super) fn edges(&self) -> BTreeSet<(usize, usize)> {
        let named = self.named.iter().flat_map(|(from, module, path)| {
            self.files_of(path, module).into_iter().map(move |to| (*from, to))
        });
        named.filter(|(from, to)| from != to).collect()
    }

    /// The files that define what `path` names in `module`: nothing if it leads out of the crate.
    fn files_of(&self, path: &[String], module: &[String]) -> Vec<usize> {
        let Some(path) = self.absolute(path, module) else { return Vec::new() };
        // The longest part of the path that is a module, and what is named in it.
        let end = (0..=path.len()).rev().find(|&end| self.by_path.contains_key(&path[..end])).unwrap_or(0);
        let exported = path.get(end).and_then(|name| self.exports.get(&(path[..end].to_vec(), name.clone())));
        let origins = exported.into_iter().flatten();
        let origins =
            origins.filter(|origin| self.absolute(origin, &path[..end]).is_none_or(|it| it != path));
        let from: Vec<usize> = origins.flat_map(|origin| self.files_of(origin, &path[..end])).collect();
        if from.is_empty() { self.by_path.get(&path[..end]).cloned().unwrap_or_default() } else { from }
    }

    /// A path as it is named in `module`, from the crate's root on.
    fn absolute(&self, path: &[String], module: &[String]) -> Option<ModulePath> {
        let (first, rest) = path.split_first()?;
        let (mut base, mut rest) = match first.as_str() {
            "crate" => (Vec::new(), rest),
            "self" => (module.to_vec(), rest),
            "super" => (module.to_vec(), path),
            name if self.by_path.contains_key(&[module, &[name.to_owned()]].concat()) => {
                (module.to_vec(), path)
            }
            _ => return None,
        };
        while rest.first().is_some_and(|first| first == "super") {
            base.pop()?;
            rest = &rest[1..];
        }
        Some([base, rest.to_vec()].concat())
    }

    fn add(&mut self, path: &Path, root: &Path, below: PathBuf, module: ModulePath) -> Result<(), Stop> {
        let failed = |what: &dyn std::fmt::Display| Stop::Failed(format!("{}: {what}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| failed(&error))?;
        let tokens = text.parse::<TokenStream>().map_err(|error| failed(&error))?;
        let file = self.files.len();
        self.files.push(path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/"));
        self.enter(tokens, &Place { file, path, root, below, module })
    }

    /// Notes the modules, the re-exports and the paths among the items of a module. Of tests nothing is noted.
    fn enter(&mut self, tokens: TokenStream, at: &Place<'_>) -> Result<(), Stop> {
        self.by_path.entry(at.module.clone()).or_default().push(at.file);
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut rest = TokenStream::new();
        let (mut next, mut explicit) = (0, None);
        while let Some(token) = tokens.get(next) {
            match &tokens[next..] {
                [TokenTree::Punct(hash), TokenTree::Group(attribute), ..] if hash.as_char() == '#' => {
                    let attribute = attribute.stream().to_string();
                    next += 2;
                    if is_test(&attribute) {
                        next += 1 + tokens[next..].iter().position(ends_item).unwrap_or(tokens.len());
                    } else if attribute.starts_with("path") {
                        explicit = attribute.split('"').nth(1).map(str::to_owned);
                    }
                    continue;
                }
                [TokenTree::Ident(word), TokenTree::Ident(name), end, ..]
                    if word == "mod" && ends_item(end) =>
                {
                    let name = name.to_string();
                    let module = [&at.module[..], std::slice::from_ref(&name)].concat();
                    match end {
                        TokenTree::Group(inline) => {
                            let below = at.below.join(&name);
                            self.enter(inline.stream(), &Place { below, module, ..*at })?;
                        }
                        _ => self.add_child(at, &name, explicit.take(), module)?,
                    }
                    next += 3;
                    continue;
                }
                [TokenTree::Ident(word), ..] if word == "use" && is_public(&tokens[..next]) => {
                    let tree = tokens[next + 1..].iter().take_while(|token| !is_punct(token, ';'));
                    for (path, name) in paths(tree.cloned().collect(), &[]) {
                        self.exports.entry((at.module.clone(), name)).or_default().push(path);
                    }
                }
                _ => {}
            }
            rest.extend([token.clone()]);
            next += 1;
        }
        self.named.extend(paths(rest, &[]).into_iter().map(|(path, _)| (at.file, at.module.clone(), path)));
        Ok(())
    }

    /// The file of `mod name;`.
    fn add_child(
        &mut self,
        at: &Place<'_>,
        name: &str,
        explicit: Option<String>,
        module: ModulePath,
    ) -> Result<(), Stop> {
        let candidates = match explicit {
            Some(explicit) => vec![at.path.parent().unwrap_or(at.root).join(explicit)],
            None => vec![at.below.join(format!("{name}.rs")), at.below.join(name).join("mod.rs")],
        };
        let Some(found) = candidates.into_iter().find(|path| path.is_file()) else {
            return Err(Stop::Failed(format!("{}: no file for `mod {name}`", at.path.display())));
        };
        let below = match found.file_stem() {
            Some(stem) if stem != "mod" => found.with_file_name(stem),
            _ => found.parent().unwrap_or(at.root).to_path_buf(),
        };
        self.add(&found, at.root, below, module)
    }
}

/// The paths of two parts and more among the tokens, those of a `use` below `prefix`, and under which name each is known from there on.
fn paths(tokens: TokenStream, prefix: &[String]) -> Vec<(Vec<String>, String)> {
    let mut found: Vec<(Vec<String>, String)> = Vec::new();
    let mut path = prefix.to_vec();
    // Two join what follows to the path.
    let mut colons = if prefix.is_empty() { 0 } else { 2 };
    let mut tokens = tokens.into_iter().peekable();
    loop {
        let token = tokens.next();
        match &token {
            Some(TokenTree::Punct(punct)) if punct.as_char() == ':' && !path.is_empty() => {
                colons += 1;
                continue;
            }
            Some(TokenTree::Ident(ident)) if colons == 2 => {
                path.push(ident.to_string());
                colons = 0;
                continue;
            }
            Some(TokenTree::Group(group)) if colons == 2 && group.delimiter() == Delimiter::Brace => {
                found.extend(paths(group.stream(), &path));
                path.clear();
            }
            Some(TokenTree::Punct(punct)) if colons == 2 && punct.as_char() == '*' => {
                path.push("*".to_owned())
            }
            _ => {}
        }
        // Here the path ends; with `self` or `*` it leads to the module that it names.
        if path.len() > prefix.len().max(1) {
            found.push((path.clone(), path.last().cloned().unwrap_or_default()));
        }
        path.clear();
        colons = 0;
        match token {
            None => return found,
            Some(TokenTree::Punct(punct)) if punct.as_char() == ',' && !prefix.is_empty() => {
                path = prefix.to_vec();
                colons = 2;
            }
            Some(TokenTree::Ident(ident)) if ident == "as" => {
                if let (Some((_, name)), Some(TokenTree::Ident(new))) = (found.last_mut(), tokens.peek()) {
                    *name = new.to_string();
                }
            }
            Some(TokenTree::Ident(ident)) => {
                // `pub(in crate::door)` names who may import this, not what this imports.
                if ident == "pub" && tokens.peek().is_some_and(is_visibility) {
                    tokens.next();
                }
                path.push(ident.to_string());
            }
            Some(TokenTree::Group(group)) => found.extend(paths(group.stream(), &[])),
            Some(_) => {}
        }
    }
}

fn is_punct(token: &TokenTree, char: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == char)
}

fn ends_item(token: &TokenTree) -> bool {
    is_punct(token, ';') || matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

/// What follows `pub` in brackets.
fn is_visibility(token: &TokenTree) -> bool {
    let TokenTree::Group(group) = token else { return false };
    let first = group.stream().into_iter().next().map(|token| token.to_string());
    group.delimiter() == Delimiter::Parenthesis
        && first.is_some_and(|first| ["in", "crate", "super", "self"].contains(&&*first))
}

/// Whether an item after these tokens is.
fn is_public(before: &[TokenTree]) -> bool {
    let is_pub = |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Ident(word)) if word == "pub");
    is_pub(before.last())
        || before.last().is_some_and(is_visibility)
            && is_pub(before.len().checked_sub(2).map(|at| &before[at]))
}

/// Whether what has this attribute is compiled for tests or documentation alone.
fn is_test(attribute: &str) -> bool {
    let attribute = attribute.replace(' ', "");
    ["cfg(test)", "cfg(doc)"].contains(&&*attribute) || attribute.starts_with("cfg(all(test")
}
