//@ command: run no-such-file.js
//@ code: 1
//@ stderr has: cannot find no-such-file.js
//@ stderr has: check the name
