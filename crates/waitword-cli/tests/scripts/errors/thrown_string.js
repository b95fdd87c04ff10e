// Anything can be thrown.
//@ code: 1
//@ stderr has: 'text'

throw 'text';
