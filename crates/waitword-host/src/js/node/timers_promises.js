// node:timers/promises. A part that runs when it is first asked for.
(function (host) {
  "use strict";

  const { Promise } = globalThis;
  const timers = host.timers;
  const aborted = (signal) => host.part("abort").abortError(signal);

  /** A promise for the call of a timer, unless a signal comes first. */
  const once = (start, clear) => (value, { signal, ref = true } = {}) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(aborted(signal));
      const abort = () => {
        clear(timer);
        reject(aborted(signal));
      };
      const timer = start(() => {
        signal?.removeEventListener("abort", abort);
        resolve(value);
      });
      if (!ref) timer.unref();
      signal?.addEventListener("abort", abort);
    });

  const setTimeout = (delay, value, settings) =>
    once((call) => timers.setTimeout(call, delay), timers.clearTimeout)(value, settings);
  const setImmediate = (value, settings) =>
    once((call) => timers.setImmediate(call), timers.clearImmediate)(value, settings);

  async function* setInterval(delay, value, { signal, ref = true } = {}) {
    if (signal?.aborted) throw aborted(signal);
    let due = 0;
    let wake = () => {};
    const tick = () => {
      due++;
      wake();
    };
    const timer = timers.setInterval(tick, delay);
    if (!ref) timer.unref();
    signal?.addEventListener("abort", () => wake());
    try {
      for (;;) {
        if (signal?.aborted) throw aborted(signal);
        for (; due > 0; due--) yield value;
        await new Promise((resolve) => (wake = resolve));
      }
    } finally {
      timers.clearInterval(timer);
    }
  }

  return { setTimeout, setImmediate, setInterval };
});
