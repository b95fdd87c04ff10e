//! Programs from bytes: any bytes are a program, and a byte more or less changes little of it.

use arbitrary::{Arbitrary, Result, Unstructured};

use super::program::{
    Act, Argument, BLINK, Buffer, Call, Element, Function, HORIZON, Hostile, Memory, Modify, PATCHES,
    Primitive, Program, REALMS, STRANGE, Shape, Step, TEXTS, Target, View,
};

impl<'a> Arbitrary<'a> for Program {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        let agents =
            (0..bytes.int_in_range(1..=3)?).map(|_| bytes.ratio(2, 3)).collect::<Result<Vec<_>>>()?;
        let buffers = (0..bytes.int_in_range(1..=4)?).map(|_| buffer(bytes)).collect::<Result<Vec<_>>>()?;
        let mut views = Vec::new();
        for _ in 0..bytes.int_in_range(2..=8)? {
            views.push(view(bytes, &buffers)?);
        }
        let mut generator = Generator { bytes, buffers: &buffers, views: &views, focus: 0, left: 60 };
        let mut steps = Vec::new();
        while !generator.bytes.is_empty() && steps.len() < 40 && generator.left > 0 {
            steps.push(generator.step(agents.len())?);
        }
        Ok(Self { buffers, views, agents, steps })
    }
}

fn buffer(bytes: &mut Unstructured<'_>) -> Result<Buffer> {
    let len = *bytes.choose(&[8, 16, 20, 32])?;
    let max = len + *bytes.choose(&[0, 8, 12, 64])?;
    let memory = match bytes.int_in_range(0..=7)? {
        0 => Memory::Fixed,
        1 => Memory::Immutable,
        2 => Memory::Resizable { max },
        3..=5 => Memory::Shared,
        _ => Memory::Growable { max },
    };
    Ok(Buffer { memory, len })
}

fn view(bytes: &mut Unstructured<'_>, buffers: &[Buffer]) -> Result<View> {
    use Element::{
        BigInt64, BigUint64, Float32, Float64, Int8, Int16, Int32, Uint8, Uint8Clamped, Uint16, Uint32,
    };
    let element = match bytes.int_in_range(0..=15)? {
        0..=4 => Int32,
        5..=7 => BigInt64,
        _ => {
            *bytes.choose(&[Int8, Uint8, Uint8Clamped, Int16, Uint16, Uint32, BigUint64, Float32, Float64])?
        }
    };
    let buffer = bytes.choose_index(buffers.len())?;
    let (len, size) = (buffers[buffer].len, element.size());
    let offset = bytes.int_in_range(0..=len / size)? * size;
    let fits = (len - offset) / size;
    // A buffer that cannot change its length wants views that end with an element, unless they say where they end.
    let can_track = matches!(buffers[buffer].memory, Memory::Resizable { .. } | Memory::Growable { .. })
        || len % size == 0;
    let length = if can_track && bytes.arbitrary()? { None } else { Some(bytes.int_in_range(0..=fits)?) };
    Ok(View { buffer, element, offset, length })
}

/// What an argument is for: that decides which values are worth while, and which would take too long.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Index,
    Element,
    Count,
    Timeout,
    /// Bytes to allocate: few, or more than there can be.
    Size,
}

struct Generator<'b, 'a, 'p> {
    bytes: &'b mut Unstructured<'a>,
    buffers: &'p [Buffer],
    views: &'p [View],
    /// The view that a step is mostly about.
    focus: usize,
    /// How many acts more, those inside of others included.
    left: usize,
}

impl Generator<'_, '_, '_> {
    fn step(&mut self, agents: usize) -> Result<Step> {
        let agent = self.bytes.choose_index(agents)?;
        // Mostly that of the step before: waiters and notifiers have to meet.
        if self.bytes.ratio(1, 6)? {
            self.focus = self.bytes.choose_index(self.views.len())?;
        }
        Ok(match self.bytes.int_in_range(0..=15)? {
            0..=10 => Step::Script { agent, acts: self.acts(3, 0)? },
            11 | 12 => Step::Turn { agent },
            13 => Step::Expire { agent },
            // The first one stays.
            14 if agent > 0 && self.bytes.ratio(1, 3)? => Step::End { agent },
            _ => Step::Notify {
                buffer: self.buffer()?,
                byte_index: self.bytes.int_in_range(0..=7)? * 4,
                count: self.bytes.int_in_range(0..=4)?,
            },
        })
    }

    fn acts(&mut self, most: usize, depth: usize) -> Result<Vec<Act>> {
        (0..self.bytes.int_in_range(0..=most)?).map(|_| self.act(depth)).collect()
    }

    fn act(&mut self, depth: usize) -> Result<Act> {
        self.left = self.left.saturating_sub(1);
        Ok(match self.bytes.int_in_range(0..=if depth == 0 { 23 } else { 13 })? {
            0 => Act::CollectGarbage,
            1 => Act::Strip { view: self.view()? },
            2 => Act::Patch {
                realm: self.bytes.choose_index(REALMS)?,
                patch: self.bytes.choose_index(PATCHES)?,
            },
            3 | 4 => Act::Detach { buffer: self.buffer()? },
            5..=7 => Act::Resize {
                buffer: self.buffer()?,
                len: *self.bytes.choose(&[0, 4, 8, 12, 16, 24, 32, 64])?,
            },
            _ => Act::Call(self.call(depth)?),
        })
    }

    fn call(&mut self, depth: usize) -> Result<Call> {
        use Function::{
            ByteLength, CompareExchange, Construct, Grow, Load, Notify, Slice, Store, Wait, WaitAsync,
        };
        let modify = [Modify::Add, Modify::And, Modify::Exchange, Modify::Or, Modify::Sub, Modify::Xor];
        let function = match self.bytes.int_in_range(0..=31)? {
            0..=4 => Wait,
            5..=11 => WaitAsync,
            12..=17 => Notify,
            18 | 19 => Load,
            20 | 21 => Store,
            22 | 23 => CompareExchange,
            24..=26 => Function::Modify(*self.bytes.choose(&modify)?),
            27 | 28 => Grow,
            29 => Slice,
            30 => ByteLength,
            _ => Construct,
        };
        let target = match self.bytes.int_in_range(0..=15)? {
            0 => Target::Primitive(self.primitive(Role::Count)?),
            1 => Target::Strange(self.bytes.choose_index(STRANGE)?),
            2 => Target::Buffer(self.buffer()?),
            _ if matches!(function, Grow | Slice | ByteLength) => Target::Buffer(self.buffer()?),
            _ => Target::View(self.view()?),
        };
        let roles: &[Role] = match function {
            Wait | WaitAsync => &[Role::Index, Role::Element, Role::Timeout],
            Notify => &[Role::Index, Role::Count],
            Store | Function::Modify(_) => &[Role::Index, Role::Element],
            CompareExchange => &[Role::Index, Role::Element, Role::Element],
            Load => &[Role::Index],
            Slice => &[Role::Size, Role::Size],
            Grow => &[Role::Size],
            Construct => &[Role::Size],
            ByteLength => &[],
        };
        let given =
            if self.bytes.ratio(1, 8)? { self.bytes.int_in_range(0..=roles.len())? } else { roles.len() };
        let mut arguments =
            roles[..given].iter().map(|&role| self.argument(role, depth)).collect::<Result<Vec<_>>>()?;
        if function == Construct && given == 1 && self.bytes.ratio(3, 4)? {
            let max = self.argument(Role::Size, depth)?;
            arguments.push(if self.bytes.ratio(1, 8)? { max } else { Argument::Options(Box::new(max)) });
        }
        Ok(Call { realm: self.bytes.choose_index(REALMS)?, function, target, arguments })
    }

    fn argument(&mut self, role: Role, depth: usize) -> Result<Argument> {
        let result = self.primitive(role)?;
        if depth == 3 || self.left == 0 || self.bytes.ratio(5, 8)? {
            return Ok(Argument::Primitive(result));
        }
        let shape = match self.bytes.int_in_range(0..=11)? {
            0 => Shape::Throws,
            1 => Shape::NoPrimitive,
            2 => Shape::NoFunction,
            3 => Shape::Getter,
            4 => Shape::Proxy,
            5 | 6 => Shape::ToString,
            7 | 8 => Shape::ToPrimitive,
            _ => Shape::ValueOf,
        };
        Ok(Argument::Object(Box::new(Hostile { shape, acts: self.acts(2, depth + 1)?, result })))
    }

    fn primitive(&mut self, role: Role) -> Result<Primitive> {
        // Mostly what is meant: a word that exists, a value that words may have, a timeout.
        if self.bytes.ratio(3, 4)? {
            let small = f64::from(self.bytes.int_in_range(0..=4)?);
            return Ok(match role {
                Role::Index => Primitive::Number(small % 3.0),
                Role::Size => Primitive::Number(small * 8.0),
                Role::Element if self.is_bigint() => Primitive::BigInt(WORTHWHILE[small as usize].1),
                Role::Element => Primitive::Number(WORTHWHILE[small as usize].0),
                Role::Count => Primitive::Number(small - 1.0),
                Role::Timeout => Primitive::Number(*self.bytes.choose(&[
                    f64::INFINITY,
                    HORIZON / 36.0,
                    HORIZON * 2.0,
                    0.0,
                ])?),
            });
        }
        Ok(match self.bytes.int_in_range(0..=11)? {
            0 => Primitive::Undefined,
            1 => Primitive::Null,
            2 => Primitive::Bool(self.bytes.arbitrary()?),
            3 => Primitive::Symbol,
            4 => Primitive::Text(self.bytes.choose_index(TEXTS.len())?),
            5 => Primitive::BigInt(
                i128::from(self.bytes.arbitrary::<i64>()?) << self.bytes.int_in_range(0..=6)?,
            ),
            6 => Primitive::BigInt(self.bytes.arbitrary::<i8>()?.into()),
            7 => number(role, f64::from_bits(self.bytes.arbitrary()?)),
            8 => number(role, self.bytes.arbitrary::<i32>()?.into()),
            _ => {
                let odd = *self.bytes.choose(&ODD_NUMBERS)?;
                number(role, odd)
            }
        })
    }

    /// Whether a value is more likely to be a BigInt.
    fn is_bigint(&self) -> bool {
        matches!(self.views[self.focus].element, Element::BigInt64 | Element::BigUint64)
    }

    fn view(&mut self) -> Result<usize> {
        if self.bytes.ratio(3, 4)? { Ok(self.focus) } else { self.bytes.choose_index(self.views.len()) }
    }

    fn buffer(&mut self) -> Result<usize> {
        if self.bytes.ratio(3, 4)? {
            Ok(self.views[self.focus].buffer)
        } else {
            self.bytes.choose_index(self.buffers.len())
        }
    }
}

/// A number for this role.
fn number(role: Role, number: f64) -> Primitive {
    let number = match role {
        // Nobody knows in advance on which side of a deadline such a wait ends.
        Role::Timeout if number > BLINK && number < HORIZON * 1.1 => HORIZON / 36.0,
        Role::Size if number > 4096.0 && number < 2_147_483_648.0 => number % 4096.0,
        _ => number,
    };
    Primitive::Number(number)
}

/// Values of elements that are equal to others in their lower bits, mostly to 0.
const WORTHWHILE: [(f64, i128); 5] =
    [(0.0, 0), (0.0, 0), (1.0, 1), (4_294_967_296.0, 1 << 32), (-4_294_967_296.0, 1 << 64)];

/// Numbers at the borders of what the coercions tell apart.
const ODD_NUMBERS: [f64; 19] = [
    -0.0,
    -1.0,
    -0.5,
    0.9,
    1.9,
    5e-324,
    0.01,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    2_147_483_647.0,
    2_147_483_648.0,
    4_294_967_295.0,
    4_294_967_296.0,
    9_007_199_254_740_991.0,
    9_007_199_254_740_992.0,
    1.844_674_407_370_955_2e19,
    1e300,
    -1e300,
];
