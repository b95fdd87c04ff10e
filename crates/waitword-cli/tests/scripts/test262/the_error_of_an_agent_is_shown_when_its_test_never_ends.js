//@ command: test262 support --time-limit 8
//@ code: 1
//@ file: support/test/a.js
//> failed test/a.js (sloppy)
//>     timed out after 8s: in agent 1: agent.js:1:1: TypeError: cannot read property 'x' of null
//>
//> Not as expected:
//>     test/a.js (sloppy): failed, expected: passed
//>
//> 0 passed, 1 failed, 0 skipped

/*---
flags: [raw]
---*/
$262.agent.start('null.x'); for (;;);
