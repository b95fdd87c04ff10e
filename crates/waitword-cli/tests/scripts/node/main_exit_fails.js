// A listener of `exit` that fails after `process.exit(5)`.
//@ flags: --main-can-block
//@ stdout: as on Node

process.on('exit', (code) => { console.log(code, process.exitCode); throw new Error('in exit'); });
process.exit(5);
