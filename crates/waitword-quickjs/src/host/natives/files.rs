//! Files of source text.

use std::path::Path;

use crate::ffi::{Call, Exception, Realm, Value};
use crate::host::agent_host;
use crate::host::sources::{self, Compiled};

pub(super) fn cwd(realm: &Realm, _: &Call<'_>) -> Result<Value, Exception> {
    match std::env::current_dir() {
        Ok(path) => realm.string(&path.to_string_lossy()),
        Err(error) => Err(realm.error(&format!("no current directory: {error}"))),
    }
}

/// `resolve(specifier, importer)`: the path of a file.
pub(super) fn resolve(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let (specifier, importer) = (realm.to_string(&call.argument(0))?, realm.to_string(&call.argument(1))?);
    let path = sources::resolve(&importer, &specifier);
    let path = path.map_err(|message| agent_host::error_with_code(realm, "MODULE_NOT_FOUND", &message))?;
    realm.string(&path.to_string_lossy())
}

pub(super) fn read_file(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let path = realm.to_string(&call.argument(0))?;
    realm.string(&sources::read(Path::new(&path)).map_err(|message| realm.error(&message))?)
}

/// `compileFile(path)`: the function that a CommonJS module is.
pub(super) fn compile_file(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let host = agent_host::of(realm)?;
    let path = realm.to_string(&call.argument(0))?;
    let text = sources::read(Path::new(&path)).map_err(|message| realm.error(&message))?;
    match sources::compile(&host, realm, &path, text)? {
        Compiled::Script(function) => Ok(function),
        Compiled::Module(_) => {
            let message = format!("{path} is an ES module: use import() instead of require()");
            Err(agent_host::error_with_code(realm, "ERR_REQUIRE_ESM", &message))
        }
    }
}

/// `runGlobally(isSource, fileOrSource)`: as a classic script of a page.
pub(super) fn run_globally(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let text = realm.to_string(&call.argument(1))?;
    if realm.to_bool(&call.argument(0)) {
        return realm.eval(sources::EVAL, &text);
    }
    let source = sources::read(Path::new(&text)).map_err(|message| realm.error(&message))?;
    realm.eval(&text, &source)
}
