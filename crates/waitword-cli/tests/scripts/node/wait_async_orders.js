// Orders of promises over several words, notifies and deadlines, as far as they are the same on every host.
//@ flags: --main-can-block
//@ stdout: as on Node

const log = [];
const array = new Int32Array(new SharedArrayBuffer(16));
const wait = (name, index, timeout) => {
  const result = Atomics.waitAsync(array, index, 0, timeout);
  if (!result.async) return void log.push(`${name} at once: ${result.value}`);
  return result.value.then((outcome) => log.push(`${name} ${outcome}`));
};

const stayAlive = setInterval(() => {}, 1_000);
(async () => {
  const [a, b, c, d] = [wait("a", 0), wait("b", 0), wait("c", 1), wait("d", 0)];
  wait("e", 0, 0);
  log.push(Atomics.notify(array, 0, 1), Atomics.notify(array, 1), Atomics.notify(array, 2));
  await Promise.all([a, c]);
  log.push(Atomics.notify(array, 0));
  await Promise.all([b, d]);
  const timed = [wait("never", 3), wait("soon", 3, 5), wait("late", 3, 10)];
  await timed[1];
  await timed[2];
  log.push(Atomics.notify(array, 3));
  await timed[0];
  array[0] = 1;
  wait("f", 0);
  console.log(log);
  clearInterval(stayAlive);
})();
