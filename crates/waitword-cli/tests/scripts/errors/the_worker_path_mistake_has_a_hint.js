//@ code: 1
//@ stderr has: ERR_WORKER_PATH
//@ stderr has: ./worker.js

new (require("worker_threads").Worker)("worker.js");
