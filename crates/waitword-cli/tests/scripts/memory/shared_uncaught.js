// Shared memory counts for its maker until the last handle is gone.
//@ flags: --memory-limit 8M
//@ code: 1
//@ stderr has: RangeError: Array buffer allocation failed
//@ stderr has: help: raise --memory-limit

const all = []; for (;;) all.push(new SharedArrayBuffer(1e6));
