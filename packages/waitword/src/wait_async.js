// `Atomics.waitAsync`, and what stands in for it where an engine lacks it (Firefox before 145, Safari before 16.4).
//
// The stand-in is a worker that blocks in the caller's place: `Atomics.wait` puts it into the engine's queue, so the page is queued
// with the others, and the outcome comes back as a message. Such a worker costs a thread, so a lock has one at a time
// (`entryLimit`), which then stands for all waiters of this agent. Idle workers are used again.
//
// Where no worker can be made (a content security policy without `worker-src blob:`; Node, which has no global `Worker`), the caller
// rechecks every few milliseconds. It then has no place in the queue, and other agents can barge past it without a bound.

const POLL_MILLISECONDS = 4; // browsers do not go below

const HELPER = `onmessage = ({ data: [words, index, expected] }) => postMessage(Atomics.wait(words, index, expected));`;

const idle = [];
let helpersFail = false;

const isNative = () => typeof Atomics.waitAsync === 'function';

/** How many entries in the queue of one word an agent may have. */
export const entryLimit = () => (isNative() ? Infinity : 1);

/** As `Atomics.waitAsync`, without a timeout. */
export function waitAsync(words, index, expected) {
  if (isNative()) return Atomics.waitAsync(words, index, expected);
  if (Atomics.load(words, index) !== expected) return { async: false, value: 'not-equal' };
  return { async: true, value: byHelper(words, index, expected).catch(() => poll()) };
}

async function byHelper(words, index, expected) {
  if (helpersFail) throw undefined;
  const helper = idle.pop() ?? newHelper();
  const outcome = await new Promise((resolve, reject) => {
    helper.onmessage = ({ data }) => resolve(data);
    helper.onerror = (event) => {
      event.preventDefault?.();
      helpersFail = true;
      reject(event);
    };
    helper.postMessage([words, index, expected]);
  });
  idle.push(helper);
  return outcome;
}

function newHelper() {
  try {
    const url = URL.createObjectURL(new Blob([HELPER], { type: 'text/javascript' }));
    const helper = new Worker(url);
    helper.unref?.();
    return helper;
  } catch (error) {
    helpersFail = true;
    throw error;
  }
}

// 'not-equal': the caller steps again, whether the word has changed or not.
const poll = () => new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS, 'not-equal'));
