//@ command: test262 support
//@ file: support/test/a.js
//> 2 passed, 0 failed, 0 skipped

/*---
includes: [answer.js]
---*/
assert(answer === 42);
