// What comes between a script and its end: what it left for the next tick, what nobody caught, that there is nothing left to do. Of the
// last two the listeners of `process` hear; that is made when it is first asked for (process.js), and until then has none.
// Next: path.js.
(function (host) {
  "use strict";

  const { native, options } = host;
  const { apply, Error, isError, keys, list, Number, String } = host.safe;
  const { of: listenersOf } = host.listeners;
  const process = () => host.made("process")?.process;

  // What is to run after the script that runs now, and before its microtasks.
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

  /** What was thrown, or what an unhandled promise was rejected with: whether the script takes care of it. */
  host.uncaught = (reason, origin) => {
    process()?.emit("uncaughtExceptionMonitor", reason, origin);
    return !!process()?.emit("uncaughtException", reason, origin) || host.tellScope("error", () => errorEvent(reason));
  };

  /** What a page, or its worker, hears of an error. */
  function errorEvent(error) {
    const parts = host.text().placeOf(error);
    const message = "Uncaught " + parts[0];
    const settings = { message, filename: parts[1], lineno: parts[2], colno: parts[3], error, cancelable: true };
    return new (host.part("event").ErrorEvent)("error", settings);
  }

  /** Tells those who listen as on a page; whether they deal with it. Replaced where there is a page (scope.js). */
  host.tellScope = () => false;

  host.rejected = (promise, reason) => {
    if (process()?.emit("unhandledRejection", reason, promise)) return true;
    const settings = { promise, reason, cancelable: true };
    const event = () => new (host.part("event").PromiseRejectionEvent)("unhandledrejection", settings);
    if (host.tellScope("unhandledrejection", event)) return true;
    const isHeard = process() && (listenersOf(process(), "uncaughtException") ?? listenersOf(process(), "uncaughtExceptionMonitor"));
    return isHeard ? host.uncaught(host.rejection(reason), "unhandledRejection") : false;
  };

  /** An error that says what a promise was rejected with. */
  host.rejection = (reason) => {
    if (isError(reason)) return reason;
    const error = host.error(Error, "ERR_UNHANDLED_REJECTION",
      "This error originated either by throwing inside of an async function without a catch block, or by rejecting a " +
      'promise which was not handled with .catch(). The promise rejected with the reason "' + host.inspect(reason) + '".');
    return host.put(error, "name", "UnhandledPromiseRejection");
  };

  let ended = false;

  /** Tells the script that its agent has nothing left to do, for it may find something. */
  host.idle = () => void process()?.emit("beforeExit", Number(process().exitCode ?? 0));

  /** Tells the script, once, that its agent ends; what exit code it wants. */
  host.ending = () => {
    if (!process()) return 0;
    if (!ended) {
      ended = true;
      process().exitCode ??= 0;
      process().emit("exit", Number(process().exitCode));
    }
    return Number(process().exitCode ?? 0) | 0;
  };

  /** The same for an agent that fails. */
  host.failing = () => {
    if (!process()) return;
    process().exitCode = 1;
    host.ending();
  };

  /** The environment that a worker begins with, names and values in turn, as texts: `env`, or this agent's own. */
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
