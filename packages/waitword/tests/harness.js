// Tests that run in every engine: `test` collects, `run` runs them one after the other and says how they went.
const tests = [];

export const test = (name, body) => tests.push({ name, body });

export function assert(condition, message = 'assertion failed') {
  if (!condition) throw new Error(message);
}

export function equal(actual, expected, message = '') {
  if (!Object.is(actual, expected)) throw new Error(`${message}${message && ': '}expected ${String(expected)}, got ${String(actual)}`);
}

/** The error that `action` throws or rejects with. */
export async function failure(action) {
  try {
    await action();
  } catch (error) {
    return error;
  }
  throw new Error('expected an error');
}

/** Lets the event loop turn. */
export const turn = () => new Promise((resolve) => setTimeout(resolve));

/** Waits until `condition` holds: a handshake with an agent that offers no other. */
export async function until(condition, what = 'condition') {
  for (const end = performance.now() + 30_000; !(await condition()); await turn()) {
    if (performance.now() > end) throw new Error(`${what}: waited in vain`);
  }
}

const SECONDS = 240; // a busy machine is no failure

/** Runs what was collected. Ends the program where there is one; in a page, throws if a test failed. */
export async function run() {
  let failed = 0;
  const collected = tests.splice(0);
  for (const { name, body } of collected) {
    let timer;
    const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(`hangs: not done after ${SECONDS} s`)), SECONDS * 1000)));
    try {
      const skipped = await Promise.race([body(), late]);
      console.log(skipped === undefined ? `ok ${name}` : `ok ${name} # skipped: ${skipped}`);
    } catch (error) {
      failed++;
      console.log(`not ok ${name}\n  ${error?.message}\n  ${error?.stack ?? error}`);
    } finally {
      clearTimeout(timer);
    }
  }
  console.log(`# ${collected.length - failed} of ${collected.length} passed`);
  if (typeof document === 'undefined') globalThis.process.exit(failed === 0 ? 0 : 1);
  if (failed > 0) throw new Error(`${failed} failed`);
}

/** Whether this agent may block. */
export const mayBlock = (() => {
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1);
    return true;
  } catch {
    return false;
  }
})();
