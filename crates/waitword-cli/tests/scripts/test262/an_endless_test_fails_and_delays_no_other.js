//@ command: test262 support --time-limit 8 --jobs 2
//@ code: 1
//@ file: support/test/busy.js
//> failed test/asleep.js (sloppy)
//>     timed out after 8s
//> failed test/busy.js (sloppy)
//>     timed out after 8s
//>
//> Not as expected:
//>     test/asleep.js (sloppy): failed, expected: passed
//>     test/busy.js (sloppy): failed, expected: passed
//>
//> 1 passed, 2 failed, 0 skipped

/*---
flags: [raw]
---*/
for (;;);
//@ file: support/test/asleep.js
/*---
flags: [raw]
---*/
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
//@ file: support/test/good.js
/*---
flags: [raw]
---*/
