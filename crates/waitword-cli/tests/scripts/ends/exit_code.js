// Exit code of the script is that of the process.
//@ code: 3

process.exitCode = 3;
