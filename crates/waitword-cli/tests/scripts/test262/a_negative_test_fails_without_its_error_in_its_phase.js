//@ command: test262 support
//@ code: 1
//@ file: support/test/negative_none.js
//> failed test/negative_kind.js (sloppy)
//>     expected TypeError (runtime), but got (runtime) RangeError: r
//> failed test/negative_none.js (sloppy)
//>     expected TypeError (runtime), but nothing was thrown
//> failed test/negative_phase.js (sloppy)
//>     expected SyntaxError (parse), but got (runtime) SyntaxError: late
//>
//> Not as expected:
//>     test/negative_kind.js (sloppy): failed, expected: passed
//>     test/negative_none.js (sloppy): failed, expected: passed
//>     test/negative_phase.js (sloppy): failed, expected: passed
//>
//> 0 passed, 3 failed, 0 skipped

/*---
flags: [noStrict]
negative:
  phase: runtime
  type: TypeError
---*/
//@ file: support/test/negative_kind.js
/*---
flags: [noStrict]
negative:
  phase: runtime
  type: TypeError
---*/
throw new RangeError('r')
//@ file: support/test/negative_phase.js
/*---
flags: [noStrict]
negative:
  phase: parse
  type: SyntaxError
---*/
throw new SyntaxError('late')
