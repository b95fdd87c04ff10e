// An import that is not there.
//@ code: 1
//@ stderr has: No module named 'lodash', required by
//@ stderr has: lib.js. Built in

require('./lib');
//@ file: lib.js
require('lodash');
