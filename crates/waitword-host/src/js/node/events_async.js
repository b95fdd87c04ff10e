// `once` and `on` of node:events: events as promises. A part that runs when it is first asked for.
(function (host) {
  "use strict";

  const { Error, Promise, Symbol } = globalThis;
  const { isError } = Error;
  const { isArray, isInteger, list, String } = host.safe;
  const MOST = 2 ** 53 - 1;
  const { resolve, reject } = { resolve: (value) => Promise.resolve(value), reject: (reason) => Promise.reject(reason) };

  const listen = (emitter, name, listener, isOnce) => {
    if (typeof emitter?.on === "function") emitter[isOnce ? "once" : "on"](name, listener);
    else if (typeof emitter?.addEventListener === "function") emitter.addEventListener(name, listener, { once: isOnce, [host.resists]: true });
    else throw host.invalid("emitter", "an instance of EventEmitter", emitter);
  };
  const unlisten = (emitter, name, listener) => {
    if (typeof emitter.removeListener === "function") emitter.removeListener(name, listener);
    else emitter.removeEventListener(name, listener);
  };
  const aborted = (signal) => host.part("abort").abortError(signal);
  const listenToAbort = (signal, listener) => signal?.addEventListener("abort", listener, { once: true, [host.resists]: true });

  async function once(emitter, name, settings) {
    const signal = settings?.signal;
    host.checkedSignal("options.signal", signal);
    if (signal?.aborted) throw aborted(signal);
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
      const abort = () => {
        stop();
        reject(aborted(signal));
      };
      listen(emitter, name, heard, true);
      // An EventTarget has no errors of its own.
      const hasErrors = name !== "error" && typeof emitter.once === "function";
      if (hasErrors) emitter.once("error", failed);
      listenToAbort(signal, abort);
    });
  }

  /** First in, first out, of values that are taken one by one. */
  function queue() {
    let items = list();
    let first = 0;
    return {
      get size() {
        return items.length - first;
      },
      push: (item) => void items.push(item),
      shift: () => {
        const item = items[first];
        items[first++] = undefined;
        if (first === items.length) {
          items = list();
          first = 0;
        }
        return item;
      },
    };
  }

  function mark(name, value, otherwise) {
    if (value === undefined || value === null) return otherwise;
    const shown = "options." + name;
    if (typeof value !== "number") throw host.invalid(shown, "of type number", value);
    if (!isInteger(value)) throw host.outOfRange(shown, "an integer", value);
    if (value < 1 || value > MOST) throw host.outOfRange(shown, ">= 1 && <= " + String(MOST), value);
    return value;
  }

  function on(emitter, name, settings = {}) {
    const { signal } = settings;
    host.checkedSignal("options.signal", signal);
    if (signal?.aborted) throw aborted(signal);
    const most = mark("highWaterMark", settings.highWaterMark ?? settings.highWatermark, MOST);
    const least = mark("lowWaterMark", settings.lowWaterMark ?? settings.lowWatermark, 1);
    const ends = isArray(settings.close) ? settings.close : [];
    const events = queue();
    const waiting = queue();
    let isPaused = false;
    let error;
    let isDone = false;
    const done = () => ({ value: undefined, done: true });
    const heard = (...args) => {
      if (waiting.size > 0) return void waiting.shift().resolve({ value: args, done: false });
      events.push(args);
      if (isPaused || events.size <= most) return;
      isPaused = true;
      emitter.pause();
    };
    const failed = (reason) => {
      if (waiting.size > 0) waiting.shift().reject(reason);
      else error = { reason };
      finish();
    };
    const abort = () => failed(aborted(signal));
    const hasErrors = name !== "error" && typeof emitter?.on === "function";
    const finish = () => {
      unlisten(emitter, name, heard);
      if (hasErrors) unlisten(emitter, "error", failed);
      for (let at = 0; at < ends.length; at++) unlisten(emitter, ends[at], finish);
      signal?.removeEventListener("abort", abort);
      isDone = true;
      while (waiting.size > 0) waiting.shift().resolve(done());
      return resolve(done());
    };
    listen(emitter, name, heard);
    if (hasErrors) emitter.on("error", failed);
    for (let at = 0; at < ends.length; at++) listen(emitter, ends[at], finish);
    listenToAbort(signal, abort);
    return {
      next() {
        if (events.size > 0) {
          const value = events.shift();
          if (isPaused && events.size < least) {
            emitter.resume();
            isPaused = false;
          }
          return resolve({ value, done: false });
        }
        if (error) {
          const { reason } = error;
          error = undefined;
          return reject(reason);
        }
        if (isDone) return finish();
        return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
      },
      return() {
        return finish();
      },
      throw(reason) {
        if (!isError(reason)) throw host.invalid("EventEmitter.AsyncIterator", "an instance of Error", reason);
        failed(reason);
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  return { once, on };
});
