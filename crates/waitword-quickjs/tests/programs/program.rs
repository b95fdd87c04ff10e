//! What a program consists of. Buffers, views, agents and realms are meant by their index.

/// Memory and views that every agent has, and steps that are taken one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(super) buffers: Vec<Buffer>,
    pub(super) views: Vec<View>,
    /// For each agent, whether it can block.
    pub(super) agents: Vec<bool>,
    pub(super) steps: Vec<Step>,
}

/// An ArrayBuffer, which every agent has for itself, or a SharedArrayBuffer, whose memory they share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffer {
    pub(super) memory: Memory,
    pub(super) len: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    Fixed,
    Resizable { max: usize },
    Immutable,
    Shared,
    Growable { max: usize },
}

impl Memory {
    pub(super) fn is_shared(self) -> bool {
        matches!(self, Self::Shared | Self::Growable { .. })
    }
}

/// A typed array. Without a length, it tracks that of its buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) buffer: usize,
    pub(super) element: Element,
    pub(super) offset: usize,
    pub(super) length: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    Int8,
    Uint8,
    Uint8Clamped,
    Int16,
    Uint16,
    Int32,
    Uint32,
    BigInt64,
    BigUint64,
    Float32,
    Float64,
}

impl Element {
    pub(super) fn size(self) -> usize {
        match self {
            Self::Int8 | Self::Uint8 | Self::Uint8Clamped => 1,
            Self::Int16 | Self::Uint16 => 2,
            Self::Int32 | Self::Uint32 | Self::Float32 => 4,
            Self::BigInt64 | Self::BigUint64 | Self::Float64 => 8,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A script of one agent.
    Script { agent: usize, acts: Vec<Act> },
    /// The agent's microtasks, and a job for each of its waits that another agent notified.
    Turn { agent: usize },
    /// The agent's deadlines come, but for those beyond [`HORIZON`].
    Expire { agent: usize },
    /// The agent ends, whatever it waits for.
    End { agent: usize },
    /// Rust code notifies a word of shared memory.
    Notify { buffer: usize, byte_index: usize, count: usize },
}

/// What a script does, and what a coercion can do while a function runs.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Call(Call),
    Detach {
        buffer: usize,
    },
    Resize {
        buffer: usize,
        len: usize,
    },
    CollectGarbage,
    /// Replaces built-ins by functions that would be noticed if somebody called them.
    Patch {
        realm: usize,
        patch: usize,
    },
    /// Takes the prototype away.
    Strip {
        view: usize,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) realm: usize,
    pub(super) function: Function,
    /// The array, or `this` of what is no function of `Atomics`.
    pub(super) target: Target,
    pub(super) arguments: Vec<Argument>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Wait,
    WaitAsync,
    Notify,
    Load,
    Store,
    CompareExchange,
    Modify(Modify),
    Grow,
    Slice,
    ByteLength,
    /// `new SharedArrayBuffer(...)`, which has no target.
    Construct,
}

/// The read-modify-write functions of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Modify {
    Add,
    And,
    Exchange,
    Or,
    Sub,
    Xor,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    View(usize),
    Buffer(usize),
    Primitive(Primitive),
    /// An object that is neither: see `strange` in `world.js`.
    Strange(usize),
}

#[derive(Clone, Debug)]
pub(super) enum Argument {
    Primitive(Primitive),
    Object(Box<Hostile>),
    /// An object whose `maxByteLength` is a getter for this.
    Options(Box<Argument>),
}

/// An object that does something when it is converted to a primitive.
#[derive(Clone, Debug)]
pub(super) struct Hostile {
    pub(super) shape: Shape,
    pub(super) acts: Vec<Act>,
    pub(super) result: Primitive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// `valueOf` acts and returns the result.
    ValueOf,
    /// `valueOf` returns an object, `toString` acts and returns the result.
    ToString,
    /// `Symbol.toPrimitive` acts and returns the result.
    ToPrimitive,
    /// A getter for `valueOf` acts; the function returns the result.
    Getter,
    /// A proxy, asked for each method in turn; `valueOf` acts.
    Proxy,
    /// `valueOf` acts and throws.
    Throws,
    /// `Symbol.toPrimitive` acts and returns an object: a TypeError.
    NoPrimitive,
    /// `Symbol.toPrimitive` is no function: a TypeError.
    NoFunction,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Primitive {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    BigInt(i128),
    /// One of [`TEXTS`].
    Text(usize),
    Symbol,
}

/// A string, what it is as a Number, and as a BigInt if it is one.
pub(super) const TEXTS: [(&str, f64, Option<i128>); 8] = [
    ("", 0.0, Some(0)),
    (" 2 ", 2.0, Some(2)),
    ("0x3", 3.0, Some(3)),
    ("-1", -1.0, Some(-1)),
    ("1.5", 1.5, None),
    ("-0", -0.0, Some(0)),
    ("-Infinity", f64::NEG_INFINITY, None),
    ("1n", f64::NAN, None),
];

/// How many realms each agent has.
pub(super) const REALMS: usize = 2;
/// How many kinds of patches `world.js` has.
pub(super) const PATCHES: usize = 9;
/// How many strange objects it has.
pub(super) const STRANGE: usize = 5;
/// Milliseconds from the start of the program until which deadlines come when they are made to come. No program takes so
/// long, and no timeout lies between a tenth of it and itself.
pub(super) const HORIZON: f64 = 36e5;
/// No random timeout lies between so many milliseconds and [`HORIZON`]: a script that blocks may have to sit it out.
pub(super) const BLINK: f64 = 0.1;
/// A script that would block for at least so many milliseconds is woken by another thread: it notifies all waiters there.
pub(super) const WOKEN: f64 = 1e3;
