// A listener of `uncaughtException` that fails ends the program with 7; nobody hears of `exit`.
process.on('uncaughtException', () => { throw new Error('again'); });
process.on('exit', () => console.log('never'));
throw new Error('x');
