// `once` of node:events: an event as a promise. A part that runs when it is first asked for.
(function (host) {
  "use strict";

  const { Promise } = globalThis;

  const listen = (emitter, name, listener) => {
    if (typeof emitter?.on === "function") emitter.once(name, listener);
    else if (typeof emitter?.addEventListener === "function") emitter.addEventListener(name, listener, { once: true, [host.resists]: true });
    else throw host.invalid("emitter", "an instance of EventEmitter", emitter);
  };
  const unlisten = (emitter, name, listener) => {
    if (typeof emitter.removeListener === "function") emitter.removeListener(name, listener);
    else emitter.removeEventListener(name, listener);
  };
  const aborted = (signal) => host.part("abort").abortError(signal);

  function checkSignal(signal) {
    const isSignal = signal === undefined || (typeof signal === "object" && signal !== null && "aborted" in signal);
    if (!isSignal) throw host.invalid("options.signal", "an instance of AbortSignal", signal);
    if (signal?.aborted) throw aborted(signal);
  }

  return async (emitter, name, settings) => {
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
      // An EventTarget has no errors of its own.
      const hasErrors = name !== "error" && typeof emitter.once === "function";
      if (hasErrors) emitter.once("error", failed);
      signal?.addEventListener("abort", abort, { once: true, [host.resists]: true });
    });
  };
});
