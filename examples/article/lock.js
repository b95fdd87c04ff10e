// The article's synchronous half: `lock` and `unlock`, used by three workers. The main agent must not block, so here
// it can only look on; `async-lock.js` lets it take part.
//
//   waitword run examples/article/lock.js        node examples/article/lock.js
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';

class AsyncLock {
  static INDEX = 0;
  static UNLOCKED = 0;
  static LOCKED = 1;

  constructor(sab) {
    this.sab = sab;
    this.i32a = new Int32Array(sab);
  }

  lock() {
    while (true) {
      const oldValue = Atomics.compareExchange(this.i32a, AsyncLock.INDEX,
                          /* old value >>> */  AsyncLock.UNLOCKED,
                          /* new value >>> */  AsyncLock.LOCKED);
      if (oldValue == AsyncLock.UNLOCKED) {
        return;
      }
      Atomics.wait(this.i32a, AsyncLock.INDEX,
                   AsyncLock.LOCKED); // <<< expected value at start
    }
  }

  unlock() {
    const oldValue = Atomics.compareExchange(this.i32a, AsyncLock.INDEX,
                        /* old value >>> */  AsyncLock.LOCKED,
                        /* new value >>> */  AsyncLock.UNLOCKED);
    if (oldValue != AsyncLock.LOCKED) {
      throw new Error('Tried to unlock while not holding the mutex');
    }
    Atomics.notify(this.i32a, AsyncLock.INDEX, 1);
  }
}

const WORKERS = 3;
const ROUNDS = 8;

if (isMainThread) {
  const shared = { lock: new SharedArrayBuffer(4), diary: new SharedArrayBuffer(4 + 4 * WORKERS * ROUNDS) };
  const names = Array.from({ length: WORKERS }, (_, i) => i + 1);
  await Promise.all(names.map((name) => startWorker({ name, ...shared })));

  const [length, ...entries] = new Int32Array(shared.diary);
  const counts = names.map((name) => entries.filter((entry) => entry === name).length);
  console.log(`who held the lock, in order: ${entries.join(' ')}`);
  names.forEach((name, i) => console.log(`worker ${name} held it ${counts[i]} times`));
  if (length !== WORKERS * ROUNDS || counts.some((count) => count !== ROUNDS)) {
    throw new Error('an entry is missing: two workers wrote the diary at once');
  }

  try {
    new AsyncLock(shared.lock).unlock();
  } catch (error) {
    console.log(`unlock once too often: ${error.message}`);
  }
} else {
  const { name } = workerData;
  const lock = new AsyncLock(workerData.lock);
  const diary = new Int32Array(workerData.diary); // diary[0] is its length; only the holder of the lock may touch it

  for (let round = 0; round < ROUNDS; round++) {
    lock.lock();
    const length = diary[0] + 1;
    diary[length] = name;
    const end = performance.now() + 1; // write slowly, so that the others come and have to wait
    while (performance.now() < end);
    diary[0] = length;
    lock.unlock();
  }
  parentPort.postMessage('done');
}

function startWorker(data) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(import.meta.filename, { workerData: data });
    worker.on('message', resolve);
    worker.on('error', reject);
  });
}
