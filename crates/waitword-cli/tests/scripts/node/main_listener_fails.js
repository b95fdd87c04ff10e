// A listener of `uncaughtException` that fails ends the program with 7; nobody hears of `exit`.
//@ flags: --main-can-block
//@ stdout: as on Node

process.on('uncaughtException', () => { throw new Error('again'); });
process.on('exit', () => console.log('never'));
throw new Error('x');
