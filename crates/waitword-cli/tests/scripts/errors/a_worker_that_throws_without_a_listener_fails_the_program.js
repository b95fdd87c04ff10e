//@ code: 1
//@ stderr has: uncaught exception in worker 1
//@ stderr has: TypeError
//@ stderr has: [worker eval]:2:
//@ stderr has: 2 |   null.x;
//@ stderr has: at f

const { Worker } = require("worker_threads");
new Worker("function f() {\n  null.x;\n}\nf();", { eval: true }).on("exit", () => console.log("never"));
