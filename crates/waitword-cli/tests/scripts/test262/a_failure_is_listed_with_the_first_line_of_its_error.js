//@ command: test262 support
//@ code: 1
//@ file: support/test/a/bad.js
//> failed test/a/bad.js (sloppy)
//>     Test262Error: one
//> failed test/a/bad.js (strict)
//>     Test262Error: one
//>
//> Not as expected:
//>     test/a/bad.js (sloppy): failed, expected: passed
//>     test/a/bad.js (strict): failed, expected: passed
//>
//> 2 passed, 2 failed, 0 skipped

assert(false, 'one\ntwo');
//@ file: support/test/a/good.js
