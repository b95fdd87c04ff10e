// A module runs as a microtask: what it left for the next tick comes after its microtasks.
//@ flags: --main-can-block
//@ stdout: as on Node

import process from "node:process";
process.nextTick(() => console.log("tick"));
Promise.resolve().then(() => console.log("job"));
console.log("module");
await null;
console.log("after await");
