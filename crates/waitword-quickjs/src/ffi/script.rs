//! Source text that is not run at once: function bodies, precompiled scripts, and whether a text is a module.

use std::ffi::c_int;

use rquickjs_sys as qjs;

use super::exception::place_in_frame;
use super::handles::{Exception, Realm, Value};
use super::realm::c_string;

impl Realm {
    /// A function with these parameters and this body, as `new Function` would make it, but with a name for stacks and
    /// with the lines of the body counted from 1.
    ///
    /// # Errors
    /// A SyntaxError.
    pub fn compile_function(&self, name: &str, parameters: &str, body: &str) -> Result<Value, Exception> {
        let body = match body.strip_prefix("#!") {
            // The engine skips such a line only at the very beginning of a text.
            Some(rest) => format!("//{rest}"),
            None => body.to_owned(),
        };
        // Two lines in front of the body, the first of which is number -1: 0 would mean "not given" to the engine.
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

    /// Parses a script without running it: a script's early errors are found here, and those of running it in
    /// [`Realm::run_script`].
    ///
    /// # Errors
    /// A SyntaxError.
    pub fn parse_script(&self, name: &str, source: &str) -> Result<Script, Exception> {
        self.run(name, source, qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_COMPILE_ONLY).map(Script)
    }

    /// Runs a script in the realm that parsed it. The result is its completion value.
    ///
    /// # Errors
    /// What the script throws; a SyntaxError or a TypeError for a declaration that the global object refuses.
    pub fn run_script(&self, script: Script) -> Result<Value, Exception> {
        let Script(script) = script;
        self.check(&script);
        // SAFETY: (3), (4), (5); the count of the script moves to the engine.
        self.own(unsafe { qjs::JS_EvalFunction(self.raw(), script.into_raw()) })
    }

    /// Compiles a script for all runtimes of this process, so that only one of them has to parse it.
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

    /// Runs a precompiled script. The result is its completion value.
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

    /// The line of the innermost script that runs now: `file:line:column`. Runs what scripts have made of
    /// `Error.prepareStackTrace` and of the property `stack`.
    pub fn current_line(&self) -> Option<String> {
        self.line_of(&self.mark())
    }

    /// Where scripts are right now, to be [asked](Self::line_of) later: most never are, and reading costs as much again.
    pub(crate) fn mark(&self) -> Exception {
        self.error("")
    }

    /// The innermost line of a script that a [mark](Self::mark) stands for: `file:line:column`. Runs what scripts
    /// have made of `Error.prepareStackTrace` and of the property `stack`.
    pub(crate) fn line_of(&self, mark: &Exception) -> Option<String> {
        let stack = self.get(mark.value(), "stack").and_then(|stack| self.to_string(&stack)).ok()?;
        let (file, line, column) = stack.lines().find_map(place_in_frame)?;
        Some(match column {
            Some(column) => format!("{file}:{line}:{column}"),
            None => format!("{file}:{line}"),
        })
    }
}

/// A script that was parsed and not run yet.
#[derive(Debug)]
pub struct Script(Value);

/// A script that [`Realm::precompile`] made. Nobody else can: the engine trusts such bytes blindly.
#[derive(Debug)]
pub struct Bytecode(Box<[u8]>);

/// Whether source text has the syntax of a module. Most scripts have, too: ask only about what is no valid script.
pub fn parses_as_module(source: &str) -> bool {
    let text = [source.as_bytes(), b"\0"].concat();
    // SAFETY: the text ends with a NUL that is not counted. The engine parses it in a runtime of its own.
    unsafe { qjs::JS_DetectModule(text.as_ptr().cast(), source.len() as _) }
}
