(async () => {
  for (let round = 0; round < 10; round++) {
    for (let i = 0; i < 100_000; i++) {
      Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0).value.then(() => console.log("never"));
    }
    await mark();
  }
})();
