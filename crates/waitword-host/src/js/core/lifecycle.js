// The phases of an agent: callbacks of `nextTick`, uncaught errors, nothing left to do, exit. The listeners of `process` are called for the last
// three. `process` is created at first use (process.js), and has no listeners before.
// Next: path.js.
(function (host) {
  "use strict";

  const { native, options } = host;
  const { apply, Error, isError, keys, list, Number, String } = host.safe;
  const { of: listenersOf } = host.listeners;
  const { toString: functionText } = Function.prototype;
  const { toString: objectText } = Object.prototype;
  const process = () => host.made("process")?.process;

  // The callbacks to run after the running script, and before its microtasks.
  let ticks = list();

  host.nextTick = (callback, args = list()) => {
    if (ticks.length === 0) native.wantTicks();
    ticks.push({ callback, args });
  };
  host.runTicks = () => {
    let at = 0;
    try {
      while (at < ticks.length) {
        const { callback, args } = ticks[at++];
        apply(callback, undefined, args);
      }
    } finally {
      const rest = list();
      for (; at < ticks.length; at++) rest.push(ticks[at]);
      ticks = rest;
      if (rest.length > 0) native.wantTicks();
    }
  };

  /** Passes a thrown value, or the reason of an unhandled rejection, to the script's listeners. Returns whether they handled it. */
  host.uncaught = (reason, origin) => {
    try {
      process()?.emit("uncaughtExceptionMonitor", reason, origin);
      if (process()?.emit("uncaughtException", reason, origin)) return true;
    } catch (error) {
      hasListenerFailed = true;
      throw error;
    }
    return host.tellScope("error", () => errorEvent(reason));
  };

  /** The event of an error for a page or its worker. */
  function errorEvent(error) {
    const parts = host.text().placeOf(error);
    const message = "Uncaught " + parts[0];
    const settings = { message, filename: parts[1], lineno: parts[2], colno: parts[3], error, cancelable: true };
    return new (host.part("event").ErrorEvent)("error", settings);
  }

  /** Calls the listeners of a page. Returns whether they handled the error. Replaced if there is a page (scope.js). */
  host.tellScope = () => false;

  host.rejected = (promise, reason) => {
    if (process()?.emit("unhandledRejection", reason, promise)) return true;
    const settings = { promise, reason, cancelable: true };
    const event = () => new (host.part("event").PromiseRejectionEvent)("unhandledrejection", settings);
    if (host.tellScope("unhandledrejection", event)) return true;
    const isHeard = process() && (listenersOf(process(), "uncaughtException") ?? listenersOf(process(), "uncaughtExceptionMonitor"));
    return isHeard ? host.uncaught(host.rejection(reason), "unhandledRejection") : false;
  };

  /** An error with the reason of a rejection. */
  host.rejection = (reason) => {
    if (isError(reason)) return reason;
    const error = host.error(Error, "ERR_UNHANDLED_REJECTION",
      "This error originated either by throwing inside of an async function without a catch block, or by rejecting a " +
      'promise which was not handled with .catch(). The promise rejected with the reason "' + reasonText(reason) + '".');
    return host.hide(error, "name", "UnhandledPromiseRejection");
  };

  /** As V8 shows a value without running a script. */
  function reasonText(reason) {
    if (typeof reason === "function") return apply(functionText, reason, []);
    if (typeof reason !== "object" || reason === null) return String(reason);
    try {
      const name = reason.toString === objectText && reason.constructor?.name;
      if (typeof name === "string" && name !== "") return "#<" + name + ">";
      return apply(objectText, reason, []);
    } catch {
      return "#<Object>";
    }
  }

  const FAILED = 1;
  const FAILED_IN_LISTENER = 7;
  /** A listener of `uncaughtException` has thrown. Then no listener is called for the end. */
  let hasListenerFailed = false;
  let ended = false;

  /** Emits `beforeExit`: the agent has nothing left to do, unless a listener starts something. */
  host.idle = () => void process()?.emit("beforeExit", process().exitCode ?? 0);

  /** Emits `exit`, once. Returns the exit code that the script set. */
  host.ending = (isExit) => (process() ? end(0, isExit) : 0);

  /** The same for an agent that fails: listeners may choose another exit code than 1. */
  host.failing = () => {
    if (!process()) return FAILED;
    if (hasListenerFailed && options.isMainThread) return FAILED_IN_LISTENER;
    if (!ended) process().exitCode = FAILED;
    // As in Node, a worker whose listener removed the exit code ends as if nothing had happened.
    return end(ended || options.isMainThread ? FAILED : 0);
  };

  function end(otherwise, isExit) {
    if (!ended) {
      ended = true;
      const code = process().exitCode ?? 0;
      // Listeners get the argument of `process.exit` unconverted.
      process().emit("exit", isExit ? code : Number(code));
    }
    return Number(process().exitCode ?? otherwise) | 0;
  }

  /** The environment of a new worker as strings, alternating names and values: `env`, or this agent's own. */
  host.variables = (env) => {
    const known = env ?? process()?.env ?? options.env;
    const names = keys(known);
    const texts = list();
    for (let at = 0; at < names.length; at++) {
      texts.push(names[at]);
      texts.push(String(known[names[at]]));
    }
    return texts;
  };
});
