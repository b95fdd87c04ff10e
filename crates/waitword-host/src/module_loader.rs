//! Where `import` finds modules: files by path or `file:` URL, texts in `data:` URLs, and the built-in ones of `js/node/builtins.js`.

use std::path::Path;

use waitword_quickjs::{Attributes, Exception, Module, ModuleLoader, Realm, Value};

use crate::agent_host;
use crate::file_url;
use crate::path_text::text_of;
use crate::source_file;
use crate::sources::{self, Compiled};

/// The loader of one agent. The name of a module is its path, `node:` and the name of a built-in one, or a `data:` URL.
pub(crate) struct Loader;

/// The code of Node's errors about modules that `import` does not find.
const NOT_FOUND: &str = "ERR_MODULE_NOT_FOUND";

impl ModuleLoader for Loader {
    fn resolve(&self, realm: &Realm, importer: &str, specifier: &str) -> Result<String, Exception> {
        if is_data(specifier) {
            return Ok(specifier.to_owned());
        }
        let host = agent_host::of(realm)?;
        let name = realm.string(specifier)?;
        let code = realm.string(NOT_FOUND)?;
        let by = realm.string(&format!(", imported by {importer}"))?;
        if !host.call(realm, "builtin", &[name.clone(), code, by])?.is_undefined() {
            return Ok(format!("node:{}", specifier.trim_start_matches("node:")));
        }
        if is_data(importer) && !specifier.starts_with("file:") {
            return Err(match host.call(realm, "unresolvable", &[name, realm.string(importer)?]) {
                Err(thrown) => thrown,
                Ok(_) => realm.error("a data: URL is no base"),
            });
        }
        let file = match specifier.starts_with("file:") {
            true => realm.to_string(&host.call(realm, "fileURLToPath", &[name])?)?,
            false => specifier.to_owned(),
        };
        let path = sources::resolve_exactly(importer, &file);
        let path = path.map_err(|message| agent_host::error_with_code(realm, NOT_FOUND, &message))?;
        Ok(text_of(&path))
    }

    fn load(&self, realm: &Realm, name: &str) -> Result<Module, Exception> {
        let host = agent_host::of(realm)?;
        let value = [realm.string(name)?];
        if name.starts_with("node:") {
            return host.call(realm, "builtin", &value).map(Module::Exports);
        }
        if is_data(name) {
            let module = host.call(realm, "dataModule", &value)?;
            return match module.is_string() {
                true => Ok(Module::Source { text: realm.to_string(&module)?, url: name.to_owned() }),
                false => default_export(realm, &realm.get(&module, 0)?),
            };
        }
        if name.ends_with(".json") {
            return default_export(realm, &host.call(realm, "requireFile", &value)?);
        }
        let source = source_file::read(realm, Path::new(name)).map_err(|why| why.into_exception(realm))?;
        match sources::compile(&host, realm, name, &source.text)? {
            Compiled::Module => Ok(Module::Source { text: source.text, url: url(name) }),
            Compiled::Script(_) => {
                let exports = host.call(realm, "requireFile", &value)?;
                if exports.is_object() {
                    Ok(Module::Exports(exports))
                } else {
                    default_export(realm, &exports)
                }
            }
        }
    }
}

/// Whether this names a module by its text.
pub(crate) fn is_data(name: &str) -> bool {
    name.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// `import.meta.url` of a module. Of one in a file it is what `pathToFileURL` makes of its path, which is absolute and has no dots.
pub(crate) fn url(path: &str) -> String {
    if is_data(path) {
        return path.to_owned();
    }
    file_url::of(path)
}

/// The same of an agent's script, which need not be a file: what came from the standard input stands for one in the current
/// directory, so that relative URLs have something to be relative to.
pub(crate) fn url_of_script(name: &str) -> String {
    match std::env::current_dir() {
        Ok(folder) if name == sources::STDIN => url(&text_of(&folder.join(name))),
        _ => url(name),
    }
}

fn default_export(realm: &Realm, value: &Value) -> Result<Module, Exception> {
    let exports = realm.object()?;
    realm.define(&exports, "default", value, Attributes::ASSIGNED)?;
    Ok(Module::Exports(exports))
}
