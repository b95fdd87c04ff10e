//@ command: FILE
//@ each FILE: missing.js
//@ each FILE: missing.mjs
//@ each FILE: missing.cjs
//@ each FILE: program
//@ code: 2
//@ stderr has: tip: to run a file: waitword run FILE\n
//@ stderr has: Usage: waitword
//@ file: program

1;
