//! Source text that is not run at once: function bodies, and the question whether a text is a module.

use std::ffi::c_int;

use rquickjs_sys as qjs;

use super::exception::{Exception, place};
use super::realm::{Realm, c_string};
use super::value::Value;

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
        self.own(unsafe {
            qjs::JS_Eval2(self.raw(), text.as_ptr().cast(), (text.len() - 1) as _, &mut options)
        })
    }

    /// Where scripts are right now, to be [asked](Self::line_of) later: most never are, and reading costs as much again.
    pub(crate) fn mark(&self) -> Exception {
        self.error("")
    }

    /// The innermost line of a script that a [mark](Self::mark) stands for: `file:line:column`.
    pub(crate) fn line_of(&self, mark: &Exception) -> Option<String> {
        let stack = self.get(mark.value(), "stack").and_then(|stack| self.to_string(&stack)).ok()?;
        let (file, line, column) = stack.lines().find_map(place)?;
        Some(match column {
            Some(column) => format!("{file}:{line}:{column}"),
            None => format!("{file}:{line}"),
        })
    }
}

/// Whether source text has the syntax of a module. Most scripts have, too: ask only about what is no valid script.
pub(crate) fn parses_as_module(source: &str) -> bool {
    let text = [source.as_bytes(), b"\0"].concat();
    // SAFETY: the text ends with a NUL that is not counted. The engine parses it in a runtime of its own.
    unsafe { qjs::JS_DetectModule(text.as_ptr().cast(), source.len() as _) }
}
