// Memory beyond the limit is an error that can be caught. Waits that were queued stay, so after them memory is still full then.
//@ flags: --memory-limit 16M
//@ each GREEDY in greedy.txt
//> true

const isOutOfMemory = (thrown) => thrown instanceof Error && /out of memory|string too long/.test(thrown.message);
let caught;
try { (() => { GREEDY })(); } catch (error) { caught = error; }
console.log(isOutOfMemory(caught));
