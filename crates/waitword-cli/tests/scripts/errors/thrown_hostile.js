// Anything can be thrown.
//@ code: 1
//@ stderr: any

throw new Proxy({}, { get() { throw 1; }, getPrototypeOf() { throw 2; } });
