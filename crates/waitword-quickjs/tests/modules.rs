//! ES modules whose text, or whose exports, come from Rust.

mod common;

use std::collections::HashMap;

use common::agent;
use waitword_quickjs::{Attributes, Exception, JsAgent, JsError, JsValue, Module, ModuleLoader, Realm};

/// Modules by name; `native` is made by Rust, `panics` is a bug in the host.
struct Library(HashMap<&'static str, &'static str>);

impl ModuleLoader for Library {
    fn resolve(&self, realm: &Realm, importer: &str, specifier: &str) -> Result<String, Exception> {
        match specifier {
            "unresolvable" => Err(realm.reference_error(&format!("{importer} cannot import {specifier}"))),
            _ => Ok(specifier.trim_start_matches("./").to_owned()),
        }
    }

    fn load(&self, realm: &Realm, name: &str) -> Result<Module, Exception> {
        if name == "panics" {
            panic!("a bug in the loader");
        }
        if name == "native" {
            let exports = realm.object()?;
            realm.define(&exports, "answer", &realm.number(42), Attributes::ASSIGNED)?;
            realm.define(
                &exports,
                "greet",
                &realm.function("greet", 0, |realm, _| realm.string("hello"))?,
                Attributes::ASSIGNED,
            )?;
            return Ok(Module::Exports(exports));
        }
        match self.0.get(name) {
            Some(text) => {
                Ok(Module::Source { text: (*text).to_owned(), url: format!("lib:{name}"), file: None })
            }
            None => Err(realm.reference_error(&format!("no module is called {name}"))),
        }
    }
}

fn agent_with(modules: &[(&'static str, &'static str)]) -> JsAgent {
    let js = agent();
    js.runtime().set_module_loader(Library(modules.iter().copied().collect()));
    js
}

/// Runs a module to its end and gives the global `result`.
fn result_of(js: &JsAgent, source: &str) -> Result<String, JsError> {
    let promise = js.eval_module("main.mjs", source)?;
    js.run_until_settled(&promise)?;
    match js.eval("result", "String(globalThis.result)")? {
        JsValue::String(text) => Ok(text),
        other => panic!("{other:?}"),
    }
}

#[test]
fn modules_know_their_url() {
    let js = agent_with(&[("a", "export default import.meta.url;")]);
    let source = "import a from 'a'; globalThis.result = a + ' ' + import.meta.url;";
    assert_eq!(result_of(&js, source).unwrap(), "lib:a main.mjs");
}

#[test]
fn exports_can_be_made_by_rust() {
    let js = agent_with(&[]);
    let source = "import native, { answer, greet } from 'native'; import * as all from 'native';
        globalThis.result = [answer, greet(), native.answer, Object.keys(all).join('+')].join();";
    assert_eq!(result_of(&js, source).unwrap(), "42,hello,42,answer+default+greet");
    let missing = result_of(&js, "import { nothing } from 'native';").unwrap_err();
    assert!(missing.message.contains("nothing"), "{missing}");
}

#[test]
fn errors_of_modules_say_where() {
    let js = agent_with(&[("bad", "let x = ;"), ("throws", "\n\n  throw new RangeError('boo');")]);
    let error = result_of(&js, "import 'bad';").unwrap_err();
    assert!(error.is_syntax_error, "{error}");
    assert_eq!((error.file.as_deref(), error.line, error.column), (Some("bad"), Some(1), Some(9)));
    let error = result_of(&js, "await import('throws');").unwrap_err();
    assert_eq!(
        (error.message.as_str(), error.file.as_deref(), error.line),
        ("RangeError: boo", Some("throws"), Some(3))
    );
    let error = result_of(&js, "import 'missing';").unwrap_err();
    assert_eq!(error.message, "ReferenceError: no module is called missing");
    let error = result_of(&js, "import 'unresolvable';").unwrap_err();
    assert_eq!(error.message, "ReferenceError: main.mjs cannot import unresolvable");
}

#[test]
fn a_loader_that_panics_ends_the_script_only() {
    let js = agent_with(&[]);
    let error = result_of(&js, "import 'panics';").unwrap_err();
    assert!(error.is_uncatchable && error.message.contains("the module loader panicked"), "{error}");
    assert_eq!(result_of(&js, "globalThis.result = 'alive';").unwrap(), "alive");
}

#[test]
fn without_a_loader_an_import_is_an_error() {
    let error = result_of(&agent(), "import 'x';").unwrap_err();
    assert!(error.message.starts_with("ReferenceError"), "{error}");
}
