// The last part: defines the globals, and what the event loop calls.
(function (host) {
  "use strict";

  const { native, options } = host;
  const { isError } = Error;
  const { TypeError } = globalThis;
  const parse = JSON.parse;
  const { defineProperty } = host.safe;

  const define = (name, descriptor) => {
    defineProperty(globalThis, name, { __proto__: null, configurable: true, enumerable: false, ...descriptor });
  };

  /** As in the web: not a constructor; the argument is required, but may be undefined. */
  const { structuredClone } = {
    structuredClone(value, settings = undefined) {
      if (arguments.length === 0) throw host.missing("value");
      if (settings === undefined || settings === null) return native.copy(host.pack(value));
      if (typeof settings !== "object" && typeof settings !== "function") {
        throw host.error(TypeError, "ERR_INVALID_ARG_TYPE", "The options argument must be either an object or undefined");
      }
      return native.copy(host.pack(value, host.transferOf(settings)));
    },
  };

  const { queueMicrotask } = {
    queueMicrotask(callback) {
      if (typeof callback !== "function") throw host.invalid("callback", "of type function", callback);
      host.enqueue(callback);
    },
  };

  const functions = { ...host.timers, queueMicrotask, structuredClone, global: globalThis };
  for (const [name, value] of Object.entries(functions)) define(name, { value, writable: true, enumerable: true });
  const globals = {
    console: host.console,
    EventTarget: host.EventTarget,
    MessageChannel: host.MessageChannel,
    MessagePort: host.MessagePort,
  };
  for (const [name, value] of Object.entries(globals)) define(name, { value, writable: true });

  // Globals that most programs do not need, by the part that makes them.
  const later = {
    AbortController: "abort",
    AbortSignal: "abort",
    Blob: "web_worker",
    BroadcastChannel: "broadcast_channel",
    CustomEvent: "event",
    ErrorEvent: "event",
    Event: "event",
    MessageEvent: "event",
    PromiseRejectionEvent: "event",
    TextDecoder: "encoding",
    TextEncoder: "encoding",
    URL: "url",
    Worker: "web_worker",
    navigator: "small_modules",
    process: "process",
  };
  for (const [name, part] of Object.entries(later)) {
    const put = (value) => define(name, { value, writable: true });
    const get = () => {
      const value = host.part(part)[name];
      put(value);
      return value;
    };
    define(name, { get, set: put });
  }

  const isNodeWorker = !options.isMainThread && options.web === undefined;
  if (!isNodeWorker) host.part("scope");

  host.packageType = (text) => parse(text).type;
  /** A thrown value as text: title, frames, and other properties. */
  host.describe = (reason) => {
    if (isError(reason)) return host.text().describeError(reason);
    return [host.inspect(reason), "", ""];
  };
});
