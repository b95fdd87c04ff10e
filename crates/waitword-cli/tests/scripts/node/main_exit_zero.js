// A program that failed may still end with 0.
//@ flags: --main-can-block
//@ stdout: as on Node

process.on('exit', () => { process.exitCode = 0; });
throw new Error('x');
