//! The paths that a file names, and the files that they lead to.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Item, ItemMod, ItemUse, Macro};

use super::modules::{Modules, absolute, is_test, leaves};

/// Which file imports which, by their numbers. A file does not import itself.
pub(super) fn edges(modules: &Modules) -> BTreeSet<(usize, usize)> {
    let mut edges = BTreeSet::new();
    for (from, file) in modules.parsed().iter().enumerate() {
        let mut named = Named { modules, module: file.module.clone(), found: BTreeSet::new() };
        file.items.iter().for_each(|item| named.visit_item(item));
        edges.extend(named.found.into_iter().filter(|&to| to != from).map(|to| (from, to)));
    }
    edges
}

/// What the file that is visited names.
struct Named<'a> {
    modules: &'a Modules,
    module: Vec<String>,
    found: BTreeSet<usize>,
}

impl Named<'_> {
    fn name(&mut self, path: &[String]) {
        let is_child = path.first().is_some_and(|first| {
            let child: Vec<String> = self.module.iter().chain([first]).cloned().collect();
            self.modules.has(&child)
        });
        let Some(path) = absolute(path, &self.module, is_child) else { return };
        // The longest part of the path that is a module, and what is named in it.
        let end = (0..=path.len()).rev().find(|&end| self.modules.has(&path[..end])).unwrap_or(0);
        self.found.extend(self.modules.definers(&path[..end], path.get(end)));
    }

    /// A macro's arguments are no syntax before it is expanded; its paths can be told all the same.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) if path.is_empty() || colons == 2 => {
                    path.push(ident.to_string());
                    colons = 0;
                    continue;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && colons < 2 && !path.is_empty() => {
                    colons += 1;
                    continue;
                }
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(ident) => {
                    self.end_of(&mut path);
                    path.push(ident.to_string());
                    colons = 0;
                    continue;
                }
                _ => {}
            }
            self.end_of(&mut path);
            colons = 0;
        }
        self.end_of(&mut path);
    }

    fn end_of(&mut self, path: &mut Vec<String>) {
        // A word by itself in a macro is rather a variable than a module.
        if path.len() > 1 {
            self.name(path);
        }
        path.clear();
    }
}

impl<'a> Visit<'a> for Named<'_> {
    fn visit_item(&mut self, item: &'a Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'a ItemMod) {
        if item.content.is_none() {
            return;
        }
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'a ItemUse) {
        for (path, _) in leaves(&item.tree) {
            self.name(&path);
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        if path.leading_colon.is_none() && path.segments.len() > 1 {
            let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.name(&names);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'a Macro) {
        self.visit_path(&call.path);
        self.tokens(call.tokens.clone());
    }
}

fn attributes(item: &Item) -> &[syn::Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
