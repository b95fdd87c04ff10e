// What a worker of the tests does: jobs by name, on words of shared memory.
import * as jobs from './jobs.js';

if (typeof Worker === 'undefined' || globalThis.postMessage === undefined) {
  const { parentPort } = await import('node:worker_threads');
  parentPort.on('message', (message) => answer(message, (reply) => parentPort.postMessage(reply)));
} else {
  globalThis.onmessage = ({ data }) => answer(data, (reply) => postMessage(reply));
}

async function answer({ number, job, args }, reply) {
  try {
    reply({ number, result: await jobs[job](...args) });
  } catch (error) {
    reply({ number, error: String(error?.stack ?? error) });
  }
}
