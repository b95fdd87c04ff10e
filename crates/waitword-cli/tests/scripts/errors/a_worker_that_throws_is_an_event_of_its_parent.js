//@ stdout: sorted
//> error false undefined
//> error true RangeError
//> error true SyntaxError
//> error true TypeError
//> exit 1
//> exit 1
//> exit 1
//> exit 1
//> missing true

const { Worker } = require("worker_threads");
for (const source of ["null.x", "Promise.reject(new RangeError('r'))", "let = ;", "throw () => {}"]) {
  const worker = new Worker(source, { eval: true });
  worker.on("error", (error) => console.log("error", error instanceof Error, error.name));
  worker.on("exit", (code) => console.log("exit", code));
}
new Worker("./no-such-file.js").on("error", (error) => console.log("missing", /cannot find/.test(error.message)));
