// Anything can be thrown.
//@ code: 1
//@ stderr has: undefined

throw undefined;
