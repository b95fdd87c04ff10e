// `process.exit(undefined)` is not `process.exit()`.
process.on('exit', (code) => console.log(code, process.exitCode));
process.exitCode = 42;
process.exit(undefined);
