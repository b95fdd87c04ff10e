//! A realm: making values, converting them, and running source text.

use std::ffi::{CString, c_int};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;

use rquickjs_sys as qjs;
use waitword_agents::MemoryBudget;

use super::handles::{Engine, Exception, Realm, Value};

impl PartialEq for Realm {
    /// Whether both are one and the same realm.
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
    /// The state of type `T` that the runtime's owner stored ([`Runtime::set_state`](super::Runtime::set_state)).
    pub fn state<T: 'static>(&self) -> Option<Rc<T>> {
        self.engine.state()
    }

    /// What the scripts of this runtime may hold; `None` without a limit.
    pub fn memory_budget(&self) -> Option<&Arc<MemoryBudget>> {
        self.engine.budget()
    }

    /// Does some work of the host's own for which there has to be memory, whatever scripts have used. It is not counted.
    pub fn beyond_memory_limit<T>(&self, work: impl FnOnce() -> T) -> T {
        self.engine.beyond_memory_limit(work)
    }

    /// Does some work for a script in the midst of the host's own.
    pub fn within_memory_limit<T>(&self, work: impl FnOnce() -> T) -> T {
        let _until_done = self.engine.heap.as_ref().map(|heap| heap.work_as(false));
        work()
    }

    /// Another realm of the same runtime, as the engine makes it. `None` when the system has no memory.
    pub(crate) fn bare_sibling(&self) -> Option<Self> {
        self.engine.new_realm()
    }

    /// The global object.
    pub fn global(&self) -> Value {
        // SAFETY: (4); a new count.
        unsafe { Value::from_owned(&self.engine, qjs::JS_GetGlobalObject(self.raw())) }
    }

    /// `undefined`
    pub fn undefined(&self) -> Value {
        Value::immediate(&self.engine, qjs::JS_UNDEFINED)
    }

    /// `null`
    pub fn null(&self) -> Value {
        Value::immediate(&self.engine, qjs::JS_NULL)
    }

    /// `true` or `false`
    pub fn bool(&self, value: bool) -> Value {
        Value::immediate(&self.engine, if value { qjs::JS_TRUE } else { qjs::JS_FALSE })
    }

    /// A Number.
    pub fn number(&self, value: impl Into<f64>) -> Value {
        Value::immediate(&self.engine, qjs::JS_NewFloat64(value.into()))
    }

    /// A Number, of a count.
    pub fn integer(&self, value: usize) -> Value {
        match i32::try_from(value) {
            // As the engine keeps small integers.
            Ok(small) => Value::immediate(&self.engine, qjs::JS_MKVAL(qjs::JS_TAG_INT, small)),
            Err(_) => self.number(value as f64),
        }
    }

    /// A BigInt.
    ///
    /// # Errors
    /// When the engine's memory limit is reached.
    pub fn bigint(&self, value: i64) -> Result<Value, Exception> {
        // SAFETY: (4)
        self.own(unsafe { qjs::JS_NewBigInt64(self.raw(), value) })
    }

    /// A string.
    ///
    /// # Errors
    /// When the engine's memory limit is reached.
    pub fn string(&self, text: &str) -> Result<Value, Exception> {
        self.string_of(text.as_bytes())
    }

    /// ToString, with lone surrogates replaced by U+FFFD.
    ///
    /// # Errors
    /// What the conversion throws.
    pub fn to_string(&self, value: &Value) -> Result<String, Exception> {
        self.with_text(value, |text| Ok(String::from_utf8_lossy(text).into_owned()))
    }

    /// ToBoolean. Never fails, never runs a script.
    pub fn to_bool(&self, value: &Value) -> bool {
        self.check(value);
        // SAFETY: (3), (4)
        unsafe { qjs::JS_ToBool(self.raw(), value.raw()) > 0 }
    }

    /// ToNumber.
    ///
    /// # Errors
    /// What the conversion throws; a TypeError for Symbols and BigInts.
    #[inline(always)]
    pub fn to_number(&self, value: &Value) -> Result<f64, Exception> {
        // Most often it is one.
        value.as_number().map_or_else(|| self.convert(value, qjs::JS_ToFloat64), Ok)
    }

    /// ToInt32.
    ///
    /// # Errors
    /// As [`Realm::to_number`].
    #[inline(always)]
    pub fn to_i32(&self, value: &Value) -> Result<i32, Exception> {
        value.as_int().map_or_else(|| self.convert(value, qjs::JS_ToInt32), Ok)
    }

    /// ToBigInt64: wraps modulo 2^64.
    ///
    /// # Errors
    /// What the conversion throws; a TypeError for Numbers and Symbols.
    pub fn to_bigint64(&self, value: &Value) -> Result<i64, Exception> {
        self.convert(value, qjs::JS_ToBigInt64)
    }

    /// ToIndex: an integer from 0 to 2^53 - 1.
    ///
    /// # Errors
    /// What the conversion throws; a RangeError for an integer outside the range.
    #[inline(always)]
    pub fn to_index(&self, value: &Value) -> Result<u64, Exception> {
        let index = value.as_int().and_then(|int| u64::try_from(int).ok());
        index.map_or_else(|| self.convert(value, qjs::JS_ToIndex), Ok)
    }

    /// Runs source text as a script. The result is its completion value.
    ///
    /// # Errors
    /// A SyntaxError, or what the script throws.
    pub fn eval(&self, name: &str, source: &str) -> Result<Value, Exception> {
        self.run(name, source, qjs::JS_EVAL_TYPE_GLOBAL)
    }

    /// Hands source text to the engine.
    pub(super) fn run(&self, name: &str, source: &str, flags: u32) -> Result<Value, Exception> {
        let name = c_string(name);
        // The engine wants a NUL behind the text, which its length does not count.
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

    /// What the engine makes of source text, for which refusals are put off
    /// ([`Heap::parse`](super::heap::Heap::parse)); an error if there was one.
    pub(super) fn parsed(&self, parse: impl FnOnce() -> qjs::JSValue) -> Result<Value, Exception> {
        let (parsed, is_beyond) = match &self.engine.heap {
            Some(heap) => heap.parse(parse),
            None => (parse(), false),
        };
        let parsed = self.own(parsed);
        if !is_beyond {
            return parsed;
        }
        // Given back before the error is made, which needs some itself.
        drop(parsed);
        // SAFETY: (4)
        unsafe { qjs::JS_ThrowOutOfMemory(self.raw()) };
        Err(self.take_exception())
    }

    pub(super) fn of(engine: &Rc<Engine>, context: NonNull<qjs::JSContext>) -> Self {
        Self { engine: Rc::clone(engine), context }
    }

    /// The realm in which the engine called us, for as long as the call lasts: not to be dropped.
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

    /// Takes over what a function of the engine returned: a value with a count, or the mark of an exception.
    #[inline(always)]
    pub(super) fn own(&self, raw: qjs::JSValue) -> Result<Value, Exception> {
        // SAFETY: reads the tag.
        if unsafe { qjs::JS_IsException(raw) } {
            return Err(self.take_exception());
        }
        // SAFETY: (3): returned values carry a count.
        Ok(unsafe { Value::from_owned(&self.engine, raw) })
    }

    /// What a function of the engine threw when it returned a negative number.
    pub(super) fn succeeded(&self, status: c_int) -> Result<bool, Exception> {
        if status < 0 { Err(self.take_exception()) } else { Ok(status > 0) }
    }

    /// (5)
    ///
    /// # Panics
    /// Panics when `value` belongs to another runtime: its memory could not be counted here.
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
