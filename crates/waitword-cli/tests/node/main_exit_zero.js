// A program that failed may still end with 0.
process.on('exit', () => { process.exitCode = 0; });
throw new Error('x');
