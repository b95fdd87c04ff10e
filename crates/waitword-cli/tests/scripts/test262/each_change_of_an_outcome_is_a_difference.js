//@ command: test262 support test
//@ code: 1
//@ file: support/test/a/bad.js
//> failed test/a/bad.js (sloppy)
//>     Test262Error: in sloppy mode
//>     because the engine is in error
//> failed test/a/good.js (module)
//>     TypeError: y
//> failed test/a/worse.js (strict)
//>     TypeError: x
//> failed test/a/x (new).js (module)
//>     1
//>
//> Not as expected:
//>     test/a/bad.js (strict): passed, expected: failed
//>     test/a/good.js (module): failed, expected: passed
//>     test/a/x (new).js (module): failed, expected: skipped
//>     conformance/s.txt: 3 passed, 4 failed, 0 skipped, expected: 3 passed, 3 failed, 1 skipped
//>
//> 3 passed, 4 failed, 0 skipped

(function () { if (this) throw new Test262Error("in sloppy mode"); })();
//@ file: support/test/a/good.js
/*---
flags: [module]
---*/
throw new TypeError("y");
//@ file: support/test/a/worse.js
(function () { if (!this) throw new TypeError("x"); })();
//@ file: support/test/a/x (new).js
/*---
flags: [module]
---*/
throw 1;
//@ file: support/test/b/one.js
/*---
flags: [noStrict]
---*/
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
