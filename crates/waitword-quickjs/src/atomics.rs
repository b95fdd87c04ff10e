//! `Atomics.wait`, `Atomics.waitAsync` and `Atomics.notify` as ECMA-262 specifies them, on waitword's queue.
//!
//! The comments name the steps of the standard's algorithms (clauses `Atomics.wait`, `Atomics.waitAsync`,
//! `Atomics.notify`, `DoWait` and "Abstract Operations for Atomics"). [`Agent`](waitword_agents::Agent) does what is inside the critical
//! section: the comparison, the queue, the clock.
//!
//! Functions that are `inline(always)` here and in `ffi/` return results of several words. If these went through memory, they would be
//! written in halves and read as a whole, and the processor's wait for the store (a failed store forwarding) would cost more than the
//! function.

#[cfg(feature = "observe")]
use std::time::Instant;

use waitword_agents::{
    AsyncWait, Expected, Outcome, SharedBlock, Timeout, WaitAsyncError, WaitError, notify_count,
};

use crate::agent_state::{AgentState, terminated};
use crate::ffi::{Attributes, BorrowedBlock, Call, Exception, Realm, TypedArrayKind, TypedArrayView, Value};
use crate::shared_array_buffer;

/// Replaces the three functions in a realm; `waitAsync` is new to the engine.
///
/// Names, lengths and property attributes are the standard's. None of them is a constructor.
pub(crate) fn install(realm: &Realm) -> Result<(), Exception> {
    let atomics = realm.get(&realm.global(), "Atomics")?;
    let wait = realm.function("wait", 4, wait)?;
    realm.define(&atomics, "wait", &wait, Attributes::BUILT_IN)?;
    let wait_async = realm.function("waitAsync", 4, wait_async)?;
    realm.define(&atomics, "waitAsync", &wait_async, Attributes::BUILT_IN)?;
    let notify = realm.function("notify", 3, notify)?;
    realm.define(&atomics, "notify", &notify, Attributes::BUILT_IN)
}

/// `Atomics.wait(typedArray, index, value, timeout)`: DoWait(sync, ...).
fn wait(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let state = AgentState::of(realm)?;
    let array = call.argument(0);
    let array = WaitableArray::validate(realm, &array)?;
    let request = array.wait_request(realm, call)?;
    // AgentCanSuspend, only for a blocking wait: a TypeError, after all coercions and before the comparison.
    if !state.agent.can_block() {
        return Err(cannot_block(realm));
    }
    if let Some(outcome) = request.outcome_at_once(realm, &state)? {
        return state.outcome(realm, outcome);
    }
    // EnterCriticalSection, compare, AddWaiter, SuspendThisAgent, RemoveWaiter, LeaveCriticalSection.
    match state.wait(request.block, request.byte_index, request.expected, request.timeout) {
        Ok(outcome) => state.outcome(realm, outcome),
        // Not in the standard: the host terminates this agent, so its scripts must not continue.
        Err(WaitError::Terminated) => Err(terminated(realm)),
        Err(WaitError::CannotBlock) => Err(cannot_block(realm)),
        Err(error) => Err(realm.range_error(&error.to_string())),
    }
}

/// `Atomics.waitAsync(typedArray, index, value, timeout)`: DoWait(async, ...).
fn wait_async(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let state = AgentState::of(realm)?;
    let array = call.argument(0);
    let array = WaitableArray::validate(realm, &array)?;
    let request = array.wait_request(realm, call)?;
    // "not-equal" takes precedence over a timeout of 0. Neither needs a promise.
    if let Some(outcome) = request.outcome_at_once(realm, &state)? {
        return immediate_result(realm, &state, outcome);
    }
    // NewPromiseCapability of the intrinsic Promise, and the result object. Everything that may run out of memory is created before the
    // waiter is enqueued, so that no waiter has to be dequeued for that.
    let (promise, resolver) = realm.promise()?;
    let result = wait_async_result(realm, &state, true, &promise)?;
    #[cfg(feature = "observe")]
    let begun = state.word_observer().map(|observer| (observer, Instant::now()));
    // EnterCriticalSection, compare, AddWaiter, LeaveCriticalSection.
    match state.agent.wait_async(request.block, request.byte_index, request.expected, request.timeout) {
        Ok(AsyncWait::Pending(id)) => {
            state.expect(id, resolver, request.timeout);
            #[cfg(feature = "observe")]
            if let Some((observer, begun)) = begun {
                observer.awaits(id, request.block, request.byte_index, request.timeout, begun);
            }
            Ok(result)
        }
        // Another agent has changed the word in the meantime. The promise is dropped.
        Ok(AsyncWait::NotEqual) => immediate_result(realm, &state, Outcome::NotEqual),
        Ok(AsyncWait::TimedOut) => immediate_result(realm, &state, Outcome::TimedOut),
        Err(WaitAsyncError::Terminated) => Err(terminated(realm)),
        Err(error) => Err(realm.range_error(&error.to_string())),
    }
}

/// `Atomics.notify(typedArray, index, count)`
fn notify(realm: &Realm, call: &Call<'_>) -> Result<Value, Exception> {
    let state = AgentState::of(realm)?;
    // ValidateAtomicAccessOnIntegerTypedArray, of the types that can be waited on.
    let array = call.argument(0);
    let array = WaitableArray::validate(realm, &array)?;
    let byte_index = array.byte_index(realm, &call.argument(1))?;
    // The count: undefined means all; anything else is an integer, not below 0 (`notify_count`).
    let count = call.argument(2);
    let count = if count.is_undefined() { f64::INFINITY } else { realm.to_number(&count)? };
    // Memory that is not shared has no waiters: 0, but after the coercions, which may have thrown.
    let Some(block) = &array.block else {
        return Ok(realm.number(0));
    };
    // EnterCriticalSection, RemoveWaiters, NotifyWaiter for each in turn, LeaveCriticalSection. The promises of this agent's waiters are
    // resolved before this function returns, so their reactions come before any that the caller enqueues.
    let mut failed = None;
    #[cfg(feature = "observe")]
    let begun = state.word_observer().map(|observer| (observer, Instant::now()));
    let woken = state.agent.notify(block, byte_index, notify_count(count), |settled| {
        if let Err(exception) = state.settle(settled) {
            failed = Some(exception);
        }
    });
    #[cfg(feature = "observe")]
    if let (Some((observer, begun)), Ok(woken)) = (begun, &woken) {
        observer.notified(block, byte_index, *woken, begun);
    }
    match (woken, failed) {
        (Err(error), _) => Err(realm.range_error(&error.to_string())),
        (Ok(_), Some(exception)) => {
            // So that the event loop tries again.
            state.agent.handle().ring();
            Err(exception)
        }
        // The number of waiters that RemoveWaiters removed.
        (Ok(woken), None) => {
            #[cfg(feature = "rquickjs")]
            if woken > 0 && !state.has_pending() {
                // So that the future that settles promises finds that it has nothing left to do.
                state.agent.handle().ring();
            }
            Ok(realm.integer(woken))
        }
    }
}

/// A typed array whose elements can be waited on, with its length when it was validated.
struct WaitableArray<'a> {
    element: Element,
    /// `None` if the buffer is not shared.
    block: Option<BorrowedBlock<'a>>,
    byte_offset: usize,
    length: u64,
}

#[derive(Clone, Copy)]
enum Element {
    Int32 = 4,
    BigInt64 = 8,
}

impl<'a> WaitableArray<'a> {
    /// ValidateIntegerTypedArray(typedArray, waitable = true).
    #[inline(always)]
    fn validate(realm: &Realm, array: &'a Value) -> Result<Self, Exception> {
        // ValidateTypedArray, and the type of its elements: Int32 or BigInt64.
        let element = match realm.typed_array_kind(array) {
            Some(TypedArrayKind::Int32) => Element::Int32,
            Some(TypedArrayKind::BigInt64) => Element::BigInt64,
            _ => return Err(realm.type_error("expected an Int32Array or a BigInt64Array")),
        };
        // MakeTypedArrayWithBufferWitnessRecord, and the TypeError for one that is detached or out of bounds.
        let TypedArrayView { buffer, byte_offset, byte_length } = realm.typed_array_view(array)?;
        // TypedArrayLength, before the index is coerced, so that a script that runs then does not affect it.
        let block = realm.borrow_shared_block(&buffer);
        let length = match block.as_deref() {
            Some(block) if !block.is_growable() => (byte_length / element as usize) as u64,
            _ => shared_array_buffer::current_view_length(realm, array)?,
        };
        Ok(Self { element, block, byte_offset, length })
    }

    /// ValidateAtomicAccess(taRecord, requestIndex): the byte index in the buffer.
    #[inline(always)]
    fn byte_index(&self, realm: &Realm, index: &Value) -> Result<usize, Exception> {
        // ToIndex, and a RangeError for an index that is not below the length.
        let index = realm.to_index(index)?;
        if index >= self.length {
            return Err(
                realm.range_error(&format!("index {index} is out of range: the length is {}", self.length))
            );
        }
        // The index is below the length of an array that exists, so neither step can overflow.
        Ok(self.byte_offset + index as usize * self.element as usize)
    }

    /// The other arguments of a wait, coerced as for both kinds of wait.
    #[inline(always)]
    fn wait_request(&self, realm: &Realm, call: &Call<'_>) -> Result<WaitRequest<'_>, Exception> {
        // Memory that is not shared: a TypeError, before the index is coerced.
        let Some(block) = &self.block else { return Err(not_shared(realm, &call.argument(0))) };
        // ValidateAtomicAccess.
        let byte_index = self.byte_index(realm, &call.argument(1))?;
        // ToInt32 or ToBigInt64 of the value, by the type of the elements.
        let value = call.argument(2);
        let expected = match self.element {
            Element::Int32 => Expected::I32(realm.to_i32(&value)?),
            Element::BigInt64 => Expected::I64(realm.to_bigint64(&value)?),
        };
        // ToNumber of the timeout. NaN and Infinity have no deadline; negative values count as 0.
        let timeout = call.argument(3);
        // ToNumber(undefined) is NaN.
        let timeout = if timeout.is_undefined() { f64::NAN } else { realm.to_number(&timeout)? };
        Ok(WaitRequest { block, byte_index, expected, timeout: Timeout::from_millis(timeout) })
    }
}

/// The arguments of a wait, after all coercions.
struct WaitRequest<'a> {
    block: &'a SharedBlock,
    byte_index: usize,
    expected: Expected,
    timeout: Timeout,
}

impl WaitRequest<'_> {
    /// The outcome if the wait ends at once.
    #[inline(always)]
    fn outcome_at_once(&self, realm: &Realm, state: &AgentState) -> Result<Option<Outcome>, Exception> {
        let outcome = state.agent.outcome_at_once(self.block, self.byte_index, self.expected, self.timeout);
        outcome.map_err(|error| realm.range_error(&error.to_string()))
    }
}

/// The result of `waitAsync`: own data properties `async` and `value`, in this order, with the attributes of assignments.
fn wait_async_result(
    realm: &Realm,
    state: &AgentState,
    is_async: bool,
    value: &Value,
) -> Result<Value, Exception> {
    let make = |value: &Value| {
        let object = realm.object()?;
        realm.define(&object, "async", &realm.bool(is_async), Attributes::ASSIGNED)?;
        realm.define(&object, "value", value, Attributes::ASSIGNED)?;
        Ok(object)
    };
    // The engine reuses a shape while some object has it, and creates it anew otherwise.
    if state.shape.get().is_none() {
        let _ = state.shape.set(make(&realm.undefined())?);
    }
    make(value)
}

/// The result of a `waitAsync` that enqueued nothing: the object itself contains the outcome.
fn immediate_result(realm: &Realm, state: &AgentState, outcome: Outcome) -> Result<Value, Exception> {
    wait_async_result(realm, state, false, &state.outcome(realm, outcome)?)
}

/// The error for memory that is not shared.
#[cold]
fn not_shared(realm: &Realm, array: &Value) -> Exception {
    let is_engines =
        realm.typed_array_view(array).is_ok_and(|view| realm.is_shared_array_buffer(&view.buffer));
    realm.type_error(match is_engines {
        // In a guest's runtime only.
        true => "cannot wait on this SharedArrayBuffer, which is not on a block: create it after waitword is installed",
        false => "cannot wait on this typed array: its buffer is not a SharedArrayBuffer",
    })
}

fn cannot_block(realm: &Realm) -> Exception {
    realm.type_error("Atomics.wait cannot block this agent: use Atomics.waitAsync")
}
