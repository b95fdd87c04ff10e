// Workers as pages have them: `new Worker(url)` with `onmessage`, and in the worker `self`, `postMessage`, `close`.
// Underneath they are those of worker_threads.js. Next: boot.js.
(function (host) {
  "use strict";

  const { native, options } = host;
  const { Error, Promise, String, TypeError, decodeURIComponent } = globalThis;
  const { isArray } = Array;
  const { defineProperty } = Object;
  const { apply, list, Map } = host.safe;
  const { endsWith, indexOf, slice, startsWith, trim } = String.prototype;
  const blobs = new Map();
  let blobsMade = 0;

  class Worker extends host.Target {
    #id;

    constructor(url, settings) {
      super();
      const { name = "", type = "classic" } = settings ?? {};
      if (type !== "classic" && type !== "module") {
        throw new TypeError("The type of a worker must be 'classic' or 'module', not '" + String(type) + "'");
      }
      const { isSource, text } = locate(url);
      const variables = host.variables();
      const web = { type, name: String(name) };
      this.#id = host.startWorker(this, isSource, text, list(), variables, host.birth(), 0, web);
    }

    postMessage(value, transfer) {
      host.postToWorker(this.#id, value, transfer);
    }

    terminate() {
      host.terminateWorker(this.#id);
    }
  }
  host.withHandlers(Worker, ["message", "messageerror", "error"]);

  /** The source text in a data: URL. */
  host.dataText = (url) => {
    const comma = apply(indexOf, url, [","]);
    const text = decodeURIComponent(apply(slice, url, [comma + 1]));
    return apply(endsWith, apply(slice, url, [0, comma]), [";base64"]) ? host.part("encoding").ofBase64(text) : text;
  };

  /** Source text, or the path of a file. Relative URLs are relative to the script of this agent: it stands for the page. */
  function locate(url) {
    const reference = apply(trim, String(url), []);
    const begins = (start) => apply(startsWith, reference, [start]);
    if (begins("data:")) return { isSource: true, text: host.dataText(reference) };
    if (begins("blob:")) {
      const text = blobs.get(reference);
      if (text === undefined) throw host.error(Error, "ERR_WORKER_PATH", "There is no blob " + reference + ": it was revoked");
      return { isSource: true, text };
    }
    const page = options.argv[1];
    const base = host.pathToFileURL(page[0] === "[" ? "./" : page);
    const file = new host.URL(reference, base);
    if (file.protocol !== "file:") {
      throw host.error(Error, "ERR_WORKER_PATH", "A worker is a file, or text in a data: or blob: URL; " + file.protocol + " is not supported");
    }
    return { isSource: false, text: host.fileURLToPath(file) };
  }

  /** As much of a Blob as it takes to make a worker of source text. */
  class Blob {
    type;
    #text = "";

    constructor(parts = [], settings) {
      if (!isArray(parts)) throw new TypeError("The parts of a Blob must be an array");
      for (let at = 0; at < parts.length; at++) {
        if (typeof parts[at] === "object" && parts[at] !== null && #text in parts[at]) this.#text += parts[at].#text;
        else if (typeof parts[at] === "string") this.#text += parts[at];
        else throw new TypeError("Only strings and Blobs can be parts of a Blob here");
      }
      this.type = String(settings?.type ?? "");
    }

    text() {
      return new Promise((resolve) => resolve(this.#text));
    }

    static keep(blob) {
      const url = "blob:waitword/" + ++blobsMade;
      blobs.set(url, blob.#text);
      return url;
    }
  }
  const { keep } = Blob;
  delete Blob.keep;
  host.URL.createObjectURL = (blob) => keep(blob);
  host.URL.revokeObjectURL = (url) => void blobs.delete(String(url));

  const define = (name, value) => {
    defineProperty(globalThis, name, { __proto__: null, value, writable: true, configurable: true, enumerable: false });
  };
  const isNodeWorker = !options.isMainThread && options.web === undefined;
  define("Worker", Worker);
  define("Blob", Blob);
  if (!isNodeWorker) becomeScope();
  if (options.web !== undefined) becomeWorker();

  /** Gives a page, or a worker of one, its globals: its listeners are properties of the global object. */
  function becomeScope() {
    const scope = host.parentPort ?? new host.Target();
    scope[host.scope] = globalThis;
    define("self", globalThis);
    // Memory can be shared here, and this is what pages ask first.
    define("crossOriginIsolated", true);
    define("addEventListener", (type, listener, settings) => scope.addEventListener(type, listener, settings));
    define("removeEventListener", (type, listener) => scope.removeEventListener(type, listener));
    define("dispatchEvent", (event) => scope.dispatchEvent(event));
    define("reportError", (error) => host.nextTick(() => {
      throw error;
    }));
    handler("onunhandledrejection", () => scope[host.handler]("unhandledrejection"), (value) => {
      scope[host.setHandler]("unhandledrejection", value);
    });
    let onerror = null;
    handler("onerror", () => onerror, (value) => {
      onerror = typeof value === "function" ? value : null;
      // Of all handlers, this one gets no event, and its `true` means that the error is dealt with.
      scope[host.setHandler]("error", onerror && ((event) => {
        const { message, filename, lineno, colno, error } = event;
        if (apply(onerror, globalThis, [message, filename, lineno, colno, error]) === true) event.preventDefault();
      }));
    });
    host.tellScope = (type, makeEvent) => {
      if (scope.listenerCount(type) === 0) return false;
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

  /** Gives a worker what pages do not have. */
  function becomeWorker() {
    const port = host.parentPort;
    define("name", options.web);
    define("postMessage", (value, transfer) => port.postMessage(value, transfer));
    define("close", () => native.closeAgent());
    define("importScripts", (...urls) => {
      for (let at = 0; at < urls.length; at++) {
        const { isSource, text } = locate(urls[at]);
        native.runGlobally(isSource, text);
      }
    });
    handler("onmessage", () => port.onmessage, (value) => void (port.onmessage = value));
    handler("onmessageerror", () => port.onmessageerror, (value) => void (port.onmessageerror = value));
  }
});
