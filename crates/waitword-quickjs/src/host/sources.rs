//! Source text: where it is, how to read it, and whether it is a module or a script.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::ffi::{Exception, Realm, Script, Value, parses_as_module};

use super::agent_host::Host;

/// What stands for a file name in stacks of source text that was passed to `new Worker(text, { eval: true })`.
pub(super) const EVAL: &str = "[worker eval]";

/// The parameters of a CommonJS module.
const PARAMETERS: &str = "exports, require, module, __filename, __dirname";

/// Source text of either kind, ready to run.
pub(super) enum Compiled {
    /// The function that a CommonJS module is.
    Script(Value),
    /// The text of an ES module.
    Module(String),
}

/// Reads a file of source text.
///
/// # Errors
/// A message for the user.
pub(super) fn read(path: &Path) -> Result<String, String> {
    let bytes = fs::read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("cannot find {}: check the name and the directory", path.display()),
        ErrorKind::IsADirectory => format!("{} is a directory: name a file in it", path.display()),
        _ => format!("cannot read {}: {error}", path.display()),
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("{} is not UTF-8 text (at byte {at}): save it as UTF-8", path.display())
    })?;
    Ok(without_mark(text))
}

/// The text without the byte order mark that some editors put in front: in JSON and before `#!` it would be an error.
fn without_mark(text: String) -> String {
    text.strip_prefix('\u{feff}').map(String::from).unwrap_or(text)
}

/// Finds out what kind of text this is, as Node does: by the extension, by the nearest `package.json`, or by whether it
/// is valid as a script.
///
/// # Errors
/// A SyntaxError of a script.
pub(super) fn compile(host: &Host, realm: &Realm, name: &str, text: String) -> Result<Compiled, Exception> {
    let script = |text: &str| realm.compile_function(name, PARAMETERS, text);
    match declared(host, realm, Path::new(name)) {
        Some(Kind::Module) => Ok(Compiled::Module(text)),
        Some(Kind::Script) => script(&text).map(Compiled::Script),
        None => match script(&text) {
            Ok(compiled) => Ok(Compiled::Script(compiled)),
            // There was no memory to parse it, say.
            Err(other) if !realm.describe(&other).is_syntax_error => Err(other),
            Err(_) if parses_as_module(&text) => Ok(Compiled::Module(text)),
            Err(as_script) if looks_like_module(realm, &as_script, &text) => Ok(Compiled::Module(text)),
            Err(as_script) => Err(as_script),
        },
    }
}

/// The script of a page's worker, whose declarations are global; `None` if the text is only valid as a module.
///
/// # Errors
/// A SyntaxError.
pub(super) fn compile_global(realm: &Realm, name: &str, text: &str) -> Result<Option<Script>, Exception> {
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
        _ => match host.package_type(realm, &nearest_package(path)?)?.as_str() {
            "module" => Some(Kind::Module),
            "commonjs" => Some(Kind::Script),
            _ => None,
        },
    }
}

/// The text of the `package.json` that a file belongs to.
fn nearest_package(path: &Path) -> Option<String> {
    path.ancestors().skip(1).find_map(|folder| read(&folder.join("package.json")).ok())
}

/// Whether a text that is neither a valid script nor a valid module means to be a module: then its first error as a
/// script is an `import` or `export` that a script cannot have, and the error to show is that of the module.
fn looks_like_module(realm: &Realm, as_script: &Exception, text: &str) -> bool {
    let Some(line) = realm.describe(as_script).line else { return false };
    let line = text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default().trim_start();
    ["import", "export"].iter().any(|word| line.starts_with(word)) || line.contains("import.meta")
}

/// A line of a source text, without its end; from 1.
pub(super) fn line(host: &Host, file: &str, line: u32) -> Option<String> {
    let index = (line as usize).checked_sub(1)?;
    if file == EVAL {
        return host.eval_source.lines().nth(index).map(String::from);
    }
    // A script can write any name into a stack, also that of a device which never ends.
    if !Path::new(file).is_file() {
        return None;
    }
    read(Path::new(file)).ok()?.lines().nth(index).map(String::from)
}

/// The endings that `require` tries, in this order.
const ENDINGS: [&str; 6] = ["", ".js", ".json", ".cjs", ".mjs", "/index.js"];

/// The file that `require(specifier)` means in the file `importer`: with the ending given, or with one of ours.
///
/// # Errors
/// A message for the user.
pub(super) fn resolve(importer: &str, specifier: &str) -> Result<PathBuf, String> {
    let Some(found) = candidates(importer, specifier)?.into_iter().find(|candidate| candidate.is_file())
    else {
        return Err(format!("cannot find '{specifier}', required by {importer}"));
    };
    canonical(&found)
}

/// The file that `import` of `specifier` means in the file `importer`. As in Node, nothing is added to the name.
///
/// # Errors
/// A message for the user, with the name that was probably meant.
pub(super) fn resolve_exactly(importer: &str, specifier: &str) -> Result<PathBuf, String> {
    let candidates = candidates(importer, specifier)?;
    if candidates[0].is_file() {
        return canonical(&candidates[0]);
    }
    let meant = ENDINGS.iter().zip(&candidates).find(|(_, candidate)| candidate.is_file());
    let hint = meant.map(|(ending, _)| format!("; did you mean '{specifier}{ending}'?")).unwrap_or_default();
    Err(format!("cannot find '{specifier}', imported by {importer}{hint}"))
}

fn candidates(importer: &str, specifier: &str) -> Result<[PathBuf; ENDINGS.len()], String> {
    let base = match Path::new(importer).parent() {
        Some(folder) if folder.is_absolute() => folder.to_path_buf(),
        _ => std::env::current_dir().map_err(|error| format!("no current directory: {error}"))?,
    };
    let path = base.join(specifier).into_os_string();
    Ok(ENDINGS.map(|ending| {
        let mut name = path.clone();
        name.push(ending);
        PathBuf::from(name)
    }))
}

fn canonical(path: &Path) -> Result<PathBuf, String> {
    path.canonicalize().map_err(|error| format!("cannot read {}: {error}", path.display()))
}
