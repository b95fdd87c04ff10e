// Plain JavaScript that shares a lock with Rust: the article's, with three states. It is a module of the test and the
// script of its workers.

const NAME = 'waitword-peer';
const [FREE, LOCKED, CONTENDED] = [0, 1, 2];

function take(words, lock) {
  return Atomics.compareExchange(words, lock, FREE, LOCKED) === FREE;
}
function takeOrMark(words, lock) {
  return Atomics.exchange(words, lock, CONTENDED) === FREE;
}
function unlock(words, lock) {
  if (Atomics.exchange(words, lock, FREE) === CONTENDED) Atomics.notify(words, lock, 1);
}

function playBlocking({ memory, lock, count, rounds }) {
  const words = new Int32Array(memory.buffer);
  for (let round = 0; round < rounds; round += 1) {
    if (!take(words, lock)) {
      while (!takeOrMark(words, lock)) Atomics.wait(words, lock, CONTENDED);
    }
    words[count] += 1;
    unlock(words, lock);
  }
}

async function playAsync({ memory, lock, count, rounds }) {
  const words = new Int32Array(memory.buffer);
  for (let round = 0; round < rounds; round += 1) {
    if (!take(words, lock)) {
      while (!takeOrMark(words, lock)) await Atomics.waitAsync(words, lock, CONTENDED).value;
    }
    words[count] += 1;
    unlock(words, lock);
  }
}

export async function playInJavaScript(memory, lock, count, rounds, workers) {
  const node = globalThis.Worker === undefined;
  const Worker = node ? (await import('node:worker_threads')).Worker : globalThis.Worker;
  const task = { memory, lock, count, rounds };
  const ended = Array.from({ length: workers }, () => new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { type: 'module', name: NAME, workerData: NAME });
    if (node) worker.on('message', resolve).on('error', reject);
    else { worker.onmessage = resolve; worker.onerror = reject; }
    worker.postMessage(task);
  }));
  // One worker alone stands behind somebody else.
  if (workers > 1) await playAsync(task);
  await Promise.all(ended);
}

async function serve() {
  const { workerData, parentPort } = globalThis.process?.versions?.node === undefined
    ? { workerData: globalThis.name }
    : await import('node:worker_threads');
  if (workerData !== NAME) return;
  const end = (port, task) => { playBlocking(task); port.postMessage('ended'); };
  if (parentPort) parentPort.once('message', (task) => end(parentPort, task));
  else globalThis.onmessage = (event) => { end(globalThis, event.data); globalThis.close(); };
}
serve();
