//@ command: test262 support
//@ file: support/test/default.js
//> 6 passed, 0 failed, 0 skipped

assert(Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0) === 'timed-out');
//@ file: support/test/true.js
/*---
flags: [CanBlockIsTrue]
---*/
assert(Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0) === 'timed-out');
//@ file: support/test/false.js
/*---
flags: [CanBlockIsFalse]
---*/
var refused = false; try { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0); } catch (e) { refused = e instanceof TypeError; } assert(refused);
