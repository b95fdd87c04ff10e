//! What tests import: files beside them.

use std::cell::Cell;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use waitword_quickjs::{Attributes, Exception, JsAgent, Module, ModuleLoader, Realm};

/// Finds modules by path. Their names are absolute paths.
pub(super) struct Loader {
    /// The folder of the test, for source text that is in no file.
    folder: PathBuf,
    asked: Rc<Cell<bool>>,
}

impl Loader {
    /// The loader for a test in this file. The result says whether it has been asked for anything yet.
    pub(super) fn install(agent: &JsAgent, test: &Path) -> Rc<Cell<bool>> {
        let asked = Rc::<Cell<bool>>::default();
        let folder = test.parent().unwrap_or(test).to_path_buf();
        agent.runtime().set_module_loader(Self { folder, asked: Rc::clone(&asked) });
        asked
    }
}

impl ModuleLoader for Loader {
    fn resolve(&self, realm: &Realm, importer: &str, specifier: &str) -> Result<String, Exception> {
        self.asked.set(true);
        if !specifier.starts_with(['.', '/']) {
            return Err(realm.type_error(&format!("cannot find the module '{specifier}'")));
        }
        let importer = Path::new(importer);
        let folder = importer.parent().filter(|folder| folder.is_absolute()).unwrap_or(&self.folder);
        Ok(normal(&folder.join(specifier)).to_string_lossy().into_owned())
    }

    fn load(&self, realm: &Realm, name: &str) -> Result<Module, Exception> {
        let text = fs::read_to_string(name);
        let text = text.map_err(|error| realm.type_error(&format!("cannot read {name}: {error}")))?;
        if !name.ends_with(".json") {
            return Ok(Module::Source { text, url: name.to_owned(), file: Some(name.to_owned()) });
        }
        let json = realm.get(&realm.global(), "JSON")?;
        let parse = realm.get(&json, "parse")?;
        let exports = realm.object()?;
        let value = realm.call(&parse, &json, &[realm.string(&text)?])?;
        realm.define(&exports, "default", &value, Attributes::ASSIGNED)?;
        Ok(Module::Exports(exports))
    }
}

/// The path without `.` and `..`, so that one file has one name.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(normal.pop()),
            part => normal.push(part),
        }
    }
    normal
}
