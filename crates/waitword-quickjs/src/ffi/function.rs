//! Native functions: Rust code that scripts can call.

use std::any::Any;
use std::ffi::c_int;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use rquickjs_sys as qjs;

use super::handles::{Call, Exception, Native, NativeFn, Realm, Value};
use super::property::Attributes;
use super::realm::c_string;
use super::value::BorrowedValue;

impl fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("this", &self.this()).field("arguments", &self.arguments()).finish()
    }
}

impl Call<'_> {
    /// Returns the `this` value, not converted to an object. In a constructor it is `new.target`.
    pub fn this(&self) -> Value {
        // SAFETY: (3): the caller holds it while the function runs.
        unsafe { Value::from_borrowed(self.realm.engine(), self.this) }
    }

    /// Returns the argument at this position, or `undefined` if the call has fewer.
    pub fn argument(&self, index: usize) -> BorrowedValue<'_> {
        let raw = self.arguments.get(index).copied().unwrap_or(qjs::JS_UNDEFINED);
        // SAFETY: (3): the caller holds it while the function runs, and with it this `Call`.
        unsafe { BorrowedValue::new(self.realm.engine(), raw) }
    }

    /// Returns the number of arguments.
    pub fn len(&self) -> usize {
        self.arguments.len()
    }

    /// Returns whether the call has no arguments.
    pub fn is_empty(&self) -> bool {
        self.arguments.is_empty()
    }

    /// Returns whether an argument from this position on is an object. Coercing an object may run scripts.
    pub fn has_object_from(&self, index: usize) -> bool {
        let is_object = |&raw: &qjs::JSValue| {
            // SAFETY: reads the tag only, as `Value::tag` does.
            unsafe { qjs::JS_VALUE_GET_NORM_TAG(raw) == qjs::JS_TAG_OBJECT }
        };
        self.arguments.iter().skip(index).any(is_object)
    }

    /// Returns all arguments.
    pub fn arguments(&self) -> Vec<Value> {
        (0..self.len()).map(|index| self.argument(index).clone()).collect()
    }

    /// Calls another function with the same `this` and the same arguments.
    ///
    /// # Errors
    /// What the function throws.
    pub fn forward(&self, function: &Value) -> Result<Value, Exception> {
        self.realm.check(function);
        let arguments = self.arguments.as_ptr().cast_mut();
        // SAFETY: (3), (4), (5); the engine borrows the arguments and does not write to them.
        self.realm.own(unsafe {
            qjs::JS_Call(self.realm.raw(), function.raw(), self.this, self.len() as c_int, arguments)
        })
    }
}

impl Realm {
    /// Creates a function object, which is not a constructor. `name` and `length` become its properties of these names.
    ///
    /// # Errors
    /// If the engine's memory limit is reached, or the runtime has 32,768 different native functions already.
    pub fn function(&self, name: &str, length: u8, native: NativeFn) -> Result<Value, Exception> {
        let magic = self.register(native)?;
        self.new_function(name, length, qjs::JSCFunctionEnum_JS_CFUNC_generic_magic, magic)
    }

    /// Creates a function object for a closure as [`closure`](Self::closure) does, but one that can only be called with `new`, or by
    /// `super()` of a class.
    ///
    /// # Errors
    /// As [`Realm::function`].
    pub fn constructor(
        &self,
        name: &str,
        length: u8,
        native: impl Fn(&Realm, &Call<'_>) -> Result<Value, Exception> + 'static,
    ) -> Result<Value, Exception> {
        let magic = self.add_native(Native::Closure(Rc::new(native)))?;
        self.new_function(name, length, qjs::JSCFunctionEnum_JS_CFUNC_constructor_magic, magic)
    }

    /// Creates a function object for a closure. The closure is kept until the [`Runtime`](super::Runtime) is dropped, even if the
    /// function object is collected before.
    ///
    /// # Errors
    /// As [`Realm::function`].
    pub fn closure(
        &self,
        name: &str,
        length: u8,
        native: impl Fn(&Realm, &Call<'_>) -> Result<Value, Exception> + 'static,
    ) -> Result<Value, Exception> {
        let magic = self.add_native(Native::Closure(Rc::new(native)))?;
        self.new_function(name, length, qjs::JSCFunctionEnum_JS_CFUNC_generic_magic, magic)
    }

    /// Replaces a function of the engine by a closure with the same name and `length`. The closure also receives the replaced function.
    ///
    /// # Errors
    /// As [`Realm::function`].
    pub(crate) fn replace(
        &self,
        holder: &Value,
        name: &str,
        native: impl Fn(&Realm, &Call<'_>, &Value) -> Result<Value, Exception> + 'static,
    ) -> Result<(), Exception> {
        let engines = self.get(holder, name)?;
        let length = self.to_i32(&self.get(&engines, "length")?)? as u8;
        let ours = self.closure(name, length, move |realm, call| native(realm, call, &engines))?;
        self.define(holder, name, &ours, Attributes::BUILT_IN)
    }

    /// The index of a plain function in the table, which all realms share.
    fn register(&self, native: NativeFn) -> Result<i16, Exception> {
        let same = |entry: &Native| match entry {
            Native::Function(known) => std::ptr::fn_addr_eq(*known, native),
            Native::Closure(_) => false,
        };
        let known = self.engine().natives.borrow().iter().position(same);
        match known {
            // The table has at most as many entries as an `i16` can count.
            Some(index) => Ok(index as i16),
            None => self.add_native(Native::Function(native)),
        }
    }

    fn add_native(&self, native: Native) -> Result<i16, Exception> {
        let mut table = self.engine().natives.borrow_mut();
        let Ok(index) = i16::try_from(table.len()) else {
            drop(table);
            return Err(self.range_error("too many native functions in one runtime"));
        };
        table.push(native);
        Ok(index)
    }

    fn new_function(
        &self,
        name: &str,
        length: u8,
        kind: qjs::JSCFunctionEnum,
        magic: i16,
    ) -> Result<Value, Exception> {
        let name = c_string(name);
        let function = qjs::JSCFunctionType { generic_magic: Some(trampoline) };
        // SAFETY: the variants of this union are function pointers of one size; the engine calls it by `kind`, and both
        // kinds that are passed here have the signature of `trampoline`.
        let function = unsafe { function.generic };
        // SAFETY: (4)
        self.own(unsafe {
            qjs::JS_NewCFunction2(self.raw(), function, name.as_ptr(), length.into(), kind, magic.into())
        })
    }
}

/// The C function behind all native functions. `magic` is an index into the engine's table of them.
unsafe extern "C" fn trampoline(
    context: *mut qjs::JSContext,
    this: qjs::JSValue,
    count: c_int,
    arguments: *mut qjs::JSValue,
    magic: c_int,
) -> qjs::JSValue {
    // SAFETY: the context that calls us is alive.
    if unsafe { qjs::JS_GetContextOpaque(context) }.is_null() {
        // SAFETY: as above; a text without formats needs no further argument.
        return unsafe { qjs::JS_ThrowTypeError(context, c"the runtime is shutting down".as_ptr()) };
    }
    // SAFETY: a running engine calls us (6), and is there until we return.
    let realm = &*unsafe { Realm::of_context(context) };
    let arguments = match usize::try_from(count) {
        // SAFETY: the engine passes `count` values, which it holds until we return.
        Ok(len) if !arguments.is_null() => unsafe { std::slice::from_raw_parts(arguments, len) },
        _ => &[],
    };
    // (7)
    let result = catch_unwind(AssertUnwindSafe(|| {
        // Cloned out of the table before the call, because the function may add to the table.
        let native =
            usize::try_from(magic).ok().and_then(|index| realm.engine().natives.borrow().get(index).cloned());
        let call = Call { realm, this, arguments };
        match native {
            Some(Native::Function(native)) => native(realm, &call),
            Some(Native::Closure(native)) => native(realm, &call),
            // The runtime's owner was dropped, and the functions with it.
            None => Err(realm.uncatchable_error("the runtime is shutting down")),
        }
        .inspect(|value| realm.check(value))
        // The function may have synchronized with an agent that has grown memory.
        .and_then(|value| realm.catch_up().map(|()| value))
    }));
    let result = result.unwrap_or_else(|panic| {
        Err(realm.uncatchable_error(&format!("a native function panicked: {}", panic_message(&*panic))))
    });
    match result {
        Ok(value) => value.into_raw(),
        Err(exception) => realm.throw(exception),
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
