//@ command: test262 support
//@ code: 1
//@ file: support/test/async_failure.js
//> failed test/async_failure.js (sloppy)
//>     no
//> failed test/async_failure.js (strict)
//>     no
//> failed test/async_never.js (sloppy)
//>     $DONE was not called, and no job is left to run
//> failed test/async_never.js (strict)
//>     $DONE was not called, and no job is left to run
//> failed test/async_throws.js (sloppy)
//>     Test262Error: at once
//> failed test/async_throws.js (strict)
//>     Test262Error: at once
//> failed test/module_never.js (module)
//>     the module awaits a promise that can never be settled
//>
//> Not as expected:
//>     test/async_failure.js (sloppy): failed, expected: passed
//>     test/async_failure.js (strict): failed, expected: passed
//>     test/async_never.js (sloppy): failed, expected: passed
//>     test/async_never.js (strict): failed, expected: passed
//>     test/async_throws.js (sloppy): failed, expected: passed
//>     test/async_throws.js (strict): failed, expected: passed
//>     test/module_never.js (module): failed, expected: passed
//>
//> 0 passed, 7 failed, 0 skipped

/*---
flags: [async]
---*/
Promise.reject('no').catch($DONE);
//@ file: support/test/async_never.js
/*---
flags: [async]
---*/
var a = new Int32Array(new SharedArrayBuffer(4)); Atomics.waitAsync(a, 0, 0);
//@ file: support/test/async_throws.js
/*---
flags: [async]
---*/
$DONE(); throw new Test262Error('at once');
//@ file: support/test/module_never.js
/*---
flags: [module]
---*/
await new Promise(() => {});
