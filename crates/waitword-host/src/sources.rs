//! Source text: finding its file, and deciding whether it is a module or a script. It is read in source_file.rs.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use waitword_quickjs::{Exception, Realm, Script, Value, parses_as_module};

use crate::agent_host::Host;
use crate::path_text::path_of;
use crate::{file_url, source_file, source_text, worker_options};

/// The file name in stacks of source text from standard input.
pub(crate) const STDIN: &str = "[stdin]";

/// The parameters of a CommonJS module.
const PARAMETERS: &str = "exports, require, module, __filename, __dirname";

/// Compiles a CommonJS module into a function; `None` if the text is an ES module. As in Node, this depends on the extension, the nearest
/// `package.json`, or whether the text is a valid script.
///
/// # Errors
/// A SyntaxError of a script.
pub(crate) fn compile(
    host: &Host,
    realm: &Realm,
    name: &str,
    text: &str,
) -> Result<Option<Value>, Exception> {
    let kind = declared(host, realm, &path_of(Path::new(name)));
    if let Some(Kind::Module) = kind {
        return Ok(None);
    }
    match realm.compile_function(name, PARAMETERS, text) {
        Ok(compiled) => Ok(Some(compiled)),
        // For example, there was no memory to parse it.
        Err(other) if kind.is_some() || !realm.describe(&other).is_syntax_error => Err(other),
        Err(_) if parses_as_module(text) => Ok(None),
        Err(as_script) if looks_like_module(realm, &as_script, text) => Ok(None),
        Err(as_script) => Err(as_script),
    }
}

/// Parses the script of a web worker, whose declarations are global; `None` if the text is only valid as a module.
///
/// # Errors
/// A SyntaxError.
pub(crate) fn compile_global(realm: &Realm, name: &str, text: &str) -> Result<Option<Script>, Exception> {
    match realm.parse_script(name, text) {
        Ok(script) => Ok(Some(script)),
        Err(other) if !realm.describe(&other).is_syntax_error => Err(other),
        Err(_) if name.ends_with(".mjs") || parses_as_module(text) => Ok(None),
        Err(error) => Err(error),
    }
}

enum Kind {
    Module,
    Script,
}

fn declared(host: &Host, realm: &Realm, path: &Path) -> Option<Kind> {
    match path.extension()?.to_str()? {
        "mjs" => Some(Kind::Module),
        "cjs" => Some(Kind::Script),
        _ => match host.package_type(realm, &nearest_package(realm, path)?)?.as_str() {
            "module" => Some(Kind::Module),
            "commonjs" => Some(Kind::Script),
            _ => None,
        },
    }
}

/// The text of the `package.json` that a file belongs to.
fn nearest_package(realm: &Realm, path: &Path) -> Option<String> {
    let read = |folder: &Path| source_file::read(realm, &folder.join("package.json")).ok();
    path.ancestors().skip(1).filter(|folder| folder.is_absolute()).find_map(read).map(|read| read.text)
}

/// Whether a text that is neither a valid script nor a valid module was meant as a module. It was if its first error as a script is in a
/// line with an `import` or `export`. The error to show is then that of the module.
fn looks_like_module(realm: &Realm, as_script: &Exception, text: &str) -> bool {
    let Some(line) = realm.describe(as_script).line else { return false };
    let line = text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default().trim_start();
    ["import", "export"].iter().any(|word| line.starts_with(word)) || line.contains("import.meta")
}

/// Returns a line of a source text by its number from 1, without its end.
pub(crate) fn line(host: &Host, file: &str, line: u32) -> Option<String> {
    let index = (line as usize).checked_sub(1)?;
    match host.unrepeatable.get() {
        Some((name, source)) if name == file => source.text.lines().nth(index).map(String::from),
        _ if file == worker_options::EVAL => None,
        _ => source_text::line(&path_of(&file_url::path(file).unwrap_or_else(|| file.into())), index),
    }
}

/// The endings that `require` tries, in this order.
const ENDINGS: [&str; 6] = ["", ".js", ".json", ".cjs", ".mjs", "/index.js"];

/// Finds the file that `require(specifier)` in the file `importer` refers to: with the given ending, or with one of [`ENDINGS`].
///
/// # Errors
/// A message for the user.
pub(crate) fn resolve(importer: &str, specifier: &str) -> Result<PathBuf, String> {
    let candidates = candidates(importer, specifier)?;
    let pipe = || is_readable(&candidates[0]).then(|| candidates[0].clone());
    let Some(found) = candidates.iter().find(|candidate| candidate.is_file()).cloned().or_else(pipe) else {
        return Err(format!("cannot find '{specifier}', required by {importer}"));
    };
    canonical(&found)
}

/// Finds the file at `path`, which an `import` of `specifier` in the file `importer` refers to. As in Node, no ending is added.
///
/// # Errors
/// A message for the user, which suggests a name with an ending if there is such a file.
pub(crate) fn resolve_exactly(importer: &str, specifier: &str, path: &Path) -> Result<PathBuf, String> {
    let path = &*path_of(path);
    if is_readable(path) {
        return canonical(path);
    }
    let candidates = with_endings(path.as_os_str());
    let meant = ENDINGS.iter().zip(&candidates).find(|(_, candidate)| candidate.is_file());
    let (name, suffix) = file_url::split(specifier);
    let hint =
        meant.map(|(ending, _)| format!("; did you mean '{name}{ending}{suffix}'?")).unwrap_or_default();
    Err(format!("cannot find '{specifier}', imported by {importer}{hint}"))
}

fn candidates(importer: &str, specifier: &str) -> Result<[PathBuf; ENDINGS.len()], String> {
    let base = match path_of(Path::new(importer)).parent() {
        Some(folder) if folder.is_absolute() => folder.to_path_buf(),
        _ => std::env::current_dir().map_err(|error| format!("no current directory: {error}"))?,
    };
    Ok(with_endings(path_of(&base.join(specifier)).as_os_str()))
}

fn with_endings(path: &OsStr) -> [PathBuf; ENDINGS.len()] {
    ENDINGS.map(|ending| {
        let mut name = path.to_owned();
        name.push(ending);
        PathBuf::from(name)
    })
}

/// Whether the path is something that can be read: a file, a pipe or a device.
fn is_readable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_dir())
}

/// Returns the canonical name of a file, which identifies a module. A pipe in `/dev/fd` keeps its path, because its link target is not a
/// path. On Windows the name is `C:\…` and not the `\\?\C:\…` of `canonicalize`, to which nothing can be joined with a slash, and which
/// programs do not expect.
pub(crate) fn canonical(path: &Path) -> Result<PathBuf, String> {
    let path = &*path_of(path);
    let found = dunce::canonicalize(path).or_else(|error| match is_readable(path) {
        true => std::path::absolute(path),
        false => Err(error),
    });
    found.map_err(|error| format!("cannot read {}: {error}", path.display()))
}
