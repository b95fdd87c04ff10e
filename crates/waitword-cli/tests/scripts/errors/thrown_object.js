// Anything can be thrown.
//@ code: 1
//@ stderr has: { a: 1 }

throw { a: 1 };
