// Memory runs out at many different places of waitAsync, because what is left differs each time. The reserve lets the
// few of the second kind through.
//@ flags: --memory-limit 1M
//> true

const v = new Int32Array(new SharedArrayBuffer(16)), hoard = [];
let queued = 0, failed = 0;
for (let round = 0; round < 40; round++) {
  try { for (;;) hoard.push(new ArrayBuffer(64)); } catch {}
  hoard.length -= round % 20;
  try { for (;;) { Atomics.waitAsync(v, 0, 0); queued++; } } catch { failed++; }
  if (Atomics.notify(v, 0) !== queued) throw new Error("a failed wait stayed in the queue");
  queued = 0;
  hoard.length = 0;
  try { for (;;) hoard.push(new ArrayBuffer(64)); } catch {}
  hoard.length -= round % 40;
  for (let i = 0; i < 5; i++) try { Atomics.waitAsync(v, 1, 0); queued++; } catch { failed++; }
  hoard.length = 0;
  if (Atomics.notify(v, 1) !== queued) throw new Error("a failed wait stayed in the queue");
  queued = 0;
}
console.log(failed >= 40);
