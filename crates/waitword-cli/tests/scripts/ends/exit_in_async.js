// Exit code of the script is that of the process.
//@ code: 5

(async () => { await 1; try { process.exit(5); } finally { console.log('never'); } })();
