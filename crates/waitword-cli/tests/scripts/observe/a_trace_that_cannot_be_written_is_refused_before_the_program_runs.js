//@ flags: --trace missing/trace.json
//@ code: 1
//@ stderr has: the trace cannot be written to missing/trace.json

console.log(1)
