// Events and timers as promises: `once` of node:events, and node:timers/promises. Loaded at first use.
(function (host) {
  "use strict";

  const { Promise } = globalThis;
  const { timers } = host;
  const aborted = (signal) => host.part("abort").abortError(signal);

  const listen = (emitter, name, listener) => {
    if (typeof emitter?.on === "function") emitter.once(name, listener);
    else if (typeof emitter?.addEventListener === "function") emitter.addEventListener(name, listener, { once: true, [host.resists]: true });
    else throw host.invalid("emitter", "an instance of EventEmitter", emitter);
  };
  const unlisten = (emitter, name, listener) => {
    if (typeof emitter.removeListener === "function") emitter.removeListener(name, listener);
    else emitter.removeEventListener(name, listener);
  };
  function checkSignal(signal) {
    const isSignal = signal === undefined || (typeof signal === "object" && signal !== null && "aborted" in signal);
    if (!isSignal) throw host.invalid("options.signal", "an instance of AbortSignal", signal);
    if (signal?.aborted) throw aborted(signal);
  }

  /** `once` of node:events. */
  async function event(emitter, name, settings) {
    const signal = settings?.signal;
    checkSignal(signal);
    return new Promise((resolve, reject) => {
      const stop = () => {
        unlisten(emitter, name, heard);
        if (hasErrors) unlisten(emitter, "error", failed);
        signal?.removeEventListener("abort", abort);
      };
      const heard = (...args) => {
        stop();
        resolve(args);
      };
      const failed = (error) => {
        stop();
        reject(error);
      };
      const abort = () => failed(aborted(signal));
      listen(emitter, name, heard);
      // An EventTarget emits no `error` of its own.
      const hasErrors = name !== "error" && typeof emitter.once === "function";
      if (hasErrors) emitter.once("error", failed);
      signal?.addEventListener("abort", abort, { once: true, [host.resists]: true });
    });
  }

  /** A promise for a timer, rejected if a signal is aborted first. */
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

  return { event, timers: { setTimeout, setImmediate, setInterval } };
});
