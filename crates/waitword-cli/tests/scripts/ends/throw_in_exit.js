// Exit code of the script is that of the process.
//@ code: 1
//@ stderr has: late

process.on('exit', () => { throw new Error('late'); });
