// Endless recursion is a range error.
//@ code: 1
//@ stderr has: RangeError

let depth = 0; (function f() { depth++; f(); })();
