// As `tests/node` has it, which needs Node.
//@ code: 1
//@ stderr has: Error: x
//> exit 1

process.on('exit', (code) => console.log('exit', code)); throw new Error('x');
