//@ command: test262 WORDS
//@ each WORDS SAID NEXT: nowhere | cannot open nowhere | git clone
//@ each WORDS SAID NEXT: support/test | not a checkout of test262: it has no harness/assert.js | git clone
//@ each WORDS SAID NEXT: support test/b | no test/b among the tests | test/built-ins/Atomics
//@ each WORDS SAID NEXT: support ../harness | no ../harness among the tests | test/built-ins/Atomics
//@ each WORDS SAID NEXT: support --update | no snapshot in conformance | `path test`
//@ each WORDS SAID NEXT: support --snapshots none | no folder none | leave out --snapshots
//@ each WORDS SAID NEXT: support --time-limit 0 | number of seconds greater than 0 | --time-limit
//@ each WORDS SAID NEXT: --jobs 2 | Usage: waitword test262 | <DIR>
//@ each WORDS SAID NEXT: support empty | no tests at test/empty | support
//@ each WORDS SAID NEXT: support --snapshots wrong | x.txt:2: | expected FILE (MODE, …)
//@ code: 2
//@ stderr has: SAID
//@ stderr has: NEXT
//@ file: support/test/a.js

//@ file: support/test/empty/a_FIXTURE.js
//@ file: wrong/x.txt
path test
failed
