// Workers as pages have them: `new Worker(url)` with `onmessage`, and in the worker `self`, `postMessage`, `close`.
// Underneath they are those of worker_threads.js. Next: boot.js.
(function (host) {
  "use strict";

  const { native, options } = host;
  const { Error, Promise, String, TypeError, decodeURIComponent } = globalThis;
  const { isArray } = Array;
  const { defineProperty } = Object;
  const { apply, list, Map } = host.safe;
  const { indexOf, slice, startsWith, trim } = String.prototype;
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
      const web = { type, name: String(name) };
      this.#id = host.startWorker(this, isSource, text, list(), host.environment(), web, host.pack(undefined));
    }

    postMessage(value, transfer) {
      host.postToWorker(this.#id, value, transfer);
    }

    terminate() {
      host.terminateWorker(this.#id);
    }
  }
  host.withHandlers(Worker, ["message", "messageerror", "error"]);

  /** Source text, or the path of a file. Relative URLs are relative to the script of this agent: it stands for the page. */
  function locate(url) {
    const reference = apply(trim, String(url), []);
    const begins = (start) => apply(startsWith, reference, [start]);
    const rest = () => apply(slice, reference, [apply(indexOf, reference, [","]) + 1]);
    if (begins("data:")) return { isSource: true, text: decodeURIComponent(rest()) };
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
  if (!isNodeWorker) define("self", globalThis);
  define("Worker", Worker);
  define("Blob", Blob);
  if (options.web !== undefined) becomeScope();

  /** Gives a worker of this kind its globals: those of its port are properties of the global object. */
  function becomeScope() {
    const port = host.parentPort;
    port[host.scope] = globalThis;
    define("name", options.web);
    define("postMessage", (value, transfer) => port.postMessage(value, transfer));
    define("close", () => native.closeAgent());
    define("addEventListener", (type, listener, settings) => port.addEventListener(type, listener, settings));
    define("removeEventListener", (type, listener) => port.removeEventListener(type, listener));
    define("dispatchEvent", (event) => port.dispatchEvent(event));
    define("importScripts", (...urls) => {
      for (let at = 0; at < urls.length; at++) {
        const { isSource, text } = locate(urls[at]);
        native.runGlobally(isSource, text);
      }
    });
    const handlers = ["onmessage", "onmessageerror"];
    for (let at = 0; at < handlers.length; at++) {
      const name = handlers[at];
      defineProperty(globalThis, name, {
        __proto__: null, get: () => port[name], set: (value) => void (port[name] = value), configurable: true, enumerable: true,
      });
    }
  }
});
