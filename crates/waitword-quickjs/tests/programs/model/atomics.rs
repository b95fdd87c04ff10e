//! The functions of `Atomics`, by the steps of the standard's algorithms.

use super::super::program::WOKEN;
use super::coerce::{low_bits, number_text};
use super::{Abrupt, Arguments, Completion, Element, Model, Modify, Target, View};

/// An element of a typed array that was found in bounds.
struct Place {
    view: View,
    index: usize,
}

impl Place {
    fn byte_index(&self) -> usize {
        self.view.offset + self.index * self.view.element.size()
    }

    /// GetWaiterList(block, i)
    fn list(&self) -> (usize, usize) {
        (self.view.buffer, self.byte_index())
    }
}

/// What a DoWait has got after the coercions.
struct Request {
    place: Place,
    is_equal: bool,
    timeout: f64,
}

impl Model<'_> {
    /// `Atomics.wait(typedArray, index, value, timeout)`
    pub(super) fn wait(&mut self, arguments: &Arguments<'_>) -> Completion<String> {
        let request = self.wait_request(arguments)?;
        // AgentCanSuspend, which only a blocking wait asks: a TypeError.
        if !self.agents[arguments.agent].can_block {
            return Err(Abrupt::TypeError);
        }
        let outcome = if !request.is_equal {
            "not-equal"
        } else if request.timeout >= WOKEN {
            // By another thread, which notifies everybody there: those before it, and it.
            self.woken += 1 + self.notify_at(request.place.list(), f64::INFINITY, None);
            self.notified += 1;
            self.oks += 1;
            "ok"
        } else {
            "timed-out"
        };
        Ok(outcome.to_owned())
    }

    /// `Atomics.waitAsync(typedArray, index, value, timeout)`
    pub(super) fn wait_async(&mut self, arguments: &Arguments<'_>) -> Completion<String> {
        let request = self.wait_request(arguments)?;
        if !request.is_equal {
            return Ok("now:not-equal".to_owned());
        }
        if request.timeout == 0.0 {
            return Ok("now:timed-out".to_owned());
        }
        let agent = &mut self.agents[arguments.agent];
        agent.promises += 1;
        let promise = agent.promises;
        self.lists.add(request.place.list(), arguments.agent, promise, request.timeout);
        Ok(format!("later:{promise}"))
    }

    /// DoWait(mode, typedArray, index, value, timeout), up to the critical section and the comparison in it.
    fn wait_request(&mut self, arguments: &Arguments<'_>) -> Completion<Request> {
        let (view, length) = self.validate(arguments, true, false)?;
        // IsSharedArrayBuffer: a TypeError for memory that is not shared.
        if !self.block(arguments.agent, view.buffer).is_shared {
            return Err(Abrupt::TypeError);
        }
        let place = self.validate_access(view, length, arguments)?;
        let value = match view.element {
            Element::BigInt64 => self.to_bigint(arguments, 1)? as u64,
            _ => low_bits(self.to_integer_or_infinity(arguments, 1)?) & mask(view.element),
        };
        let timeout = self.to_number(arguments, 2)?;
        let timeout = if timeout.is_nan() { f64::INFINITY } else { timeout.max(0.0) };
        let is_equal = self.load_raw(arguments.agent, &place) == value;
        Ok(Request { place, is_equal, timeout })
    }

    /// `Atomics.notify(typedArray, index, count)`
    pub(super) fn notify(&mut self, arguments: &Arguments<'_>) -> Completion<String> {
        let (view, length) = self.validate(arguments, true, false)?;
        let place = self.validate_access(view, length, arguments)?;
        let count = if Self::is_given(arguments, 1) {
            self.to_integer_or_infinity(arguments, 1)?.max(0.0)
        } else {
            f64::INFINITY
        };
        // IsSharedArrayBuffer: memory that is not shared has no waiters.
        if !self.block(arguments.agent, view.buffer).is_shared {
            return Ok("0".to_owned());
        }
        Ok(self.notify_at(place.list(), count, Some(arguments.agent)).to_string())
    }

    /// `Atomics.load(typedArray, index)`
    pub(super) fn load(&mut self, arguments: &Arguments<'_>) -> Completion<String> {
        let (view, length) = self.validate(arguments, false, false)?;
        let place = self.validate_access(view, length, arguments)?;
        self.revalidate(arguments.agent, &place)?;
        Ok(self.load_text(arguments.agent, &place))
    }

    /// `Atomics.store(typedArray, index, value)`
    pub(super) fn store(&mut self, arguments: &Arguments<'_>) -> Completion<String> {
        let (view, length) = self.validate(arguments, false, true)?;
        let place = self.validate_access(view, length, arguments)?;
        let (raw, text) = if is_bigint(view.element) {
            let value = self.to_bigint(arguments, 1)?;
            (value as u64, format!("{value}n"))
        } else {
            let value = self.to_integer_or_infinity(arguments, 1)?;
            (low_bits(value), number_text(value))
        };
        self.revalidate(arguments.agent, &place)?;
        self.store_raw(arguments.agent, &place, raw);
        Ok(text)
    }

    /// AtomicReadModifyWrite(typedArray, index, value, op)
    pub(super) fn modify(&mut self, arguments: &Arguments<'_>, modify: Modify) -> Completion<String> {
        let (view, length) = self.validate(arguments, false, true)?;
        let place = self.validate_access(view, length, arguments)?;
        let value = self.element_value(view.element, arguments, 1)?;
        self.revalidate(arguments.agent, &place)?;
        let (old, text) = (self.load_raw(arguments.agent, &place), self.load_text(arguments.agent, &place));
        let new = match modify {
            Modify::Add => old.wrapping_add(value),
            Modify::And => old & value,
            Modify::Exchange => value,
            Modify::Or => old | value,
            Modify::Sub => old.wrapping_sub(value),
            Modify::Xor => old ^ value,
        };
        self.store_raw(arguments.agent, &place, new);
        Ok(text)
    }

    /// `Atomics.compareExchange(typedArray, index, expectedValue, replacementValue)`
    pub(super) fn compare_exchange(&mut self, arguments: &Arguments<'_>) -> Completion<String> {
        let (view, length) = self.validate(arguments, false, true)?;
        let place = self.validate_access(view, length, arguments)?;
        let expected = self.element_value(view.element, arguments, 1)?;
        let replacement = self.element_value(view.element, arguments, 2)?;
        self.revalidate(arguments.agent, &place)?;
        let text = self.load_text(arguments.agent, &place);
        if self.load_raw(arguments.agent, &place) == expected & mask(view.element) {
            self.store_raw(arguments.agent, &place, replacement);
        }
        Ok(text)
    }

    /// ValidateIntegerTypedArray(typedArray, waitable), and the length of its witness record.
    fn validate(
        &mut self,
        arguments: &Arguments<'_>,
        waitable: bool,
        writes: bool,
    ) -> Completion<(View, usize)> {
        let Target::View(index) = arguments.target else { return Err(Abrupt::TypeError) };
        let view = self.program.views[index];
        let length = self.length_of(arguments.agent, view).ok_or(Abrupt::TypeError)?;
        let is_kind = match view.element {
            Element::Int32 | Element::BigInt64 => true,
            Element::Int8 | Element::Uint8 | Element::Int16 | Element::Uint16 => !waitable,
            Element::Uint32 | Element::BigUint64 => !waitable,
            Element::Uint8Clamped | Element::Float32 | Element::Float64 => false,
        };
        if !is_kind || (writes && self.block(arguments.agent, view.buffer).is_immutable) {
            return Err(Abrupt::TypeError);
        }
        Ok((view, length))
    }

    /// ValidateAtomicAccess(taRecord, requestIndex)
    fn validate_access(&mut self, view: View, length: usize, arguments: &Arguments<'_>) -> Completion<Place> {
        let index = self.to_index(arguments, 0)?;
        if index >= length as u64 {
            return Err(Abrupt::RangeError);
        }
        Ok(Place { view, index: index as usize })
    }

    /// RevalidateAtomicAccess(typedArray, byteIndexInBuffer). By the letter the RangeError is only for an element that
    /// *begins* behind the buffer, and what is left of one that ends there is read, against an assertion further on; here it
    /// is for both.
    fn revalidate(&mut self, agent: usize, place: &Place) -> Completion<()> {
        let length = self.length_of(agent, place.view).ok_or(Abrupt::TypeError)?;
        if place.index < length { Ok(()) } else { Err(Abrupt::RangeError) }
    }

    fn element_value(
        &mut self,
        element: Element,
        arguments: &Arguments<'_>,
        position: usize,
    ) -> Completion<u64> {
        if is_bigint(element) {
            Ok(self.to_bigint(arguments, position)? as u64)
        } else {
            Ok(low_bits(self.to_integer_or_infinity(arguments, position)?))
        }
    }

    /// The element's bytes as a number without a sign.
    fn load_raw(&mut self, agent: usize, place: &Place) -> u64 {
        let (start, size) = (place.byte_index(), place.view.element.size());
        let bytes = &self.block(agent, place.view.buffer).bytes[start..start + size];
        bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
    }

    fn store_raw(&mut self, agent: usize, place: &Place, value: u64) {
        let (start, size) = (place.byte_index(), place.view.element.size());
        let bytes = &mut self.block(agent, place.view.buffer).bytes[start..start + size];
        bytes.copy_from_slice(&value.to_le_bytes()[..size]);
    }

    /// RawBytesToNumeric
    fn load_text(&mut self, agent: usize, place: &Place) -> String {
        let raw = self.load_raw(agent, place);
        match place.view.element {
            Element::Int8 => (raw as i8).to_string(),
            Element::Int16 => (raw as i16).to_string(),
            Element::Int32 => (raw as i32).to_string(),
            Element::BigInt64 => format!("{}n", raw as i64),
            Element::BigUint64 => format!("{raw}n"),
            _ => number_text(raw as f64),
        }
    }
}

fn is_bigint(element: Element) -> bool {
    matches!(element, Element::BigInt64 | Element::BigUint64)
}

/// The bits of an element.
fn mask(element: Element) -> u64 {
    u64::MAX >> (64 - 8 * element.size())
}
