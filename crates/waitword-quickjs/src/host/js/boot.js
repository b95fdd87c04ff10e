// Puts the parts together: the globals, the built-in modules, and what the event loop calls. The last part.
(function (host) {
  "use strict";

  const { native, process, workerThreads } = host;
  const { Error, TypeError } = globalThis;
  const { isError } = Error;
  const { hasOwn, keys } = Object;
  const parse = JSON.parse;
  const { apply } = host.safe;
  const { startsWith, slice } = String.prototype;
  const begins = (name, start) => apply(startsWith, name, [start]);

  const builtins = {
    worker_threads: workerThreads,
    events: host.EventEmitter,
    path: host.path,
    perf_hooks: { performance },
    process,
    timers: host.timers,
    "timers/promises": host.timerPromises,
    url: { URL: host.URL, fileURLToPath: host.fileURLToPath, pathToFileURL: host.pathToFileURL },
    util: { inspect: host.inspect, format: host.format },
  };

  const known = keys(builtins).map((each) => `node:${each}`).join(", ");

  /** The built-in module of this name; undefined for names of files; throws for names that are neither. */
  host.builtin = (name) => {
    const bare = begins(name, "node:") ? apply(slice, name, [5]) : name;
    if (hasOwn(builtins, bare)) return builtins[bare];
    if (begins(name, "/") || begins(name, "./") || begins(name, "../") || begins(name, "file:")) return undefined;
    throw host.error(Error, "ERR_UNKNOWN_BUILTIN_MODULE",
      "No module named '" + name + "'. Built in are " + known + "; files are named by ./, ../ or /");
  };

  /** As the web has it: the value is required, and may be undefined. */
  const { structuredClone } = {
    structuredClone(value, settings = undefined) {
      if (arguments.length === 0) throw host.error(TypeError, "ERR_MISSING_ARGS", "structuredClone: give it a value to clone");
      return native.copy(host.pack(value, settings?.transfer));
    },
  };

  const hidden = (value) => ({ value, writable: true, configurable: true, enumerable: false });
  const globals = {
    ...host.timers,
    console: host.console,
    process,
    URL: host.URL,
    structuredClone,
    Event: host.Event,
    MessageEvent: host.MessageEvent,
    ErrorEvent: host.ErrorEvent,
    MessageChannel: host.MessageChannel,
    MessagePort: host.MessagePort,
  };
  for (const [name, value] of Object.entries(globals)) Object.defineProperty(globalThis, name, hidden(value));

  host.packageType = (text) => parse(text).type;
  /** What was thrown, for a person: title, frames, and what else there is to say. */
  host.describe = (reason) => {
    if (isError(reason)) return host.text().describeError(reason);
    return [titleOfException(reason) ?? host.inspect(reason), "", ""];
  };

  const { name: nameOf, message: messageOf } = Object.getOwnPropertyDescriptors(host.DOMException.prototype);

  /** Of a DOMException, which is no Error in this engine. */
  function titleOfException(reason) {
    try {
      return apply(nameOf.get, reason, []) + ": " + apply(messageOf.get, reason, []);
    } catch {
      return undefined;
    }
  }

  /** Packs an error that can travel to the parent, whatever was thrown. */
  host.packError = (reason) => {
    try {
      host.pack(reason);
    } catch {
      host.pack(new Error(host.inspect(reason)));
    }
  };
});
