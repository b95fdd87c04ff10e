// Workers beyond the limit are an error where they are made.
//@ flags: --max-workers 0
//@ code: 1
//@ stderr has: too many workers: the limit is 0
//@ stderr has: help: the limit is set by --max-workers

new (require('worker_threads').Worker)(__filename);
