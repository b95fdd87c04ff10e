// A syntax error in what is imported or required.
//@ code: 1
//@ stderr has: bad.js:3:14\n
//@ stderr has: 3 | let a = [1, 2;

require('./bad');
//@ file: bad.js


let a = [1, 2;
