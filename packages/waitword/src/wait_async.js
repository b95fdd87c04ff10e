// `Atomics.waitAsync`, and its replacement in engines that lack it (Firefox before 145, Safari before 16.4).
//
// The replacement is a helper worker that blocks in place of the caller: `Atomics.wait` puts the worker into the engine's queue, so the page has a
// position in it, and the outcome arrives as a message. A helper costs a thread, so a lock has at most one at a time (`entryLimit`), for all waiters
// of this agent. Idle helpers are reused.
//
// If no worker can be created (a content security policy without `worker-src blob:`; Node, which has no global `Worker`), the caller rechecks every
// few milliseconds. It then has no position in the queue, and the number of acquirers that barge past it is not bounded.

const POLL_MILLISECONDS = 4; // the minimum of a nested timer in browsers

const HELPER = `onmessage = ({ data: [words, index, expected] }) => postMessage(Atomics.wait(words, index, expected));`;

const idle = [];
let helpersFail = false;

const isNative = () => typeof Atomics.waitAsync === 'function';

/** The maximum number of entries of this agent in the queue of one word. */
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

// 'not-equal' makes the caller step again, whether or not the word has changed.
const poll = () => new Promise((resolve) => setTimeout(resolve, POLL_MILLISECONDS, 'not-equal'));
