//@ flags: --timeout 1e9
//@ code: 3
//> 1

console.log(1); process.exitCode = 3;
