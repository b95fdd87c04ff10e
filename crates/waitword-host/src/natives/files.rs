//! Files of source text.

use std::path::Path;

use waitword_quickjs::{Exception, Realm, Value};

use crate::agent_host::{Caller, error_with_code};
use crate::path_text::text_of;
use crate::source_file;
use crate::source_text::SourceText;
use crate::sources::{self, Compiled};

/// `cwd()`
pub(super) fn cwd(by: Caller<'_>) -> Result<String, Exception> {
    let folder = std::env::current_dir();
    folder
        .map(|path| text_of(&path))
        .map_err(|error| by.realm.error(&format!("no current directory: {error}")))
}

/// `resolve(specifier, importer)`: the path of a file.
pub(super) fn resolve(by: Caller<'_>, specifier: String, importer: String) -> Result<String, Exception> {
    let path = sources::resolve(&importer, &specifier);
    path.map(|path| text_of(&path)).map_err(|message| error_with_code(by.realm, "MODULE_NOT_FOUND", &message))
}

/// `compileFile(path)`: the function that a CommonJS module is.
pub(super) fn compile_file(Caller { host, realm }: Caller<'_>, path: String) -> Result<Value, Exception> {
    let source = read(realm, &path)?;
    match sources::compile(host, realm, &path, &source.text)? {
        Compiled::Script(function) => Ok(function),
        Compiled::Module => {
            let message = format!("{path} is an ES module: use import() instead of require()");
            Err(error_with_code(realm, "ERR_REQUIRE_ESM", &message))
        }
    }
}

/// `runGlobally(isSource, fileOrSource)`: as a classic script of a page.
pub(super) fn run_globally(by: Caller<'_>, is_source: bool, text: String) -> Result<Value, Exception> {
    if is_source {
        return by.realm.eval(sources::EVAL, &text);
    }
    by.realm.eval(&text, &read(by.realm, &text)?.text)
}

pub(super) fn read(realm: &Realm, path: &str) -> Result<SourceText, Exception> {
    source_file::read(realm, Path::new(path)).map_err(|why| why.into_exception(realm))
}
