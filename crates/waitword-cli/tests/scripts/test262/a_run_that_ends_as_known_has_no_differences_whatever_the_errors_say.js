//@ command: test262 support WHERE
//@ each WHERE: test
//@ each WHERE: test/a test/b
//@ file: support/test/a/bad.js
//> failed test/a/bad.js (sloppy)
//>     Test262Error: no (really)
//>     because the engine is in error
//> failed test/a/bad.js (strict)
//>     Test262Error: no (really)
//>     because the engine is in error
//> failed test/a/worse.js (strict)
//>     TypeError: x
//>
//> 3 passed, 3 failed, 1 skipped

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
