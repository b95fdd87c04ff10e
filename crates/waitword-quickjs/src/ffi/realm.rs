//! A realm: creates values, converts them, and runs source text.

use std::ffi::{CString, c_int};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;

use rquickjs_sys as qjs;
use waitword_agents::MemoryBudget;

use super::handles::{Engine, Exception, Realm, Value};

impl PartialEq for Realm {
    /// Returns whether both are the same realm.
    fn eq(&self, other: &Self) -> bool {
        self.context == other.context
    }
}

impl Eq for Realm {}

impl std::fmt::Debug for Realm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Realm").field(&self.context).finish()
    }
}

impl Realm {
    /// Returns the state of type `T` that the runtime's owner stored with [`Runtime::set_state`](super::Runtime::set_state).
    pub fn state<T: 'static>(&self) -> Option<Rc<T>> {
        self.engine.state()
    }

    /// Returns the memory budget of this runtime's scripts; `None` without a limit.
    pub fn memory_budget(&self) -> Option<&Arc<MemoryBudget>> {
        self.engine.budget()
    }

    /// Runs work of the host that must not run out of memory, whatever scripts have used. Its memory is not counted.
    pub fn beyond_memory_limit<T>(&self, work: impl FnOnce() -> T) -> T {
        self.engine.beyond_memory_limit(work)
    }

    /// Within [`beyond_memory_limit`](Self::beyond_memory_limit), runs `work` on behalf of a script: its memory is counted again.
    pub fn within_memory_limit<T>(&self, work: impl FnOnce() -> T) -> T {
        let _until_done = self.engine.heap.as_ref().map(|heap| heap.work_as(false));
        work()
    }

    /// Creates another realm of the same runtime, with the engine's own functions. `None` if the system has no memory.
    pub(crate) fn bare_sibling(&self) -> Option<Self> {
        self.engine.new_realm()
    }

    /// Returns the global object.
    pub fn global(&self) -> Value {
        // SAFETY: (4); a new count.
        unsafe { Value::from_owned(&self.engine, qjs::JS_GetGlobalObject(self.raw())) }
    }

    /// Returns `undefined`.
    pub fn undefined(&self) -> Value {
        Value::immediate(&self.engine, qjs::JS_UNDEFINED)
    }

    /// Returns `null`.
    pub fn null(&self) -> Value {
        Value::immediate(&self.engine, qjs::JS_NULL)
    }

    /// Returns `true` or `false` as a value.
    pub fn bool(&self, value: bool) -> Value {
        Value::immediate(&self.engine, if value { qjs::JS_TRUE } else { qjs::JS_FALSE })
    }

    /// Returns a Number.
    pub fn number(&self, value: impl Into<f64>) -> Value {
        Value::immediate(&self.engine, qjs::JS_NewFloat64(value.into()))
    }

    /// Returns a Number from an integer.
    pub fn integer(&self, value: usize) -> Value {
        match i32::try_from(value) {
            // The engine's representation of small integers.
            Ok(small) => Value::immediate(&self.engine, qjs::JS_MKVAL(qjs::JS_TAG_INT, small)),
            Err(_) => self.number(value as f64),
        }
    }

    /// Creates a BigInt.
    ///
    /// # Errors
    /// If the engine's memory limit is reached.
    pub fn bigint(&self, value: i64) -> Result<Value, Exception> {
        // SAFETY: (4)
        self.own(unsafe { qjs::JS_NewBigInt64(self.raw(), value) })
    }

    /// Creates a string.
    ///
    /// # Errors
    /// If the engine's memory limit is reached.
    pub fn string(&self, text: &str) -> Result<Value, Exception> {
        self.string_of(text.as_bytes())
    }

    /// Converts by ToString, with lone surrogates replaced by U+FFFD.
    ///
    /// # Errors
    /// What the conversion throws.
    pub fn to_string(&self, value: &Value) -> Result<String, Exception> {
        self.with_text(value, |text| Ok(String::from_utf8_lossy(text).into_owned()))
    }

    /// Converts by ToBoolean, which never fails and runs no script.
    pub fn to_bool(&self, value: &Value) -> bool {
        self.check(value);
        // SAFETY: (3), (4)
        unsafe { qjs::JS_ToBool(self.raw(), value.raw()) > 0 }
    }

    /// Converts by ToNumber.
    ///
    /// # Errors
    /// What the conversion throws; a TypeError for Symbols and BigInts.
    #[inline(always)]
    pub fn to_number(&self, value: &Value) -> Result<f64, Exception> {
        // Usually the value is a Number already.
        value.as_number().map_or_else(|| self.convert(value, qjs::JS_ToFloat64), Ok)
    }

    /// Converts by ToInt32.
    ///
    /// # Errors
    /// As [`Realm::to_number`].
    #[inline(always)]
    pub fn to_i32(&self, value: &Value) -> Result<i32, Exception> {
        value.as_int().map_or_else(|| self.convert(value, qjs::JS_ToInt32), Ok)
    }

    /// Converts by ToBigInt64, which wraps modulo 2^64.
    ///
    /// # Errors
    /// What the conversion throws; a TypeError for Numbers and Symbols.
    pub fn to_bigint64(&self, value: &Value) -> Result<i64, Exception> {
        self.convert(value, qjs::JS_ToBigInt64)
    }

    /// Converts by ToIndex into an integer from 0 to 2^53 - 1.
    ///
    /// # Errors
    /// What the conversion throws; a RangeError for an integer outside the range.
    #[inline(always)]
    pub fn to_index(&self, value: &Value) -> Result<u64, Exception> {
        let index = value.as_int().and_then(|int| u64::try_from(int).ok());
        index.map_or_else(|| self.convert(value, qjs::JS_ToIndex), Ok)
    }

    /// Runs source text as a script. Returns its completion value.
    ///
    /// # Errors
    /// A SyntaxError, or what the script throws.
    pub fn eval(&self, name: &str, source: &str) -> Result<Value, Exception> {
        self.run(name, source, qjs::JS_EVAL_TYPE_GLOBAL)
    }

    /// Passes source text to the engine.
    pub(super) fn run(&self, name: &str, source: &str, flags: u32) -> Result<Value, Exception> {
        let name = c_string(name);
        // The engine requires a NUL after the text, which the length does not include.
        let text = [source.as_bytes(), b"\0"].concat();
        // SAFETY: (4); both texts live past the call.
        let eval = || unsafe {
            qjs::JS_Eval(self.raw(), text.as_ptr().cast(), source.len() as _, name.as_ptr(), flags as c_int)
        };
        match flags & qjs::JS_EVAL_FLAG_COMPILE_ONLY {
            0 => self.own(eval()),
            _ => self.parsed(eval),
        }
    }

    /// Parses source text, during which refusals of memory are postponed ([`Heap::parse`](super::heap::Heap::parse)). Returns an error if
    /// there was a refusal.
    pub(super) fn parsed(&self, parse: impl FnOnce() -> qjs::JSValue) -> Result<Value, Exception> {
        let (parsed, is_beyond) = match &self.engine.heap {
            Some(heap) => heap.parse(parse),
            None => (parse(), false),
        };
        let parsed = self.own(parsed);
        if !is_beyond {
            return parsed;
        }
        // Freed before the error is created, which needs memory itself.
        drop(parsed);
        // SAFETY: (4)
        unsafe { qjs::JS_ThrowOutOfMemory(self.raw()) };
        Err(self.take_exception())
    }

    pub(super) fn of(engine: &Rc<Engine>, context: NonNull<qjs::JSContext>) -> Self {
        Self { engine: Rc::clone(engine), context }
    }

    /// The realm in which the engine called us, for the duration of the call. It must not be dropped.
    ///
    /// # Safety
    /// As [`Engine::borrow_context`].
    pub(super) unsafe fn of_context(context: *mut qjs::JSContext) -> ManuallyDrop<Self> {
        // SAFETY: the caller's promise; a context is never null.
        unsafe {
            let engine = ManuallyDrop::into_inner(Engine::borrow_context(context));
            ManuallyDrop::new(Self { engine, context: NonNull::new_unchecked(context) })
        }
    }

    pub(super) fn engine(&self) -> &Rc<Engine> {
        &self.engine
    }

    pub(super) fn raw(&self) -> *mut qjs::JSContext {
        self.context.as_ptr()
    }

    /// Takes ownership of the result of an engine function: a value with a count, or the exception marker.
    #[inline(always)]
    pub(super) fn own(&self, raw: qjs::JSValue) -> Result<Value, Exception> {
        // SAFETY: reads the tag.
        if unsafe { qjs::JS_IsException(raw) } {
            return Err(self.take_exception());
        }
        // SAFETY: (3): returned values carry a count.
        Ok(unsafe { Value::from_owned(&self.engine, raw) })
    }

    /// Converts the status of an engine function. A negative status means that it threw.
    pub(super) fn succeeded(&self, status: c_int) -> Result<bool, Exception> {
        if status < 0 { Err(self.take_exception()) } else { Ok(status > 0) }
    }

    /// (5)
    ///
    /// # Panics
    /// If `value` belongs to another runtime: its memory could not be counted here.
    #[track_caller]
    pub(super) fn check(&self, value: &Value) {
        assert!(
            Rc::ptr_eq(&self.engine, value.engine()),
            "a JavaScript value was used in a runtime that is not its own"
        );
    }

    fn convert<T: Default, S>(
        &self,
        value: &Value,
        how: unsafe extern "C" fn(*mut qjs::JSContext, *mut T, qjs::JSValue) -> S,
    ) -> Result<T, Exception>
    where
        S: Into<c_int>,
    {
        self.check(value);
        let mut result = T::default();
        // SAFETY: (3), (4); `how` is a conversion of the engine, which writes one `T`.
        let status = unsafe { how(self.raw(), &mut result, value.raw()) };
        self.succeeded(status.into())?;
        Ok(result)
    }
}

/// Text for the engine's C interface, up to the first NUL: C strings end there.
pub(super) fn c_string(text: &str) -> CString {
    let text = text.split('\0').next().unwrap_or_default();
    CString::new(text).unwrap_or_default()
}
