//! A step as source text, on the tools of `world.js`. Every object that is made to be coerced gets a number; the model counts in
//! the same order.

use std::fmt::Write;

use super::program::{Act, Argument, Call, Function, Hostile, Memory, Primitive, Program, TEXTS, Target};

/// The statements that make an agent's buffers and views. Shared memory is there already, as `shared0`, `shared1`, ...
pub(super) fn world(program: &Program) -> String {
    let mut text = String::new();
    for (index, buffer) in program.buffers.iter().enumerate() {
        let len = buffer.len;
        let made = match buffer.memory {
            Memory::Fixed => format!("new ArrayBuffer({len})"),
            Memory::Resizable { max } => format!("new ArrayBuffer({len}, {{ maxByteLength: {max} }})"),
            Memory::Immutable => format!("new ArrayBuffer({len}).transferToImmutable()"),
            Memory::Shared | Memory::Growable { .. } => format!("shared{index}"),
        };
        writeln!(text, "$.buffers[{index}] = {made};").unwrap();
    }
    // An element's name here is what its constructor's begins with.
    for (index, view) in program.views.iter().enumerate() {
        let length = view.length.map_or(String::new(), |length| format!(", {length}"));
        let (element, buffer, offset) = (view.element, view.buffer, view.offset);
        writeln!(text, "$.views[{index}] = new {element:?}Array($.buffers[{buffer}], {offset}{length});")
            .unwrap();
    }
    text + "$.prepare();"
}

/// A script of these acts.
pub(super) fn script(acts: &[Act]) -> String {
    statements(acts) + "$.take();"
}

fn statements(acts: &[Act]) -> String {
    acts.iter().map(|act| statement(act) + " ").collect()
}

fn statement(act: &Act) -> String {
    match act {
        Act::Call(made) => call(made),
        Act::Detach { buffer } => format!("$.detach($.buffers[{buffer}]);"),
        Act::Resize { buffer, len } => format!("$.resize($.buffers[{buffer}], {len});"),
        Act::CollectGarbage => "$.gc();".to_owned(),
        Act::Patch { realm, patch } => format!("$.patch({realm}, {patch});"),
        Act::Strip { view } => format!("$.strip($.views[{view}]);"),
    }
}

fn call(call: &Call) -> String {
    let arguments: Vec<_> = call.arguments.iter().map(argument).collect();
    let arguments = arguments.join(", ");
    let (realm, target) = (call.realm, target(call.target));
    match call.function {
        Function::Construct => format!("$.construct({realm}, [{arguments}]);"),
        Function::Grow | Function::Slice | Function::ByteLength => {
            format!("$.on({realm}, '{}', {target}, [{arguments}]);", name(call.function))
        }
        function => {
            let comma = if arguments.is_empty() { "" } else { ", " };
            let name = if let Function::Modify(modify) = function { name(modify) } else { name(function) };
            format!("$.atomics({realm}, '{name}', [{target}{comma}{arguments}]);")
        }
    }
}

/// The name of a variant as scripts write it: that of `CompareExchange` is `compareExchange`.
fn name(variant: impl std::fmt::Debug) -> String {
    let name = format!("{variant:?}");
    name[..1].to_lowercase() + &name[1..]
}

fn target(target: Target) -> String {
    match target {
        Target::View(index) => format!("$.views[{index}]"),
        Target::Buffer(index) => format!("$.buffers[{index}]"),
        Target::Primitive(value) => primitive(value),
        Target::Strange(index) => format!("$.strange[{index}]"),
    }
}

fn argument(argument_: &Argument) -> String {
    match argument_ {
        Argument::Primitive(value) => primitive(*value),
        Argument::Object(object) => hostile(object),
        Argument::Options(max) => format!("$.options(() => {})", argument(max)),
    }
}

fn hostile(Hostile { shape, acts, result }: &Hostile) -> String {
    format!("$.{}(() => {{ {}return {}; }})", name(shape), statements(acts), primitive(*result))
}

fn primitive(value: Primitive) -> String {
    match value {
        Primitive::Undefined => "undefined".to_owned(),
        Primitive::Null => "null".to_owned(),
        Primitive::Bool(value) => value.to_string(),
        Primitive::Number(value) if value.is_nan() => "NaN".to_owned(),
        Primitive::Number(value) if value.is_infinite() => {
            if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
        }
        Primitive::Number(value) => format!("{value:?}"),
        Primitive::BigInt(value) => format!("{value}n"),
        Primitive::Text(index) => format!("{:?}", TEXTS[index].0),
        Primitive::Symbol => "$.symbol".to_owned(),
    }
}
