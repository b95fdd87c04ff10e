//! Files of source text.

use std::path::Path;

use crate::agent_host;
use crate::path_text::text_of;
use crate::source_file;
use crate::source_text::SourceText;
use crate::sources::{self, Compiled};
use waitword_quickjs::{Call, Exception, Realm, Value};

pub(crate) fn cwd(realm: &Realm, _: &Call<'_>) -> Result<Value, Exception> {
    match std::env::current_dir() {
        Ok(path) => realm.string(&text_of(&path)),
        Err(error) => Err(realm.error(&format!("no current directory: {error}"))),
    }
}

/// `resolve(specifier, importer)`: the path of a file.
pub(crate) fn resolve(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let (specifier, importer) = (realm.to_string(&call.argument(0))?, realm.to_string(&call.argument(1))?);
    let path = sources::resolve(&importer, &specifier);
    let path = path.map_err(|message| agent_host::error_with_code(realm, "MODULE_NOT_FOUND", &message))?;
    realm.string(&text_of(&path))
}

pub(crate) fn read_file(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let path = realm.to_string(&call.argument(0))?;
    realm.string(&read(realm, &path)?.text)
}

/// `compileFile(path)`: the function that a CommonJS module is.
pub(crate) fn compile_file(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let path = realm.to_string(&call.argument(0))?;
    let source = read(realm, &path)?;
    match sources::compile(&host, realm, &path, &source.text)? {
        Compiled::Script(function) => Ok(function),
        Compiled::Module => {
            let message = format!("{path} is an ES module: use import() instead of require()");
            Err(agent_host::error_with_code(realm, "ERR_REQUIRE_ESM", &message))
        }
    }
}

/// `runGlobally(isSource, fileOrSource)`: as a classic script of a page.
pub(crate) fn run_globally(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let text = realm.to_string(&call.argument(1))?;
    if realm.to_bool(&call.argument(0)) {
        return realm.eval(sources::EVAL, &text);
    }
    realm.eval(&text, &read(realm, &text)?.text)
}

fn read(realm: &Realm, path: &str) -> Result<SourceText, Exception> {
    source_file::read(realm, Path::new(path)).map_err(|why| why.into_exception(realm))
}
