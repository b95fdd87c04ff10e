// Exit code of the script is that of the process.
//@ code: 5

new Promise(() => process.exit(5)); console.log('never');
