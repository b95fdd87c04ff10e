// The two array types that can be waited on and notified, on shared memory; all others are a TypeError.
//@ in place
//> ok  waitAsync and notify on Int32Array
//> ok  waitAsync and notify on BigInt64Array
//> ok  a BigInt64Array compares all 64 bits
//> ok  the location is what counts, not the array through which it is seen
//> ok  waitAsync refuses Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Uint32Array, Float32Array, Float64Array, BigUint64Array
//> ok  notify refuses Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Uint32Array, Float32Array, Float64Array, BigUint64Array
//> ok  waitAsync demands shared memory; notify finds nobody elsewhere
//> ok  wait on Int32Array and BigInt64Array
//> ok  wait refuses Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Uint32Array, Float32Array, Float64Array, BigUint64Array
//> ok  wait demands shared memory

import { Worker, isMainThread } from 'node:worker_threads';
import { equal, ok, stayAlive, throws } from './support/check.mjs';

const OTHERS = [
  Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Uint32Array,
  Float32Array, Float64Array, BigUint64Array,
];

if (isMainThread) {
  const done = stayAlive();
  const sab = new SharedArrayBuffer(64);
  const [words, longs] = [new Int32Array(sab), new BigInt64Array(sab)];

  for (const [array, value] of [[words, 0], [longs, 0n]]) {
    const { name } = array.constructor;
    const { value: promise } = Atomics.waitAsync(array, 1, value);
    equal(Atomics.notify(array, 1), 1, `notify on ${name}`);
    equal(await promise, 'ok', `waitAsync on ${name}`);
    ok(`waitAsync and notify on ${name}`);
  }

  Atomics.store(longs, 2, -(2n ** 63n));
  equal(Atomics.waitAsync(longs, 2, 0n).value, 'not-equal', 'the upper half of a 64-bit word counts');
  equal(Atomics.waitAsync(longs, 2, -(2n ** 63n), 0).value, 'timed-out', 'all 64 bits are equal');
  ok('a BigInt64Array compares all 64 bits');

  // Byte 24 is word 6 of the one array and word 3 of the other: one location, one queue.
  const narrow = Atomics.waitAsync(words, 6, 0);
  const wide = Atomics.waitAsync(longs, 3, 0n);
  equal(Atomics.notify(longs, 3, 1), 1, 'notify through the other type');
  equal(await narrow.value, 'ok', 'the 32-bit wait, which came first');
  equal(Atomics.notify(words, 7), 0, 'the upper half is another location');
  equal(Atomics.notify(words, 6), 1, 'notify through the other type, the other way round');
  equal(await wide.value, 'ok', 'the 64-bit wait');
  ok('the location is what counts, not the array through which it is seen');

  refuse('waitAsync');
  refuse('notify');
  throws(TypeError, () => Atomics.waitAsync(new Int32Array(4), 0, 0), 'waitAsync on memory that is not shared');
  equal(Atomics.notify(new Int32Array(4), 0), 0, 'notify on memory that is not shared finds nobody');
  ok('waitAsync demands shared memory; notify finds nobody elsewhere');
  new Worker(import.meta.filename);
  done();
} else {
  const sab = new SharedArrayBuffer(64);
  equal(Atomics.wait(new Int32Array(sab), 1, 0, 1), 'timed-out', 'wait on Int32Array');
  equal(Atomics.wait(new BigInt64Array(sab), 1, 0n, 1), 'timed-out', 'wait on BigInt64Array');
  equal(Atomics.wait(new BigInt64Array(sab), 1, 1n), 'not-equal', 'wait on BigInt64Array');
  ok('wait on Int32Array and BigInt64Array');
  refuse('wait');
  throws(TypeError, () => Atomics.wait(new Int32Array(4), 0, 0, 0), 'wait on memory that is not shared');
  ok('wait demands shared memory');
}

function refuse(method) {
  for (const Type of OTHERS) {
    const zero = Type.name.startsWith('Big') ? 0n : 0;
    const array = new Type(new SharedArrayBuffer(64));
    const args = method === 'notify' ? [array, 0, 1] : [array, 0, zero, 0];
    throws(TypeError, () => Atomics[method](...args), `${method} on ${Type.name}`);
  }
  ok(`${method} refuses ${OTHERS.map((Type) => Type.name).join(', ')}`);
}
