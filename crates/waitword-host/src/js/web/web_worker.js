// Web workers: `new Worker(url)` with `onmessage`, implemented by those of worker.js. The globals inside such a worker are in scope.js. Loaded at
// first use.
(function (host) {
  "use strict";

  const { options } = host;
  const { packWorkerData, postToWorker, startWorker, terminateWorker } = host.part("worker");
  const { isView } = globalThis.ArrayBuffer;
  const { apply, Error, isArray, list, Map, Promise, startsWith, String, trim, TypeError } = host.safe;
  /** The texts of the Blob URLs that this agent created. Other agents cannot use them. */
  const texts = new Map();
  let made = 0;

  class Worker extends host.Target {
    #id;

    constructor(url, settings = undefined) {
      if (arguments.length === 0) throw host.missing("url");
      super();
      const { name = "", type = "classic" } = host.dictionary(settings);
      if (type !== "classic" && type !== "module") {
        throw new TypeError("The type of a worker must be 'classic' or 'module', not '" + String(type) + "'");
      }
      const options = { ...locate(url), words: list(), variables: host.variables(), type, name: host.domString(name) };
      // Last, because the packed message must be the next that is sent.
      this.#id = startWorker(this, { ...options, ids: packWorkerData() });
    }

    postMessage(value, transfer = undefined) {
      if (arguments.length === 0) throw host.missing("message");
      postToWorker(this.#id, value, transfer);
    }

    terminate() {
      terminateWorker(this.#id);
    }
  }
  host.withHandlers(Worker, ["message", "messageerror", "error"]);
  host.shape(Worker);

  /** Source text, or the path of a file. Relative URLs are relative to the script of this agent, which is in the role of the page. */
  function locate(url) {
    const reference = apply(trim, host.usv(url), []);
    const begins = (start) => apply(startsWith, reference, [start]);
    if (begins("data:")) return { isSource: true, text: host.part("encoding").dataText(reference) };
    if (begins("blob:")) {
      if (texts.has(reference)) return { isSource: true, text: texts.get(reference) };
      throw host.error(Error, "ERR_WORKER_PATH",
        "The Blob URL " + reference + " is not known here: it was revoked, or another agent has made it");
    }
    const page = options.argv[1];
    const { URL, fileURLToPath, pathToFileURL } = host.part("url");
    const base = pathToFileURL(page[0] === "[" ? "./" : page);
    const file = new URL(reference, base);
    if (file.protocol !== "file:") {
      throw host.error(Error, "ERR_WORKER_PATH", "A worker is a file, or text in a data: or blob: URL; " + file.protocol + " is not supported");
    }
    return { isSource: false, text: fileURLToPath(file) };
  }

  /** The part of Blob that is needed to create a worker from source text. */
  class Blob {
    #type;
    #text = "";

    constructor(parts = [], options = undefined) {
      if (!isArray(parts)) throw host.invalid("sources", "an instance of Array", parts);
      const { type = "" } = host.dictionary(options);
      for (let at = 0; at < parts.length; at++) {
        if (typeof parts[at] === "object" && parts[at] !== null && #text in parts[at]) this.#text += parts[at].#text;
        else if (isView(parts[at]) || host.isBuffer(parts[at])) throw host.invalid("sources[" + at + "]", "text or a Blob", parts[at]);
        else this.#text += host.usv(parts[at]);
      }
      this.#type = host.text().mimeType(host.domString(type));
    }

    get type() {
      return this.#type;
    }

    /** The size in bytes of UTF-8. */
    get size() {
      return host.part("encoding").bytesIn(this.#text).length;
    }

    text() {
      return new Promise((resolve) => resolve(this.#text));
    }

    static keep(blob) {
      if (typeof blob !== "object" || blob === null || !(#text in blob)) throw host.invalid("obj", "an instance of Blob", blob);
      const url = "blob:waitword/" + options.threadId + "-" + ++made;
      texts.set(url, blob.#text);
      return url;
    }
  }
  const { keep: createObjectURL } = Blob;
  delete Blob.keep;
  host.shape(Blob);
  const revokeObjectURL = (url) => void texts.delete(host.domString(url));

  return { Blob, Worker, createObjectURL, locate, revokeObjectURL };
});
