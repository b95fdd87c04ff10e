// A syntax error in what is imported or required.
//@ code: 1
//@ stderr has: bad.mjs:3:14\n
//@ stderr has: 3 | let a = [1, 2;

import './bad.mjs';
//@ file: bad.mjs


let a = [1, 2;
