// As the programs of `node` have it, where Node is not installed, too.
//@ code: 1
//@ stderr has: Error: x
//> exit 1

process.on('exit', (code) => console.log('exit', code)); throw new Error('x');
