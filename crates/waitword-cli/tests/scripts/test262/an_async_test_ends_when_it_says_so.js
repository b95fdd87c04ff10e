//@ command: test262 support
//@ file: support/test/promise.js
//> 6 passed, 0 failed, 0 skipped

/*---
flags: [async]
---*/
Promise.resolve().then($DONE);
//@ file: support/test/timer.js
/*---
flags: [async]
---*/
setTimeout(() => setTimeout($DONE, 1), 1);
//@ file: support/test/wait.js
/*---
flags: [async]
---*/
var a = new Int32Array(new SharedArrayBuffer(4)); Atomics.waitAsync(a, 0, 0, 1).value.then(o => $DONE(o === 'timed-out' ? 0 : o));
