const word = new Int32Array(new SharedArrayBuffer(4));
let woken = 0;
(async () => {
  for (let round = 0; round < 10; round++) {
    for (let crowd = 0; crowd < 100; crowd++) {
      const all = [];
      for (let i = 0; i < 1000; i++) all.push(Atomics.waitAsync(word, 0, 0, 1e9).value);
      Atomics.notify(word, 0);
      for (const outcome of await Promise.all(all)) woken += outcome === "ok";
    }
    if (woken !== (round + 1) * 100_000) throw new Error(`${woken}`);
    await mark();
  }
})();
