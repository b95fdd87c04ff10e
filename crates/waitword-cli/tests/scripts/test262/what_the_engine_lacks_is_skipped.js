//@ command: test262 support
//@ file: support/test/a.js
//> 2 passed, 0 failed, 2 skipped

/*---
features: [Temporal]
---*/
Temporal.x;
//@ file: support/test/b.js

