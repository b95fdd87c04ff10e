// The same for a rejection that nobody handled.
process.on('exit', () => { process.exitCode = 98; });
Promise.reject(new Error('p'));
