//! Type conversion: ToPrimitive, ToNumber, ToBigInt, ToIndex and what follows from them.

use super::super::program::Hostile;
use super::{Abrupt, Argument, Arguments, Completion, Model, Primitive, Shape, TEXTS};

#[expect(clippy::wrong_self_convention, reason = "the standard's names, and a coercion may run scripts")]
impl Model<'_> {
    /// ToNumber(argument)
    pub(super) fn to_number(&mut self, arguments: &Arguments<'_>, position: usize) -> Completion<f64> {
        match self.to_primitive(arguments, position)? {
            Primitive::Undefined => Ok(f64::NAN),
            Primitive::Null => Ok(0.0),
            Primitive::Bool(value) => Ok(value.into()),
            Primitive::Number(value) => Ok(value),
            Primitive::Text(index) => Ok(TEXTS[index].1),
            Primitive::BigInt(_) | Primitive::Symbol => Err(Abrupt::TypeError),
        }
    }

    /// ToIntegerOrInfinity(argument)
    pub(super) fn to_integer_or_infinity(
        &mut self,
        arguments: &Arguments<'_>,
        position: usize,
    ) -> Completion<f64> {
        let number = self.to_number(arguments, position)?;
        // -0 becomes 0.
        Ok(if number.is_nan() { 0.0 } else { number.trunc() + 0.0 })
    }

    /// ToIndex(argument)
    pub(super) fn to_index(&mut self, arguments: &Arguments<'_>, position: usize) -> Completion<u64> {
        let integer = self.to_integer_or_infinity(arguments, position)?;
        let is_index = (0.0..=9_007_199_254_740_991.0).contains(&integer);
        if is_index { Ok(integer as u64) } else { Err(Abrupt::RangeError) }
    }

    /// ToBigInt(argument)
    pub(super) fn to_bigint(&mut self, arguments: &Arguments<'_>, position: usize) -> Completion<i128> {
        match self.to_primitive(arguments, position)? {
            Primitive::Bool(value) => Ok(value.into()),
            Primitive::BigInt(value) => Ok(value),
            Primitive::Text(index) => TEXTS[index].2.ok_or(Abrupt::SyntaxError),
            Primitive::Undefined | Primitive::Null | Primitive::Number(_) | Primitive::Symbol => {
                Err(Abrupt::TypeError)
            }
        }
    }

    /// Whether the argument is not undefined.
    pub(super) fn is_given(arguments: &Arguments<'_>, position: usize) -> bool {
        !matches!(arguments.values.get(position), None | Some(Argument::Primitive(Primitive::Undefined)))
    }

    /// ToPrimitive(argument, number)
    fn to_primitive(&mut self, arguments: &Arguments<'_>, position: usize) -> Completion<Primitive> {
        match arguments.values.get(position) {
            None => Ok(Primitive::Undefined),
            Some(Argument::Primitive(value)) => Ok(*value),
            Some(Argument::Object(object)) => {
                self.object_to_primitive(arguments.agent, arguments.numbers[position], object)
            }
            // It has no methods, and no prototype that has some.
            Some(Argument::Options(_)) => Err(Abrupt::TypeError),
        }
    }

    fn object_to_primitive(&mut self, agent: usize, number: u32, object: &Hostile) -> Completion<Primitive> {
        let asked: &[&str] = match object.shape {
            Shape::ValueOf | Shape::Throws => &["v"],
            Shape::ToString => &["v", "s"],
            Shape::ToPrimitive => &["number"],
            Shape::Getter => &["g"],
            Shape::Proxy => &["p", "valueOf"],
            Shape::NoPrimitive => &["n"],
            Shape::NoFunction => return Err(Abrupt::TypeError),
        };
        asked.iter().for_each(|what| self.note(agent, &format!("{what}{number}")));
        self.script(agent, &object.acts);
        match object.shape {
            Shape::Throws => Err(Abrupt::Thrown(number)),
            Shape::NoPrimitive => Err(Abrupt::TypeError),
            _ => Ok(object.result),
        }
    }
}

/// An integer's lowest bits, as the standard's modulo operations give them.
pub(super) fn low_bits(integer: f64) -> u64 {
    // A larger one is a multiple of 2^64, and infinity stands for 0.
    if integer.abs() < 1e36 { integer as i128 as u64 } else { 0 }
}

/// A Number as `world.js` writes it.
pub(super) fn number_text(number: f64) -> String {
    if number == f64::from(number as i32) && !(number == 0.0 && number.is_sign_negative()) {
        format!("{}", number as i32)
    } else {
        format!("bits{}", number.to_bits())
    }
}
