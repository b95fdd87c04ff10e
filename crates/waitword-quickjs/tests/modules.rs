//! ES modules of which the loader fails. Their texts, URLs, exports and errors are in the scripts of `waitword-cli`.

mod common;

use common::agent;
use waitword_quickjs::{Exception, JsAgent, JsError, JsValue, Module, ModuleLoader, Realm};

/// A bug in the host.
struct Panics;

impl ModuleLoader for Panics {
    fn resolve(&self, _: &Realm, _: &str, specifier: &str) -> Result<String, Exception> {
        Ok(specifier.to_owned())
    }

    fn load(&self, _: &Realm, _: &str) -> Result<Module, Exception> {
        panic!("a bug in the loader");
    }
}

/// Runs a module to its end.
fn run(js: &JsAgent, source: &str) -> Result<JsValue, JsError> {
    js.run_until_settled(&js.eval_module("main.mjs", source)?)
}

#[test]
fn a_loader_that_panics_ends_the_script_only() {
    let js = agent();
    js.runtime().set_module_loader(Panics);
    let error = run(&js, "import 'panics';").unwrap_err();
    assert!(error.is_uncatchable && error.message.contains("the module loader panicked"), "{error}");
    assert!(run(&js, "globalThis.alive = true;").is_ok());
}

#[test]
fn without_a_loader_an_import_is_an_error() {
    let error = run(&agent(), "import 'x';").unwrap_err();
    assert!(error.message.starts_with("ReferenceError"), "{error}");
}
