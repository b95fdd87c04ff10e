//@ code: 1
//@ stderr has: SyntaxError
//@ stderr has: main.js:3:
//@ stderr has: 3 | let y = 3;

import 'node:path';
export const y = 1;
let y = 3;
