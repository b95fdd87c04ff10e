//! Source text that does not run at once: function bodies and precompiled scripts. Also whether a text is a module.

use std::ffi::c_int;

use rquickjs_sys as qjs;

use super::exception::place_in_frame;
use super::handles::{Exception, Realm, Value};
use super::realm::c_string;

impl Realm {
    /// Creates a function with these parameters and this body, as `new Function` does, but with a name for stacks, and with the lines of
    /// the body counted from 1.
    ///
    /// # Errors
    /// A SyntaxError.
    pub fn compile_function(&self, name: &str, parameters: &str, body: &str) -> Result<Value, Exception> {
        let body = match body.strip_prefix("#!") {
            // The engine skips a `#!` line only at the very beginning of a text.
            Some(rest) => format!("//{rest}"),
            None => body.to_owned(),
        };
        // Two lines precede the body, and the first of them has the number -1, because 0 means "not given" to the engine.
        let text = format!("(function ({parameters})\n{{\n{body}\n}})\0");
        let name = c_string(name);
        let mut options = qjs::JSEvalOptions {
            version: qjs::JS_EVAL_OPTIONS_VERSION as c_int,
            eval_flags: qjs::JS_EVAL_TYPE_GLOBAL as c_int,
            filename: name.as_ptr(),
            line_num: -1,
        };
        // SAFETY: (4); the text ends with a NUL that is not counted, and both texts live past the call.
        self.parsed(|| unsafe {
            qjs::JS_Eval2(self.raw(), text.as_ptr().cast(), (text.len() - 1) as _, &mut options)
        })
    }

    /// Parses a script without running it. Early errors are found here, those at run time in [`Realm::run_script`].
    ///
    /// # Errors
    /// A SyntaxError.
    pub fn parse_script(&self, name: &str, source: &str) -> Result<Script, Exception> {
        self.run(name, source, qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_COMPILE_ONLY).map(Script)
    }

    /// Runs a script in the realm that parsed it. Returns its completion value.
    ///
    /// # Errors
    /// What the script throws; a SyntaxError or a TypeError if the global object refuses a declaration.
    pub fn run_script(&self, script: Script) -> Result<Value, Exception> {
        let Script(script) = script;
        self.check(&script);
        // SAFETY: (3), (4), (5); the count of the script moves to the engine.
        self.own(unsafe { qjs::JS_EvalFunction(self.raw(), script.into_raw()) })
    }

    /// Compiles a script for all runtimes of this process, so that it is parsed only once.
    ///
    /// # Errors
    /// A SyntaxError.
    pub fn precompile(&self, name: &str, source: &str) -> Result<Bytecode, Exception> {
        let Script(script) = self.parse_script(name, source)?;
        let mut len = 0;
        let flags = qjs::JS_WRITE_OBJ_BYTECODE as c_int;
        // SAFETY: (3), (4)
        let bytes = unsafe { qjs::JS_WriteObject(self.raw(), &mut len, script.raw(), flags) };
        if bytes.is_null() {
            return Err(self.take_exception());
        }
        // SAFETY: the engine gave `len` bytes, which are ours to free.
        unsafe {
            let copy = std::slice::from_raw_parts(bytes, len as usize).into();
            qjs::js_free(self.raw(), bytes.cast());
            Ok(Bytecode(copy))
        }
    }

    /// Runs a precompiled script. Returns its completion value.
    ///
    /// # Errors
    /// What the script throws.
    pub fn run_precompiled(&self, script: &Bytecode) -> Result<Value, Exception> {
        let Bytecode(bytes) = script;
        let flags = qjs::JS_READ_OBJ_BYTECODE as c_int;
        // SAFETY: (4); bytes that this very engine wrote, as `Bytecode` guarantees.
        let script =
            self.own(unsafe { qjs::JS_ReadObject(self.raw(), bytes.as_ptr(), bytes.len() as _, flags) })?;
        self.run_script(Script(script))
    }

    /// Returns the line of the innermost running script, as `file:line:column`. May run a script's `Error.prepareStackTrace`, or its getter
    /// of the property `stack`.
    pub fn current_line(&self) -> Option<String> {
        self.line_of(&self.mark())
    }

    /// Marks the current position of the running scripts, for [`line_of`](Self::line_of). They are separate because most marks are never
    /// read, and reading one costs as much as making it.
    pub(crate) fn mark(&self) -> Exception {
        self.error("")
    }

    /// The innermost script line of a [mark](Self::mark), as `file:line:column`. May run a script's `Error.prepareStackTrace`, or its
    /// getter of the property `stack`.
    pub(crate) fn line_of(&self, mark: &Exception) -> Option<String> {
        let stack = self.get(mark.value(), "stack").and_then(|stack| self.to_string(&stack)).ok()?;
        let (file, line, column) = stack.lines().find_map(place_in_frame)?;
        Some(match column {
            Some(column) => format!("{file}:{line}:{column}"),
            None => format!("{file}:{line}"),
        })
    }
}

/// A parsed script that has not run yet.
#[derive(Debug)]
pub struct Script(Value);

/// A script compiled by [`Realm::precompile`]. There is no other way to create one, because the engine does not validate bytecode.
#[derive(Debug)]
pub struct Bytecode(Box<[u8]>);

/// Returns whether source text has the syntax of a module. Most scripts do, too, so use this only for text that is not a valid script.
pub fn parses_as_module(source: &str) -> bool {
    let text = [source.as_bytes(), b"\0"].concat();
    // SAFETY: the text ends with a NUL that is not counted. The engine parses it in a runtime of its own.
    unsafe { qjs::JS_DetectModule(text.as_ptr().cast(), source.len() as _) }
}
