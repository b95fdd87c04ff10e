// A name that merely begins alike is another test: nobody misses those of `test/a` where `test/ab` was run.
//@ command: test262 support WHERE
//@ each WHERE: test/a/worse.js
//@ each WHERE: test/b
//@ stdout: any
//@ file: support/test/b/one.js

/*---
flags: [noStrict]
---*/
//@ file: support/test/a/worse.js
(function () { if (!this) throw new TypeError("x"); })();
//@ file: support/test/bad.js
throw new Test262Error("no (really)");
//@ file: conformance/s.txt
suite test262, commit 0123
path test/a
path test/ba
path test/b/one.js
total 3 passed, 3 failed, 1 skipped

failed test/ba/d.js (sloppy, strict)
    error Test262Error: another one
    because the engine is in error

failed test/a/worse.js (strict)
    error TypeError: x
    because ?

skipped test/a/x (new).js (module)
    because the engine has no x
