//! Promises made and watched by Rust.

use rquickjs_sys as qjs;

use super::handles::{Exception, Realm, Value};

/// How a promise stands.
#[derive(Clone, Debug)]
pub enum PromiseState {
    /// The value is no promise.
    NotAPromise,
    /// Neither fulfilled nor rejected.
    Pending,
    /// Fulfilled with this value.
    Fulfilled(Value),
    /// Rejected with this value.
    Rejected(Exception),
}

/// Settles the promise that it was made with. Without a call, the promise stays pending.
#[derive(Debug)]
pub struct Resolver {
    realm: Realm,
    resolve: Value,
    reject: Value,
}

impl Resolver {
    /// The realm that the promise was made in.
    pub fn realm(&self) -> &Realm {
        &self.realm
    }

    /// The function that resolves the promise, for a caller that never rejects it and keeps many.
    pub(crate) fn into_resolve(self) -> Value {
        self.resolve
    }

    /// Resolves the promise. Its reactions are queued as microtasks before this returns.
    ///
    /// # Errors
    /// When the engine has no memory for the reactions. They are lost then.
    pub fn resolve(self, value: &Value) -> Result<(), Exception> {
        self.realm.settle_promise(&self.resolve, value)?.map_or(Ok(()), Err)
    }

    /// Rejects the promise. Its reactions are queued as microtasks before this returns.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve).
    pub fn reject(self, reason: &Exception) -> Result<(), Exception> {
        self.realm.settle_promise(&self.reject, reason.value())?.map_or(Ok(()), Err)
    }
}

impl Realm {
    /// Calls the function that resolves or rejects a promise. `Some`: the promise is settled, and its reactions are lost, for the engine has no
    /// memory for their jobs. It says so by nothing but the exception that it holds then.
    ///
    /// # Errors
    /// What the function throws: the promise is not settled.
    pub(crate) fn settle_promise(
        &self,
        function: &Value,
        value: &Value,
    ) -> Result<Option<Exception>, Exception> {
        // SAFETY: (4)
        let holds_exception = || unsafe { qjs::JS_HasException(self.raw()) };
        let held_before = holds_exception();
        self.call(function, &self.undefined(), std::slice::from_ref(value))?;
        Ok((!held_before && holds_exception()).then(|| self.take_exception()))
    }

    /// A new promise of the intrinsic `%Promise%`, whatever scripts did to the global of that name, and its resolver.
    ///
    /// # Errors
    /// When the engine's memory limit is reached.
    pub fn promise(&self) -> Result<(Value, Resolver), Exception> {
        let mut functions = [qjs::JS_UNDEFINED; 2];
        // SAFETY: (4); the engine writes two functions.
        let promise =
            self.own(unsafe { qjs::JS_NewPromiseCapability(self.raw(), functions.as_mut_ptr()) })?;
        // SAFETY: (3): on success the engine gave a count of each.
        let [resolve, reject] = functions.map(|raw| unsafe { Value::from_owned(self.engine(), raw) });
        Ok((promise, Resolver { realm: self.clone(), resolve, reject }))
    }

    /// How the promise stands. Does not count as handling a rejection.
    pub fn promise_state(&self, promise: &Value) -> PromiseState {
        self.check(promise);
        // SAFETY: (3), (4), (5)
        let result =
            || unsafe { Value::from_owned(self.engine(), qjs::JS_PromiseResult(self.raw(), promise.raw())) };
        // SAFETY: (3), (4), (5)
        match unsafe { qjs::JS_PromiseState(self.raw(), promise.raw()) } {
            qjs::JSPromiseStateEnum_JS_PROMISE_PENDING => PromiseState::Pending,
            qjs::JSPromiseStateEnum_JS_PROMISE_FULFILLED => PromiseState::Fulfilled(result()),
            qjs::JSPromiseStateEnum_JS_PROMISE_REJECTED => PromiseState::Rejected(Exception::new(result())),
            _ => PromiseState::NotAPromise,
        }
    }

    /// Says that a rejection of this promise is dealt with, so that it is not reported as unhandled.
    pub fn mark_handled(&self, promise: &Value) {
        self.check(promise);
        // SAFETY: (3), (4), (5)
        unsafe { qjs::JS_PromiseMarkAsHandled(self.raw(), promise.raw()) };
    }
}
