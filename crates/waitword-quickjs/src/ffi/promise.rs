//! Promises created and inspected by Rust.

use rquickjs_sys as qjs;

use super::handles::{Exception, Realm, Value};

/// The state of a promise.
#[derive(Clone, Debug)]
pub enum PromiseState {
    /// The value is not a promise.
    NotAPromise,
    /// Neither fulfilled nor rejected.
    Pending,
    /// Fulfilled with this value.
    Fulfilled(Value),
    /// Rejected with this value.
    Rejected(Exception),
}

/// Resolves or rejects the promise with which it was created. If it is dropped, the promise stays pending.
#[derive(Debug)]
pub struct Resolver {
    realm: Realm,
    resolve: Value,
    reject: Value,
}

impl Resolver {
    /// Returns the realm in which the promise was created.
    pub fn realm(&self) -> &Realm {
        &self.realm
    }

    /// Returns the function that resolves the promise, for a caller that never rejects and stores many.
    pub(crate) fn into_resolve(self) -> Value {
        self.resolve
    }

    /// Resolves the promise. Its reactions are enqueued as microtasks before this returns.
    ///
    /// # Errors
    /// If the engine has no memory for the reactions. They are lost then.
    pub fn resolve(self, value: &Value) -> Result<(), Exception> {
        self.realm.settle_promise(&self.resolve, value)?.map_or(Ok(()), Err)
    }

    /// Rejects the promise. Its reactions are enqueued as microtasks before this returns.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve).
    pub fn reject(self, reason: &Exception) -> Result<(), Exception> {
        self.realm.settle_promise(&self.reject, reason.value())?.map_or(Ok(()), Err)
    }
}

impl Realm {
    /// Calls the function that resolves or rejects a promise. Returns `Some` if the promise is settled but its reactions are lost, because
    /// the engine has no memory for their jobs. The engine signals this only by a pending exception.
    ///
    /// # Errors
    /// What the function throws. The promise is not settled then.
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

    /// Creates a promise and its resolver. The promise is of the intrinsic `%Promise%`, even if scripts replaced the global of that name.
    ///
    /// # Errors
    /// If the engine's memory limit is reached.
    pub fn promise(&self) -> Result<(Value, Resolver), Exception> {
        let mut functions = [qjs::JS_UNDEFINED; 2];
        // SAFETY: (4); the engine writes two functions.
        let promise =
            self.own(unsafe { qjs::JS_NewPromiseCapability(self.raw(), functions.as_mut_ptr()) })?;
        // SAFETY: (3): on success the engine gave a count of each.
        let [resolve, reject] = functions.map(|raw| unsafe { Value::from_owned(self.engine(), raw) });
        Ok((promise, Resolver { realm: self.clone(), resolve, reject }))
    }

    /// Returns the state of a promise. This does not count as handling a rejection.
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

    /// Marks a promise as handled, so that its rejection is not reported as unhandled.
    pub fn mark_handled(&self, promise: &Value) {
        self.check(promise);
        // SAFETY: (3), (4), (5)
        unsafe { qjs::JS_PromiseMarkAsHandled(self.raw(), promise.raw()) };
    }
}
