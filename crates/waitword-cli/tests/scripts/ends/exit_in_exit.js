// Exit code of the script is that of the process.
//@ code: 6

process.on('exit', () => process.exit(6));
