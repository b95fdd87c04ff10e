// An unhandled rejection fails and a handled one does not.
//@ code: 1
//@ stderr has: unhandled rejection
//@ stderr has: RangeError: r
//@ stderr has: main.js:1:
//@ stderr has: at f

async function f() { throw new RangeError('r'); }
f();
