// Puts the parts together: the globals, and what the event loop calls. The last part.
(function (host) {
  "use strict";

  const { native, options } = host;
  const { Error } = globalThis;
  const { isError } = Error;
  const { keys } = Object;
  const parse = JSON.parse;
  const { apply, defineProperty } = host.safe;

  const define = (name, descriptor) => {
    defineProperty(globalThis, name, { __proto__: null, configurable: true, enumerable: false, ...descriptor });
  };

  /** As the web has it: no constructor; the value is required, and may be undefined. */
  const { structuredClone } = {
    structuredClone(value, settings = undefined) {
      if (arguments.length === 0) throw host.missing("value");
      return native.copy(host.pack(value, settings?.transfer));
    },
  };

  const globals = {
    ...host.timers,
    global: globalThis,
    console: host.console,
    structuredClone,
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
    URLSearchParams: "search_params",
    Worker: "web_worker",
    navigator: "navigator",
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

  /** Packs an error that can travel to the parent, whatever was thrown: a copy, and what a copy does not have. */
  host.packError = (reason, isRejection) => {
    const thrown = isRejection ? host.rejection(reason) : reason;
    try {
      host.pack(isError(thrown) ? [thrown, String(thrown.name), properties(thrown)] : [thrown]);
    } catch {
      host.pack([new Error(host.inspect(thrown))]);
    }
  };
  /** What a worker threw, of the parts that its `packError` packed. */
  host.thrownBy = (parts) => {
    const error = parts[0];
    if (parts.length < 2) return error;
    if (error.name !== parts[1]) host.put(error, "name", parts[1]);
    const own = keys(parts[2]);
    for (let at = 0; at < own.length; at++) host.put(error, own[at], parts[2][own[at]]);
    return error;
  };

  /** Those that the script put on an error, as far as they can be copied. */
  function properties(error) {
    const own = keys(error);
    const copied = {};
    for (let at = 0; at < own.length; at++) {
      try {
        const value = error[own[at]];
        host.pack(value);
        host.put(copied, own[at], value);
      } catch {
        // Stays behind.
      }
    }
    return copied;
  }
});
