// The blocking half of the lock: three workers share a log in plain memory, and only the holder of the lock writes it.
// The log shows who held the lock, in order. The main agent must not block; `async-lock.js` lets it take part.
//
//   waitword run examples/article/lock.js        node examples/article/lock.js
import { Worker, isMainThread, workerData } from 'node:worker_threads';
import { AsyncLock } from './two-state-lock.js';

const WORKERS = 3;
const ROUNDS = 8;

if (isMainThread) {
  const shared = { lock: new SharedArrayBuffer(4), log: new SharedArrayBuffer(4 + 4 * WORKERS * ROUNDS) };
  await Promise.all(Array.from({ length: WORKERS }, (_, i) => runWorker({ number: i + 1, ...shared })));

  const [length, ...holders] = new Int32Array(shared.log);
  console.log(`holders, in order: ${holders.join(' ')}`);
  for (let number = 1; number <= WORKERS; number++) {
    const times = holders.filter((holder) => holder === number).length;
    console.log(`worker ${number} held the lock ${times} times`);
    if (times !== ROUNDS) throw new Error(`worker ${number} wrote ${ROUNDS} entries: some were overwritten`);
  }
  if (length !== WORKERS * ROUNDS) throw new Error(`the log has ${length} entries: some were overwritten`);

  try {
    new AsyncLock(shared.lock).unlock();
  } catch (error) {
    console.log(`one unlock too many: ${error.message}`);
  }
} else {
  const { number } = workerData;
  const lock = new AsyncLock(workerData.lock);
  const log = new Int32Array(workerData.log); // its length, then its entries

  for (let round = 0; round < ROUNDS; round++) {
    lock.lock();
    const length = log[0] + 1;
    log[length] = number;
    for (const until = performance.now() + 1; performance.now() < until; ); // 1 ms: the others have to wait
    log[0] = length;
    lock.unlock();
  }
}

/** Runs this file as a worker. The promise is fulfilled when the worker has exited. */
function runWorker(data) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(import.meta.filename, { workerData: data });
    worker.on('exit', resolve);
    worker.on('error', reject);
  });
}
