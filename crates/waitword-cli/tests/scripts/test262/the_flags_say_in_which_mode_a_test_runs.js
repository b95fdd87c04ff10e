// What tests import is no test.
//@ command: test262 support
//@ file: support/test/both.js
//> 7 passed, 0 failed, 0 skipped

assert(typeof seen == 'undefined'); var seen = true;
//@ file: support/test/only.js
/*---
flags: [onlyStrict]
---*/
assert((function () { return this === undefined; })());
//@ file: support/test/no.js
/*---
flags:
  - noStrict
---*/
assert(!(function () { return this === undefined; })());
//@ file: support/test/module.js
/*---
flags: [module, async]
---*/
assert(this === undefined); await 0; $DONE();
//@ file: support/test/raw.js
/*---
flags: [raw]
---*/
if (typeof assert != 'undefined') throw 'harness'; if (this === undefined) throw 1;
//@ file: support/test/module_raw.js
/*---
flags: [module, raw]
---*/
if (this !== undefined || typeof assert != 'undefined') throw 1;
//@ file: support/test/broken_FIXTURE.js
let = ;
