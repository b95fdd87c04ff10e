// node:assert, branch by branch: what passes, and what each failure is. Each row ends with what Node does.
//@ stdout: checks
//@ node: same

import assert from "node:assert";

const thrower = (value) => () => {
  throw value;
};
class My extends Error {}
class Plain {}
const yes = () => true;
const no = () => false;
const isError = (error) => error instanceof Error;
const err = (message, properties) => Object.assign(new Error(message), properties);

/** "passes" and what is returned, or name, code, `generatedMessage` and `operator` of what is thrown. */
function outcome(call) {
  try {
    const result = call();
    return result === undefined ? "passes" : `passes ${result}`;
  } catch (error) {
    return [error.name, error.code, error.generatedMessage, error.operator].filter((part) => part !== undefined).join(" ");
  }
}

const say = (what, seen, expected) => console.log(seen === expected ? `ok  ${what}: ${seen}` : `BAD ${what}: ${seen}, not ${expected}`);

const calls = String.raw`
assert.throws() => TypeError ERR_INVALID_ARG_TYPE
assert.throws(undefined, TypeError) => TypeError ERR_INVALID_ARG_TYPE
assert.throws(5) => TypeError ERR_INVALID_ARG_TYPE
assert.throws(Promise.resolve()) => TypeError ERR_INVALID_ARG_TYPE
assert.throws(() => {}) => AssertionError ERR_ASSERTION false throws
assert.throws(() => {}, "m") => AssertionError ERR_ASSERTION false throws
assert.throws(() => {}, Error) => AssertionError ERR_ASSERTION false throws
assert.throws(() => {}, Error, "m") => AssertionError ERR_ASSERTION false throws
assert.throws(() => {}, /x/, "m") => AssertionError ERR_ASSERTION false throws
assert.throws(() => {}, { name: "N" }, "m") => AssertionError ERR_ASSERTION false throws
assert.throws(() => {}, { name: "N" }) => AssertionError ERR_ASSERTION false throws
assert.throws(() => {}, undefined, "m") => AssertionError ERR_ASSERTION false throws
assert.throws(() => {}, undefined, new Error("own")) => AssertionError ERR_ASSERTION false throws
assert.throws(thrower(err("x"))) => passes
assert.throws(thrower(undefined)) => passes
assert.throws(thrower(err("x")), "x") => TypeError ERR_AMBIGUOUS_ARGUMENT
assert.throws(thrower("x"), "x") => TypeError ERR_AMBIGUOUS_ARGUMENT
assert.throws(thrower({ message: "x" }), "x") => TypeError ERR_AMBIGUOUS_ARGUMENT
assert.throws(thrower(null), "x") => passes
assert.throws(thrower(err("x")), "y") => passes
assert.throws(thrower(err("x")), "y", "z") => TypeError ERR_INVALID_ARG_TYPE
assert.throws(thrower(err("x")), "y", undefined) => TypeError ERR_INVALID_ARG_TYPE
assert.throws(thrower(err("x")), 5) => TypeError ERR_INVALID_ARG_TYPE
assert.throws(thrower(err("x")), true) => TypeError ERR_INVALID_ARG_TYPE
assert.throws(thrower(err("x")), 0) => TypeError ERR_INVALID_ARG_TYPE
assert.throws(thrower(err("x")), Symbol()) => TypeError ERR_INVALID_ARG_TYPE
assert.throws(thrower(err("x")), null) => passes
assert.throws(thrower(err("x")), undefined) => passes
assert.throws(thrower(err("x")), Error) => passes
assert.throws(thrower(err("x")), RangeError) => AssertionError ERR_ASSERTION true throws
assert.throws(thrower(err("x")), RangeError, "m") => AssertionError ERR_ASSERTION false throws
assert.throws(thrower(err("x")), RangeError, new Error("own")) => AssertionError ERR_ASSERTION false throws
assert.throws(thrower(new My("x")), My) => passes
assert.throws(thrower(new My("x")), Error) => passes
assert.throws(thrower(5), Error) => AssertionError ERR_ASSERTION true throws
assert.throws(thrower(5), RangeError) => AssertionError ERR_ASSERTION true throws
assert.throws(thrower({}), RangeError) => AssertionError ERR_ASSERTION true throws
assert.throws(thrower(new Plain()), Plain) => passes
assert.throws(thrower(5), Plain) => TypeError
assert.throws(thrower(err("x")), yes) => passes
assert.throws(thrower(err("x")), no) => AssertionError ERR_ASSERTION true throws
assert.throws(thrower(err("x")), no, "m") => AssertionError ERR_ASSERTION false throws
assert.throws(thrower(err("x")), () => 1) => AssertionError ERR_ASSERTION true throws
assert.throws(thrower(err("x")), () => undefined) => AssertionError ERR_ASSERTION true throws
assert.throws(thrower(err("x")), isError) => passes
assert.throws(thrower(5), isError) => AssertionError ERR_ASSERTION true throws
assert.throws(thrower(err("x")), function () { return this !== undefined && Object.keys(this).length === 0; }) => passes
assert.throws(thrower(err("x")), () => { throw new RangeError("in"); }) => RangeError
assert.throws(thrower(err("abc")), /b/) => passes
assert.throws(thrower(err("abc")), /Error: abc/) => passes
assert.throws(thrower(err("abc")), /^abc/) => AssertionError ERR_ASSERTION true throws
assert.throws(thrower(err("abc")), /z/, "m") => AssertionError ERR_ASSERTION false throws
assert.throws(thrower("abc"), /b/) => passes
assert.throws(thrower(5), /5/) => passes
assert.throws(thrower(err("x")), {}) => TypeError ERR_INVALID_ARG_VALUE
assert.throws(thrower(err("x")), { message: "x" }) => passes
assert.throws(thrower(err("x")), { message: "y" }) => AssertionError ERR_ASSERTION true throws
assert.throws(thrower(err("x")), { message: "y" }, "m") => AssertionError ERR_ASSERTION false throws
assert.throws(thrower(err("x")), { message: "y" }, new Error("own")) => Error
assert.throws(thrower(err("x")), { message: /x/ }) => passes
assert.throws(thrower(err("x")), { message: /y/ }) => AssertionError ERR_ASSERTION true throws
assert.throws(thrower(err("x")), { nope: undefined }) => AssertionError ERR_ASSERTION true throws
assert.throws(thrower(err("x", { nope: undefined })), { nope: undefined }) => passes
assert.throws(thrower(err("x", { code: 5 })), { code: /5/ }) => AssertionError ERR_ASSERTION true throws
assert.throws(thrower(err("x", { code: 5 })), { code: 5, message: "x" }) => passes
assert.throws(thrower(err("x", { info: { a: [1] } })), { info: { a: [1] } }) => passes
assert.throws(thrower(err("x")), new Error("x")) => passes
assert.throws(thrower(err("x")), new Error("y")) => AssertionError ERR_ASSERTION true throws
assert.throws(thrower(err("x")), new TypeError("x")) => AssertionError ERR_ASSERTION true throws
assert.throws(thrower(5), { message: "x" }) => AssertionError ERR_ASSERTION true throws
assert.throws(thrower("x"), { message: "x" }) => AssertionError ERR_ASSERTION true throws
assert.throws(thrower(undefined), { message: "x" }) => AssertionError ERR_ASSERTION true throws
assert.throws(thrower({ a: 1 }), { a: 1 }) => passes
assert.throws(thrower(() => {}), { length: 0 }) => AssertionError ERR_ASSERTION true throws
assert.throws(async () => {}) => AssertionError ERR_ASSERTION false throws
assert.throws(thrower(err("x")), []) => TypeError ERR_INVALID_ARG_VALUE
assert.throws(thrower(err("x")), ["a"]) => AssertionError ERR_ASSERTION true throws
assert.match() => TypeError ERR_INVALID_ARG_TYPE
assert.match("a") => TypeError ERR_INVALID_ARG_TYPE
assert.match("a", "a") => TypeError ERR_INVALID_ARG_TYPE
assert.match(5, /5/) => AssertionError ERR_ASSERTION true match
assert.match(5, /5/, "m") => AssertionError ERR_ASSERTION false match
assert.match("abc", /b/) => passes
assert.match("abc", /z/) => AssertionError ERR_ASSERTION true match
assert.match("abc", /z/, "m") => AssertionError ERR_ASSERTION false match
assert.match("abc", /z/, new RangeError("own")) => RangeError
assert.match("abc", /z/, "") => AssertionError ERR_ASSERTION true match
assert.doesNotMatch("abc", /b/) => AssertionError ERR_ASSERTION true doesNotMatch
assert.doesNotMatch("abc", /b/, "m") => AssertionError ERR_ASSERTION false doesNotMatch
assert.doesNotMatch("abc", /z/) => passes
assert.doesNotMatch(5, /z/) => AssertionError ERR_ASSERTION true doesNotMatch
assert.doesNotMatch("a", 5) => TypeError ERR_INVALID_ARG_TYPE
assert() => AssertionError ERR_ASSERTION true ==
assert(0) => AssertionError ERR_ASSERTION true ==
assert(0, "m") => AssertionError ERR_ASSERTION false ==
assert(0, "") => AssertionError ERR_ASSERTION false ==
assert(0, null) => AssertionError ERR_ASSERTION true ==
assert(0, new RangeError("own")) => RangeError
assert(1) => passes
assert.ok() => AssertionError ERR_ASSERTION true ==
assert.ok(null, undefined) => AssertionError ERR_ASSERTION true ==
assert.ok(true) => passes
assert.ok(0, 5) => AssertionError ERR_ASSERTION false ==
assert.fail() => AssertionError ERR_ASSERTION true fail
assert.fail(undefined) => AssertionError ERR_ASSERTION true fail
assert.fail(null) => AssertionError ERR_ASSERTION true fail
assert.fail("m") => AssertionError ERR_ASSERTION false fail
assert.fail("") => AssertionError ERR_ASSERTION true fail
assert.fail(5) => AssertionError ERR_ASSERTION false fail
assert.fail(new RangeError("own")) => RangeError
assert.fail(1, 2) => AssertionError ERR_ASSERTION true !=
assert.fail(1, 2, "m") => AssertionError ERR_ASSERTION false fail
assert.fail(1, 2, undefined, ">") => AssertionError ERR_ASSERTION true >
assert.fail(1, 2, new RangeError("own")) => RangeError
assert.equal() => TypeError ERR_MISSING_ARGS
assert.equal(1) => TypeError ERR_MISSING_ARGS
assert.equal(1, 1) => passes
assert.equal(1, "1") => passes
assert.equal(1, 2) => AssertionError ERR_ASSERTION true ==
assert.equal(1, 2, "m") => AssertionError ERR_ASSERTION false ==
assert.equal(1, 2, "") => AssertionError ERR_ASSERTION true ==
assert.equal(1, 2, null) => AssertionError ERR_ASSERTION true ==
assert.equal(1, 2, new RangeError("own")) => RangeError
assert.equal(NaN, NaN) => passes
assert.equal(null, undefined) => passes
assert.equal({}, {}) => AssertionError ERR_ASSERTION true ==
assert.notEqual(1) => TypeError ERR_MISSING_ARGS
assert.notEqual(1, 2) => passes
assert.notEqual(1, "1") => AssertionError ERR_ASSERTION true !=
assert.notEqual(NaN, NaN) => AssertionError ERR_ASSERTION true !=
assert.strictEqual(1) => TypeError ERR_MISSING_ARGS
assert.strictEqual(1, "1") => AssertionError ERR_ASSERTION true strictEqual
assert.strictEqual(NaN, NaN) => passes
assert.strictEqual(0, -0) => AssertionError ERR_ASSERTION true strictEqual
assert.strictEqual(1, 2, "m") => AssertionError ERR_ASSERTION false strictEqual
assert.notStrictEqual(1) => TypeError ERR_MISSING_ARGS
assert.notStrictEqual(1, 1) => AssertionError ERR_ASSERTION true notStrictEqual
assert.notStrictEqual(0, -0) => passes
assert.deepEqual(1) => TypeError ERR_MISSING_ARGS
assert.deepEqual({ a: 1 }, { a: "1" }) => passes
assert.deepEqual({ a: 1 }, { a: 2 }) => AssertionError ERR_ASSERTION true deepEqual
assert.deepEqual({ a: 1 }, { a: 2 }, "m") => AssertionError ERR_ASSERTION false deepEqual
assert.deepEqual({ a: 1 }, { a: 2 }, new RangeError("own")) => RangeError
assert.notDeepEqual(1) => TypeError ERR_MISSING_ARGS
assert.notDeepEqual({ a: 1 }, { a: "1" }) => AssertionError ERR_ASSERTION true notDeepEqual
assert.notDeepEqual({ a: 1 }, { a: 2 }) => passes
assert.deepStrictEqual(1) => TypeError ERR_MISSING_ARGS
assert.deepStrictEqual({ a: 1 }, { a: 1 }) => passes
assert.deepStrictEqual({ a: 1 }, { a: "1" }) => AssertionError ERR_ASSERTION true deepStrictEqual
assert.notDeepStrictEqual(1) => TypeError ERR_MISSING_ARGS
assert.notDeepStrictEqual({ a: 1 }, { a: 1 }) => AssertionError ERR_ASSERTION true notDeepStrictEqual
assert.notDeepStrictEqual({ a: 1 }, { a: "1" }) => passes
assert.strict.equal(1, "1") => AssertionError ERR_ASSERTION true strictEqual
assert.strict.notEqual(1, "1") => passes
assert.strict.deepEqual([1], ["1"]) => AssertionError ERR_ASSERTION true deepStrictEqual
assert.strict.notDeepEqual([1], ["1"]) => passes
assert.strict(0) => AssertionError ERR_ASSERTION true ==
assert.strict.strict === assert.strict => passes true
new assert.AssertionError() => TypeError ERR_INVALID_ARG_TYPE
new assert.AssertionError({ message: "m" }).message => passes m
new assert.AssertionError({ actual: 1, expected: 2, operator: "strictEqual" }).generatedMessage => passes true
Object.keys(new assert.AssertionError({ message: "m" })).join() => passes generatedMessage,code,actual,expected,operator
`;
for (const row of calls.trim().split("\n")) {
  const at = row.lastIndexOf(" => ");
  say(row.slice(0, at), outcome(() => eval(row.slice(0, at))), row.slice(at + 4));
}

const circle = () => { const a = { x: 1 }; a.self = a; return a; };
const values = {
  0: 0, "-0": -0, 1: 1, '"1"': "1", nan: NaN, n: null, u: undefined, '""': "", arr0: [], arr1: [1], arrs: ["1"], arrHole: [, 1],
  arrX: Object.assign([1], { x: 1 }), obj0: {}, obj1: { a: 1 }, objs: { a: "1" }, objS: { [Symbol.for("s")]: 1 },
  nulA: Object.assign(Object.create(null), { a: 1 }), date: new Date(5), date2: new Date(6), dateBad: new Date(NaN), re: /a/g,
  reL: Object.assign(/a/g, { lastIndex: 3 }), err: new Error("m"), terr: new TypeError("m"),
  errName: Object.assign(new Error("m"), { name: "TypeError" }), errC: new Error("m", { cause: 1 }), agg: new AggregateError([1], "m"),
  agg2: new AggregateError([2], "m"), boxN: Object(1), boxS: Object("1"), boxSym: Object(Symbol.for("a")), map0: new Map(),
  map: new Map([[1, 2]]), mapS: new Map([["1", 2]]), mapO: new Map([[{ a: 1 }, 2]]), mapNull: new Map([[null, 1]]),
  mapUndef: new Map([[undefined, 1]]), set: new Set([1]), setS: new Set(["1"]), setO: new Set([{ a: 1 }]), setNull: new Set([null]),
  setUndef: new Set([undefined]), u8: new Uint8Array([1]), u8b: new Uint8Array([2]), f32: new Float32Array([0]),
  f32n: new Float32Array([-0]), f64nan: new Float64Array([NaN]), buf: new ArrayBuffer(1), cls: new Plain(),
  cls2: Object.assign(new Plain(), { a: 1 }), args: (function () { return arguments; })(1), circ: circle(), circ2: circle(),
  prom: Promise.resolve(1), wm: new WeakMap(), tag: { [Symbol.toStringTag]: "X" }, getter: { get a() { return 1; } },
  nonEnum: Object.defineProperty({}, "a", { value: 1 }), math: Math,
};
// What is equal to each: `l` loosely, `s` strictly.
const equal = `
0 => 0:ls -0:l "":l
1 => 1:ls "1":l
-0 => 0:l -0:ls "":l
"1" => 1:l "1":ls
nan => nan:ls
n => n:ls u:l
u => n:l u:ls
"" => 0:l -0:l "":ls
arr0 => arr0:ls
arr1 => arr1:ls arrs:l
arrs => arr1:l arrs:ls
arrHole => arrHole:ls
arrX => arrX:ls
obj0 => obj0:ls objS:l cls:l nonEnum:ls
obj1 => obj1:ls objs:l nulA:l cls2:l getter:ls
objs => obj1:l objs:ls nulA:l cls2:l getter:l
objS => obj0:l objS:ls cls:l nonEnum:l
nulA => obj1:l objs:l nulA:ls cls2:l getter:l
date => date:ls
date2 => date2:ls
dateBad => dateBad:ls
re => re:ls
reL => reL:ls
err => err:ls
terr => terr:ls
errName => errName:ls
errC => errC:ls
agg => agg:ls
agg2 => agg2:ls
boxN => boxN:ls
boxS => boxS:ls
boxSym => boxSym:ls
map0 => map0:ls
map => map:ls mapS:l
mapS => map:l mapS:ls
mapO => mapO:ls
mapNull => mapNull:ls mapUndef:l
mapUndef => mapNull:l mapUndef:ls
set => set:ls setS:l
setS => set:l setS:ls
setO => setO:ls
setNull => setNull:ls setUndef:l
setUndef => setNull:l setUndef:ls
u8 => u8:ls
u8b => u8b:ls
f32 => f32:ls f32n:l
f32n => f32:l f32n:ls
f64nan => f64nan:ls
buf => buf:ls
cls => obj0:l objS:l cls:ls nonEnum:l
cls2 => obj1:l objs:l nulA:l cls2:ls getter:l
args => args:ls
circ => circ:ls circ2:ls
circ2 => circ:ls circ2:ls
prom => prom:ls
wm => wm:ls
tag => tag:ls
getter => obj1:ls objs:l nulA:l cls2:l getter:ls
nonEnum => obj0:ls objS:l cls:l nonEnum:ls
math => math:ls
`;
const isEqual = (name, a, b) => {
  try {
    assert[name](a, b, "not");
    return true;
  } catch (error) {
    if (error.code === "ERR_ASSERTION") return false;
    throw error;
  }
};
for (const row of equal.trim().split("\n")) {
  const [one, expected] = row.split(" => ");
  let seen = "";
  for (const other in values) {
    const loosely = isEqual("deepEqual", values[one], values[other]) ? "l" : "";
    const strictly = isEqual("deepStrictEqual", values[one], values[other]) ? "s" : "";
    if (loosely + strictly) seen += `${seen && " "}${other}:${loosely}${strictly}`;
  }
  say(`equal to ${one}`, seen, expected);
}
