// Memory beyond the limit is an error of that agent alone.
//@ flags: --memory-limit 16m
//@ code: 1
//@ stderr has: out of memory
//@ stderr has: help: raise --memory-limit

const all = []; for (;;) all.push(new Array(1000).fill({}));
