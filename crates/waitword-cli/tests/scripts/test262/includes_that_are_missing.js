// A failure of the suite is one of the test.
//@ command: test262 support
//@ only on: unix
//@ code: 1
//@ file: support/test/includes_missing.js
//> failed test/includes_missing.js (strict)
//>     cannot read $DIR/support/harness/none.js: No such file or directory (os error 2)
//>
//> Not as expected:
//>     test/includes_missing.js (strict): failed, expected: passed
//>
//> 0 passed, 1 failed, 0 skipped

/*---
includes: [none.js]
flags: [onlyStrict]
---*/
