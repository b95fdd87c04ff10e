//> DataCloneError 25 true
//> DataCloneError 25 true
//> DataCloneError 25 true
//> DataCloneError 25 true
//> DataCloneError 25 true

const { Worker } = require("worker_threads");
for (const value of [() => {}, Symbol("s"), { deep: [{ f() {} }] }, Promise.resolve(), new WeakMap()]) {
  try {
    new Worker("", { eval: true, workerData: value });
  } catch (error) {
    console.log(error.name, error.code, error instanceof DOMException);
  }
}
