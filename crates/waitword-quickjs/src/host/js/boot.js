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

  function structuredClone(value, settings) {
    if (arguments.length === 0) throw host.missing("value");
    return host.decode(native.copy(host.encode(value, settings?.transfer)));
  }

  const globals = {
    ...host.timers,
    global: globalThis,
    console: host.console,
    process: host.process,
    URL: host.URL,
    structuredClone,
    Event: host.Event,
    CustomEvent: host.CustomEvent,
    MessageEvent: host.MessageEvent,
    ErrorEvent: host.ErrorEvent,
    EventTarget: host.EventTarget,
    PromiseRejectionEvent: host.PromiseRejectionEvent,
    MessageChannel: host.MessageChannel,
    MessagePort: host.MessagePort,
  };
  for (const [name, value] of Object.entries(globals)) define(name, { value, writable: true });

  // Globals that most programs do not need, by the part that makes them.
  const later = {
    AbortController: "abort",
    AbortSignal: "abort",
    BroadcastChannel: "broadcast_channel",
    TextDecoder: "encoding",
    TextEncoder: "encoding",
    URLSearchParams: "search_params",
    navigator: "navigator",
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

  host.packageType = (text) => parse(text).type;
  /** What was thrown, for a person: title, frames, and what else there is to say. */
  host.describe = (reason) => (isError(reason) ? host.text().describeError(reason) : [host.inspect(reason), "", ""]);

  /** An error that can travel to the parent, whatever was thrown: a copy, and what a copy does not have. */
  host.encodeError = (reason, isRejection) => {
    const thrown = isRejection ? host.rejection(reason) : reason;
    try {
      return host.encode(isError(thrown) ? [thrown, String(thrown.name), properties(thrown)] : [thrown]);
    } catch {
      return host.encode([new Error(host.inspect(thrown))]);
    }
  };
  host.decodeError = (table) => {
    const parts = host.decode(table);
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
        host.encode(error[own[at]]);
        host.put(copied, own[at], error[own[at]]);
      } catch {
        // Stays behind.
      }
    }
    return copied;
  }
});
