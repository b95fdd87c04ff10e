// Which argument is looked at when, what is thrown, and what the numbers mean. `logged(name, value)` is an object whose conversion to a
// primitive is logged, and `run` gives what was logged, with what came of a call. `set` gives each of the results once.
var log = [];
var logged = (name, value) => ({ valueOf() { log.push(name); return value; } });
var poisoned = (name) => ({ valueOf() { log.push(name); throw new EvalError(name); } });
var i32 = new Int32Array(new SharedArrayBuffer(16));
var i64 = new BigInt64Array(new SharedArrayBuffer(16));
var unshared = new Int32Array(4);
var run = (f) => { log = []; try { return log.concat(String(f())).join(); } catch (e) { return log.concat(e.name).join(); } };
var set = (values, ...calls) => [...new Set(values.flatMap((value) => calls.map((call) => run(() => call(value)))))].join(" ");
var calls = [(i) => Atomics.wait(i32, i, 1, 0), (i) => Atomics.waitAsync(i32, i, 1, 0).value, (i) => Atomics.notify(i32, i)];
// How many of three waits a count notifies.
var three = (count) => {
  Atomics.notify(i32, 0);
  for (let i = 0; i < 3; i++) Atomics.waitAsync(i32, 0, 0);
  return Atomics.notify(i32, 0, count);
};

//# arguments are coerced from left to right
run(() => Atomics.wait(i32, logged('i', 0), logged('v', 7), logged('t', 0))) //> i,v,t,not-equal
run(() => Atomics.wait(i64, logged('i', 0), logged('v', 7n), logged('t', 0))) //> i,v,t,not-equal
run(() => Atomics.waitAsync(i32, logged('i', 0), logged('v', 7), logged('t', 0)).value) //> i,v,t,not-equal
run(() => Atomics.notify(i32, logged('i', 0), logged('c', 7))) //> i,c,0
set(["wait", "waitAsync"], (name) => Atomics[name](i32, poisoned('i'), logged('v', 0), logged('t', 0))) //> i,EvalError
set(["wait", "waitAsync"], (name) => Atomics[name](i32, logged('i', 0), poisoned('v'), logged('t', 0))) //> i,v,EvalError
set(["wait", "waitAsync"], (name) => Atomics[name](i32, logged('i', 0), logged('v', 0), poisoned('t'))) //> i,v,t,EvalError
run(() => Atomics.notify(i32, logged('i', 0), poisoned('c'))) //> i,c,EvalError

//# the array is checked before anything is coerced
var shared = new SharedArrayBuffer(8);
set([undefined, null, 0, 'x', Symbol(), {}, [], new ArrayBuffer(8), shared, new DataView(shared), new Int8Array(shared), new Uint8Array(shared),
  new Uint8ClampedArray(shared), new Int16Array(shared), new Uint16Array(shared), new Uint32Array(shared), new BigUint64Array(shared),
  new Float32Array(shared), new Float64Array(shared), Object.create(new Int32Array(shared)), new Proxy(new Int32Array(shared), {})],
  (array) => Atomics.wait(array, poisoned('i'), 0, 0), (array) => Atomics.waitAsync(array, poisoned('i'), 0, 0), (array) => Atomics.notify(array, poisoned('i'))) //> TypeError

//# waits on unshared memory fail before the index is coerced
set(["wait", "waitAsync"], (name) => Atomics[name](unshared, poisoned('i'), 0, 0)) //> TypeError

//# notify on unshared memory is zero after the coercions
run(() => Atomics.notify(unshared, logged('i', 3), logged('c', 1))) //> i,c,0
run(() => Atomics.notify(new BigInt64Array(1), 0)) //> 0
run(() => Atomics.notify(unshared, 4, poisoned('c'))) //> RangeError
run(() => Atomics.notify(unshared, 0, poisoned('c'))) //> c,EvalError
// A view that tracks the length of unshared memory is as long as it is now.
let b = new ArrayBuffer(16, { maxByteLength: 32 }), v = new Int32Array(b); b.resize(32); Atomics.notify(v, 7) //> 0

//# views of detached or shrunk memory are refused
let b = new ArrayBuffer(16), v = new Int32Array(b); b.transfer(); Atomics.notify(v, 0) //> TypeError
let b = new ArrayBuffer(16, { maxByteLength: 16 }), v = new Int32Array(b, 8, 2); b.resize(8); run(() => Atomics.notify(v, poisoned('i'))) //> TypeError

//# indices are coerced by ToIndex and checked against the length
set([-1, 4, 1e99, Infinity, -Infinity, 2 ** 53, '5', { valueOf: () => 125 }], ...calls) //> RangeError
set([Symbol(), 1n], ...calls) //> TypeError
set([undefined, null, NaN, -0, 0.9, -0.9, '3', 'x', true, [], [2]], ...calls) //> not-equal 0
Atomics.wait(new Int32Array(new SharedArrayBuffer(0)), 0, 0, 0) //> RangeError

//# an index counts from the start of the view
let b = new SharedArrayBuffer(32); new Int32Array(b)[5] = 42;
[Atomics.wait(new Int32Array(b, 8), 3, 42, 0), Atomics.wait(new Int32Array(b, 8), 2, 42, 0)].join() //> timed-out,not-equal

//# values are coerced to the type of the elements
i32[0] = 42; set([42, 42.9, '42', 2 ** 32 + 42], (v) => Atomics.wait(i32, 0, v, 0)) //> timed-out
i32[1] = -1; [Atomics.wait(i32, 1, 2 ** 32 - 1, 0), Atomics.wait(i32, 2, undefined, 0)].join() //> timed-out,timed-out
i64[0] = 42n; set([42n, '42', 2n ** 64n + 42n], (v) => Atomics.wait(i64, 0, v, 0)) //> timed-out
i64[1] = -1n; Atomics.wait(i64, 1, 2n ** 64n - 1n, 0) //> timed-out
i64[0] = 42n; Atomics.wait(i64, 0, true, 0) //> not-equal
set([42n, Symbol()], (v) => Atomics.wait(i32, 0, v, 0)) //> TypeError
set([42, undefined, null, Symbol()], (v) => Atomics.wait(i64, 0, v, 0)) //> TypeError
Atomics.wait(i64, 0, 'x', 0) //> SyntaxError

//# timeouts that are not positive do not wait
set([0, -0, -1, -Infinity, null, false, '', '0', []], (t) => Atomics.wait(i32, 0, 0, t), (t) => Atomics.waitAsync(i32, 0, 0, t).value) //> timed-out
set([1n, Symbol()], (t) => Atomics.wait(i32, 0, 0, t), (t) => Atomics.waitAsync(i32, 0, 0, t)) //> TypeError

//# timeouts that are positive or no number wait
set([5e-324, 1e-7, 0.5, 1, 1e300, Infinity, NaN, undefined, 'x', {}, true], (t) => Atomics.waitAsync(i32, 0, 0, t).async) //> true
set([5e-324, true], (t) => Atomics.wait(i32, 0, 0, t)) //> timed-out

//# an agent that cannot block says so after the coercions
//@ cannot block
run(() => Atomics.wait(i32, logged('i', 0), logged('v', 7), logged('t', 0))) //> i,v,t,TypeError
run(() => Atomics.wait(i32, logged('i', 0), logged('v', 7), poisoned('t'))) //> i,v,t,EvalError
Atomics.wait(i32, 4, 0, 0) //> RangeError
Atomics.waitAsync(i32, 0, 0, 0).value //> timed-out
try { Atomics.wait(i32, 0, 0, 0) } catch ({ message }) { message.includes("Atomics.waitAsync") } //> true

//# counts are integers from zero to infinity
set([0, -0, NaN, null, 0.9, -0.5, -3, -Infinity, 'x', {}, false], three) //> 0
set([1, 1.9, true, '1'], three) //> 1
set([3, 4, 2 ** 31, 2 ** 32, 2 ** 53, 1e300, Infinity, undefined], three) //> 3
Atomics.notify(i32, 0, 1n) //> TypeError
