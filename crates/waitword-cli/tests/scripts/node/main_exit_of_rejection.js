// The same for a rejection that nobody handled.
//@ flags: --main-can-block
//@ stdout: as on Node

process.on('exit', () => { process.exitCode = 98; });
Promise.reject(new Error('p'));
