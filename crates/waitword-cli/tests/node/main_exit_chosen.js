// A listener of `exit` chooses the exit code of a program that failed.
process.on('exit', (code) => { console.log(code, process.exitCode); process.exitCode = 98; });
throw new Error('x');
