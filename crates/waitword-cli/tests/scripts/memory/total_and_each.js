// The smaller of the two limits holds.
//@ flags: --total-memory 64M --memory-limit 8M
//> 7

const { MIB, fill } = require("./support/fill.js");
const all = [];
console.log(fill(() => all.push(new SharedArrayBuffer(MIB)))[0]);
