// What an agent keeps of each growable buffer, to bring it up to date, is freed with the buffer.
//@ flags: --memory-limit 4M
//> 100000

let made = 0;
for (; made < 100_000; made++) new SharedArrayBuffer(8, { maxByteLength: 16 });
console.log(made);
