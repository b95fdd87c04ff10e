//! The operations of scripts on words of shared memory, for hosts that show the holder and the waiters of a lock.
//!
//! They cost nothing until an agent of the process is observed. Then each `Atomics` function that writes looks up its agent's observer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use waitword_agents::observe::Change;
use waitword_agents::{SharedBlock, Timeout, WaitId};

use crate::ffi::{Realm, TypedArrayKind, Value};

/// Is called for each operation of an agent's scripts on a word of shared memory, on the agent's thread, after the operation. `begun` is
/// the time before the operation.
///
/// Only operations of `Atomics` on words that can be waited on (of Int32Array and BigInt64Array) are reported. A plain assignment is not
/// observed.
pub trait WordObserver {
    /// A promise of `Atomics.waitAsync` is now pending.
    fn awaits(&self, wait: WaitId, block: &SharedBlock, byte_index: usize, timeout: Timeout, begun: Instant);

    /// The promise is no longer pending.
    fn settled(&self, wait: WaitId);

    /// A word was changed.
    fn changed(&self, block: &SharedBlock, byte_index: usize, change: Change, begun: Instant);

    /// A word was notified, which woke this number of waiters.
    fn notified(&self, block: &SharedBlock, byte_index: usize, woken: usize, begun: Instant);
}

static IS_ANY: AtomicBool = AtomicBool::new(false);

/// Makes agents look up their observers from now on.
pub(crate) fn observe_agents() {
    // Relaxed: an agent's observer is set on the agent's own thread.
    IS_ANY.store(true, Ordering::Relaxed);
}

/// Whether an observer was ever set in this process.
#[inline(always)]
pub(crate) fn is_any_agent_observed() -> bool {
    IS_ANY.load(Ordering::Relaxed)
}

/// What a function of `Atomics` changed (the block, the byte index, and how), from its name, its arguments (of which only the array is an
/// object) and its result. `None`: nothing, or nothing that can be waited on.
pub(crate) fn changed(
    realm: &Realm,
    function: &str,
    arguments: &[Value],
    result: &Value,
) -> Option<(SharedBlock, usize, Change)> {
    let [array, index, values @ ..] = arguments else { return None };
    let is_wide = match realm.typed_array_kind(array)? {
        TypedArrayKind::Int32 => false,
        TypedArrayKind::BigInt64 => true,
        _ => return None,
    };
    let number = |value: &Value| match is_wide {
        true => realm.to_bigint64(value).ok(),
        false => realm.to_i32(value).ok().map(i64::from),
    };
    let value = |position: usize| number(values.get(position)?);
    let swapped = |after: i64| {
        let before = number(result)?;
        (before != after).then_some(Change::Swapped { before, after })
    };
    let combined = |combine: fn(i64, i64) -> i64| {
        let before = number(result)?;
        let after = combine(before, value(0)?);
        let after = if is_wide { after } else { i64::from(after as i32) };
        (before != after).then_some(Change::Written { after })
    };
    let change = match function {
        "compareExchange" if number(result)? == value(0)? => swapped(value(1)?),
        "exchange" => swapped(value(0)?),
        "store" => Some(Change::Written { after: value(0)? }),
        "add" => combined(i64::wrapping_add),
        "sub" => combined(i64::wrapping_sub),
        "and" => combined(|one, other| one & other),
        "or" => combined(|one, other| one | other),
        "xor" => combined(|one, other| one ^ other),
        _ => None,
    }?;
    let view = realm.typed_array_view(array).ok()?;
    let block = realm.borrow_shared_block(&view.buffer)?;
    let size = if is_wide { 8 } else { 4 };
    let byte_index = view.byte_offset + size * usize::try_from(realm.to_index(index).ok()?).ok()?;
    Some(((*block).clone(), byte_index, change))
}
