// What the scripts of this folder share. Each script checks itself: a failed check throws, and an uncaught error is exit
// code 1 on every host. A check that holds prints one line that starts with "ok".

/** Keeps Node running while a waitAsync is pending. The function that it returns ends that. */
export function stayAlive() {
  const timer = setInterval(() => {}, 1000);
  return () => clearInterval(timer);
}

/** Compares by value, deeply: what is plain data has one JSON text. */
export function equal(actual, expected, what) {
  const [a, e] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== e) throw new Error(`${what}: expected ${e}, got ${a}`);
}

export function holds(condition, what) {
  if (!condition) throw new Error(`does not hold: ${what}`);
}

/** `f` throws an error of the class `kind`, here and now. */
export function throws(kind, f, what) {
  let returned;
  try {
    returned = f();
  } catch (error) {
    if (error instanceof kind) return;
    throw new Error(`${what}: expected a ${kind.name}, got ${error}`);
  }
  throw new Error(`${what}: expected a ${kind.name}, but it returned ${JSON.stringify(returned)}`);
}

export function ok(what) {
  console.log(`ok  ${what}`);
}

/** Lets other agents and this agent's own jobs run for about `ms`. No check relies on it. */
export function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Whether this host lets its main agent block. Node does, and waitword with --main-can-block. Called on the main agent. */
export function mainMayBlock() {
  try {
    return Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0) === 'timed-out';
  } catch {
    return false;
  }
}
