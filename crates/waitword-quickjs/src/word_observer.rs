//! What scripts do to the words of shared memory, for a host that shows the holder and the waiters of a lock.
//!
//! Nobody pays for it until some agent of the process is observed: then each `Atomics` function that writes looks for its agent's observer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use waitword_agents::observe::Change;
use waitword_agents::{SharedBlock, Timeout, WaitId};

use crate::ffi::{Realm, TypedArrayKind, Value};

/// Learns what an agent's scripts do to the words of shared memory, on the agent's thread, after they have done it. `begun` is a time
/// before that.
///
/// Told are words that can be waited on, those of Int32Array and BigInt64Array, and what `Atomics` does: a plain assignment goes unseen.
pub trait WordObserver {
    /// A promise of `Atomics.waitAsync` is pending from now on.
    fn awaits(&self, wait: WaitId, block: &SharedBlock, byte_index: usize, timeout: Timeout, begun: Instant);

    /// It is not pending any more.
    fn settled(&self, wait: WaitId);

    /// A word has been changed.
    fn changed(&self, block: &SharedBlock, byte_index: usize, change: Change, begun: Instant);

    /// A word has been notified, and so many waiters have been woken.
    fn notified(&self, block: &SharedBlock, byte_index: usize, woken: usize, begun: Instant);
}

static IS_ANY: AtomicBool = AtomicBool::new(false);

/// From now on agents ask for their observers.
pub(crate) fn observe_agents() {
    // An agent's own observer is set on its own thread, so this store need not synchronize.
    IS_ANY.store(true, Ordering::Relaxed);
}

/// Whether there has been an observer in this process.
#[inline(always)]
pub(crate) fn is_any_agent_observed() -> bool {
    IS_ANY.load(Ordering::Relaxed)
}

/// What a function of `Atomics` has changed (the block, where in bytes, and how), by its name, its arguments, none of which is an object but
/// the array, and its result.
/// `None`: nothing, or nothing that can be waited on.
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
