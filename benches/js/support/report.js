// What the programs of this folder have in common: how they print their figures, and how they take their times. They run
// on every engine that has `node:worker_threads`, unchanged. With `--quick` they do little, to see that they run.

/** Whether only a look is wanted. */
export const quick = process.argv.includes("--quick");

/** One line for one figure; `n` is how many waits, calls or workers there were. Times are in nanoseconds. */
export function figure(name, value, { n = 1, unit = "nanos" } = {}) {
  console.log(JSON.stringify({ name, n, unit, value }));
}

/**
 * Lets the runner look at this process from outside, for not every engine tells a script how much memory it holds. It
 * remembers under this name what it sees.
 */
export function mark(name) {
  hold({ mark: name });
}

/** Likewise; the figure is what the process has more than at a mark, divided by `n`. */
export function grown(name, since, n) {
  hold({ name, n, grownSince: since });
}

// The runner needs a moment to look, and nothing may change meanwhile.
function hold(line) {
  globalThis.gc?.();
  console.log(JSON.stringify(line));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150);
}

/** Keeps the program alive while its promises are pending, which a `waitAsync` alone need not. Ends with `dispose`. */
export function keepAlive() {
  const timer = setInterval(() => {}, 1e6);
  return () => clearInterval(timer);
}

/** Milliseconds from then to now, in nanoseconds. */
export const since = (start) => (performance.now() - start) * 1e6;

/** The middle one of several. */
export function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}
