// Workers beyond the limit are an error where they are made.
//@ flags: --max-workers 0
//@ code: 1
//@ stderr has: 0 workers are alive
//@ stderr has: help: the limit is that of --max-workers

new (require('worker_threads').Worker)(__filename);
