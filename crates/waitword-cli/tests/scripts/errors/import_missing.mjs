// An import that is not there.
//@ code: 1
//@ stderr has: cannot find './lib'
//@ stderr has: did you mean './lib.js'?

import './lib';
//@ file: lib.js
