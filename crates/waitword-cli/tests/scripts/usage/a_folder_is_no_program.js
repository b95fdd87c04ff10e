//@ command: run .
//@ code: 1
//@ stderr has: is a directory

