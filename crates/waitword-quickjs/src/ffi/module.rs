//! ES modules: loading them, and modules that Rust creates.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::ptr;
use std::rc::Rc;

use rquickjs_sys as qjs;

use super::handles::{Engine, Exception, Module, ModuleLoader, Realm, Value};
use super::property::Attributes;
use super::realm::c_string;

impl Realm {
    /// Runs source text as an ES module. Returns the module's promise. A name that is an absolute path also becomes
    /// `import.meta.filename`.
    ///
    /// # Errors
    /// A SyntaxError, or what linking the module or loading its imports throws.
    pub fn eval_module(&self, name: &str, url: &str, source: &str) -> Result<Value, Exception> {
        let file = Path::new(name).is_absolute().then_some(name);
        let module = self.compile_module(name, url, file, source)?;
        // SAFETY: (4); the count of the module moves to the engine.
        self.own(unsafe { qjs::JS_EvalFunction(self.raw(), module.into_raw()) })
    }

    fn compile_module(
        &self,
        name: &str,
        url: &str,
        file: Option<&str>,
        source: &str,
    ) -> Result<Value, Exception> {
        let module = self.run(name, source, qjs::JS_EVAL_TYPE_MODULE | qjs::JS_EVAL_FLAG_COMPILE_ONLY)?;
        // SAFETY: compiling a module gives a module value; the engine keeps the definition with the context (4).
        let meta = self.own(unsafe { qjs::JS_GetImportMeta(self.raw(), definition(&module)) })?;
        self.define(&meta, "url", &self.string(url)?, Attributes::ASSIGNED)?;
        if let Some((file, folder)) = file.and_then(|file| Some((file, Path::new(file).parent()?))) {
            self.define(&meta, "filename", &self.string(file)?, Attributes::ASSIGNED)?;
            self.define(&meta, "dirname", &self.string(&folder.to_string_lossy())?, Attributes::ASSIGNED)?;
        }
        Ok(module)
    }

    fn synthetic_module(&self, name: &CStr, exports: &Value) -> Result<*mut qjs::JSModuleDef, Exception> {
        // SAFETY: (4)
        let module = unsafe { qjs::JS_NewCModule(self.raw(), name.as_ptr(), Some(fill_exports)) };
        if module.is_null() {
            return Err(self.take_exception());
        }
        for name in self.export_names(exports)? {
            let name = c_string(&name);
            // SAFETY: (4); the module is not linked yet.
            let status = unsafe { qjs::JS_AddModuleExport(self.raw(), module, name.as_ptr()) };
            self.succeeded(status)?;
        }
        // SAFETY: (3), (4), (5); the count of the clone moves to the module.
        let status = unsafe { qjs::JS_SetModulePrivateValue(self.raw(), module, exports.clone().into_raw()) };
        self.succeeded(status)?;
        Ok(module)
    }

    fn export_names(&self, exports: &Value) -> Result<Vec<String>, Exception> {
        let mut names = self.keys(exports)?;
        if !names.iter().any(|name| name == "default") {
            names.push("default".to_owned());
        }
        Ok(names)
    }
}

/// Makes the engine resolve and load modules through `loader`.
pub(super) fn install(engine: &Rc<Engine>, loader: Rc<dyn ModuleLoader>) {
    let old = engine.loader.replace(Some(loader));
    drop(old);
    // SAFETY: (1); the callbacks find their engine through the runtime (6).
    unsafe { qjs::JS_SetModuleLoaderFunc(engine.raw(), Some(normalize), Some(load), ptr::null_mut()) };
}

fn definition(module: &Value) -> *mut qjs::JSModuleDef {
    debug_assert_eq!(module.tag(), qjs::JS_TAG_MODULE);
    // SAFETY: the tag says that the union holds a pointer.
    unsafe { qjs::JS_VALUE_GET_PTR(module.raw()).cast() }
}

/// Runs a callback of the engine. An exception or a panic becomes an exception in the engine.
fn guarded<T>(realm: &Realm, failure: T, callback: impl FnOnce() -> Result<T, Exception>) -> T {
    // (7)
    let result = catch_unwind(AssertUnwindSafe(callback))
        .unwrap_or_else(|_| Err(realm.uncatchable_error("the module loader panicked")));
    result.unwrap_or_else(|exception| {
        realm.throw(exception);
        failure
    })
}

fn loader(realm: &Realm) -> Result<Rc<dyn ModuleLoader>, Exception> {
    let loader = realm.engine().loader.borrow().clone();
    loader.ok_or_else(|| realm.uncatchable_error("the runtime is shutting down"))
}

unsafe extern "C" fn normalize(
    context: *mut qjs::JSContext,
    importer: *const c_char,
    specifier: *const c_char,
    _: *mut c_void,
) -> *mut c_char {
    // SAFETY: a running engine calls us (6), with two C strings.
    let (realm, importer, specifier) =
        unsafe { (Realm::of_context(context), CStr::from_ptr(importer), CStr::from_ptr(specifier)) };
    guarded(&realm, ptr::null_mut(), || {
        let name =
            loader(&realm)?.resolve(&realm, &importer.to_string_lossy(), &specifier.to_string_lossy())?;
        let name = c_string(&name);
        // SAFETY: (4); the engine frees the copy.
        let copy = unsafe { qjs::js_strdup(realm.raw(), name.as_ptr()) };
        if copy.is_null() { Err(realm.take_exception()) } else { Ok(copy) }
    })
}

unsafe extern "C" fn load(
    context: *mut qjs::JSContext,
    name: *const c_char,
    _: *mut c_void,
) -> *mut qjs::JSModuleDef {
    // SAFETY: a running engine calls us (6), with a C string.
    let (realm, name) = unsafe { (Realm::of_context(context), CStr::from_ptr(name)) };
    guarded(&realm, ptr::null_mut(), || {
        let text_name = name.to_string_lossy();
        match loader(&realm)?.load(&realm, &text_name)? {
            // The count of the value may end here, because the context keeps the definition.
            Module::Source { text, url, file } => {
                let module = realm.compile_module(&text_name, &url, file.as_deref(), &text);
                module.map(|module| definition(&module))
            }
            Module::Exports(exports) => {
                realm.check(&exports);
                realm.synthetic_module(name, &exports)
            }
        }
    })
}

/// Sets the exports of a module that Rust created, when the engine links it.
unsafe extern "C" fn fill_exports(context: *mut qjs::JSContext, module: *mut qjs::JSModuleDef) -> c_int {
    // SAFETY: a running engine calls us (6).
    let realm = unsafe { Realm::of_context(context) };
    guarded(&realm, -1, || {
        // SAFETY: (4); a live module. The value comes with a count.
        let exports = realm.own(unsafe { qjs::JS_GetModulePrivateValue(realm.raw(), module) })?;
        let own = realm.keys(&exports)?;
        for name in realm.export_names(&exports)? {
            let value = if own.contains(&name) { realm.get(&exports, &name)? } else { exports.clone() };
            let name = c_string(&name);
            // SAFETY: (3), (4); the count moves to the module.
            let status =
                unsafe { qjs::JS_SetModuleExport(realm.raw(), module, name.as_ptr(), value.into_raw()) };
            realm.succeeded(status)?;
        }
        Ok(0)
    })
}
