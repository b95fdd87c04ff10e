// Memory beyond the limit is an error of that agent.
//@ flags: --memory-limit 16M
//@ each GREEDY in greedy.txt
//@ each GREEDY: const word = new Int32Array(new SharedArrayBuffer(4)); for (;;) Atomics.waitAsync(word, 0, 0);
//@ code: 1
//@ stderr has: main

GREEDY
