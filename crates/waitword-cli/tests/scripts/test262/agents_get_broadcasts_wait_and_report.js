//@ command: test262 support
//@ file: support/test/a.js
//> 2 passed, 0 failed, 0 skipped

$262.agent.start(`
  $262.agent.receiveBroadcast(async (sab, number) => {
    const a = new Int32Array(sab);
    $262.agent.report('got ' + number + ' ' + ($262.agent.monotonicNow() >= 0));
    const blocked = Atomics.wait(a, 0, 0);
    $262.agent.report(blocked);
    const { value } = Atomics.waitAsync(a, 1, 0);
    Atomics.store(a, 2, 1);
    $262.agent.report(await value);
    $262.agent.leaving();
  });`);
const a = new Int32Array(new SharedArrayBuffer(16));
function report() {
  for (;;) { const r = $262.agent.getReport(); if (r !== null) return r; $262.agent.sleep(1); }
}
assert($262.agent.getReport() === null);
$262.agent.broadcast(a.buffer, 7n);
assert(report() === 'got 7 true');
while (Atomics.notify(a, 0) === 0);
assert(report() === 'ok');
while (Atomics.load(a, 2) === 0);
assert(Atomics.notify(a, 1) === 1);
assert(report() === 'ok');
