// A listener of `exit` chooses the exit code of a program that failed.
//@ flags: --main-can-block
//@ stdout: as on Node

process.on('exit', (code) => { console.log(code, process.exitCode); process.exitCode = 98; });
throw new Error('x');
