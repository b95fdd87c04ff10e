//@ stderr has: e\nw\nAssertion failed: a\n
//> l

console.error('e'); console.warn('w'); console.log('l'); console.assert(false, 'a');
