// Exit code of the script is that of the process.
//@ code: 4

try { process.exit(4); } finally { console.log('never'); }
