//@ code: 1
//@ stderr has: uncaught exception in main
//@ stderr has: Error: outer
//@ stderr has: main.js:4:
//@ stderr has: at inner
//@ stderr has: main.js:2:
//@ stderr has: [cause]: TypeError

function inner(o) {
	return o.x.y;
}
try { inner({}); } catch (cause) { throw new Error('outer', { cause }); }
