//! Thrown values, inside the engine and as data outside of it.

use std::ffi::CStr;
use std::fmt;

use rquickjs_sys as qjs;

use super::handles::{Exception, Realm, Value};
use super::property::Attributes;

impl Exception {
    /// Creates the exception that `throw value` throws.
    pub fn new(value: Value) -> Self {
        Self(value)
    }

    /// Returns the thrown value.
    pub fn value(&self) -> &Value {
        &self.0
    }

    /// Returns the thrown value.
    pub fn into_value(self) -> Value {
        self.0
    }

    /// Returns whether no `catch` and no `finally` of a script can see the exception, because the script is being ended.
    pub fn is_uncatchable(&self) -> bool {
        // SAFETY: (1), (3): a live value, only read.
        unsafe { qjs::JS_IsUncatchableError(self.0.raw()) }
    }
}

/// A thrown value as plain data, which outlives the engine and may cross threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsError {
    /// The error as text: `TypeError: cannot block`, or the thrown value converted to a string.
    pub message: String,
    /// The lines of the error's `stack`; empty if the thrown value is not an Error.
    pub stack: String,
    /// The file in which it was thrown, or whose text could not be parsed.
    pub file: Option<String>,
    /// The line in that file, from 1.
    pub line: Option<u32>,
    /// The column in that line, from 1.
    pub column: Option<u32>,
    /// Whether the source text could not be parsed.
    pub is_syntax_error: bool,
    /// Whether the script was ended from outside: because it was terminated, or after a panic in native code.
    pub is_uncatchable: bool,
}

impl fmt::Display for JsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            f.write_str(file)?;
            for number in [self.line, self.column].into_iter().flatten() {
                write!(f, ":{number}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for JsError {}

impl Realm {
    /// Creates a TypeError with this message.
    pub fn type_error(&self, message: &str) -> Exception {
        self.new_error(message, qjs::JS_NewTypeError)
    }

    /// Creates a RangeError with this message.
    pub fn range_error(&self, message: &str) -> Exception {
        self.new_error(message, qjs::JS_NewRangeError)
    }

    /// Creates a ReferenceError with this message.
    pub fn reference_error(&self, message: &str) -> Exception {
        self.new_error(message, qjs::JS_NewReferenceError)
    }

    /// Creates an Error with this message.
    pub fn error(&self, message: &str) -> Exception {
        self.new_error(message, qjs::JS_NewPlainError)
    }

    /// Creates an error that ends the script: no `catch` and no `finally` can see it.
    pub fn uncatchable_error(&self, message: &str) -> Exception {
        // An error for which there is always memory, because an out-of-memory error in its place could be caught.
        let exception = self
            .try_new_error(message, qjs::JS_NewInternalError)
            .unwrap_or_else(|_| self.bare_error(message));
        // SAFETY: (3), (4)
        unsafe { qjs::JS_SetUncatchableError(self.raw(), exception.0.raw()) };
        exception
    }

    /// Returns the message, the stack and the position of an exception. May run getters of scripts; what they throw is ignored.
    pub fn describe(&self, exception: &Exception) -> JsError {
        let value = exception.value();
        let message =
            self.to_string(value).unwrap_or_else(|_| "a value that cannot be shown was thrown".to_owned());
        let text = |key: &str| {
            let value = self.get(value, key).ok()?;
            value.is_string().then(|| self.to_string(&value).ok()).flatten()
        };
        let (mut stack, mut is_syntax_error) = (String::new(), false);
        if value.is_error() {
            stack = text("stack").unwrap_or_default();
            is_syntax_error = text("name").is_some_and(|name| name == "SyntaxError");
        }
        let place = stack.lines().find_map(place_in_frame);
        let (file, line, column) =
            place.map_or((None, None, None), |(f, l, c)| (Some(f.to_owned()), Some(l), c));
        JsError {
            message,
            stack,
            file,
            line,
            column,
            is_syntax_error,
            is_uncatchable: exception.is_uncatchable(),
        }
    }

    /// Takes the pending exception of the engine, after one of its functions failed.
    pub(super) fn take_exception(&self) -> Exception {
        // SAFETY: (4); the exception's count moves to us.
        let raw = unsafe { qjs::JS_GetException(self.raw()) };
        // SAFETY: reads the tag.
        if unsafe { qjs::JS_IsUninitialized(raw) } {
            // Some of the engine's functions fail without an exception when they run out of memory.
            return self.range_error("out of memory");
        }
        // SAFETY: (3)
        Exception(unsafe { Value::from_owned(self.engine(), raw) })
    }

    /// Makes an exception the engine's pending one. Returns the value that a failing C function returns.
    pub(super) fn throw(&self, exception: Exception) -> qjs::JSValue {
        self.check(&exception.0);
        // SAFETY: (3), (4), (5): the count moves to the engine.
        unsafe { qjs::JS_Throw(self.raw(), exception.0.into_raw()) }
    }

    fn new_error(&self, message: &str, make: MakeError) -> Exception {
        // If there is no memory for the error, the exception that the engine threw instead is used.
        self.try_new_error(message, make).unwrap_or_else(|thrown| thrown)
    }

    /// May run a script's `Error.prepareStackTrace`.
    fn try_new_error(&self, message: &str, make: MakeError) -> Result<Exception, Exception> {
        const FORMAT: &CStr = c"%s";
        let message = super::realm::c_string(message);
        // SAFETY: (4); a constant format and the one C string that it asks for.
        let raw = unsafe { make(self.raw(), FORMAT.as_ptr(), message.as_ptr()) };
        self.own(raw).map(Exception)
    }

    /// Creates an Error for which there is always memory. It has no stack, because making one may run scripts, whose memory is counted.
    fn bare_error(&self, message: &str) -> Exception {
        let make = || {
            let class = self.engine().error_class.get();
            // SAFETY: (4); the class of Errors.
            let error = self.own(unsafe { qjs::JS_NewObjectClass(self.raw(), class) })?;
            self.define(&error, "message", &self.string(message)?, Attributes::BUILT_IN)?;
            Ok(Exception(error))
        };
        self.beyond_memory_limit(make).unwrap_or_else(|thrown| thrown)
    }
}

/// A function of the engine that makes an Error, with a format as `printf` has it.
type MakeError = unsafe extern "C" fn(*mut qjs::JSContext, *const std::ffi::c_char, ...) -> qjs::JSValue;

/// Returns the position in a line of a stack: the file, the line, and the column if there is one.
///
/// The position is `file:line:column` in a line such as `    at f (file:line:column)`. The engine writes syntax errors without the
/// parentheses. Lines of native functions contain no position.
pub fn place_in_frame(line: &str) -> Option<(&str, u32, Option<u32>)> {
    let line = line.trim().strip_prefix("at ")?;
    let place = match line.rfind(" (") {
        Some(open) => line[open + 2..].strip_suffix(')')?,
        None => line,
    };
    let (rest, last) = place.rsplit_once(':')?;
    let last = last.parse().ok()?;
    match rest.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?))) {
        Some((file, line)) => Some((file, line, Some(last))),
        None => Some((rest, last, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::place_in_frame;

    #[test]
    fn places_are_found_in_every_form_of_stack_line() {
        assert_eq!(place_in_frame("    at f (/a b/x.js:3:7)"), Some(("/a b/x.js", 3, Some(7))));
        assert_eq!(place_in_frame("    at <anonymous> (x.js:1:2)"), Some(("x.js", 1, Some(2))));
        assert_eq!(place_in_frame("    at x.js:12:1"), Some(("x.js", 12, Some(1))));
        assert_eq!(place_in_frame("    at x.js:12"), Some(("x.js", 12, None)));
        assert_eq!(place_in_frame("    at wait (native)"), None);
        assert_eq!(place_in_frame(""), None);
    }
}
