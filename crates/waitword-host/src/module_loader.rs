//! Resolves and loads modules for `import`: files by path or `file:` URL, text in `data:` URLs, and the built-in ones of
//! `js/node/modules.js`.

use std::borrow::Cow;
use std::path::Path;

use waitword_quickjs::{Attributes, Exception, Module, ModuleLoader, Realm, Value};

use crate::agent_host;
use crate::file_url;
use crate::path_text::text_of;
use crate::source_file;
use crate::sources;

/// The module loader of an agent. The name of a module is its path, `node:` with the name of a built-in one, or a `data:` URL. A file with a
/// query or a fragment is a module of its own, whose name is the URL.
pub(crate) struct Loader;

/// The code of Node's errors for modules that `import` does not find.
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
            let error = host.call(realm, "unresolvable", &[name, realm.string(importer)?])?;
            return Err(Exception::new(error));
        }
        let not_found = |message: String| agent_host::error_with_code(realm, NOT_FOUND, &message);
        let meant = base(importer).and_then(|base| file_url::join(&base, &reference(specifier)));
        let meant = meant
            .ok_or_else(|| not_found(format!("'{specifier}' is not a valid URL, imported by {importer}")))?;
        // `fileURLToPath` throws the errors for URLs that do not name a file here.
        let file = host.call(realm, "fileURLToPath", &[realm.string(meant.as_str())?])?;
        let path = sources::resolve_exactly(importer, specifier, Path::new(&realm.to_string(&file)?));
        let path = text_of(&path.map_err(not_found)?);
        let suffix = file_url::suffix(&meant);
        Ok(if suffix.is_empty() { path } else { file_url::of(&path) + &suffix })
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
                true => {
                    Ok(Module::Source { text: realm.to_string(&module)?, url: name.to_owned(), file: None })
                }
                false => default_export(realm, &realm.get(&module, 0)?),
            };
        }
        let path =
            file_url::path(name).map_or_else(|| name.to_owned(), |path| path.to_string_lossy().into_owned());
        let value = [realm.string(&path)?];
        if path.ends_with(".json") {
            // `require` and the module with the file's plain name share the loaded file.
            let read = if path == name { "requireFile" } else { "parseJson" };
            return default_export(realm, &host.call(realm, read, &value)?);
        }
        let source = source_file::read(realm, Path::new(&path)).map_err(|why| why.into_exception(realm))?;
        if sources::compile(&host, realm, &path, &source.text)?.is_none() {
            return Ok(Module::Source { text: source.text, url: url(name), file: Some(path) });
        }
        let exports = host.call(realm, "requireFile", &value)?;
        if exports.is_object() { Ok(Module::Exports(exports)) } else { default_export(realm, &exports) }
    }
}

/// Whether this is a `data:` URL.
pub(crate) fn is_data(name: &str) -> bool {
    name.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// `import.meta.url` of a module. For a file it is `pathToFileURL` of its path, which is absolute and has no dots.
pub(crate) fn url(name: &str) -> String {
    if is_data(name) || file_url::path(name).is_some() {
        return name.to_owned();
    }
    file_url::of(name)
}

/// The base URL of the specifiers in a module of this name. For text that is not in a file, it is the current directory.
fn base(importer: &str) -> Option<String> {
    if Path::new(importer).is_absolute() || file_url::path(importer).is_some() {
        return Some(url(importer));
    }
    Some(file_url::of(&text_of(&std::env::current_dir().ok()?.join("importer"))))
}

/// Converts a specifier into a URL reference. An absolute path of Windows would otherwise have a scheme of one letter.
fn reference(specifier: &str) -> Cow<'_, str> {
    match cfg!(windows) && Path::new(specifier).is_absolute() {
        true => file_url::of(specifier).into(),
        false => specifier.into(),
    }
}

/// The URL of an agent's script, which need not be a file. A script from standard input gets a URL in the current directory, as the base of
/// relative URLs.
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
