// `once` and `on` of node:events: events as promises. A part that runs when it is first asked for.
(function (host) {
  "use strict";

  const { Promise, Symbol } = globalThis;
  const { Error } = globalThis;
  const { list } = host.safe;
  const { resolve, reject } = { resolve: (value) => Promise.resolve(value), reject: (reason) => Promise.reject(reason) };

  const listen = (emitter, name, listener) => {
    if (typeof emitter?.on === "function") emitter.on(name, listener);
    else if (typeof emitter?.addEventListener === "function") emitter.addEventListener(name, listener);
    else throw host.invalid("emitter", "an instance of EventEmitter", emitter);
  };
  const unlisten = (emitter, name, listener) => {
    if (typeof emitter.off === "function") emitter.off(name, listener);
    else emitter.removeEventListener(name, listener);
  };
  const aborted = (signal) => host.part("abort").abortError(signal);

  function once(emitter, name, settings) {
    const signal = settings?.signal;
    if (signal?.aborted) return reject(aborted(signal));
    return new Promise((resolve, reject) => {
      const stop = () => {
        unlisten(emitter, name, heard);
        unlisten(emitter, "error", failed);
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
      const abort = () => {
        stop();
        reject(aborted(signal));
      };
      listen(emitter, name, heard);
      // An EventTarget has no errors of its own.
      if (name !== "error" && typeof emitter.on === "function") emitter.on("error", failed);
      signal?.addEventListener("abort", abort);
    });
  }

  function on(emitter, name, settings) {
    const signal = settings?.signal;
    if (signal?.aborted) throw aborted(signal);
    let events = list();
    let waiting = list();
    let error;
    let isDone = false;
    const shift = (all) => {
      const rest = list();
      for (let at = 1; at < all.length; at++) rest.push(all[at]);
      return rest;
    };
    const heard = (...args) => {
      if (waiting.length === 0) return void events.push(args);
      const first = waiting[0];
      waiting = shift(waiting);
      first.resolve({ value: args, done: false });
    };
    const failed = (reason) => {
      stop();
      if (waiting.length === 0) error = { reason };
      else {
        const first = waiting[0];
        waiting = shift(waiting);
        first.reject(reason);
      }
      finish();
    };
    const abort = () => failed(aborted(signal));
    const stop = () => {
      unlisten(emitter, name, heard);
      if (typeof emitter.on === "function") unlisten(emitter, "error", failed);
      signal?.removeEventListener("abort", abort);
    };
    const finish = () => {
      isDone = true;
      for (let at = 0; at < waiting.length; at++) waiting[at].resolve({ value: undefined, done: true });
      waiting = list();
    };
    listen(emitter, name, heard);
    if (name !== "error" && typeof emitter.on === "function") emitter.on("error", failed);
    signal?.addEventListener("abort", abort);
    return {
      next() {
        if (events.length > 0) {
          const value = events[0];
          events = shift(events);
          return resolve({ value, done: false });
        }
        if (error) {
          const { reason } = error;
          error = undefined;
          return reject(reason);
        }
        if (isDone) return resolve({ value: undefined, done: true });
        return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
      },
      return() {
        stop();
        finish();
        return resolve({ value: undefined, done: true });
      },
      throw(reason) {
        if (!Error.isError(reason)) throw host.invalid("EventEmitter.AsyncIterator", "an instance of Error", reason);
        failed(reason);
        return resolve({ value: undefined, done: true });
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  return { once, on };
});
