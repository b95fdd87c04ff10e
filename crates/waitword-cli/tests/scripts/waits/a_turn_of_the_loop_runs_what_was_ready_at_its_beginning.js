// A thousand of each are ready at once, and an immediate calls the next one without end: as in Node, they do not come one per immediate.
//@ flags: --main-can-block
//@ stdout: checks
//@ node: same

const { MessageChannel, Worker } = require("node:worker_threads");
const MANY = 1000;
/** Node takes up to 21 turns. */
const FEW = 30;

/** How many immediates ran until all had come. */
function turns(begin) {
  return new Promise((resolve) => {
    let left = MANY;
    let ran = 0;
    const work = () => {
      ran++;
      if (left > 0) setImmediate(work);
      else resolve(ran);
    };
    begin(() => left--);
    setImmediate(work);
  });
}

/** Blocks this agent while a worker runs this source, with `word`, whose first element says that it is done. */
function blockedWhile(source) {
  const word = new Int32Array(new SharedArrayBuffer(12));
  const worker = new Worker(`const { parentPort, workerData: word } = require("node:worker_threads"); ${source}
    Atomics.store(word, 0, 1); Atomics.notify(word, 0);`, { eval: true, workerData: word });
  return { word, worker, block: () => Atomics.wait(word, 0, 0) };
}

const kinds = {
  messages(came) {
    const { port1, port2 } = new MessageChannel();
    port2.on("message", came);
    for (let at = 0; at < MANY; at++) port1.postMessage(at);
  },
  "messages of a worker"(came) {
    const { worker, block } = blockedWhile(`for (let at = 0; at < ${MANY}; at++) parentPort.postMessage(at);`);
    worker.on("message", came);
    block();
  },
  closes(came) {
    for (let at = 0; at < MANY; at++) {
      const { port1, port2 } = new MessageChannel();
      port2.on("close", came);
      port1.close();
    }
  },
  "settled waits"(came) {
    // The worker blocks until all waits are queued, and then notifies them.
    const { word, block } = blockedWhile("Atomics.wait(word, 1, 0); Atomics.notify(word, 2);");
    for (let at = 0; at < MANY; at++) Atomics.waitAsync(word, 2, 0).value.then(came);
    Atomics.store(word, 1, 1);
    Atomics.notify(word, 1);
    block();
  },
  "due timers"(came) {
    for (let at = 0; at < MANY; at++) setTimeout(came, 1);
    const begun = performance.now();
    while (performance.now() - begun < 5);
  },
};

(async () => {
  for (const kind in kinds) {
    const ran = await turns(kinds[kind]);
    console.log(`${ran <= FEW ? "ok " : "BAD"} ${kind}: ${ran <= FEW ? "few turns" : `${ran} turns`}`);
  }
  process.exit();
})();
