// One worker produces, another consumes; both block when they must.
//@ flags: --main-can-block
//@ stdout: as on Node

const { Worker, isMainThread, parentPort, workerData } = require("node:worker_threads");

const [SIZE, ITEMS] = [8, 5_000];
const [READ, WRITTEN, FIRST] = [0, 1, 2];
if (isMainThread) {
  const array = new Int32Array(new SharedArrayBuffer(4 * (FIRST + SIZE)));
  new Worker(__filename, { workerData: { array, role: "producer" } });
  const consumer = new Worker(__filename, { workerData: { array, role: "consumer" } });
  consumer.on("message", (message) => console.log(message, array[READ], array[WRITTEN]));
} else {
  const { array, role } = workerData;
  const [mine, theirs] = role === "producer" ? [WRITTEN, READ] : [READ, WRITTEN];
  let [sum, inOrder] = [0, true];
  for (let item = 0; item < ITEMS; item++) {
    const full = role === "producer" ? item - SIZE : item;
    for (let seen; (seen = Atomics.load(array, theirs)) <= full; ) {
      if (role === "producer" && item < SIZE) break;
      Atomics.wait(array, theirs, seen);
    }
    const slot = FIRST + (item % SIZE);
    if (role === "producer") array[slot] = item * item;
    else [sum, inOrder] = [(sum + array[slot]) | 0, inOrder && array[slot] === item * item];
    Atomics.store(array, mine, item + 1);
    Atomics.notify(array, mine);
  }
  if (role === "consumer") parentPort.postMessage({ sum, inOrder });
}
