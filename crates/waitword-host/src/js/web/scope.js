// The globals of web pages and their workers: `self`, `onerror`, and in workers `postMessage`, `onmessage`, `close`. Agents of this kind,
// including the main agent, run this part when they start.
(function (host) {
  "use strict";

  const { native, options } = host;
  const { apply, defineProperty, list } = host.safe;

  const define = (name, value) => host.hide(globalThis, name, value);
  becomeScope();
  if (options.web !== undefined) becomeWorker();

  /** Defines the globals of a page or of its worker. Its listeners are properties of the global object. */
  function becomeScope() {
    const scope = host.parentPort ?? new host.Target();
    scope[host.scope] = globalThis;
    define("self", globalThis);
    // Memory can be shared here, which pages check with this property.
    define("crossOriginIsolated", true);
    define("origin", host.origin);
    for (const name of list("addEventListener", "removeEventListener", "dispatchEvent")) {
      const method = scope[name];
      const { [name]: bound } = { [name]: (...args) => apply(method, scope, args) };
      define(name, defineProperty(bound, "length", { __proto__: null, value: method.length, configurable: true }));
    }
    const { reportError } = {
      reportError(error) {
        if (arguments.length === 0) throw host.missing("error");
        host.nextTick(() => {
          throw error;
        });
      },
    };
    define("reportError", reportError);
    handler("onunhandledrejection", () => scope[host.handler]("unhandledrejection"), (value) => {
      scope[host.setHandler]("unhandledrejection", value);
    });
    let onerror = null;
    handler("onerror", () => onerror, (value) => {
      onerror = typeof value === "function" ? value : null;
      // Unlike other handlers, this one gets no event, and returns `true` if it handled the error.
      scope[host.setHandler]("error", onerror && ((event) => {
        const { message, filename, lineno, colno, error } = event;
        if (apply(onerror, globalThis, [message, filename, lineno, colno, error]) === true) event.preventDefault();
      }));
    });
    host.tellScope = (type, makeEvent) => {
      if (!host.listeners.of(scope, type)) return false;
      host.isTelling = true;
      try {
        return !scope.dispatchEvent(makeEvent());
      } finally {
        host.isTelling = false;
      }
    };
  }

  function handler(name, get, set) {
    defineProperty(globalThis, name, { __proto__: null, get, set, configurable: true, enumerable: true });
  }

  /** Defines the globals that only workers have. */
  function becomeWorker() {
    const port = host.parentPort;
    const post = port.postMessage;
    define("name", options.web);
    define("postMessage", (...args) => apply(post, port, args));
    define("close", () => native.closeAgent());
    define("importScripts", (...urls) => {
      for (let at = 0; at < urls.length; at++) {
        const { isSource, text } = host.part("web_worker").locate(urls[at]);
        native.runGlobally(isSource, text);
      }
    });
    handler("onmessage", () => port.onmessage, (value) => void (port.onmessage = value));
    handler("onmessageerror", () => port.onmessageerror, (value) => void (port.onmessageerror = value));
  }
});
