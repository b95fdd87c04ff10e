//@ command: test262 support
//@ file: support/test/parse.js
//> 6 passed, 0 failed, 0 skipped

/*---
flags: [noStrict]
negative:
  phase: parse
  type: SyntaxError
---*/
throw 'evaluated'; let = 1, let = 2 +;
//@ file: support/test/runtime.js
/*---
flags: [noStrict]
negative:
  phase: runtime
  type: Test262Error
---*/
throw new Test262Error('x');
//@ file: support/test/module_parse.js
/*---
flags: [module]
negative: {phase: parse, type: SyntaxError}
---*/
import './none_FIXTURE.js'; let = ;
//@ file: support/test/module_link.js
/*---
flags: [module]
negative: {phase: resolution, type: SyntaxError}
---*/
import { no } from './empty_FIXTURE.js';
//@ file: support/test/module_imported.js
/*---
flags: [module]
negative: {phase: resolution, type: SyntaxError}
---*/
import './wrong_FIXTURE.js';
//@ file: support/test/module_runtime.js
/*---
flags: [module]
negative: {phase: runtime, type: SyntaxError}
---*/
await 0; throw new SyntaxError();
//@ file: support/test/empty_FIXTURE.js

//@ file: support/test/wrong_FIXTURE.js
let = ;
