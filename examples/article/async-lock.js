// The article's asynchronous lock, at work: three workers block in `lock()`, the main agent, which must not block,
// uses `executeLocked()`, and all four increment one plain counter in shared memory.
//
//   waitword run examples/article/async-lock.js        node examples/article/async-lock.js
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';

// The listing, letter for letter (https://v8.dev/features/atomics). That includes what it leaves out: an exception in
// `f` leaves the lock locked for ever, and nobody learns when `f` has run or what it returned. `three-state-lock.js`
// mends both.
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

  executeLocked(f) {
    const self = this;

    async function tryGetLock() {
      while (true) {
        const oldValue = Atomics.compareExchange(self.i32a, AsyncLock.INDEX,
                            /* old value >>> */  AsyncLock.UNLOCKED,
                            /* new value >>> */  AsyncLock.LOCKED);
        if (oldValue == AsyncLock.UNLOCKED) {
          f();
          self.unlock();
          return;
        }
        const result = Atomics.waitAsync(self.i32a, AsyncLock.INDEX,
                                         AsyncLock.LOCKED);
                                     //  ^ expected value at start
        await result.value;
      }
    }

    tryGetLock();
  }
}

const WORKERS = 3;
const ROUNDS = 2000;
const [HERE, GO] = [0, 1]; // words of the starting gate: nobody shall be done before the others have begun

if (isMainThread) {
  const shared = {
    lock: new SharedArrayBuffer(4),
    counter: new SharedArrayBuffer(4),
    gate: new SharedArrayBuffer(8),
  };
  const workers = Array.from({ length: WORKERS }, (_, i) => startWorker(`worker ${i + 1}`, shared));
  const rows = await Promise.all([runMain(shared), ...workers]);
  report(rows, new Int32Array(shared.counter)[0]);
} else {
  runWorker(workerData);
}

async function runMain(shared) {
  const lock = new AsyncLock(shared.lock);
  const counter = new Int32Array(shared.counter);

  const gate = new Int32Array(shared.gate);
  for (let here; (here = Atomics.load(gate, HERE)) < WORKERS; ) {
    await Atomics.waitAsync(gate, HERE, here).value;
  }
  Atomics.store(gate, GO, 1);
  Atomics.notify(gate, GO);

  const waits = countWaits();
  for (let i = 0; i < ROUNDS; i++) {
    await new Promise((resolve) => {
      lock.executeLocked(() => {
        increment(counter);
        resolve();
      });
    });
  }
  return { agent: 'main', how: 'executeLocked', entered: ROUNDS, waited: waits.total };
}

/** Starts a worker on this very file; the promise brings its row of the table. */
function startWorker(agent, shared) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(import.meta.filename, { workerData: shared });
    worker.on('message', (row) => resolve({ agent, ...row }));
    worker.on('error', reject);
  });
}

function runWorker(shared) {
  const lock = new AsyncLock(shared.lock);
  const counter = new Int32Array(shared.counter);

  const gate = new Int32Array(shared.gate);
  Atomics.add(gate, HERE, 1);
  Atomics.notify(gate, HERE);
  Atomics.wait(gate, GO, 0);

  const waits = countWaits();
  for (let i = 0; i < ROUNDS; i++) {
    lock.lock();
    increment(counter);
    lock.unlock();
  }
  parentPort.postMessage({ how: 'lock / unlock', entered: ROUNDS, waited: waits.total });
}

/** Plain on purpose: read, dawdle, write. With two agents in here at once, one of the two counts would be lost. */
function increment(counter) {
  const seen = counter[0];
  for (const until = performance.now() + 0.01; performance.now() < until; ); // 10 µs, whatever the engine
  counter[0] = seen + 1;
}

/** Counts this agent's waits from outside, so that the class can stay as printed. 'not-equal' is not a wait. */
function countWaits() {
  const { wait, waitAsync } = Atomics;
  const waits = { total: 0 };
  Atomics.wait = (...args) => {
    const outcome = wait(...args);
    if (outcome !== 'not-equal') waits.total++;
    return outcome;
  };
  Atomics.waitAsync = (...args) => {
    const result = waitAsync(...args);
    if (result.async) waits.total++;
    return result;
  };
  return waits;
}

function report(rows, total) {
  const expected = rows.length * ROUNDS;
  const line = (agent, how, entered, waited) =>
    console.log(`  ${agent.padEnd(10)}${how.padEnd(15)}${`${entered}`.padStart(9)}${`${waited}`.padStart(9)}`);

  console.log(`One AsyncLock, one plain counter, ${rows.length} agents\n`);
  line('agent', 'locks with', 'entered', 'waited');
  for (const { agent, how, entered, waited } of rows) line(agent, how, entered, waited);
  console.log(`\n  total ${total} of ${expected}: ${total === expected ? 'nothing lost' : 'COUNTS LOST'}`);

  // An uncaught error is exit code 1 on every host.
  if (total !== expected) throw new Error(`${expected - total} counts were lost: the lock let two agents in at once`);
}
