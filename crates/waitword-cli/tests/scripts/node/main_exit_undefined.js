// `process.exit(undefined)` is not `process.exit()`.
//@ flags: --main-can-block
//@ stdout: as on Node

process.on('exit', (code) => console.log(code, process.exitCode));
process.exitCode = 42;
process.exit(undefined);
