//@ command: test262 support
//@ file: support/test/sub/module.js
//> 3 passed, 0 failed, 0 skipped

/*---
flags: [module]
---*/
import { one } from './one_FIXTURE.js';
import * as self from '../sub/module.js';
import data from './data.json' with { type: 'json' };
export { one as two };
assert(one === 1 && self.two === 1 && data.three === 3);
//@ file: support/test/sub/script.js
/*---
flags: [async]
---*/
import('./one_FIXTURE.js').then(m => $DONE(m.one - 1), $DONE);
//@ file: support/test/sub/one_FIXTURE.js
export const one = 1;
//@ file: support/test/sub/data.json
{"three": 3}
