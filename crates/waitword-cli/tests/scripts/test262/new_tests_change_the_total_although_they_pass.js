// One that no snapshot covers does not, and may be skipped, but has to pass otherwise.
//@ command: test262 support test
//@ code: 1
//@ file: support/test/a/bad.js
//> failed test/a/bad.js (sloppy)
//>     Test262Error: no (really)
//>     because the engine is in error
//> failed test/a/bad.js (strict)
//>     Test262Error: no (really)
//>     because the engine is in error
//> failed test/a/worse.js (strict)
//>     TypeError: x
//> failed test/b/one.jsx.js (sloppy)
//>     3
//> failed test/b/one.jsx.js (strict)
//>     3
//>
//> Not as expected:
//>     test/b/one.jsx.js (sloppy): failed, expected: passed
//>     test/b/one.jsx.js (strict): failed, expected: passed
//>     conformance/s.txt: 4 passed, 3 failed, 1 skipped, expected: 3 passed, 3 failed, 1 skipped
//>
//> 6 passed, 5 failed, 3 skipped

throw new Test262Error("no (really)");
//@ file: support/test/a/good.js
/*---
flags: [module]
---*/
//@ file: support/test/a/worse.js
(function () { if (!this) throw new TypeError("x"); })();
//@ file: support/test/a/x (new).js
/*---
flags: [module]
features: [Temporal]
---*/
//@ file: support/test/b/one.js
/*---
flags: [noStrict]
---*/
//@ file: support/test/a/more.js
/*---
flags: [onlyStrict]
---*/
//@ file: support/test/b/two.js
/*---
features: [Temporal]
---*/
//@ file: support/test/b/four.js
//@ file: support/test/b/one.jsx.js
throw 3;
//@ file: conformance/s.txt
suite test262, commit 0123
path test/a
path test/b/one.js
total 3 passed, 3 failed, 1 skipped

failed test/a/bad.js (sloppy, strict)
    error Test262Error: another one
    because the engine is in error

failed test/a/worse.js (strict)
    error TypeError: x
    because ?

skipped test/a/x (new).js (module)
    because the engine has no x
